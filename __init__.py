"""Eyecast: collective communication compiled to injection tables and proved on router hardware.

The repository root is this package. Each folder is a floor that imports only those below it:

    model    everything that can be known without hardware
    rtl      Amaranth descriptions of the router, the network interface and the network
    sim      Verilog, Verilator builds, cocotb benches, trace comparison
    boards   FPGA tops and bitstreams
    picture  pictures of schedules, links, places and costs
    cli      the ``eyecast`` command; cli/main.py lists its parts
"""

__version__ = "0.1.0"
