"""Formulas of Johnsson & Ho for the time of collectives on hypercubes."""
