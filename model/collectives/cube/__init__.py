"""Hypercubes: the spanning graphs and collectives of Johnsson & Ho, and their costs."""
