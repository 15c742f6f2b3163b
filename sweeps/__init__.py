"""Sweeps: grids of parameters, each point of them run, all results in one table."""
