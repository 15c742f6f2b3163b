"""A process of its own that builds the simulator of a board and can be stopped whole."""

from __future__ import annotations

import sys
from pathlib import Path

from eyecast.sim.build_worker import build

MODULE = "board"
"""The module that is simulated: a design behind the five pins."""

VERILATOR_OPTIONS = [
    # Only the pins need to be public; all signals would cost most of the speed.
    *("--public-depth", "1"),
    "-O3",
    *("--x-assign", "fast", "--x-initial", "fast"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style"),
    # In files of so many bytes, of which each has all headers before it.
    *("--output-split", "1000000"),
]


def main() -> None:
    """``proof_worker BUILD_FOLDER SOURCE``; exit status 0 if the simulator is built."""
    build(MODULE, [sys.argv[2]], Path(sys.argv[1]), VERILATOR_OPTIONS, level="-O1")


if __name__ == "__main__":
    main()
