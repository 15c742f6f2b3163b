"""Floor 4: FPGA tops, constraints and bitstream builds. Empty until the network runs on a board."""
