"""Programs of circuits: run tables, sends and receives, and how a schedule becomes them."""
