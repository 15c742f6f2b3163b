"""Collectives on meshes and tori, by recursive doubling and by rings."""
