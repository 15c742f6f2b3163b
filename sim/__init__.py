"""Floor 3: Verilog and Verilator builds kept in a cache, the cocotb bench, comparison with the model."""
