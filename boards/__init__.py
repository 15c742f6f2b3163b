"""Networks on FPGA boards: top modules, bitstreams, and the serial line to load and read them."""
