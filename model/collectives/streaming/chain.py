"""Broadcast and multicast along a chain of nodes, which pass the message on while it arrives.

All sends are in one step: every node sends to the next. Each node delays a word by 4 cycles, so a
message of L words takes little more than L cycles::

    root -> 1 -> 2 -> 3        L + 4 * (nodes - 1) cycles, and 4 for the step, where all nodes
                      |        of the chain are neighbours
     7 <- 6 <- 5 <- 4

For a short message the delay of the nodes dominates. So the chain may be cut into 2^k parts. In k
steps of recursive doubling the message goes to the first node of each part, and then along all
parts at the same time. Each such step costs one more message and halves the chain. The number of
parts with the fewest expected cycles is chosen.

A broadcast from the corner of a mesh uses a snake. Any other chain is the shortest walk through all
targets that :mod:`.walks` finds. A walk exists wherever links lead both ways: on graphs, through
switches and around faults.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from ...network.port_model import PortModel
from ...network.routes import dimension_order, shortest_paths
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.duration import expected_cycles
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared, multicast, rooted
from .sends import SendList
from .snakes import snake
from .walks import Path, chain_through


def chain_broadcast(topology: Topology, root: int, words: int) -> Schedule:
    """Send a message of ``words`` words from ``root`` along chains through all working nodes.

    Raises :class:`.InvalidInput` for a root that is faulty or a switch, and for a network in which
    no chain was found, such as one with nodes that cannot be reached.
    """
    topology.require_working("source", root)
    blocks = Blocks.of_broadcast(root, words)
    if topology.whole_grid and (order := snake(topology.dims, root)) is not None:
        return _chain(topology, Collective.BROADCAST, blocks, list(pairwise(order)))
    paths = _paths(topology, root, topology.working_nodes.tolist())
    return _chain(topology, Collective.BROADCAST, blocks, paths)


def chain_multicast(
    topology: Topology, root: int, targets: Iterable[int] | None, words: int
) -> Schedule:
    """Send ``words`` words from ``root`` along chains through ``targets``; None stands for all.

    ``root`` among the targets does not count. Raises :class:`.InvalidInput` as
    :func:`chain_broadcast` does, also for targets.
    """
    everyone = topology.working_nodes.tolist()
    goals = sorted({*(everyone if targets is None else targets)} - {root})
    for name, node in (("source", root), *(("target", goal) for goal in goals)):
        topology.require_working(name, node)
    one = Blocks.of_broadcast(root, words)
    blocks = Blocks(one.owner, (tuple(goals),), one.words)
    return _chain(topology, Collective.MULTICAST, blocks, _paths(topology, root, goals))


def _paths(topology: Topology, root: int, goals: list[int]) -> Sequence[Path]:
    """Return the paths of a chain from ``root`` through all ``goals``; raise if none is found."""
    paths = chain_through(topology, root, tuple(goals))
    if paths is None:
        allowed = "one in which a chain of links that are used once leads to all nodes"
        raise topology.refusal("chain", allowed)
    return paths


def _chain(topology: Topology, collective: str, blocks: Blocks, paths: Sequence[Path]) -> Schedule:
    """Return the schedule along ``paths``, with the number of parts expected to be fastest."""
    candidates = (
        _of_sends(topology, collective, blocks, sends)
        for parts in range(len(paths).bit_length() + 1)
        if (sends := _cut(topology, int(blocks.owner[0]), paths, parts)) is not None
    )
    return min(candidates, key=expected_cycles)


Send = tuple[int, Path, bool]
"""Step, path and whether the send streams."""


def _cut(topology: Topology, root: int, paths: Sequence[Path], parts: int) -> list[Send] | None:
    """Return the sends of a chain in 2 ** ``parts`` parts; None if sends of a step share a link."""
    order = [root, *(path[-1] for path in paths)]
    if 1 << parts > len(order):
        return None
    sends: list[Send] = []
    bounds = [0, len(order)]
    for step in range(1, parts + 1):
        middles = [(begin + end + 1) // 2 for begin, end in pairwise(bounds)]
        ends = [(order[begin], order[at]) for begin, at in zip(bounds[:-1], middles, strict=True)]
        ways = straight_paths(topology, ends)
        links = [link for way in ways for link in pairwise(way)]
        if len(set(links)) < len(links):
            return None
        sends += [(step, way, False) for way in ways]
        bounds = sorted({*bounds, *middles})
    first = {*bounds}
    for place, path in enumerate(paths, start=1):
        if place not in first:
            sends.append((parts + 1, path, place - 1 not in first))
    return sends


def straight_paths(topology: Topology, ends: list[tuple[int, int]]) -> list[Path]:
    """Return a shortest path between each pair of nodes; on a torus without wrap links."""
    sources, targets = np.array(ends, np.int64).reshape(-1, 2).T
    if topology.whole_grid:
        flat = Topology("mesh", topology.dims, topology.neighbor, topology.peer)
        offsets, nodes = dimension_order(flat, sources, targets)
    else:
        offsets, nodes = shortest_paths(topology.neighbor, sources, targets)
    listed = nodes.tolist()
    return [tuple(listed[begin:end]) for begin, end in pairwise(offsets.tolist())]


def _of_sends(topology: Topology, collective: str, blocks: Blocks, sends: list[Send]) -> Schedule:
    """Return the schedule of these sends of one block."""
    listed = SendList()
    for step, path, streams in sends:
        listed.add(step, path, [0], stream=streams)
    root, ports = int(blocks.owner[0]), PortModel.FULL_DUPLEX
    return listed.schedule("chain", topology, collective, ports, root, blocks)


ALGORITHMS = tuple(
    Declared(
        collective,
        "chain",
        make,
        networks="any network",
        steps="1 for long messages, otherwise more",
    )
    for collective, make in (
        (Collective.BROADCAST, rooted(chain_broadcast)),
        (Collective.MULTICAST, multicast(chain_multicast)),
    )
)
