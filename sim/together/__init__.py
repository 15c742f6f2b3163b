"""All tiles of a network simulated together: a bit of each tile in one word."""
