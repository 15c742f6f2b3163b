"""Trees: sends of one step that share words on their way, in a schedule for circuits.

In a network with circuits, routers copy words and combine them (docs/router.md, section 23). So in
a schedule for circuits some sends of one step are one *tree*. There are two kinds::

    fork    0 -> 2 by 1                     join    2 -> 0 by 1, combining
            0 -> 5 by 1                             5 -> 0 by 1, combining

        0 ──► 1 ──► 2                           0 ◄── 1 ◄── 2
              └───► 5                                 └◄─── 5

* A **fork** has the sends of one node with the same blocks and marks. Its words leave the node
  once, and a router copies them where the paths part.
* A **join** has the combining sends to one node with the same blocks and marks. A router joins two
  words that leave it by the same link: those of two paths, or of a path and of a source. Other
  words of the join may pass the router by other links. Its words enter the node once.

Each link, and the port at the common end, carries the words of a tree once. A send alone is a tree
too.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..network.port_model import PortModel
from .rules import broken, first_broken, first_clash, send_name
from .table import SendTable

MOST_JOINED = 2
"""Words that a router can combine in one cycle."""


def check_trees(schedule: SendTable) -> None:
    """Require that a schedule for circuits has trees that routers can fork and join.

    *Exchange* has no trees of several sends. No send is of a fork and of a join. A tree has each of
    its sources and targets once. The paths of a fork part once. All paths of a join that cross a
    link go on alike behind it. At most two words take the same link, and in one router only one
    pair does.
    """
    if not schedule.circuits:
        return
    if schedule.port_model == PortModel.EXCHANGE:
        several = np.bincount(schedule.trees, minlength=schedule.sends)[schedule.trees] > 1
        send = first_broken(schedule, several, np.arange(schedule.sends))
        if send is not None:
            raise broken(schedule, send, "it is of a tree, which exchange forbids")
    forks, joins = (
        np.bincount(kind, minlength=schedule.sends)[kind] > 1
        for kind in (schedule.forks, schedule.joins)
    )
    send = first_broken(schedule, forks & joins, np.arange(schedule.sends))
    if send is not None:
        raise broken(schedule, send, "it is of a fork and of a join")
    _require_ends(schedule)
    _require_parted(schedule, ~joins)
    ways = _Ways(schedule, joins)
    ways.require_alike()
    ways.require_two_words()


def _require_ends(schedule: SendTable) -> None:
    """Require that no two sends of a tree have the same source and target."""
    nodes = schedule.topology.nodes
    pairs = schedule.source.astype(np.int64) * nodes + schedule.target
    clash = first_clash(schedule, schedule.trees * nodes**2 + pairs, np.arange(schedule.sends))
    if clash is not None:
        other = send_name(schedule, clash[0])
        raise broken(schedule, clash[1], f"it is twice in its tree, first as {other}")


def _require_parted(schedule: SendTable, forks: npt.NDArray[np.bool_]) -> None:
    """Require that the links of each fork enter different nodes, and none its source."""
    hops = schedule.crossings
    sends = schedule.hop_sends[hops]
    hops, sends = hops[forks[sends]], sends[forks[sends]]
    nodes = schedule.hop_ends[1][hops]
    _require_no_return(schedule, nodes, sends, schedule.source)
    clash = first_clash(schedule, schedule.trees[sends] * schedule.topology.nodes + nodes, sends)
    if clash is not None:
        place, path = clash[1], _path_of(schedule, *sends[list(clash)].tolist())
        complaint = f"its path meets {path} again at node {nodes[place]}"
        raise broken(schedule, int(sends[place]), complaint)


def _require_no_return(
    schedule: SendTable,
    nodes: npt.NDArray[np.int32],
    sends: Numbers,
    common: npt.NDArray[np.int32],
) -> None:
    """Require that the ``nodes`` on the paths of ``sends`` are not the ``common`` of their tree."""
    place = first_broken(schedule, nodes == common[sends], sends)
    if place is not None:
        complaint = f"its path comes back to node {nodes[place]}"
        raise broken(schedule, int(sends[place]), complaint)


def _path_of(schedule: SendTable, one: int, other: int) -> str:
    return "itself" if one == other else f"that of {send_name(schedule, one)} of its tree"


class _Ways:
    """The ways of the words of all joins through routers.

    Each row is a word that enters a router: by a hop, or at a source from its memory. ``send`` is a
    send that it belongs to, and ``key`` its tree and where it comes from: a link, or for a source
    port 0. ``out`` is the link that it takes then, or port 0 at the end of its path.
    """

    def __init__(self, schedule: SendTable, joins: npt.NDArray[np.bool_]) -> None:
        self.schedule, ports = schedule, schedule.topology.ports
        first = schedule.path_offsets[:-1] - np.arange(schedule.sends)
        last = schedule.path_offsets[1:] - np.arange(schedule.sends) - 2
        following = np.append(schedule.links[1:], 0)
        following[last] = schedule.target.astype(np.int64) * ports
        hops, sources = np.flatnonzero(joins[schedule.hop_sends]), np.flatnonzero(joins)
        self.send = np.concatenate((schedule.hop_sends[hops], sources))
        self.out = np.concatenate((following[hops], schedule.links[first[sources]]))
        came = np.concatenate(
            (schedule.links[hops], schedule.source[sources].astype(np.int64) * ports)
        )
        self.key = schedule.trees[self.send] * schedule.topology.neighbor.size + came

    def require_alike(self) -> None:
        """Require that words of a join that cross one link go on alike, and none past its end."""
        schedule, ports = self.schedule, self.schedule.topology.ports
        node = (self.out // ports).astype(np.int32)
        on = np.flatnonzero(self.out % ports)
        _require_no_return(schedule, node[on], self.send[on], schedule.target)
        _, first, number = np.unique(self.key, return_index=True, return_inverse=True)
        place = first_broken(schedule, self.out != self.out[first][number], self.send)
        if place is not None:
            one, other = int(self.send[first[number[place]]]), int(self.send[place])
            complaint = (
                f"its path parts from {_path_of(schedule, one, other)} at node {node[place]}"
            )
            raise broken(schedule, other, complaint)

    def require_two_words(self) -> None:
        """Require that at most two words of a join take one link, and one such pair per router."""
        schedule, topology = self.schedule, self.schedule.topology
        _, rows = np.unique(self.key, return_index=True)
        tree, out, send = schedule.trees[self.send[rows]], self.out[rows], self.send[rows]
        keys = tree * topology.neighbor.size + out
        pairs, number, count = np.unique(keys, return_inverse=True, return_counts=True)
        place = first_broken(schedule, count[number] > MOST_JOINED, send)
        if place is not None:
            words, node = count[number[place]], out[place] // topology.ports
            complaint = f"{words} words of its tree meet at node {node}, where {MOST_JOINED} can"
            raise broken(schedule, int(send[place]), complaint)
        joined, times = np.unique(pairs[count > 1] // topology.ports, return_counts=True)
        twice = np.isin(keys // topology.ports, joined[times > 1]) & (count[number] > 1)
        place = first_broken(schedule, twice, send)
        if place is not None:
            node = out[place] // topology.ports
            complaint = f"its tree makes two sums at node {node}, where it can make one"
            raise broken(schedule, int(send[place]), complaint)
