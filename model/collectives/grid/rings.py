"""Collectives on grids from neighbour to neighbour: five of them, along lines and around rings.

The textbook schedules of rings (R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of
Collective Communication Operations in MPICH", 2005; Y. Saad and M. H. Schultz, "Data Communication
in Parallel Architectures", 1989), axis by axis. They take any sides and one VC, no two sends of a
step share a link, and no packet waits for another in a circle.

**Broadcast, scatter and gather** serve a line both ways from the root, from neighbour to neighbour;
a wrapped line is cut opposite the root::

    scatter   to 3 <- to 2 <- to 1 <- root -> to 1 -> to 2 -> to 3 -> to 4
              the root sends one node's block in each step, the farthest first; so all get theirs by
              step side - 1, when the root has sent its last

A broadcast takes the places up (or down, whichever is more) first and the others a step later.
Everything takes the shortest way: hops of a broadcast, and words x hops of a scatter or gather, are
the least that there are; so are the words that the root sends.

**All-gather and all-to-all** need rings. A line without a link between its ends is folded into
one, which crosses each link once in each direction, mostly two for one send::

    0 ------> 2 ------> 4 ----> 5            0 -> 2 -> 4 -> 5 -> 3 -> 1 -> 0
    ^----1 <------ 3 <----------'

* All-gather: each node sends up the ring, in step t what came in step t - 1. side - 1 steps, with
  the least words that a node can receive.
* All-to-all: first all that has no farther up the ring than down goes up, then the rest goes down;
  each step takes everything one place on. side - 1 steps; about half the words of a ring that turns
  one way only. On a torus axis every block takes a shortest way. On a folded one some take a longer
  one, up to 3/2 of the hops in all. But every step keeps every link busy, and for an even side they
  carry side^2 / 4 blocks each for each line, which is the least for those in the middle.
"""

from __future__ import annotations

from math import prod

import numpy as np

from ...base.pieces import ranges
from .sends import Columns, GridCollective, LineSends, Sends, reach


def scatter_line(side: int, place: int, wrapped: bool) -> LineSends:
    """Serve a line from ``place``, each node by a message of its own, the farthest one first.

    Of equally far nodes the one below is first. So the root of a wrapped line sends up and down in
    turn, and who passes on never has to send and receive in one step.
    """
    reaches = reach(side, place, wrapped)
    distance = np.concatenate([np.arange(1, length + 1) for length in reaches])
    way = np.repeat((1, -1), reaches)
    order = np.lexsort((way, -distance))
    distance, way = distance[order], way[order]
    hop = ranges(0, distance)
    start, way, goal = (
        np.repeat(column, distance) for column in (np.arange(1, side), way, way * distance)
    )
    step = start + hop
    in_order = np.argsort(step, kind="stable")
    sources, targets, goals = (
        (place + offset[in_order]) % side for offset in (way * hop, way * (hop + 1), goal)
    )
    return LineSends(step[in_order], sources, targets, goals, np.ones_like(goals))


def broadcast_line(side: int, place: int, wrapped: bool) -> LineSends:
    """Serve a line from ``place``, each way by one message, the longer way first."""
    up, down = reach(side, place, wrapped)
    hops = np.concatenate((np.arange(up), np.arange(down)))
    way = np.repeat((1, -1), (up, down))
    late = np.repeat((up < down, up >= down), (up, down))
    step = 1 + hops + late
    order = np.argsort(step, kind="stable")
    sources, targets = ((place + offset[order]) % side for offset in (way * hops, way * (hops + 1)))
    return LineSends(step[order], sources, targets, targets, np.ones_like(targets))


def ring_order(side: int, wrapped: bool) -> Columns:
    """The places of a line in the order of its ring: shape (side,)."""
    if wrapped:
        return np.arange(side)
    return np.concatenate((np.arange(0, side, 2), np.arange(1, side, 2)[::-1]))


def all_gather_sends(collective: GridCollective) -> Sends:
    """Axis by axis, the first one first: each line passes on what its nodes have so far."""
    topology = collective.topology
    nodes = np.arange(topology.nodes)
    parts = []
    steps = 0
    for axis, side in enumerate(topology.dims):
        stride = prod(topology.dims[:axis])
        order = ring_order(side, axis in topology.wrapped)
        rank, place = np.argsort(order), nodes // stride % side
        line = nodes - place * stride
        for back in range(side - 1):
            carried = line // stride * stride + order[rank[place] - back] * stride
            steps += 1
            parts.append(
                Sends(
                    step=np.full_like(nodes, steps),
                    source=nodes,
                    target=line + order[(rank[place] + 1) % side] * stride,
                    vc=np.zeros_like(nodes),
                    block_counts=np.full_like(nodes, stride),
                    block_ids=ranges(carried, np.full_like(nodes, stride)),
                )
            )
    return Sends.joined(parts)


def all_to_all_sends(collective: GridCollective) -> Sends:
    """Axis by axis, the first one first: every block goes to its target's place on each line."""
    topology = collective.topology
    source, target = np.divmod(np.arange(topology.nodes**2), topology.nodes)
    parts = []
    steps = 0
    for axis, side in enumerate(topology.dims):
        stride = prod(topology.dims[:axis])
        order = ring_order(side, axis in topology.wrapped)
        rank = np.argsort(order)
        begin, end = (rank[ends // stride % side] for ends in (source, target))
        # A block is at its target's place on the axes before, at its source's on those after.
        line = source // (stride * side) * (stride * side) + target % stride
        up = (end - begin) % side
        shorter = up <= side // 2
        for way, hops in ((1, np.where(shorter, up, 0)), (-1, np.where(shorter, 0, side - up))):
            for hop in range(int(hops.max())):
                steps += 1
                moving = np.flatnonzero(hops > hop)
                here, there = (
                    line[moving] + order[(begin[moving] + way * done) % side] * stride
                    for done in (hop, hop + 1)
                )
                parts.append(_step(steps, moving, here, there, topology.nodes))
    return Sends.joined(parts)


def _step(step: int, blocks: Columns, here: Columns, there: Columns, nodes: int) -> Sends:
    """The sends of one step, in which each node that has any of ``blocks`` sends them to one."""
    order = np.argsort(here, kind="stable")
    counts = np.bincount(here, minlength=nodes)
    source = np.flatnonzero(counts)
    counts = counts[source]
    target = there[order][np.cumsum(counts) - counts]
    every = np.full_like(source, step)
    return Sends(every, source, target, np.zeros_like(source), counts, blocks[order])
