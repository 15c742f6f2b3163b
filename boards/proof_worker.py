"""A process of its own that builds or runs the simulator of a board and can be stopped whole."""

from __future__ import annotations

import sys
from pathlib import Path

from cocotb_tools.runner import get_results, get_runner

MODULE = "board"
"""The module that is simulated: a design behind the five pins."""

VERILATOR_OPTIONS = [
    # cocotb asks for every signal to be public, which costs most of the speed. Only the pins need
    # to be.
    "--no-public-flat-rw",
    *("--public-depth", "1"),
    "-O3",
    *("--x-assign", "fast", "--x-initial", "fast"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style"),
]


def build(build_folder: str, source: str) -> int:
    """Compile the simulator of the module ``board`` in a file; 0 if it is built."""
    get_runner("verilator").build(
        sources=[Path(source)],
        hdl_toplevel=MODULE,
        build_dir=build_folder,
        build_args=VERILATOR_OPTIONS,
        timescale=("1ns", "1ns"),
        always=True,
    )
    return 0


def run(build_folder: str, run_folder: str) -> int:
    """Run the simulator in ``build_folder`` with the bench; 0 if the bench came to its end."""
    results = get_runner("verilator").test(
        test_module="eyecast.boards.proof_bench",
        hdl_toplevel=MODULE,
        hdl_toplevel_lang="verilog",
        build_dir=build_folder,
        test_dir=run_folder,
        results_xml=str(Path(run_folder) / "results.xml"),
        log_file=Path(run_folder) / "simulator.log",
    )
    _, failed = get_results(results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit({"build": build, "run": run}[sys.argv[1]](*sys.argv[2:]))
