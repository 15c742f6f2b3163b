"""A process of its own that builds or runs the simulator of a board and can be stopped whole."""

from __future__ import annotations

import sys
from pathlib import Path

from eyecast.sim.build_worker import build
from eyecast.sim.run_worker import run

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


def main() -> int:
    """``proof_worker build BUILD_FOLDER SOURCE``, or ``run BUILD_FOLDER RUN_FOLDER``."""
    action, build_folder, other = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if action == "build":
        build(MODULE, [other], build_folder, VERILATOR_OPTIONS)
        return 0
    return run(MODULE, "eyecast.boards.proof.bench", build_folder, Path(other))


if __name__ == "__main__":
    sys.exit(main())
