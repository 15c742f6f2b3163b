"""Proofs of components for all time, each with an invariant that a second program confirms."""
