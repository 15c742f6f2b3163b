"""Bitstreams: what is special for an FPGA, the top of the design, the tools."""
