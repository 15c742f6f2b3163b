"""Floor 4: networks on FPGA boards: tops, bitstreams, and the serial line to load and read them."""
