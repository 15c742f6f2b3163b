"""Predictions without simulation, for programs in which no flit waits."""
