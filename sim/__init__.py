"""Floor 3: Verilog, Verilator builds and their cache, the cocotb bench, the comparison."""
