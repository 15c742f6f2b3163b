"""A process of its own that builds the simulator of a board and can be stopped whole."""

from __future__ import annotations

import sys
from pathlib import Path

from eyecast.sim.build_worker import QUICK_LEVEL, VERILATOR_OPTIONS, build

MODULE = "board"
"""The module that is simulated: a design behind the five pins."""

OPTIONS = [
    # Only the pins need to be public; all signals would cost most of the speed.
    *("--public-depth", "1"),
    *VERILATOR_OPTIONS,
    # In files of so many bytes, of which each has all headers before it.
    *("--output-split", "1000000"),
]


def main() -> None:
    """``worker BUILD_FOLDER SOURCE``; exit status 0 if the simulator is built."""
    build(MODULE, [sys.argv[2]], Path(sys.argv[1]), OPTIONS, level=QUICK_LEVEL)


if __name__ == "__main__":
    main()
