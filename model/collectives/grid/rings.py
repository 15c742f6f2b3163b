"""Five collectives on grids, from neighbour to neighbour along lines and around rings.

The textbook schedules of rings (R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of
Collective Communication Operations in MPICH", 2005; Y. Saad and M. H. Schultz, "Data Communication
in Parallel Architectures", 1989), axis by axis. They serve any sides with one VC. No two sends of a
step share a link, and no circle of packets can wait for itself.

**Broadcast, scatter and gather** serve a line in both directions from the root, from neighbour to
neighbour; a wrapped line is cut opposite the root::

    scatter   to 3 <- to 2 <- to 1 <- root -> to 1 -> to 2 -> to 3 -> to 4
              the root sends one node's block in each step, the farthest first; so all nodes have
              their blocks by step side - 1, when the root sends its last

A broadcast serves the longer direction first and the other one step later. All paths are shortest:
the hops of a broadcast and the words x hops of a scatter or gather are the least possible, and so
are the words that the root sends.

**All-gather and all-to-all** need rings. A line that is not wrapped is folded into a ring. The ring
uses each link once in each direction; most of its sends cross two links::

    0 ------> 2 ------> 4 ----> 5            0 -> 2 -> 4 -> 5 -> 3 -> 1 -> 0
    ^----1 <------ 3 <----------'

* All-gather: each node sends up the ring, in step t the block it received in step t - 1. It takes
  side - 1 steps, and nodes receive the least possible words.
* All-to-all: first the blocks for which up is not longer than down go up, then the others go down,
  one node on in each step. It takes side - 1 steps, with about half the words of a ring that uses
  one direction. On a torus axis every block takes a shortest path. On a folded axis some paths are
  longer, up to 3/2 of the hops in all. But every step keeps every link busy. For an even side each
  link carries side^2 / 4 blocks for each line, the least possible for the links in the middle.
"""

from math import prod

import numpy as np

from ...base.ragged import ranges
from ...schedule.block_runs import BlockRuns
from .sends import Columns, GridCollective, LineSends, Sends, reach


def scatter_line(side: int, place: int, wrapped: bool) -> LineSends:
    """Serve a line from ``place``, each node by a message of its own, the farthest node first.

    Of equally far nodes the lower one is first. So the root of a wrapped line sends up and down in
    turn, and a node that passes on never sends and receives in the same step.
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
    """Serve a line from ``place`` with one message in each direction, the longer one first."""
    up, down = reach(side, place, wrapped)
    hops = np.concatenate((np.arange(up), np.arange(down)))
    way = np.repeat((1, -1), (up, down))
    late = np.repeat((up < down, up >= down), (up, down))
    step = 1 + hops + late
    order = np.argsort(step, kind="stable")
    sources, targets = ((place + offset[order]) % side for offset in (way * hops, way * (hops + 1)))
    return LineSends(step[order], sources, targets, targets, np.ones_like(targets))


def ring_order(side: int, wrapped: bool) -> Columns:
    """Return the coordinates of a line's nodes in the order of its ring: shape (side,)."""
    if wrapped:
        return np.arange(side)
    return np.concatenate((np.arange(0, side, 2), np.arange(1, side, 2)[::-1]))


def all_gather_sends(collective: GridCollective) -> Sends:
    """Return the sends of an all-gather, axis by axis: each line passes on its nodes' blocks."""
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
                    block_ids=BlockRuns(carried, np.full_like(nodes, stride)).array,
                )
            )
    return Sends.joined(parts)


def all_to_all_sends(collective: GridCollective) -> Sends:
    """Return the sends of an all-to-all: on each axis in turn blocks reach their coordinate."""
    topology = collective.topology
    source, target = np.divmod(np.arange(topology.nodes**2), topology.nodes)
    parts = []
    steps = 0
    for axis, side in enumerate(topology.dims):
        stride = prod(topology.dims[:axis])
        order = ring_order(side, axis in topology.wrapped)
        rank = np.argsort(order)
        begin, end = (rank[ends // stride % side] for ends in (source, target))
        # A block has its target's coordinates on the axes before, its source's on those after.
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
    """Return the sends of one step; each node with any of ``blocks`` sends them to one node."""
    order = np.argsort(here, kind="stable")
    counts = np.bincount(here, minlength=nodes)
    source = np.flatnonzero(counts)
    counts = counts[source]
    target = there[order][np.cumsum(counts) - counts]
    every = np.full_like(source, step)
    return Sends(every, source, target, np.zeros_like(source), counts, blocks[order])
