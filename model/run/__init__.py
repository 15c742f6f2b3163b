"""Runs and their rules: the fourth noun. A run says which flit left every node in which cycle."""
