"""Rings that turn in one or two steps: all-gather, and reduce-scatter backwards in time.

In an **all-gather** every node sends its own words, then the arriving words.

Node i of a ring sends to node i - 1 and receives from node i + 1. It sends blocks i, i + 1, i + 2 …
round the ring, so it can send on the arriving blocks in their order. They lie in memory in this
order too: each node reads and writes through a *window* (docs/router.md, section 20) as long as all
blocks of the ring, a power of two of words::

    ring 0 <- 1 <- 2 <- 3 <- 0       node 2 sends   | 2 | 3 | 0 |
                                     node 2 gets        | 3 | 0 | 1 |    all in one step

In a **reduce-scatter** node i begins one block later. It sends its own words of block i + 1, then
blocks i + 2, i + 3 … as they arrive from node i + 1, combined with its own words. The last block to
arrive is block i, combined from all nodes::

    ring 0 <- 1 <- 2 <- 3 <- 0       node 2 sends   | 3 | 0 | 1 |
                                     node 2 gets        | 0 | 1 | 2 |    all in one step

**One port** (:func:`stream_ring`): rings along the lines of a grid, axis by axis; after an axis a
node's block is all blocks of its line. (A reduce-scatter takes the last axis first.) On a line that
is not wrapped, node 0 sends to the last node by the links up the line, which no other node uses.
This needs windows, so sides and blocks are powers of two.

On any other network, and for any other words, one ring leads through all nodes: a known cycle, or
one of :mod:`.walks`. No window is needed, because every node has the blocks in the order in which
it sends them (:mod:`...schedule.stream_runs`). A reduce-scatter turns as drawn. In an all-gather
each node first sends its own block, in a separate step. The other blocks then lie in the order of
the reduce-scatter, so an all-reduce can be both in turn, with blocks of any words. In
:func:`closed_ring` the same ring turns step by step, and each block keeps one address in all nodes.

**All ports** (:func:`hamiltonian`): each block is cut, and each piece goes round a cycle of all
nodes, in one direction or the other: two pieces on a mesh, four on a torus with two cycles without
a common link (:mod:`.snakes`). All nodes get the last words of all pieces at the same time, and all
links of the cycles are always busy. If windows do not fit, the cycles turn step by step.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.errors import one_of, require_range
from ...base.ragged import even_shares
from ...network.port_model import PortModel
from ...network.routes import dimension_order
from ...network.topology import Topology
from ...schedule.block_runs import BlockRuns
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, Declared
from ..declared.request import Request
from .sends import SendList, blocks_for_all
from .snakes import mesh_cycle, torus_cycles
from .walks import Path, ring_through


def stream_ring(topology: Topology, words: int, *, windows: bool = True) -> Schedule:
    """Bring ``words`` words of each working node to all, by one ring for each line of each axis.

    If windows do not fit, or without ``windows``, one ring goes through all nodes. Raises
    :class:`.InvalidInput` if no ring is found, for example because nodes cannot be reached.
    """
    sends, ports = _turns(topology, words, combine=False, windows=windows)
    blocks = blocks_for_all(topology.working_nodes, words)
    return sends.schedule("stream-ring", topology, Collective.ALL_GATHER, ports, None, blocks)


def stream_ring_reduce_scatter(
    topology: Topology, words: int, operator: str, *, windows: bool = True
) -> Schedule:
    """Reduce-scatter by ``operator`` of ``words`` words for each node, as :func:`stream_ring`."""
    sends, ports = _turns(topology, words, combine=True, windows=windows)
    blocks = _one_each(topology.working_nodes.tolist(), words, operator)
    return sends.schedule("stream-ring", topology, Collective.REDUCE_SCATTER, ports, None, blocks)


def _one_each(owed: Iterable[int], words: npt.ArrayLike, operator: str) -> Blocks:
    """Return reduced blocks, each owed to one node."""
    return Blocks.reduced_to(tuple((node,) for node in owed), words, operator)


def _turns(
    topology: Topology, words: int, *, combine: bool, windows: bool
) -> tuple[SendList, PortModel]:
    """Return the sends of the rings of all axes, or of one ring of all nodes, and their ports."""
    require_range("words", words, 1)
    if not (windows and turns_in_windows(topology, words)):
        return _turn_of_all(topology, combine=combine), PortModel.FULL_DUPLEX
    sends = SendList()
    axes = [axis for axis, side in enumerate(topology.dims) if side > 1]
    for step, axis in enumerate(reversed(axes) if combine else axes, start=1):
        _turn_lines(sends, topology, axis, step, combine=combine)
    return sends, PortModel.FULL_DUPLEX if max(topology.dims) > 2 else PortModel.EXCHANGE


def turns_in_windows(topology: Topology, words: int) -> bool:
    """Return whether rings along the lines of a grid fit into windows: all sizes 2^k."""
    sizes = (*topology.dims, words)
    return topology.whole_grid and all(size.bit_count() == 1 for size in sizes)


def _turn_of_all(topology: Topology, *, combine: bool) -> SendList:
    """Return the sends of one ring of all nodes; an all-gather first has a step for own blocks."""
    sends, (paths, blocks) = SendList(), ring_of_all("stream-ring", topology)
    count = len(paths)
    for place, path in enumerate(paths if not combine else ()):
        sends.add(1, path, [blocks[place]])
    behind = count - 1 if combine else count - 2
    for place, path in enumerate(paths if behind > 0 else ()):
        carried = [blocks[place - back] for back in range(1, behind + 1)]
        sends.add(1 if combine else 2, path, carried, stream=behind > 1, combine=combine)
    return sends


def _turn_lines(
    sends: SendList, topology: Topology, axis: int, step: int, *, combine: bool
) -> None:
    """Add the sends of all rings along ``axis``."""
    side, low = topology.dims[axis], prod(topology.dims[:axis])
    nodes = np.arange(topology.nodes)
    place = nodes // low % side
    target = nodes + (np.where(place == 0, side, 0) - 1) * low
    offsets, path_nodes = dimension_order(_around(topology), nodes, target)
    listed = path_nodes.tolist()
    paths = [listed[begin:end] for begin, end in pairwise(offsets.tolist())]
    # A ring's blocks from the first carried one up to the last, then those from the first on.
    ring, begin = nodes - place * low - nodes % low, (place + combine) % side
    up = np.minimum(side - begin, side - 1)
    first = np.stack((ring + begin * low, ring), axis=1)
    count = np.stack((up, side - 1 - up), axis=1) * low
    for node, path in enumerate(paths):
        kept = count[node] > 0
        carried = BlockRuns(first[node, kept], count[node, kept]).array
        sends.add(step, path, carried, stream=side > 2, combine=combine)


def _around(topology: Topology) -> Topology:
    """Return the network for routes, in which an axis of two nodes is never wrapped."""
    wrapped = tuple(axis for axis in topology.wrapped if topology.dims[axis] > 2)
    return Topology(topology.kind, topology.dims, topology.neighbor, topology.peer, wrapped=wrapped)


def closed_ring(topology: Topology, words: int) -> Schedule:
    """Bring ``words`` words of each working node to all, step by step round one ring of them.

    Raises :class:`.InvalidInput` if no ring is found, for example because nodes cannot be reached.
    """
    require_range("words", words, 1)
    sends, (paths, blocks) = SendList(), ring_of_all("ring", topology)
    for step in range(1, len(paths)):
        for place, path in enumerate(paths):
            sends.add(step, path, [blocks[place - step + 1]])
    owned, name = blocks_for_all(topology.working_nodes, words), Collective.ALL_GATHER
    return sends.schedule("ring", topology, name, PortModel.FULL_DUPLEX, None, owned)


def ring_of_all(algorithm: str, topology: Topology) -> tuple[Sequence[Path], list[int]]:
    """Return the paths of a ring of all working nodes, and the block of each path's first node.

    Raises :class:`.InvalidInput` if no ring is found.
    """
    nodes = topology.working_nodes
    paths: Sequence[Path] | None
    if known := _known_cycles(topology):
        paths = list(pairwise([*known[0], known[0][0]]))
    else:
        paths = ring_through(topology)
    if paths is None:
        allowed = "one in which a ring of links that are used once leads through all nodes"
        raise topology.refusal(algorithm, allowed)
    return paths, [int(np.searchsorted(nodes, path[0])) for path in paths]


def hamiltonian(topology: Topology, words: int, *, streams: bool = True) -> Schedule:
    """Bring ``words`` words of each node to all on all ports, around cycles of all nodes.

    If windows do not fit, or without ``streams``, the cycles turn step by step. Raises
    :class:`.InvalidInput` if no cycle is known. Cycles are known on rings, and on meshes, tori and
    hypercubes of two axes or more with an even side, or tori with two cycles; all without faults.
    """
    sends, owners, lengths = _turns_of_cycles(topology, words, combine=False, streams=streams)
    blocks, name = blocks_for_all(owners, lengths), Collective.ALL_GATHER
    return sends.schedule("hamiltonian", topology, name, PortModel.ALL_PORT, None, blocks)


def hamiltonian_reduce_scatter(
    topology: Topology, words: int, operator: str, *, streams: bool = True
) -> Schedule:
    """Reduce-scatter by ``operator`` of ``words`` words for each node, as :func:`hamiltonian`."""
    sends, owners, lengths = _turns_of_cycles(topology, words, combine=True, streams=streams)
    blocks, name = _one_each(owners, lengths, operator), Collective.REDUCE_SCATTER
    return sends.schedule("hamiltonian", topology, name, PortModel.ALL_PORT, None, blocks)


def _turns_of_cycles(
    topology: Topology, words: int, *, combine: bool, streams: bool
) -> tuple[SendList, list[int], Numbers]:
    """Return the sends of all cycles, and the owners and lengths of the pieces of blocks."""
    require_range("words", words, 1)
    ways = [way for cycle in _cycles(topology) for way in (cycle, cycle[::-1])]
    count = topology.nodes
    lengths = [length for length in even_shares(words, len(ways)).tolist() if length]
    sends = SendList()
    whole = streams and len({*lengths}) == 1 and (count * lengths[0]).bit_count() == 1
    for piece, way in enumerate(ways[: len(lengths)]):
        first = piece * count
        for place, node in enumerate(way):
            path = (node, way[place - 1])
            begin = place + combine
            carried = [first + (begin + behind) % count for behind in range(count - 1)]
            if whole:
                sends.add(1, path, carried, stream=True, combine=combine)
            else:
                for step, block in enumerate(carried, start=1):
                    sends.add(step, path, [block], combine=combine)
    owners = [node for way in ways[: len(lengths)] for node in way]
    return sends, owners, np.repeat(lengths, count)


def _cycles(topology: Topology) -> list[list[int]]:
    """Return cycles through all nodes that share no link, from node 0; raise if none is known."""
    found = _known_cycles(topology)
    if found:
        return found
    grids = ("ring", "mesh", "torus", "hypercube")
    allowed = f"a {one_of(grids)} without faults in which a cycle is known"
    raise topology.refusal("hamiltonian", allowed)


def _known_cycles(topology: Topology) -> list[list[int]]:
    if not topology.whole_grid or topology.nodes < 3:
        return []
    sides = tuple(side for side in topology.dims if side > 1)
    if len(sides) == 2 and len(topology.wrapped) == 2:
        found = torus_cycles((sides[0], sides[1]))
        if found:
            return found
    if len(sides) == 1 and topology.wrapped:
        return [[*range(topology.nodes)]]
    cycle = mesh_cycle(topology.dims)
    return [] if cycle is None else [cycle]


def _stream_ring(asked: Request) -> Schedule:
    # Blocks in windows must be equal.
    return stream_ring(asked.topology, asked.words, windows=asked.block_words is None)


def _stream_ring_reduce_scatter(asked: Request) -> Schedule:
    windows = asked.block_words is None
    return stream_ring_reduce_scatter(asked.topology, asked.words, asked.combining, windows=windows)


def _hamiltonian(asked: Request) -> Schedule:
    # Streaming blocks must be equal.
    return hamiltonian(asked.topology, asked.words, streams=asked.block_words is None)


def _hamiltonian_reduce_scatter(asked: Request) -> Schedule:
    streams = asked.block_words is None
    return hamiltonian_reduce_scatter(asked.topology, asked.words, asked.combining, streams=streams)


_STREAM_RING = Declared(
    Collective.ALL_GATHER,
    "stream-ring",
    _stream_ring,
    networks="any network",
    steps="one for each axis of sides 2^k, otherwise 2",
)
_HAMILTONIAN = Declared(
    Collective.ALL_GATHER,
    "hamiltonian",
    _hamiltonian,
    networks="meshes of an even side, tori with cycles that share no link",
    steps="1 where N is 2^k, otherwise N − 1",
    takes=("all_port",),
    ports=(ALL,),
)
ALGORITHMS = (_STREAM_RING, _HAMILTONIAN)
REDUCE_SCATTERS = (
    replace(
        _STREAM_RING,
        collective=Collective.REDUCE_SCATTER,
        make=_stream_ring_reduce_scatter,
        takes=("operator",),
        steps="one for each axis of sides 2^k, otherwise 1",
    ),
    replace(
        _HAMILTONIAN,
        collective=Collective.REDUCE_SCATTER,
        make=_hamiltonian_reduce_scatter,
        takes=("all_port", "operator"),
    ),
)
