"""The fourth noun: a run, which is what left every node in which cycle, and its rules."""
