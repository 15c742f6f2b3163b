"""The writer of readable Verilog: each component is one module, written once."""
