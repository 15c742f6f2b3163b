"""Scans by gossip, in about as few steps as possible, on any network.

A node holds the sum of a *run* of nodes: of its own and of those right before it, in the order of
their numbers. It adds the run that ends where its own begins, with all ports several such runs in
one step. No two paths of a step share a link. On a 2x2x2 mesh with all ports, two steps do::

    node                   0    1      2        3       4          5        6       7
    holds after step 1     0    0 1    0 1 2    2 3     1 2 3 4    3 4 5    6       5 6 7
    gets in step 2                              0 1     0          0 1 2    3 4 5   1 2 3 4
                                                                            0 1 2   0

In an exclusive scan, each node except node 0 once replaces its run by that of the node before it.
The nodes with high numbers first do so, and then add runs. The other nodes first make a scan, and
then each takes the result of the node before it. Each try draws where the high numbers begin.

Of many random tries the one with the fewest steps is kept, and of these the one with the shortest
paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from .gossip import NO_TRY, Gossip, Link, Step, Told, fewest_sums

TRIES = 1 << 9
MOST_DETOUR = 3
"""Most links of a path beyond those of a shortest one."""

Run = tuple[int, int]
"""The first rank of a run of nodes, and the rank behind its last."""


def gossip_scan(
    topology: Topology, collective: Collective, blocks: Blocks, *, all_port: bool = False
) -> Schedule:
    """Return a scan or exclusive scan of ``blocks`` in few steps of whole messages.

    Raises :class:`.InvalidInput` if a node does not reach another.
    """
    gossip = Gossip.of(topology, (), all_port=all_port, sums=True)
    tries = _tries(topology, gossip, exclusive=collective == Collective.EXSCAN)
    return fewest_sums(topology, collective, blocks, tries, all_port=all_port)


def _tries(topology: Topology, gossip: Gossip, *, exclusive: bool) -> Iterator[list[Step]]:
    """Yield the steps of random tries, none with more steps than an earlier one."""
    count = len(gossip.nodes)
    most = count**2
    goal = [(0, rank + (not exclusive or rank == 0)) for rank in range(count)]
    for careful in (False, True):
        for seed in range(TRIES):
            draw = np.random.default_rng(seed)
            early = int(draw.integers(count)) if exclusive else count
            detour, upwards = int(draw.integers(MOST_DETOUR + 1)), 2 * draw.random()
            steps = _Try(gossip, goal, early, careful, detour, upwards, draw).steps(most)
            if steps is not None:
                most = len(steps)
                yield steps
        if most < count**2:
            return
    raise topology.refusal(*NO_TRY)


@dataclass(frozen=True)
class _Try:
    """A random try to bring each node, by rank, the run that is its ``goal``.

    Nodes from rank ``early`` on first replace their runs. If they are ``careful``, nodes keep their
    runs until the next node has them; otherwise a try may lead nowhere. Paths have at most
    ``detour`` links beyond the fewest. The larger ``upwards``, the more often high ranks choose
    first.
    """

    gossip: Gossip
    goal: list[Run]
    early: int
    careful: bool
    detour: int
    upwards: float
    draw: np.random.Generator

    def steps(self, most: int) -> list[Step] | None:
        """Return the steps; None if they are more than ``most``, or lead nowhere."""
        held, steps = [(rank, rank + 1) for rank in range(len(self.goal))], list[Step]()
        while held != self.goal:
            step, held = self._step(held)
            if not step or len(steps) == most:
                return None
            steps.append(step)
        return steps

    def _step(self, held: list[Run]) -> tuple[Step, list[Run]]:
        """Return the messages of a step, and the runs of all nodes after it."""
        now, step = [*held], Step()
        used, senders = set[Link](), set[int]()
        weight = self.draw.random(len(held)) * np.arange(1, len(held) + 1) ** self.upwards
        for end in np.argsort(-weight).tolist():
            while now[end] != self.goal[end]:
                begins, combine = self._begins(held, now, end)
                paths = {
                    begin: path
                    for begin in begins
                    if self.gossip.all_port or begin not in senders
                    if (path := self.gossip.path(used, begin, end, self.detour))
                }
                if not paths:
                    break
                begin = [*paths][self.draw.integers(len(paths))]
                step.append(Told(paths[begin], 0, combine))
                used.update(pairwise(paths[begin]))
                senders.add(begin)
                now[end] = (held[begin][0], now[end][1] if combine else end)
                if not (combine and self.gossip.all_port):
                    break
        return step, now

    def _begins(self, held: list[Run], now: list[Run], end: int) -> tuple[list[int], bool]:
        """Return who may send to ``end``, after what came ``now``, and whether it combines.

        A run that replaces another comes alone, from the node before.
        """
        first, last = run = now[end]
        if last > self.goal[end][1]:
            before = held[end - 1]
            kept = not self.careful or end + 1 == len(now) or now[end + 1][1] == end + 1
            ready = kept and (end >= self.early or before == self.goal[end])
            if run == held[end] and before[1] == end and ready:
                return [end - 1], False
            if end >= self.early:
                return [], False
        return [rank for rank in (first - 1, first) if held[rank][1] == first], True
