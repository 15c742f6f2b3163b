"""Ranks of a file on the nodes of a network."""

from collections.abc import Iterable, Sequence

from ..model.base.errors import InvalidInput
from ..model.network.topology import Topology
from ..model.schedule.blocks import CUSTOM

OMITTED = {
    "topology": "network",
    "step": "steps",
    "path_nodes": "routes",
    "path_offsets": "routes",
    "vcs": "VCs",
    "port_model": "port model",
    "stream": "streams",
    "timed": "timetable",
    "circuits": "trees of circuits",
    "groups": "groups",
    "blocks.group": "groups",
    "requests": "request",
}
"""Facts of a schedule that no file of ranks holds: see :class:`.Format`."""


def nodes_of_ranks(topology: Topology, ranks: int, parameter: str) -> list[int]:
    """Return the node of each rank: rank r is the r-th working node, by number.

    Raises :class:`.InvalidInput` with ``parameter`` if there are more ranks than working nodes.
    """
    nodes: list[int] = topology.working_nodes.tolist()
    if ranks > len(nodes):
        allowed = f"at most {len(nodes)}, the working nodes of the {topology.label}"
        raise InvalidInput.of(parameter, allowed, ranks)
    return nodes[:ranks]


def nodes_of_parts(
    topology: Topology, nodes: Sequence[int], parts: Iterable[set[int] | frozenset[int]]
) -> tuple[tuple[int, ...] | None, ...]:
    """Return the nodes of each set of ranks in ``parts``; None for all working nodes.

    Rank r is on ``nodes[r]``. Owed nodes and contributors of blocks have this form.
    """
    everyone = topology.working_nodes.size
    return tuple(
        None if len(part) == everyone else tuple(nodes[rank] for rank in sorted(part))
        for part in parts
    )


def name_on(topology: Topology, collective: str, ranks: int) -> str:
    """Return the collective's name; custom if some working nodes have no rank."""
    return collective if ranks == topology.working_nodes.size else CUSTOM
