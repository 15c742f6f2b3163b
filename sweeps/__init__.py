"""Sweeps: grids of parameters; every point is run, and all results go to one table."""
