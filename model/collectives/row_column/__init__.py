"""All-to-all along rows and columns, both at once."""
