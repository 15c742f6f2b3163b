"""A process that builds the simulator of a board, so that the build can be stopped as a whole."""

import sys
from pathlib import Path

from eyecast.sim.build_worker import QUICK_LEVEL, VERILATOR_OPTIONS, build

MODULE = "board"
"""The simulated module: a design behind the five pins."""

OPTIONS = [
    # Only the pins need to be public; all signals would cost most of the speed.
    *("--public-depth", "1"),
    *VERILATOR_OPTIONS,
    # Bytes per file; each file includes all headers.
    *("--output-split", "1000000"),
]


def main() -> None:
    """Run ``worker BUILD_FOLDER SOURCE``; exit status 0 if the simulator is built."""
    build(MODULE, [sys.argv[2]], Path(sys.argv[1]), OPTIONS, level=QUICK_LEVEL)


if __name__ == "__main__":
    main()
