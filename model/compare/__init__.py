"""Cases with their predictions, and checks of hardware runs against them."""
