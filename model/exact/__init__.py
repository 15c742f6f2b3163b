"""Runs of programs in which no flit waits, by arithmetic."""
