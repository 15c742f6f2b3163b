"""The third noun: a program, which is the injection tables of all nodes."""
