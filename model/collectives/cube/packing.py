"""From the trees of a spanning graph to the sends: routing cycles, shares, packets.

A *routing cycle* is the paper's: a number for each link of each tree (:mod:`.routing_cycles`). In
one cycle, several packets of at most B words may cross a link. A cycle takes as many steps as its
busiest link has packets; the next cycle begins after them::

    cycle 0       cycle 1              cycle 2           B = 2 words
    0 -> 1: 2     0 -> 2: 3  1 -> 3: 1  ...
    step 1        step 2 and 3          step 4 ...

With n trees a message of M words is cut into n *shares*, one for each tree. M mod n shares are one
word longer (in the paper M is a multiple of n): the first ones, or ones spread over the trees.
Spread rotations load links less (section 5.1.4): trees 0 and 2 of nRSBT put 8 + 2 words on a link
of a 4-cube, trees 0 and 1 put 8 + 4. A share is one block if possible. If a packet must hold parts
of several shares, so that L words take only ceil(L / B) packets, blocks are pieces of
gcd(share, B) words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.errors import InvalidInput, one_of, require_range, with_article
from ...base.ragged import even_shares, ranges
from ...network.topology import Topology
from ...schedule.builder import Rows
from .bits import NO_PARENT
from .link_measures import ancestors_of_nodes
from .spanning_graphs import SpanningGraph

LARGEST_MESSAGE = (1 << 31) - 1
"""The most words of a message."""
LARGEST_TABLE = 1 << 26
"""Most rows of a schedule: the links that each block crosses, summed over the blocks."""


@dataclass(frozen=True, eq=False)
class Crossings:
    """Shares that cross links, one row for each crossing; columns of equal length, int64.

    In ``cycle`` (from 0) the share of ``message`` on ``tree`` goes from source to target.
    """

    cycle: Numbers
    source: Numbers
    target: Numbers
    message: Numbers
    tree: Numbers


@dataclass(frozen=True, eq=False)
class MessageBlocks:
    """The blocks of each message: piece p has ``words[p]`` words and goes by ``tree[p]``.

    A packet holds at most ``per_packet`` pieces.
    """

    words: Numbers
    tree: Numbers
    per_packet: int

    def __len__(self) -> int:
        """Return the number of pieces."""
        return int(self.words.size)


def require_cube(topology: Topology, graph: str, words: int, packet: int | None) -> int:
    """Return the dimension of a hypercube.

    Raises :class:`.InvalidInput` unless ``topology`` is a hypercube without faults, and for
    ``words`` or ``packet`` below 1.
    """
    if topology.kind != "hypercube" or topology.without_faults is not None:
        raise InvalidInput.of(
            f"topology for {graph}", "a hypercube without faults", with_article(topology.label)
        )
    require_range("words", words, 1, LARGEST_MESSAGE)
    if packet is not None:
        require_range("packet", packet, 1)
    return len(topology.dims)


def require_served(collective: str, graph: str, all_port: bool, served: tuple[str, ...]) -> None:
    """Raise :class:`.InvalidInput` for a spanning graph that does not serve the collective."""
    if graph not in served:
        ports = "all-port" if all_port else "one-port"
        raise InvalidInput.of(f"spanning graph of {ports} {collective}", one_of(served), graph)


def require_source(topology: Topology, source: int | None) -> int:
    """Return the root; raise :class:`.InvalidInput` if it is None or outside the cube."""
    if source is None:
        raise InvalidInput.of("source", "an integer", source)
    require_range("source", source, 0, topology.nodes - 1)
    return source


def require_no_source(collective: str, source: int | None) -> None:
    """Raise :class:`.InvalidInput` for a source, where every node is one."""
    if source is not None:
        raise InvalidInput.of(f"source of {collective}", "none, since all nodes are", source)


def require_rows(rows: int) -> None:
    """Raise :class:`.InvalidInput` for a schedule of more than :data:`LARGEST_TABLE` rows."""
    if rows > LARGEST_TABLE:
        raise InvalidInput.of("blocks carried by the sends", f"at most {LARGEST_TABLE}", rows)


def to_all(graph: SpanningGraph, cycles: list[Numbers]) -> Crossings:
    """Send message 0 from the root to all nodes, once over each link, in ``cycles[tree]``."""
    columns = []
    for number, (tree, cycle) in enumerate(zip(graph.trees, cycles, strict=True)):
        nodes = np.flatnonzero(tree.parent != NO_PARENT)
        columns.append(
            (cycle[nodes], tree.parent[nodes], nodes, 0 * nodes, np.full_like(nodes, number))
        )
    return _joined(columns)


def to_each(graph: SpanningGraph, cycles: list[Numbers] | None) -> Crossings:
    """Send message v from the root to each node v, in one of the paper's two orders.

    *Postorder*: all messages for a subtree cross the subtree's link in one cycle;
    ``cycles[tree][node]`` is that of the link into ``node``. If ``cycles`` is None, *reverse
    breadth first*: messages for the deepest nodes leave first. A graph of height h takes h cycles,
    and all messages arrive in the last.
    """
    require_rows(sum(int(tree.level.sum()) for tree in graph.trees))
    columns = []
    for number, tree in enumerate(graph.trees):
        for ancestors, nodes in ancestors_of_nodes(tree):
            if cycles is None:
                when = graph.height - 1 - (tree.level[nodes] - tree.level[ancestors])
            else:
                when = cycles[number][ancestors]
            ends = tree.parent[ancestors], ancestors
            columns.append((when, *ends, nodes, np.full_like(nodes, number)))
    return _joined(columns)


def from_all(crossings: Crossings, nodes: int, to_every: bool) -> Crossings:
    """Return the crossings of every node as root, translated from root 0 by exclusive or.

    Message m of root r becomes number r for ``to_every`` (an all-gather). Otherwise it goes to node
    m ^ r and becomes number r * nodes + (m ^ r).
    """
    require_rows(nodes * crossings.cycle.size)
    root = np.repeat(np.arange(nodes), crossings.cycle.size)

    def at_each(column: Numbers) -> Numbers:
        return np.tile(column, nodes)

    message = root if to_every else root * nodes + (at_each(crossings.message) ^ root)
    return Crossings(
        at_each(crossings.cycle),
        at_each(crossings.source) ^ root,
        at_each(crossings.target) ^ root,
        message,
        at_each(crossings.tree),
    )


def _joined(columns: Sequence[tuple[Numbers, ...]]) -> Crossings:
    return Crossings(*(np.concatenate(column) for column in zip(*columns, strict=True)))


def pack(
    crossings: Crossings,
    topology: Topology,
    words: int,
    trees: int,
    packet: int | None,
    *,
    spread: bool = False,
) -> tuple[MessageBlocks, Rows]:
    """Cut messages of ``words`` words into blocks, and the cycles into steps.

    ``spread`` spreads the longer shares over the trees.

    Block ``message * len(pieces) + p`` is piece p of a message. No send carries more than
    ``packet`` words; for None, all words that cross a link in one cycle are one packet.
    """
    share = even_shares(words, trees)
    if spread:
        share = -np.diff(-np.arange(trees + 1) * words // trees)
    kept = np.flatnonzero(share[crossings.tree])
    tree = crossings.tree[kept]
    nodes, ports = topology.nodes, topology.ports
    across = topology.ports_between(crossings.source[kept], crossings.target[kept])
    link = (crossings.cycle[kept] * nodes + crossings.source[kept]) * ports + across
    pieces = _pieces(link, share, tree, packet)
    of_tree = np.bincount(pieces.tree, minlength=trees)
    copies = of_tree[tree]
    require_rows(int(copies.sum()))
    first = (np.cumsum(of_tree) - of_tree)[tree]
    block = np.repeat(crossings.message[kept] * len(pieces) + first, copies) + ranges(0, copies)
    # One number for each row sorts far faster than two columns; the numbers stay below 2^60.
    count = int(block.max(initial=0)) + 1
    link, block = np.divmod(np.sort(np.repeat(link, copies) * count + block), count)
    number = ranges(0, _runs(link)) // pieces.per_packet
    link, across = np.divmod(link, ports)
    cycle, source = np.divmod(link, nodes)
    needed = np.zeros(int(cycle.max(initial=0)) + 1, np.int64)
    np.maximum.at(needed, cycle, number + 1)
    step = (np.cumsum(needed) - needed)[cycle] + number + 1
    target = topology.neighbor[source, across].astype(np.int64)
    return pieces, Rows(step, source, target, block)


def _pieces(link: Numbers, share: Numbers, tree: Numbers, packet: int | None) -> MessageBlocks:
    """Cut the shares into pieces; each row of ``link`` and ``tree`` is a share crossing a link."""
    used = np.flatnonzero(share)
    whole = MessageBlocks(share[used], used, max(1, link.size))
    if packet is None:
        return whole
    _, place, count = np.unique(link, return_inverse=True, return_counts=True)
    if packet >= np.bincount(place, weights=share[tree]).max(initial=0):
        return whole
    if count.max(initial=1) == 1:
        return even_pieces(share, packet)
    unit = gcd(packet, *share[used].tolist())
    copies = share[used] // unit
    require_rows(int(copies.sum()))
    return MessageBlocks(np.full(copies.sum(), unit), np.repeat(used, copies), packet // unit)


def even_pieces(share: Numbers, packet: int) -> MessageBlocks:
    """Cut each share into the fewest pieces of at most ``packet`` words, as equal as possible."""
    used = np.flatnonzero(share)
    counts = -(-share[used] // packet)
    require_rows(int(counts.sum()))
    words = [
        even_shares(*sizes) for sizes in zip(share[used].tolist(), counts.tolist(), strict=True)
    ]
    return MessageBlocks(np.concatenate(words), np.repeat(used, counts), 1)


def pipeline(graph: SpanningGraph, cycles: list[Numbers], tree: Numbers, start: Numbers) -> Rows:
    """Send packets from the root to all nodes: packet p, which is block p, down ``tree[p]``.

    Packet p crosses a link ``start[p]`` steps after the link's cycle.
    """
    require_rows(tree.size * graph.nodes)
    parent = np.stack([each.parent for each in graph.trees])[tree]
    step = np.stack(cycles)[tree] + start[:, None] + 1
    block, target = np.nonzero(parent != NO_PARENT)
    return Rows(step[block, target], parent[block, target], target, block)


def _runs(values: npt.NDArray[np.int64]) -> Numbers:
    """Return the lengths of the runs of equal values."""
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True)[: values.size])
    return np.diff(ends, prepend=-1)
