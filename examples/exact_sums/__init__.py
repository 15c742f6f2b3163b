"""Sums of 8-bit floating-point numbers that no order of adding changes, bit for bit."""
