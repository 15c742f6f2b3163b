"""Sweeps for tests."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from eyecast.sweeps.file import grids_of
from eyecast.sweeps.points import Point
from eyecast.sweeps.run import Done
from eyecast.sweeps.sweep import checked_points, run_here

SIX_POINTS = """
format = "eyecast-sweep"
version = 1

[[grid]]
kind = "collective"
network = "mesh 2x2"
algorithm = ["eye", "u-torus"]
source = "0,0"
words = [1, 4]

[[grid]]
kind = "traffic"
network = "mesh 2x2"
rate = [0.1, 0.3]
cycles = 100
"""
"""Four broadcasts, none of which u-torus serves, and traffic at two loads."""

BROADCAST = {"kind": "collective", "network": "mesh 2x2", "algorithm": "eye", "source": "0,0"}

LONG = {"kind": "traffic", "network": "mesh 8x8", "rate": 0.1, "cycles": 60_000}
"""Traffic that takes seconds."""


def sweep_of(*grids: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a sweep file with these grids."""
    return {"format": "eyecast-sweep", "version": 1, "grid": list(grids)}


def points_of(*grids: dict[str, Any]) -> list[Point]:
    return checked_points(grids_of(sweep_of(*grids)), Path())


def without_seconds(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without the one column that depends on the machine."""
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


class Counting:
    """A runner of points in this process; ``ran`` has their keys; it can stop like Ctrl-C."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.ran: list[str] = []
        self._stop_after = stop_after

    def __call__(self, groups: Sequence[Sequence[Point]]) -> Iterator[Done]:
        for key, rows in run_here(groups):
            if len(self.ran) == self._stop_after:
                raise KeyboardInterrupt
            self.ran.append(key)
            yield key, rows
