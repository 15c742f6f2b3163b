"""Transmitting: a host gives a network its message, by sending to one node at a time.

T.-Y. Ho, L.-H. Hsu & T.-Y. Sung, "Transmitting on Various Network Topologies", Networks, 1996. In
each time unit the host sends to one node, or rests; at the same time every node that has got the
message in an *earlier* time unit passes it to all its neighbours. Wanted are the least time *t*,
and then the least work of the host *s*, the number of its sends. The same problem is known as graph
burning, *t* as the burning number.

A time unit is a step here. **When a node has the message**: a send of the host in step *i* arrives
in step *i*, in the same step; a node that it arrives at in step *i* passes it on in step *i* + 1,
and so a node that is *d* links away gets it in step *i* + *d* (the paper's ``N_(t-i)(f(i))``).
Time *t* is the last step in which anything happens. On a line of 9 nodes, sends of steps 1, 2 and
3 in brackets::

    node       0   1   2   3   4   5   6   7   8
    step       3   2  [1]  2   3   3  [2]  3  [3]          t = 3, s = 3

A send in step *i* covers the nodes at most t - i links away, its *ball* of radius t - i. So the
question is also whether the nodes can be covered by balls of radii t - 1, ..., t - s, one of each:
to send earlier makes a ball larger, so that the host never rests before its last send.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput, require_range, with_article
from ...network.topology import NO_LINK, Topology

NOT_REACHED = -1
"""The arrival at a node that the message does not reach."""

Arrivals = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Plan:
    """Sends of the host: (step, node) pairs, ascending by step, one at most in each step.

    The plan's results are counted (:attr:`arrival`), not claimed.

    Attributes
    ----------
    topology
        The network without its host.
    sends
        Pairs of a step and a node.
    scheme
        The plan's origin.
    claim
        The time and work that its paper claims; None without a claim.

    Raises
    ------
    InvalidInput
        For a step before 1, two sends in one step, a node outside ``topology`` and a faulty one.
    """

    topology: Topology
    sends: tuple[tuple[int, int], ...]
    scheme: str
    claim: tuple[int, int | None] | None = None

    def __post_init__(self) -> None:
        last = 0
        for step, node in self.sends:
            require_range("step of a send of the host", step, 1)
            require_range("target of the host", node, 0, self.topology.nodes - 1)
            if step <= last:
                allowed = f"after step {last}, in which the host sends too"
                raise InvalidInput.of("step of a send of the host", allowed, step)
            if node in self.topology.faulty_nodes:
                raise InvalidInput.of("target of the host", "a node that is not faulty", node)
            last = step

    @classmethod
    def of_centres(
        cls,
        topology: Topology,
        centres: Iterable[int],
        scheme: str,
        claim: tuple[int, int | None] | None = None,
    ) -> Plan:
        """Return the plan that sends to ``centres``, one after the other from step 1 on."""
        return cls(topology, tuple(enumerate(centres, start=1)), scheme, claim)

    @cached_property
    def arrival(self) -> Arrivals:
        """The step in which each node has got the message: :func:`.flood`."""
        return flood(self.topology, self.sends)

    @property
    def missed(self) -> list[int]:
        """The nodes that never get the message, except faulty ones."""
        missed = np.flatnonzero(self.arrival == NOT_REACHED)
        return sorted({*missed.tolist()} - {*self.topology.faulty_nodes})

    @property
    def time(self) -> int:
        """The paper's *t*, counted: the last step in which a node gets it or the host sends.

        Raises :class:`.InvalidInput` where a node never gets the message.
        """
        for node in self.missed[:1]:
            raise InvalidInput.of("plan", "one that reaches all nodes", f"one without node {node}")
        return max(int(self.arrival.max(initial=0)), self.sends[-1][0])

    @property
    def work(self) -> int:
        """The paper's *s*, counted: the sends of the host."""
        return len(self.sends)

    @property
    def cost(self) -> tuple[int, int]:
        """``(time, work)``: the less, in this order, the better."""
        return self.time, self.work


def flood(topology: Topology, sends: Sequence[tuple[int, int]]) -> Arrivals:
    """Return the step in which each node gets the message, counted; shape (nodes,), int32.

    ``sends`` are the host's, as (step, node). :data:`NOT_REACHED` where it never arrives.
    """
    arrival = np.full(topology.nodes, NOT_REACHED, dtype=np.int32)
    targets = dict(sends)
    last = max(targets, default=0)
    newest = np.zeros(0, dtype=np.int32)
    step = 0
    while newest.size or step < last:
        step += 1
        got = topology.neighbor[newest].ravel()
        got = np.append(got[got != NO_LINK], np.array(targets.get(step, ()), dtype=np.int32))
        newest = np.unique(got[arrival[got] == NOT_REACHED])
        arrival[newest] = step
    return arrival


def counted_time(largest: Sequence[int], nodes: int) -> int:
    """Return the least time by counting: balls of radii 0 to t - 1 must hold ``nodes`` nodes.

    ``largest[r]`` is the most nodes in a ball of radius r; the last entry holds for all larger
    radii. No plan is faster.

    >>> counted_time([1, 3, 5, 7], 8)
    3
    """
    time, held = 0, 0
    while held < nodes:
        held += largest[min(time, len(largest) - 1)]
        time += 1
    return time


def counted_work(largest: Sequence[int], nodes: int, time: int) -> int:
    """Return the least work by counting: s balls of radii t - 1 down must hold ``nodes`` together.

    No plan of this ``time`` has less; more than ``time`` where there is no such plan.

    >>> counted_work([1, 3, 5, 7], 8, time=3)
    2
    """
    work, held = 0, 0
    while held < nodes and work <= time:
        held += largest[min(max(time - 1 - work, 0), len(largest) - 1)]
        work += 1
    return work


def require_kind(topology: Topology, *kinds: str) -> None:
    """Raise :class:`.InvalidInput` unless ``topology`` is of one of ``kinds``, without faults."""
    if topology.kind not in kinds or topology.without_faults is not None:
        allowed = f"a {' or '.join(kinds)} without faults"
        raise InvalidInput.of("network", allowed, with_article(topology.label))


def require_connected(topology: Topology) -> None:
    """Raise :class:`.InvalidInput` unless all working nodes are connected.

    The direction of links does not count: the host may send to nodes that no link leads to.
    """
    begins, ports = np.nonzero(topology.neighbor != NO_LINK)
    ends = topology.neighbor[begins, ports]
    label = np.arange(topology.nodes)
    while True:
        before = label.copy()
        np.minimum.at(label, begins, before[ends])
        np.minimum.at(label, ends, before[begins])
        label = label[label]
        if (label == before).all():
            break
    healthy = topology.working_nodes
    if not healthy.size:
        raise InvalidInput.of(
            "network to transmit on", "one with a node that is not faulty", "none"
        )
    apart = healthy[label[healthy] != label[healthy[0]]]
    if apart.size:
        name = with_article(topology.label)
        found = f"{name}, where nothing links node {apart[0]} to node {healthy[0]}"
        raise InvalidInput.of("network to transmit on", "connected", found)
