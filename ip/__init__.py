"""A network as a package for a chip: Verilog, registers, driver, constraints and bench."""
