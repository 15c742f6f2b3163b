"""Workloads: compute, collectives and messages of ranks, and their time on a network."""
