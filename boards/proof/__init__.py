"""Proof of a bitstream: its netlist, read back, is simulated and compared with the model."""
