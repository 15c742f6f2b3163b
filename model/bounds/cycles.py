"""Lower bounds in cycles: no schedule is faster on a network with the given ports.

A word crosses a link in 1 cycle (R + 1 with R link registers), and a link or port carries one word
per cycle (a link of rate r, one in r cycles). So a collective takes at least

* **hops and ports**: the words that a node must get from k or more hops away, divided by the ports
  by which it receives, plus k cycles, because no word arrives earlier; the same for the words that
  a node must send;
* **cuts**: the words that must leave a set of nodes, divided by the links out of it, plus the hops
  that remain for the last word. With all ports, maximum flow (:mod:`.tightest_cut`) covers all cuts
  for the words that a node must get, or send to single nodes, up to :data:`MOST_EXACT` nodes. For
  pairwise exchange these cuts are tried: both sides of a plane across a grid, and all nodes near
  one;
* **links**: the hops of all words together, divided by all links.

The bounds count neither header flits nor the end of a step: they hold for any way to use these
wires. In every port model except all-port, a node gets one word and sends one word per cycle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.texts import counted
from ..network.links import directed_links
from ..network.node_names import node_name
from ..network.port_model import PortModel
from ..network.topology import NO_LINK, Topology
from ..schedule.blocks import Blocks
from .cut import Cut, shares
from .demand import Demand
from .hops import hops_from, lengths_from
from .sides import NodeSets, sides

if TYPE_CHECKING:
    from .tightest_cut import Cutter

MOST_EXACT = 256
"""Most nodes of a network for the exact cuts; an all-gather on that many takes a second."""
MOST_PAIRS = 1 << 22
"""Most pairs of an owner and a node whose distances are computed. For more pairs only those of the
first and of the last owner are."""


@dataclass(frozen=True, order=True)
class CycleBound:
    """A lower bound in cycles, and its reason as half a sentence."""

    value: int
    reason: str

    def times(self, cycles: int) -> str:
        """Return cycles divided by the bound, as text: "1.23"."""
        return f"{cycles / max(1, self.value):.2f}"


def least_cycles(
    topology: Topology, blocks: Blocks, port_model: PortModel, *, hop_cycles: int = 1
) -> CycleBound:
    """Return the largest bound for a collective with these ``blocks``.

    ``hop_cycles`` are the cycles of a hop: 1 plus the registers of a link. Where links differ, they
    are those of a link of which the topology says nothing, and paths are as long as the latencies
    of their links. Every node must be able to reach the nodes that it has words for.
    """
    demand = Demand.of(topology, blocks)
    if not len(demand.owners):
        return CycleBound(0, "nothing has to be sent")
    search = _Search(topology, demand, port_model, hop_cycles)
    return max(search.bounds())


class _Search:
    """The bounds of one demand."""

    def __init__(
        self,
        topology: Topology,
        demand: Demand,
        port_model: PortModel,
        hop_cycles: int,
    ) -> None:
        self._topology, self._demand, self._hop_cycles = topology, demand, hop_cycles
        self._shares, self._share_cycles = shares(topology)
        self._all_port = port_model == PortModel.ALL_PORT
        self._ports_in, self._ports_out = _ports(topology, all_port=self._all_port)
        owners = demand.owners
        self._near = len(owners) * topology.nodes <= MOST_PAIRS
        self._owners = owners if self._near else np.unique(owners[[0, -1]])
        # A word occupies each link on its way for the link's rate.
        self._hops = self._loads = hops_from(topology, self._owners)
        if topology.links_differ:
            # Then ``_hops`` are cycles.
            latencies = 1 + topology.registers_of(hop_cycles - 1)
            self._hops, self._hop_cycles = lengths_from(topology, self._owners, latencies), 1
            self._loads = lengths_from(topology, self._owners, topology.rates)
        self._between = demand.between(self._owners)

    def bounds(self) -> Iterator[CycleBound]:
        """Yield all bounds, in no order."""
        yield from self._nodes()
        yield from self._farthest()
        if self._near:
            yield self._volume()
        # With one port and only words for all nodes, no cut gives a larger bound than a port.
        copied = self._demand.source.size == 0 and not self._demand.several
        if self._all_port or not copied or self._topology.links_differ:
            yield from self._tried_cuts()
        if self._all_port and self._topology.nodes <= MOST_EXACT:
            yield from self._exact_cuts()

    def _nodes(self) -> Iterator[CycleBound]:
        """Yield the bounds from all words of a node, which cross at least one hop."""
        every = np.arange(self._demand.nodes)
        yield self._port_bound(every, self._demand.received(), self._ports_in, "get", 1)
        yield self._port_bound(every, self._demand.sent(), self._ports_out, "send", 1)

    def _farthest(self) -> Iterator[CycleBound]:
        """Yield the bounds from the words of a node that cross k or more hops, for each k."""
        every, most = np.arange(self._demand.nodes), int(self._hops.max(initial=0))
        if self._summed(every, most):
            owner, node = np.nonzero(self._between)
            hops, words = self._hops[owner, node], self._between[owner, node]
            yield from self._far(every, node, hops, words, self._ports_in, "get")
        else:
            for hops, words in zip(self._hops, self._between, strict=True):
                yield from self._far(every, every, hops, words, self._ports_in, "get")
        row, hops, words = np.array(list(self._sent()), np.int64).reshape(-1, 3).T
        yield from self._far(self._owners, row, hops, words, self._ports_out, "send")

    def _sent(self) -> Iterator[tuple[int, int, int]]:
        """Yield (row of the owner, hops to the farthest target, words that it sends once)."""
        demand, rows = self._demand, {node: row for row, node in enumerate(self._owners.tolist())}
        for node, row in rows.items():
            if demand.to_all[node]:
                yield row, int(self._hops[row][demand.working].max()), int(demand.to_all[node])
        for owner, targets, count in demand.several:
            if owner in rows:
                yield rows[owner], int(self._hops[rows[owner]][list(targets)].max()), count
        alone = (demand.source.tolist(), demand.target.tolist(), demand.words.tolist())
        for source, target, count in zip(*alone, strict=True):
            if source in rows:
                yield rows[source], int(self._hops[rows[source], target]), count

    def _summed(self, nodes: Numbers, most: int) -> bool:
        """Tell whether a table of ``nodes`` by 0 to ``most`` hops is small enough."""
        return len(nodes) * (most + 1) <= MOST_PAIRS

    def _far(
        self,
        nodes: Numbers,
        place: Numbers,
        hops: Numbers,
        words: Numbers,
        ports: Numbers,
        verb: str,
    ) -> Iterator[CycleBound]:
        """Yield, for each number of hops, the bound of the node with the most words as far or more.

        ``place``, ``hops`` and ``words`` are columns: words of ``nodes[place]``. If the table of
        all nodes would be too large, each row alone makes a bound, and only the best is yielded.
        """
        most = int(hops.max(initial=0))
        if not self._summed(nodes, most):
            cycles = -(-words // np.maximum(ports[nodes[place]], 1)) + hops * self._hop_cycles
            row = int(np.where(words > 0, cycles, 0).argmax())
            alone = nodes[place[[row]]]
            yield self._port_bound(alone, words[[row]], ports, verb, int(hops[row]))
            return
        farther = np.zeros((most + 1, len(nodes)), np.int64)
        np.add.at(farther, (hops, place), words)
        farther = np.cumsum(farther[::-1], axis=0)[::-1]
        for distance in range(1, most + 1):
            yield self._port_bound(nodes, farther[distance], ports, verb, distance)

    def _port_bound(
        self, nodes: Numbers, words: Numbers, ports: Numbers, verb: str, hops: int
    ) -> CycleBound:
        """Return the bound of the node whose ``words``, ``hops`` away, take the longest."""
        taken = -(-words // np.maximum(ports[nodes], 1))
        place = int(taken.argmax())
        node, cycles = int(nodes[place]), int(taken[place])
        count = int(ports[node])
        by = "one port" if count == 1 else f"{count} ports"
        carried, way = counted(int(words[place]), "word"), self._way(hops)
        name = node_name(self._topology, node)
        reason = f"node {name}, {way} away, must {verb} {carried} through {by}"
        return CycleBound(cycles + hops * self._hop_cycles if cycles else 0, reason)

    def _way(self, hops: int) -> str:
        """Return the length of a path as text: hops, or cycles where links differ."""
        return (
            f"{counted(hops, 'cycle')} of links"
            if self._topology.links_differ
            else counted(hops, "hop")
        )

    def _volume(self) -> CycleBound:
        """Return the bound from the hops of all words, divided by all links."""
        demand = self._demand
        total = int(demand.to_all.sum()) * (len(demand.working) - 1)
        total += sum(len(targets) * words for _, targets, words in demand.several)
        rows = np.searchsorted(self._owners, demand.source)
        total += int((self._loads[rows, demand.target] * demand.words).sum())
        links = int(np.count_nonzero(self._topology.neighbor != NO_LINK))
        use = f"cross at least {total:,} links"
        if self._topology.link_rate_of is not None:
            use = f"take at least {total:,} cycles of links"
        # One hop is a smaller bound than that of a port, so its reason is never said.
        reason = f"all words together {use}, {links:,} at a time"
        return CycleBound(-(-total // max(links, 1)), reason)

    def _tried_cuts(self) -> Iterator[CycleBound]:
        """Yield the bounds of the cuts known to be tight for pairwise exchange."""
        begins, ends = directed_links(self._topology)
        at_once = max(1, MOST_PAIRS // max(1, len(begins), self._demand.nodes))
        for found in sides(self._topology, self._hops):
            for first in range(0, len(found), at_once):
                inside = found[first : first + at_once]
                leaving = inside[:, begins] & ~inside[:, ends]
                share = leaving @ self._shares
                words = self._crossing(inside) * (share > 0)
                place = int((-(-words * self._share_cycles // np.maximum(share, 1))).argmax())
                capacity = Fraction(int(share[place]), self._share_cycles)
                links = int(leaving[place].sum())
                cut = Cut(inside[place], int(words[place]), links, capacity)
                if cut.words:
                    yield self._cut_bound(cut, hops=1)

    def _crossing(self, inside: NodeSets) -> Numbers:
        """Return the words that must leave each of these sets of nodes: shape (sets,)."""
        demand = self._demand
        words = np.zeros(len(inside), np.int64)
        if self._near and demand.source.size:
            # NumPy multiplies float matrices fast, and a float64 holds these numbers exactly.
            leaving = inside[:, self._owners].astype(np.float64) @ self._alone
            words += (leaving * ~inside).sum(axis=1).astype(np.int64)
        elif demand.source.size:
            for row, each in enumerate(inside):
                words[row] = demand.words[each[demand.source] & ~each[demand.target]].sum()
        to_all = np.flatnonzero(demand.to_all)
        common = inside[:, to_all] @ demand.to_all[to_all]
        words += np.where(inside[:, demand.working].all(axis=1), 0, common)
        for owner, targets, count in demand.several:
            words += count * (inside[:, owner] & ~inside[:, list(targets)].all(axis=1))
        return words

    @cached_property
    def _alone(self) -> npt.NDArray[np.float64]:
        """Words that each owner has for single nodes: shape (owners, nodes)."""
        demand = self._demand
        found = np.zeros((len(self._owners), demand.nodes))
        rows = np.searchsorted(self._owners, demand.source)
        np.add.at(found, (rows, demand.target), demand.words)
        return found

    def _exact_cuts(self) -> Iterator[CycleBound]:
        """Yield the tightest cuts for the words to each node, and for those to single nodes."""
        # The compiled module takes long to import, and one port does not need it.
        from .tightest_cut import Cutter  # noqa: PLC0415

        demand = self._demand
        full = np.zeros((demand.nodes, demand.nodes), np.int64)
        full[self._owners] = self._between
        yield from self._cuts_of(full, Cutter(self._topology), "reach")
        alone = np.zeros((demand.nodes, demand.nodes), np.int64)
        np.add.at(alone, (demand.target, demand.source), demand.words)
        yield from self._cuts_of(alone, Cutter(self._topology, backwards=True), "come from")

    def _cuts_of(self, between: Numbers, cutter: Cutter, verb: str) -> Iterator[CycleBound]:
        """Yield ever tighter cuts for the words from each row's node to each column's node."""
        ratio = Fraction(1)
        for node in np.flatnonzero(between.any(axis=0)).tolist():
            cut = cutter.tightest(between[:, node], node, ratio)
            if cut is not None and cut.links:
                ratio = cut.ratio
                yield self._cut_bound(cut, self._hops_left(cut, node, verb == "come from"))

    def _hops_left(self, cut: Cut, node: int, backwards: bool) -> int:
        """Return the hops of the last word: from the cut to its targets, or from its only owner."""
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
        if cut.capacity != cut.links:
            carried = counted(cut.capacity.numerator, "word")
            carry = "carries" if cut.links == 1 else "carry"
            reason += f", which {carry} {carried} in {counted(cut.capacity.denominator, 'cycle')}"
        reason += f", and go {self._way(hops)}" if hops > 1 else ""
        return CycleBound(ceil(cut.ratio) + hops * self._hop_cycles, reason)


def _ports(topology: Topology, *, all_port: bool) -> tuple[Numbers, Numbers]:
    """Return the words that each node can get and send in a cycle: shapes (nodes,)."""
    linked = topology.neighbor != NO_LINK
    count = linked.sum if all_port else linked.any
    out = into = count(axis=1).astype(np.int64)
    if not topology.whole_grid:
        # With faults, or in a graph, a link may have only one direction.
        into = np.bincount(topology.neighbor[linked], minlength=topology.nodes)
        into = into if all_port else np.minimum(into, 1)
    return into, out
