"""Lower bounds on the costs of each collective on a grid, and the counted costs of a schedule.

The grid has N nodes. Each block has w words; an all-to-all has N^2 blocks, a broadcast one:

* **Steps**: ceil(log2 N). The nodes that have words of one node at most double in a step. In a
  gather, backwards in time, the same holds for the nodes whose words the root has. With p ports
  used at the same time, that number grows at most p + 1 times.
* **Hops**: N - 1: a send must enter every node except the root (in a gather: leave it);
  2 (N - 1) in an all-gather or all-to-all (see below).
* **Words x hops**: w for each node that a block must enter: w (N - 1) in a broadcast, w N (N - 1)
  in an all-gather. Otherwise w for each hop of each block's shortest path.
* **Words of a node**: w in a broadcast, w (N - 1) in all others. The root, or any node, must send
  or receive them.
* **Words of a link**: the largest of three shares: of one node's words on its links, of the words
  across a cut on the links of that cut, and of all words x hops on all links.

Blocks may be copied, travel together, take any route, and be cut into words on different paths.

**One step more.** Some node sends nothing in step 1 of an all-gather or all-to-all in two cases: if
N is odd and a node exchanges with one partner only (*exchange*), or if no node can send and receive
in one step (*half-duplex*). After step 1 no other node has its words; so ceil(log2 N) + 1 steps.
This bound is tight for exchange, and ceil(log2 N) for full-duplex, where links cost nothing
(W. Knödel, "New Gossips and Telephones", 1975; J. Bruck et al., "Efficient Algorithms for
All-to-All Communications in Multiport Message-Passing Systems", 1997). Half-duplex takes more from
N = 3 on, where it takes 4 (about 1.44 log2 N: S. Even and B. Monien, "On the Number of Rounds
Necessary to Disseminate Information", 1989); that bound is left out.

**Hops of all-gather and all-to-all.** List the sends of all steps, in order. Consider the first
send after which some node has all blocks that it is owed. By then each other node has sent its own
block: N - 1 sends. Each other node still has to receive: N - 1 more.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from ..network.port_model import PortModel
from ..network.topology import NO_LINK, Topology
from ..schedule.broadcast_bounds import least_broadcast_steps
from ..schedule.collective import Collective
from ..schedule.cost import count_cost
from ..schedule.same_sends import first_of_pairs
from ..schedule.schedule import Schedule
from .grid.sends import GridCollective


@dataclass(frozen=True)
class Costs:
    """Costs of a schedule.

    ``hops`` is its TCD: the links of all sends. ``word_hops`` counts each link once for each word
    of the send. ``node_words`` are the words that the busiest sender sends or the busiest receiver
    receives, whichever are more. ``link_words`` are the words on the busiest directed link, over
    all steps and VCs.
    """

    steps: int
    hops: int
    word_hops: int
    node_words: int
    link_words: int


@dataclass(frozen=True)
class Bound:
    """A number that no schedule can be below, and the reason, as half a sentence."""

    value: int
    reason: str


@dataclass(frozen=True)
class Bounds:
    """A bound for each of :class:`Costs`."""

    steps: Bound
    hops: Bound
    word_hops: Bound
    node_words: Bound
    link_words: Bound


def counted_costs(schedule: Schedule) -> Costs:
    """Count the costs of ``schedule``, on any topology."""
    carried = schedule.send_words
    nodes = schedule.topology.nodes
    ends = (schedule.source, schedule.target)
    once = [first_of_pairs(schedule.trees, end) for end in ends]
    return Costs(
        steps=schedule.steps,
        hops=schedule.tcd,
        word_hops=int(carried[schedule.hop_sends[schedule.crossings]].sum()),
        node_words=max(
            int(np.bincount(end[sends], carried[sends], nodes).max())
            for end, sends in zip(ends, once, strict=True)
        ),
        link_words=count_cost(schedule).busiest_link,
    )


def most_links(topology: Topology) -> int:
    """Return the most links that leave any node, except switches."""
    links = np.count_nonzero(topology.neighbor != NO_LINK, axis=1)
    links[list(topology.switches)] = 0
    return int(links.max())


def lower_bounds(
    collective: str, topology: Topology, source: int | None, words: int, port_model: PortModel
) -> Bounds:
    """Return the bounds for ``collective`` on a mesh, torus or hypercube of two nodes or more.

    ``source`` is its root, or None; ``port_model`` is one of :data:`~.PORT_MODELS`, and only the
    bound on steps depends on it. Raises :class:`.InvalidInput` as
    :class:`~.grid.sends.GridCollective` does, and for a single node.
    """
    asked = GridCollective(collective, "bounds", topology, source, words)
    others = topology.nodes - 1
    if not others:
        raise InvalidInput.of("nodes for bounds", "at least 2", topology.nodes)
    blocks = 1 if collective == Collective.BROADCAST else others
    distances = _distances(asked)
    link_words, reason = max(_link_words(asked, distances, words))
    return Bounds(
        steps=_steps(asked, port_model),
        hops=_hops(asked),
        word_hops=Bound(
            distances * words, f"blocks are {distances} hops from their goals together"
        ),
        node_words=Bound(blocks * words, f"a node must {_BUSIEST[collective]}"),
        link_words=Bound(link_words, reason),
    )


_BUSIEST: dict[str, str] = {
    Collective.BROADCAST: "receive the block",
    Collective.SCATTER: "send the blocks of all others",
    Collective.GATHER: "receive the blocks of all others",
    Collective.ALL_GATHER: "receive the blocks of all others",
    Collective.ALL_TO_ALL: "send a block to each other",
}


def _steps(asked: GridCollective, port_model: PortModel) -> Bound:
    nodes = asked.topology.nodes
    if port_model == PortModel.ALL_PORT:
        ports = most_links(asked.topology)
        reason = f"who has something of one node grow at most {ports + 1} times a step"
        return Bound(least_broadcast_steps(nodes, ports), reason)
    doubling = least_broadcast_steps(nodes)
    idle = port_model == PortModel.HALF_DUPLEX or (
        port_model == PortModel.EXCHANGE and nodes % 2 == 1
    )
    if not asked.rooted and idle:
        reason = "some node sends nothing in step 1; from then on its news at most doubles"
        return Bound(doubling + 1, reason)
    return Bound(doubling, "who has something of one node at most double in a step")


def _hops(asked: GridCollective) -> Bound:
    others = asked.topology.nodes - 1
    if not asked.rooted:
        reason = f"{others} sends until some node has everything, and {others} to the others"
        return Bound(2 * others, reason)
    moved = "left" if asked.name == Collective.GATHER else "entered"
    return Bound(others, f"each of {others} nodes must be {moved}")


def _distances(asked: GridCollective) -> int:
    """Return the hops of all blocks together, each by shortest paths to all nodes it is owed to."""
    topology = asked.topology
    nodes = topology.nodes
    if asked.name == Collective.BROADCAST:
        return nodes - 1
    if asked.name == Collective.ALL_GATHER:
        return nodes * (nodes - 1)
    total = 0
    for axis, side in enumerate(topology.dims):
        apart = _apart(side, axis in topology.wrapped)
        if asked.source is not None:
            place = int(topology.coordinates(asked.source)[axis])
            total += int(apart[place].sum()) * (nodes // side)
        else:
            total += int(apart.sum()) * (nodes // side) ** 2
    return total


def _apart(side: int, wrapped: bool) -> npt.NDArray[np.int64]:
    """Return the hops between any two positions of a line: shape (side, side)."""
    places = np.arange(side)
    apart: npt.NDArray[np.int64] = np.abs(places[:, np.newaxis] - places)
    return np.minimum(apart, side - apart) if wrapped else apart


def _link_words(asked: GridCollective, distances: int, words: int) -> list[tuple[int, str]]:
    """Return all bounds on the words of the busiest link, each with its reason."""
    return [
        (-(-blocks * words // links), reason)
        for blocks, links, reason in _shared_blocks(asked, distances)
    ]


def _shared_blocks(asked: GridCollective, distances: int) -> list[tuple[int, int, str]]:
    """Return (blocks, links, reason) wherever this many blocks must cross these links."""
    topology = asked.topology
    links = np.count_nonzero(topology.neighbor != NO_LINK, axis=1)
    if asked.name == Collective.BROADCAST:
        fewest = int(links.min())
        return [(1, fewest, f"the {fewest} links of node {links.argmin()} carry the block")]
    node = int(links.argmin()) if asked.source is None else asked.source
    found = [
        (
            topology.nodes - 1,
            int(links[node]),
            f"the {links[node]} links of node {node} carry {topology.nodes - 1} blocks one way",
        ),
        (
            distances,
            int(links.sum()),
            f"{links.sum()} links share {distances} hops of blocks",
        ),
    ]
    cuts = (
        _cut(asked, axis, place)
        for axis, side in enumerate(topology.dims)
        for place in range(1, side)
    )
    return found + list(cuts)


def _cut(asked: GridCollective, axis: int, place: int) -> tuple[int, int, str]:
    """Return (blocks, links, reason) of the cut between positions below ``place`` and the others.

    On a wrapped axis the lower part may be any part of that length that does not hold the root.
    """
    topology = asked.topology
    layer = topology.nodes // topology.dims[axis]
    below, above = place * layer, topology.nodes - place * layer
    wrapped = axis in topology.wrapped
    links = 2 * layer if wrapped else layer
    if asked.name == Collective.ALL_TO_ALL:
        blocks = below * above
    elif asked.source is None:
        blocks = max(below, above)
    else:
        low = not wrapped and topology.coordinates(asked.source)[axis] < place
        blocks = above if low else below
    where = f"the {links} links between {below} nodes and the others across axis {axis}"
    return blocks, links, f"{where} carry {blocks} blocks one way"
