"""Simulation of the hardware: Verilog, Verilator builds, their cache, and the cocotb bench."""
