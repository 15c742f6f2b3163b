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
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.texts import counted
from ..network.links import directed_links
from ..network.port_model import PortModel
from ..network.topology import NO_LINK, Topology
from ..schedule.table import Blocks
from .cut import Cut
from .demand import Demand
from .hops import Numbers, hops_from
from .sides import NodeSets, sides

if TYPE_CHECKING:
    from .cuts import Cutter

MOST_EXACT = 256
"""Nodes of a network whose cuts are all covered: a second for all-gather on that many."""
MOST_PAIRS = 1 << 22
"""Pairs of an owner and a node whose distances are all looked at; of more pairs, those of the first
and of the last owner."""


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
        self._all_port = port_model == PortModel.ALL_PORT
        self._ports_in, self._ports_out = _ports(topology, all_port=self._all_port)
        owners = demand.owners
        self._near = len(owners) * topology.nodes <= MOST_PAIRS
        self._owners = owners if self._near else np.unique(owners[[0, -1]])
        self._hops = hops_from(topology, self._owners)
        self._between = demand.between(self._owners)

    def bounds(self) -> Iterator[CycleBound]:
        """All of them, in no order."""
        yield from self._nodes()
        yield from self._farthest()
        if self._near:
            yield self._volume()
        # With one port, words for all nodes take as long through a port as through any cut.
        if self._all_port or self._demand.source.size or self._demand.several:
            yield from self._tried_cuts()
        if self._all_port and self._topology.nodes <= MOST_EXACT:
            yield from self._exact_cuts()

    def _nodes(self) -> Iterator[CycleBound]:
        """All words of a node, one hop at least."""
        every = np.arange(self._demand.nodes)
        yield self._port_bound(every, self._demand.received(), self._ports_in, "get", 1)
        yield self._port_bound(every, self._demand.sent(), self._ports_out, "send", 1)

    def _farthest(self) -> Iterator[CycleBound]:
        """Words of a node that come, or go, so many hops or more."""
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
        """Rows of owners, and words that each must send once, to a node so many hops away."""
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
        """Tell whether words of ``nodes`` are added up for each number of hops up to ``most``."""
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
        """For each number of hops, the bound of the node with the most words as far or farther.

        ``place``, ``hops`` and ``words`` are columns: words of ``nodes[place]``. Of too many nodes
        each row stands alone.
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
        """The bound of that of ``nodes`` whose ``words``, so many hops away, take the longest."""
        taken = -(-words // np.maximum(ports[nodes], 1))
        place = int(taken.argmax())
        node, cycles = int(nodes[place]), int(taken[place])
        count = int(ports[node])
        by = "one port" if count == 1 else f"{count} ports"
        carried, way = counted(int(words[place]), "word"), counted(hops, "hop")
        reason = f"node {node} must {verb} {carried} by {by}, {way} away"
        return CycleBound(cycles + hops * self._hop_cycles if cycles else 0, reason)

    def _volume(self) -> CycleBound:
        """Hops of all words together, over all links."""
        demand = self._demand
        total = int(demand.to_all.sum()) * (len(demand.working) - 1)
        total += sum(len(targets) * words for _, targets, words in demand.several)
        rows = np.searchsorted(self._owners, demand.source)
        total += int((self._hops[rows, demand.target] * demand.words).sum())
        links = int(np.count_nonzero(self._topology.neighbor != NO_LINK))
        share = "shares" if total == 1 else "share"
        reason = f"{counted(total, 'hop')} of words {share} {counted(links, 'link')}"
        return CycleBound(-(-total // max(links, 1)), reason)

    def _tried_cuts(self) -> Iterator[CycleBound]:
        """Cuts that are known to be tight where nodes exchange words in pairs."""
        begins, ends = directed_links(self._topology)
        at_once = max(1, MOST_PAIRS // max(1, len(begins), self._demand.nodes))
        for found in sides(self._topology, self._hops):
            for first in range(0, len(found), at_once):
                inside = found[first : first + at_once]
                links = np.count_nonzero(inside[:, begins] & ~inside[:, ends], axis=1)
                words = self._crossing(inside) * (links > 0)
                place = int((-(-words // np.maximum(links, 1))).argmax())
                cut = Cut(inside[place], int(words[place]), int(links[place]))
                if cut.words:
                    yield self._cut_bound(cut, hops=1)

    def _crossing(self, inside: NodeSets) -> Numbers:
        """Words that must leave each of these sets of nodes: shape (sets,)."""
        demand = self._demand
        words = np.zeros(len(inside), np.int64)
        if self._near and demand.source.size:
            # Floats are multiplied at once, and hold these numbers exactly.
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
        """Words of one owner for one node: shape (owners, nodes)."""
        demand = self._demand
        found = np.zeros((len(self._owners), demand.nodes))
        rows = np.searchsorted(self._owners, demand.source)
        np.add.at(found, (rows, demand.target), demand.words)
        return found

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


def _ports(topology: Topology, *, all_port: bool) -> tuple[Numbers, Numbers]:
    """The words that each node can get and send in a cycle: shapes (nodes,)."""
    linked = topology.neighbor != NO_LINK
    count = linked.sum if all_port else linked.any
    out = into = count(axis=1).astype(np.int64)
    if not topology.whole_grid:
        # A fault, or a graph, may have one of the two ways of a link alone.
        into = np.bincount(topology.neighbor[linked], minlength=topology.nodes)
        into = into if all_port else np.minimum(into, 1)
    return into, out
