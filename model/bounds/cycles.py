"""Bounds in cycles: what no schedule can be faster than, on a network and with its ports.

A word crosses a link in a cycle (or R + 1, with R link registers), and a link or port carries one
word per cycle. So a collective takes at least

* **hops and ports**: the words that a node must get from k hops away or farther, over the ports by
  which it receives, and k cycles more, as none of them is there before; and the same of what it
  must send;
* **cuts**: the words that must leave a set of nodes, over the links that lead out of it, and the
  hops that the last one still has to go. With all ports, all cuts of what a node must get, or send
  to single nodes, are covered exactly by maximum flow (:mod:`.cuts`), up to :data:`MOST_EXACT`
  nodes. Of what is exchanged in pairs these are tried: both sides of a plane across a grid, and
  all nodes near one;
* **links**: the hops of all words together, over all links.

Nothing that the hardware adds is counted, neither header flits nor the steps' ends: a bound is for
any way to use these wires. One port is one word in and one out per cycle, in every port model but
all-port.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..base.texts import counted
from ..network.links import directed_links
from ..network.port_model import PortModel
from ..network.topology import Topology
from ..schedule.table import Blocks
from .cut import Cut, NodeSet
from .demand import Demand
from .hops import Numbers, hops_from

if TYPE_CHECKING:
    from .cuts import Cutter

MOST_EXACT = 256
"""Nodes of a network whose cuts are all covered: a second for all-gather on that many."""
MOST_PLANES = 1 << 12
"""Nodes of a grid that is cut at every place; a larger one at its ends and in the middle."""
MOST_PAIRS = 1 << 22
"""Pairs of an owner and a node whose distances are looked at."""


@dataclass(frozen=True, order=True)
class CycleBound:
    """Cycles that no schedule can be below, and why, as half a sentence."""

    value: int
    reason: str


def least_cycles(
    topology: Topology, blocks: Blocks, port_model: PortModel, *, hop_cycles: int = 1
) -> CycleBound:
    """The largest of all bounds for a collective with these ``blocks``.

    ``hop_cycles`` are the cycles that a hop takes, 1 and the registers of a link. The collective is
    taken to be possible: every node can reach those that it has words for.
    """
    demand = Demand.of(topology, blocks)
    if not len(demand.owners):
        return CycleBound(0, "nothing has to be sent")
    search = _Search(topology, demand, port_model, hop_cycles)
    return max(search.bounds())


class _Search:
    """All bounds of one demand."""

    def __init__(
        self,
        topology: Topology,
        demand: Demand,
        port_model: PortModel,
        hop_cycles: int,
    ) -> None:
        self._topology, self._demand, self._hop_cycles = topology, demand, hop_cycles
        self._begins, self._ends = directed_links(topology)
        ports_in = np.bincount(self._ends, minlength=topology.nodes)
        ports_out = np.bincount(self._begins, minlength=topology.nodes)
        self._all_port = port_model == PortModel.ALL_PORT
        if not self._all_port:
            ports_in, ports_out = np.minimum(ports_in, 1), np.minimum(ports_out, 1)
        self._ports_in, self._ports_out = ports_in, ports_out
        owners = demand.owners
        self._owners = owners
        self._near = len(owners) * topology.nodes <= MOST_PAIRS
        if self._near:
            self._hops = hops_from(topology, owners)
            self._between = demand.between(owners)

    def bounds(self) -> Iterator[CycleBound]:
        """All of them, in no order."""
        if self._near:
            yield from self._farthest()
            yield self._volume()
        else:
            yield from self._nodes()
        yield from self._tried_cuts()
        # With one port, the words of a node over it are more than those over any cut's links.
        if self._all_port and self._topology.nodes <= MOST_EXACT:
            yield from self._exact_cuts()

    def _farthest(self) -> Iterator[CycleBound]:
        """Words of a node that come, or go, so many hops or more."""
        owner, node = np.nonzero(self._between)
        hops, words = self._hops[owner, node], self._between[owner, node]
        yield from self._far(node, hops, words, self._ports_in, "get")
        shared = self._shared()[owner]
        reach = np.where(self._between > 0, self._hops, 0).max(axis=1)
        owners = self._owners
        yield from self._far(owners[owner], hops, words - shared, self._ports_out, "send")
        yield from self._far(owners, reach, self._shared(), self._ports_out, "send")

    def _far(
        self, node: Numbers, hops: Numbers, words: Numbers, ports: Numbers, verb: str
    ) -> Iterator[CycleBound]:
        """For each number of hops, the bound of the node with the most words as far or farther."""
        nodes, most = self._demand.nodes, int(hops.max(initial=0))
        if nodes * (most + 1) > MOST_PAIRS:
            # Too many to add up what is as far: each on its own.
            cycles = -(-words // np.maximum(ports[node], 1)) + hops * self._hop_cycles
            cycles[words == 0] = 0
            place = int(cycles.argmax())
            alone = np.zeros(nodes, np.int64)
            alone[node[place]] = words[place]
            yield self._port_bound(alone, ports, verb, int(hops[place]))
            return
        farther = np.zeros((most + 1, nodes), np.int64)
        np.add.at(farther, (hops, node), words)
        farther = np.cumsum(farther[::-1], axis=0)[::-1]
        for distance in range(1, most + 1):
            yield self._port_bound(farther[distance], ports, verb, distance)

    def _shared(self) -> Numbers:
        """Words of each owner that go to more than one node, and may be sent once for all."""
        shared = self._demand.to_all.copy()
        for owner, _, words in self._demand.several:
            shared[owner] += words
        return shared[self._owners]

    def _nodes(self) -> Iterator[CycleBound]:
        """Words of a node in a network too large for distances: they go one hop at least."""
        yield self._port_bound(self._demand.received(), self._ports_in, "get", 1)
        yield self._port_bound(self._demand.sent(), self._ports_out, "send", 1)

    def _port_bound(self, words: Numbers, ports: Numbers, verb: str, hops: int) -> CycleBound:
        cycles = np.where(words > 0, -(-words // np.maximum(ports, 1)) + hops * self._hop_cycles, 0)
        node = int(cycles.argmax())
        count = int(ports[node])
        by = "one port" if count == 1 else f"{count} ports"
        carried, way = counted(int(words[node]), "word"), counted(hops, "hop")
        reason = f"node {node} must {verb} {carried} by {by}, {way} away"
        return CycleBound(int(cycles[node]), reason)

    def _volume(self) -> CycleBound:
        """Hops of all words together, over all links."""
        demand = self._demand
        total = int(demand.to_all.sum()) * (len(demand.working) - 1)
        total += sum(len(targets) * words for _, targets, words in demand.several)
        rows = np.searchsorted(self._owners, demand.source)
        total += int((self._hops[rows, demand.target] * demand.words).sum())
        links = len(self._begins)
        share = "shares" if total == 1 else "share"
        reason = f"{counted(total, 'hop')} of words {share} {counted(links, 'link')}"
        return CycleBound(-(-total // max(links, 1)), reason)

    def _tried_cuts(self) -> Iterator[CycleBound]:
        """Cuts that are known to be tight where nodes exchange words in pairs."""
        for inside in self._sides():
            leaving = int((inside[self._begins] & ~inside[self._ends]).sum())
            words = self._crossing(inside)
            if leaving and words:
                yield self._cut_bound(Cut(inside, words, leaving), hops=1)

    def _sides(self) -> Iterator[NodeSet]:
        """Both sides of every plane across a grid, and the nodes up to some hops from each."""
        topology = self._topology
        places = topology.coordinates(np.arange(topology.nodes))
        for axis, side in enumerate(topology.dims):
            wrapped = axis in topology.wrapped
            every = range(1, side) if topology.nodes <= MOST_PLANES else {1, side // 2, side - 1}
            for place in {side // 2} if wrapped else every:
                below = places[:, axis] < place
                yield from (below, ~below)
        if topology.nodes <= MOST_EXACT and self._near:
            for row in self._hops:
                for radius in range(int(row.max())):
                    near = (row >= 0) & (row <= radius)
                    yield from (near, ~near)

    def _crossing(self, inside: NodeSet) -> int:
        """Words that must leave a set of nodes."""
        demand = self._demand
        crosses = inside[demand.source] & ~inside[demand.target]
        words = int(demand.words[crosses].sum())
        if not inside[demand.working].all():
            words += int(demand.to_all[inside].sum())
        for owner, targets, count in demand.several:
            if inside[owner] and not inside[list(targets)].all():
                words += count
        return words

    def _exact_cuts(self) -> Iterator[CycleBound]:
        """The tightest cuts of what each node must get; and of what it sends to single nodes."""
        # What is compiled takes long to import, and is of no use with one port.
        from .cuts import Cutter  # noqa: PLC0415

        demand = self._demand
        full = np.zeros((demand.nodes, demand.nodes), np.int64)
        full[self._owners] = self._between
        yield from self._cuts_of(full, Cutter(self._topology), "reach")
        alone = np.zeros((demand.nodes, demand.nodes), np.int64)
        np.add.at(alone, (demand.target, demand.source), demand.words)
        yield from self._cuts_of(alone, Cutter(self._topology, backwards=True), "come from")

    def _cuts_of(self, between: Numbers, cutter: Cutter, verb: str) -> Iterator[CycleBound]:
        """Tightest cuts between what each row's node has for each column's node."""
        ratio = Fraction(1)
        for node in np.flatnonzero(between.any(axis=0)).tolist():
            cut = cutter.tightest(between[:, node], node, ratio)
            if cut is not None and cut.links:
                ratio = cut.ratio
                yield self._cut_bound(cut, self._hops_left(cut, node, verb == "come from"))

    def _hops_left(self, cut: Cut, node: int, backwards: bool) -> int:
        """Hops of the last word: from the cut to all that need it, or from its only owner."""
        if backwards:
            hops = self._hops[np.searchsorted(self._owners, node)][cut.inside]
            return int(hops[hops >= 0].min())
        owning = cut.inside[self._owners]
        outside = ~cut.inside & np.isin(np.arange(self._demand.nodes), self._demand.working)
        common = bool(self._demand.to_all[cut.inside].any()) and not self._demand.source.size
        goals = np.flatnonzero(outside) if common and not self._demand.several else [node]
        if owning.sum() == 1:
            return int(self._hops[np.flatnonzero(owning)[0]][goals].max())
        return 1

    def _cut_bound(self, cut: Cut, hops: int) -> CycleBound:
        size = int(cut.inside.sum())
        where = f"node {int(np.argmax(cut.inside))}" if size == 1 else f"{size} nodes"
        links = counted(cut.links, "link")
        reason = f"{counted(cut.words, 'word')} must leave {where} by {links}"
        reason += f", and go {hops} hops" if hops > 1 else ""
        return CycleBound(-(-cut.words // cut.links) + hops * self._hop_cycles, reason)
