"""Proof of a bitstream: its netlist, read back, runs in simulation and is compared."""
