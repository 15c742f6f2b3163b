"""Sums of bfloat16 numbers over all nodes of a mesh, by a custom operator."""
