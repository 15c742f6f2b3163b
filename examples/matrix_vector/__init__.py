"""A matrix-vector product on a chip of tiles."""
