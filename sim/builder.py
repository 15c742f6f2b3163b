"""A process of its own that runs Verilator and the compiler and can be stopped whole."""

import sys
from collections.abc import Sequence
from pathlib import Path

from cocotb_tools.runner import get_runner

from eyecast.sim.build import VERILATOR_OPTIONS
from eyecast.sim.verilog import TOP_MODULE


def build(
    top: str, sources: Sequence[str], folder: Path, options: Sequence[str], *, waves: bool = False
) -> None:
    """Compile the simulator of the module ``top``; exit if that fails."""
    get_runner("verilator").build(
        sources=[Path(source) for source in sources],
        hdl_toplevel=top,
        build_dir=folder,
        build_args=options,
        waves=waves,
        timescale=("1ns", "1ns"),
        always=True,
    )


def main() -> None:
    """``builder BUILD_FOLDER WAVES SOURCE...``; exit status 0 if the simulator is built."""
    folder, waves, sources = Path(sys.argv[1]), sys.argv[2] == "waves", sys.argv[3:]
    build(TOP_MODULE, sources, folder, VERILATOR_OPTIONS, waves=waves)


if __name__ == "__main__":
    main()
