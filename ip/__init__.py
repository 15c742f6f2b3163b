"""A network as a package for a chip: Verilog with all that a team asks for on the first day."""
