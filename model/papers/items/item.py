"""An item of a paper: a table, figure or claim, its printed values beside ours, and pictures.

A printed value is data copied from the paper; it is None where the paper (or its scan) has none.
Every other value is computed. A row whose values differ names its entry in ``docs/errata.md``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...collectives.cube.spanning_graphs import SpanningGraph
from ...network.topology import Topology
from ...schedule.schedule import Schedule

Grid = npt.NDArray[np.integer]
"""A number for each node of a 2-D mesh; shape (height, width)."""

Node = tuple[int, ...]
"""The coordinates of a node."""


@dataclass(frozen=True)
class Row:
    """A row of an item; ``erratum`` is the first cell of its entry in ``docs/errata.md``."""

    labels: tuple[object, ...]
    printed: object
    ours: object
    erratum: str = ""

    @property
    def mark(self) -> str:
        """The erratum if the printed value differs from ours, otherwise nothing."""
        return self.erratum if self.printed not in (None, self.ours) else ""


@dataclass(frozen=True)
class Sends:
    """A picture of a schedule with ``marked`` nodes."""

    schedule: Schedule
    marked: Sequence[int] = ()


@dataclass(frozen=True)
class Maps:
    """A picture of 2-D meshes whose nodes are coloured by their numbers, side by side.

    ``eyes`` and ``best`` are nodes (x, y) to mark on the map of that name; ``squares`` are outlines
    on every map: (name, x, y, side), from the lowest corner of each.
    """

    title: str
    maps: Mapping[str, Grid]
    eyes: Mapping[str, Sequence[Node]] = field(default_factory=dict)
    best: Mapping[str, Sequence[Node]] = field(default_factory=dict)
    squares: Sequence[tuple[str, float, float, float]] = ()
    columns: int = 3


@dataclass(frozen=True)
class Lines:
    """A picture of lines by name over ``along``; ``log`` is the base of its axis, 0 if linear."""

    title: str
    across: str
    upwards: str
    along: Sequence[float]
    lines: Mapping[str, Sequence[float]]
    log: int = 0


@dataclass(frozen=True)
class Trees:
    """A picture of the trees of a hypercube; ``labels`` has a text for the link into a node."""

    title: str
    graph: SpanningGraph
    labels: Sequence[Mapping[int, str]] = ()


Picture = Sends | Maps | Lines | Trees


@dataclass(frozen=True)
class Item:
    """A table, figure or claim: rows with the columns ``labels``, "printed" and "ours".

    ``pictures`` are by suffix of the file's name, such as "4x4"; "" if there is one only.
    """

    title: str
    labels: Sequence[str]
    rows: Sequence[Row]
    note: str = ""
    pictures: Mapping[str, Picture] = field(default_factory=dict)


@dataclass(frozen=True)
class Setting:
    """Choices for the items of a paper.

    ``mesh`` replaces the meshes of the maps of TCDs. The others are of Johnsson & Ho: the dimension
    n, the words M of the message or of each block, the most words B of a packet, and the times τ
    and t_c.
    """

    mesh: Topology | None = None
    dimension: int = 4
    words: int = 16
    packet: int = 4
    tau: float = 8e-3
    tc: float = 0.8e-6


@dataclass(frozen=True)
class Paper:
    """A paper: its title, authors and year, and its items by name, in the paper's order."""

    citation: str
    heading: str
    items: Mapping[str, Callable[[Setting], Item]]


def named(topology: Topology, nodes: Sequence[int]) -> str:
    """Return the coordinates of nodes as text, in ascending order: "(1,1) (2,1)"."""
    points = topology.coordinates(np.array(sorted(nodes), dtype=np.int64)).tolist()
    return " ".join(f"({','.join(map(str, point))})" for point in points)
