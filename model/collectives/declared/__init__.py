"""Declarations of algorithms, and the part of a request that their generators read."""
