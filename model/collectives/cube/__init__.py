"""Hypercubes: the spanning graphs and collectives of Johnsson & Ho, and what they cost."""
