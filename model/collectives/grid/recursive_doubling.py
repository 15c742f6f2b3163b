"""Recursive doubling on grids: broadcast, scatter, gather, all-gather and all-to-all.

The textbook schedules (R. Thakur, R. Rabenseifner and W. Gropp, "Optimization of Collective
Communication Operations in MPICH", 2005), axis by axis.

**Broadcast and scatter** halve each line repeatedly. The node that has the message sends the other
half's words to that half's node next to the cut::

    step 1    .  .  .  s->r  .  .  .            ceil(log2 side) steps on each axis, any side
    step 2    .  r<----s  s---->r  .
    step 3    r<-s  r<-s  s->r  s->r            never two sends in one part: no link is shared

A wrapped line is first cut opposite the source. Blocks always move towards their target, so the
words x hops of a scatter are the least possible. **Gather** is scatter backwards. All are
half-duplex and use one VC.

**All-gather and all-to-all** exchange across one bit of the node number in each step: in step b of
log2 N, nodes exchange whose numbers differ in bit b. In an all-gather a node sends all its 2^b
blocks. In an all-to-all it sends the N / 2 blocks whose target differs from it in this bit. Sides
must be powers of two.

On a line the pairs of a step share links; at distance 4 there are four pairs::

    0---------->4            VC 0       Every pair has a VC of its own, that of its place in the
       1---------->5         VC 1       lower half of the part: no VC of a link is used twice. But
          2---------->6      VC 2       up to side / 2 messages share the link's cycles, so that
             3---------->7   VC 3       flits do wait for each other.

So 8 VCs, the most that a network may have, serve sides up to 16. Without VCs, one pair after the
other needs 2^b steps for step b, ``side - 1`` in all; a ring takes as many, with shorter sends.
The wrap links of a torus axis are not used: they would save no hop, as no exchange goes farther
than half-way round, and would need two dateline classes of VCs for half the pairs on each.
"""

from dataclasses import replace

import numpy as np

from ...network.topology import Topology
from ...schedule.collective import Collective
from .sends import Columns, GridCollective, LineSends, Sends, reach

MOST_VCS = 8


def halving_line(side: int, place: int, wrapped: bool) -> LineSends:
    """Serve a line from ``place`` by halving: a :data:`~.sends.Line`."""
    _, down = reach(side, place, wrapped)
    begin, end, holder = np.zeros(1, np.int64), np.array([side]), np.array([down])
    rows = [np.zeros((5, 0), np.int64)]
    for step in range(1, (side - 1).bit_length() + 1):
        whole = end - begin == 1
        done = begin[whole], end[whole], holder[whole]
        begin, end, holder = begin[~whole], end[~whole], holder[~whole]
        cut = (begin + end + 1) // 2
        left = holder < cut
        target = np.where(left, cut, cut - 1)
        first, last = np.where(left, cut, begin), np.where(left, end, cut)
        rows.append(np.stack((np.full_like(cut, step), holder, target, first, last - first)))
        begin, end, holder = (
            np.concatenate((done[0], begin, cut)),
            np.concatenate((done[1], cut, end)),
            np.concatenate(
                (done[2], np.where(left, holder, target), np.where(left, target, holder))
            ),
        )
    steps, sources, targets, begins, lengths = np.concatenate(rows, axis=1)
    # Until here the source has index ``down`` on the line; now it gets index ``place``.
    sources, targets, begins = (np.stack((sources, targets, begins)) + place - down) % side
    return LineSends(steps, sources, targets, begins, lengths)


def exchange_sends(collective: GridCollective) -> Sends:
    """Return the sends of an all-gather or all-to-all by exchanges across each node number bit.

    Raises :class:`.InvalidInput` for sides that are not powers of two up to 16.
    """
    topology = collective.topology
    for side in topology.dims:
        if side.bit_count() != 1 or side > 2 * MOST_VCS:
            sides = f"of sides that are powers of two up to {2 * MOST_VCS}, or served by ring"
            raise topology.refusal(f"recursive-doubling {collective.name}", sides)
    parts = []
    nodes = np.arange(topology.nodes)
    lowest = 0
    for side in topology.dims:
        highest = lowest + side.bit_length() - 1
        for bit in range(lowest, highest):
            size = 1 << bit
            if collective.name == Collective.ALL_GATHER:
                carried = (nodes & -size)[:, np.newaxis] + np.arange(size)
            else:
                carried = _turning(topology.nodes, bit)
            parts.append(
                Sends(
                    step=np.full(topology.nodes, bit + 1),
                    source=nodes,
                    target=nodes ^ size,
                    vc=(nodes & (size - 1)) >> lowest,
                    block_counts=np.full(topology.nodes, carried.shape[1]),
                    block_ids=carried.ravel(),
                )
            )
        lowest = highest
    return Sends.joined(parts)


def _turning(nodes: int, bit: int) -> Columns:
    """Return the blocks that each node sends across ``bit``: shape (nodes, nodes / 2).

    At this step of an all-to-all a node holds the blocks whose source equals it in the bits from
    ``bit`` on and whose target equals it in the bits below. It sends those whose target differs
    from it in ``bit``.
    """
    node = np.arange(nodes)[:, np.newaxis, np.newaxis]
    size = 1 << bit
    source = (node & -size) + np.arange(size)[:, np.newaxis]
    high = np.arange(0, nodes, 2 * size)
    target = high + (~node & size) + (node & (size - 1))
    blocks: Columns = source * nodes + target
    return blocks.reshape(nodes, nodes // 2)


def without_wrap_links(topology: Topology) -> Topology:
    """Return the mesh in a torus, on which exchanges are routed."""
    return replace(topology, wrapped=())
