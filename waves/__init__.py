"""Waveforms of runs with the names of nodes, ports and VCs, and what viewers show of them."""
