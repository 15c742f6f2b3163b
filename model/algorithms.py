"""The algorithms by name. A new one is a module of its own and one entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .errors import InvalidInput
from .eye import eye_broadcast, eyes
from .minimum import best_sources, minimum_broadcast
from .rectangle import rectangle_broadcast, rectangle_eyes
from .schedule import Schedule
from .topology import Topology
from .tree import tree_broadcast
from .unicast_chain import u_mesh_broadcast, u_torus_broadcast, u_torus_open_broadcast


@dataclass(frozen=True)
class Algorithm:
    """One way to carry out a collective.

    ``generate(topology, source, words)`` makes the schedule; it raises :class:`InvalidInput` for a
    topology that the algorithm does not serve. ``landmarks(topology)`` are the nodes that its
    papers give a name and a picture marks.
    """

    collective: str
    name: str
    generate: Callable[[Topology, int, int], Schedule]
    landmarks: Callable[[Topology], tuple[int, ...]]


def _none(_topology: Topology) -> tuple[int, ...]:
    """No landmarks: the paper names no nodes."""
    return ()


ALGORITHMS = (
    Algorithm("broadcast", "eye", eye_broadcast, eyes),
    Algorithm("broadcast", "minimum", minimum_broadcast, best_sources),
    Algorithm("broadcast", "rectangle", rectangle_broadcast, rectangle_eyes),
    Algorithm("broadcast", "tree", tree_broadcast, _none),
    Algorithm("broadcast", "u-mesh", u_mesh_broadcast, _none),
    Algorithm("broadcast", "u-torus", u_torus_broadcast, _none),
    Algorithm("broadcast", "u-torus-open", u_torus_open_broadcast, _none),
)


def find_algorithm(collective: str, name: str) -> Algorithm:
    """The algorithm ``name`` for ``collective``; refused, with those that are known, if unknown."""
    for algorithm in ALGORITHMS:
        if (algorithm.collective, algorithm.name) == (collective, name):
            return algorithm
    collectives = sorted({algorithm.collective for algorithm in ALGORITHMS})
    if collective not in collectives:
        raise InvalidInput.of("collective", " or ".join(collectives), collective)
    names = [algorithm.name for algorithm in ALGORITHMS if algorithm.collective == collective]
    raise InvalidInput.of(f"algorithm for {collective}", " or ".join(names), name)


def landmarks(schedule: Schedule) -> tuple[int, ...]:
    """The nodes that a picture of ``schedule`` marks; none where its algorithm is not ours.

    Nor any where all are alike, as on a torus.
    """
    for algorithm in ALGORITHMS:
        if (algorithm.collective, algorithm.name) == (schedule.collective, schedule.algorithm):
            marked = algorithm.landmarks(schedule.topology)
            return () if len(marked) == schedule.topology.nodes else marked
    return ()
