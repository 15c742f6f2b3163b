"""Broadcasts that halve the mesh: eye, rectangle, minimum (Cang & Wu)."""
