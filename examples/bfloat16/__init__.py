"""Sums of bfloat16 numbers over all nodes of a mesh, by an operator of one's own."""
