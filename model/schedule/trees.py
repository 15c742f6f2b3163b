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
  words where two paths meet, or where a path passes a source of the join. Its words enter the node
  once.

Each link, and the port at the common end, carries the words of a tree once. A send alone is a tree
too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..network.port_model import PortModel
from .rules import broken, first_broken, first_clash, send_name

if TYPE_CHECKING:
    from .schedule import Schedule

MOST_JOINED = 2
"""Words that a router can combine in one cycle."""


def check_trees(schedule: Schedule) -> None:
    """Require that a schedule for circuits has trees that routers can fork and join.

    *Exchange* has no trees of several sends. No send is of a fork and of a join. The paths of a
    fork part once, those of a join meet once, and a tree has each of its sources and targets once.
    At most two words meet at a node.
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
    begins, ends = schedule.hop_ends
    _require_once(schedule, ~joins, ends, schedule.source, "meets")
    _require_once(schedule, joins, begins, schedule.target, "parts from")
    _require_two_words(schedule, joins)


def _require_ends(schedule: Schedule) -> None:
    """Require that no two sends of a tree have the same source and target."""
    nodes = schedule.topology.nodes
    pairs = schedule.source.astype(np.int64) * nodes + schedule.target
    clash = first_clash(schedule, schedule.trees * nodes**2 + pairs, np.arange(schedule.sends))
    if clash is not None:
        other = send_name(schedule, clash[0])
        raise broken(schedule, clash[1], f"it is twice in its tree, first as {other}")


def _require_once(
    schedule: Schedule,
    chosen: npt.NDArray[np.bool_],
    nodes: npt.NDArray[np.int32],
    common: npt.NDArray[np.int32],
    does: str,
) -> None:
    """Require that the links of each ``chosen`` tree have different ``nodes``, not its ``common``.

    So the links of a fork enter different nodes, and those of a join leave different nodes.
    """
    hops = schedule.crossings
    sends = schedule.hop_sends[hops]
    hops, sends = hops[chosen[sends]], sends[chosen[sends]]
    place = first_broken(schedule, nodes[hops] == common[sends], sends)
    if place is not None:
        node = nodes[hops[place]]
        raise broken(schedule, int(sends[place]), f"its path comes back to node {node}")
    clash = first_clash(schedule, _at_nodes(schedule, sends, nodes[hops]), sends)
    if clash is not None:
        one, other = (int(sends[place]) for place in clash)
        where = f"again at node {nodes[hops[clash[1]]]}"
        path = "itself" if one == other else f"that of {send_name(schedule, one)} of its tree"
        raise broken(schedule, other, f"its path {does} {path} {where}")


def _require_two_words(schedule: Schedule, joins: npt.NDArray[np.bool_]) -> None:
    """Require that at most two words meet at a node of a join, that of a source included."""
    hops = schedule.crossings
    hops = hops[joins[schedule.hop_sends[hops]]]
    ends, sends = schedule.hop_ends[1], np.flatnonzero(joins)
    at = np.concatenate((ends[hops], schedule.source[sends]))
    of = np.concatenate((schedule.hop_sends[hops], sends))
    keys = _at_nodes(schedule, of, at)
    _, number, count = np.unique(keys, return_inverse=True, return_counts=True)
    place = first_broken(schedule, count[number] > MOST_JOINED, of)
    if place is not None:
        words = count[number[place]]
        complaint = f"{words} words of its tree meet at node {at[place]}, where {MOST_JOINED} can"
        raise broken(schedule, int(of[place]), complaint)


def _at_nodes(schedule: Schedule, sends: Numbers, nodes: npt.NDArray[np.int32]) -> Numbers:
    keys: Numbers = schedule.trees[sends] * schedule.topology.nodes + nodes
    return keys
