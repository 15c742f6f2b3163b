"""Waveforms of runs with the names of nodes, ports and VCs, and views for viewers."""
