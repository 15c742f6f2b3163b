"""Simulation of all tiles of a network together: each word has one bit of each tile."""
