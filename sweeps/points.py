"""Points of a sweep: every combination of a grid's values, each with its own key."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from ..model.base.errors import InvalidInput
from ..model.base.version import __version__
from ..model.collectives.declared.request import words_of
from ..model.collectives.registry import algorithms_for
from ..sim.cache import digest, source_digest
from .file import Grid
from .layout import ALL, COLLECTIVE

MOST_POINTS = 100_000

RESULTS_FROM = (
    *("model/**/*.py", "rtl/**/*.py", "sim/**/*.py"),
    *("sweeps/collective.py", "sweeps/traffic.py", "sweeps/saturation.py", "sweeps/warm_up.py"),
    *("formats/**/*.py", "sweeps/workload.py"),
    *("sweeps/facts.py", "sweeps/layout.py", "sweeps/networks.py", "sweeps/run.py"),
)
"""Source files that affect the result of a point."""


@dataclass(frozen=True)
class Point:
    """One run of a sweep.

    key
        A digest of its values, the version and the sources; equal points have equal keys.
    kind
        The kind of its grid.
    values
        The value of each key of the grid, the content of a graph's file as "graph", and path and
        digest of a workload's file as "file".
    """

    key: str
    kind: str
    values: dict[str, Any]


@cache
def sources() -> str:
    """Return a digest of the sources that affect results, computed at the first call."""
    return source_digest(*RESULTS_FROM)


def require_count(grids: Iterable[Grid]) -> None:
    """Raise :class:`.InvalidInput` for more points than :data:`MOST_POINTS`."""
    count = sum(grid.count for grid in grids)
    if count > MOST_POINTS:
        raise InvalidInput.of("points", f"at most {MOST_POINTS}", count)


def points_of(grids: Sequence[Grid], named: dict[str, dict[str, object]]) -> list[Point]:
    """Return the points of ``grids`` in order without duplicates.

    ``named`` has the networks and workloads of files, by their words.
    """
    made_of = sources()
    points: dict[str, Point] = {}
    for kind, values in _combinations(grids):
        for key, name in (("graph", "network"), ("file", "workload")):
            if values.get(name) in named:
                values[key] = named[values[name]]
        described = json.dumps([kind, values], sort_keys=True)
        key = digest(__version__, made_of, described)
        points.setdefault(key, Point(key, kind, values))
    return list(points.values())


def _combinations(grids: Iterable[Grid]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Cross the values of each grid; "all" stands for every algorithm, and a barrier has 1 word."""
    for grid in grids:
        for combination in product(*grid.axes.values()):
            values = dict(zip(grid.axes, combination, strict=True))
            values |= {name: [*each] for name, each in values.items() if isinstance(each, range)}
            if grid.kind == COLLECTIVE:
                values["words"] = words_of(values["collective"], values["words"])
            if values.get("algorithm") != ALL:
                yield grid.kind, values
                continue
            circuits = bool(values.get("circuits"))
            for algorithm in algorithms_for(values["collective"], circuits=circuits):
                yield grid.kind, values | {"algorithm": algorithm.name}
