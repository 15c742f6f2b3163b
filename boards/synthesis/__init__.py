"""Bitstreams: technology of each FPGA family, top modules, and calls of the tools."""
