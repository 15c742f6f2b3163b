"""Collectives in which nodes pass words on while they arrive."""
