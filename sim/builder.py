"""A process of its own that runs Verilator and the compiler and can be stopped whole."""

import sys
from pathlib import Path

from cocotb_tools.runner import get_runner

from eyecast.sim.build import VERILATOR_OPTIONS
from eyecast.sim.verilog import TOP_MODULE


def main() -> None:
    """``builder BUILD_FOLDER WAVES SOURCE...``; exit status 0 if the simulator is built."""
    build_folder, waves, sources = Path(sys.argv[1]), sys.argv[2] == "waves", sys.argv[3:]
    get_runner("verilator").build(
        sources=[Path(source) for source in sources],
        hdl_toplevel=TOP_MODULE,
        build_dir=build_folder,
        build_args=VERILATOR_OPTIONS,
        waves=waves,
        timescale=("1ns", "1ns"),
        always=True,
    )


if __name__ == "__main__":
    main()
