"""Options that commands share, and the values that they stand for."""
