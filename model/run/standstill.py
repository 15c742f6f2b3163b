"""Packets that stand in a network at the end of an unfinished run, and the wait of each.

A trace tells which flits have crossed which links, and so what each buffer holds, which packet
holds each output VC, and what its head waits for (docs/router.md, section 3)::

    packet a holds 0 -> 1 VC 0, its head waits for 1 -> 2 VC 0, which packet b holds
    packet b holds 1 -> 2 VC 0, its head waits for 2 -> 0 VC 0, which packet c holds
    packet c holds 2 -> 0 VC 0, its head waits for 0 -> 1 VC 0, which packet a holds

Each packet waits for at most one other. Packets that wait in a circle never move again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..base.arrays import Numbers
from ..base.graph_cycles import find_circle
from ..program.any_program import AnyProgram, without_circuits
from ..program.circuits.program import CircuitProgram
from ..program.deadlock import Channel, other_routes, remedy
from ..program.program import Program
from ..program.row import NO_START
from .hops import NO_ROW, expected_hops, matched
from .packets import packets_of
from .run import Run


class Wait(NamedTuple):
    """The wait of a packet whose head stands in the buffer of a link.

    row, other
        The rows of the program that send the packet, and the packet that it waits for.
    held, wanted
        The output VC that the head crossed last, and the one that it asks for.
    why
        What the other packet does: one of :class:`Why`.
    """

    row: int
    other: int
    held: Channel
    wanted: Channel
    why: Why


class Why(StrEnum):
    """Reasons why a head waits for another packet."""

    HOLDS = "which waits for node {wanted}, held by {other}"
    FILLS = "which waits for room behind node {wanted}, where {other} stands in front"
    AHEAD = "which stands behind {other}"


@dataclass(frozen=True, eq=False)
class Standstill:
    """The state of the network at the end of an unfinished run of ``program``.

    circle
        The waits of packets that wait for each other in a circle; empty if there is none.
    stalled
        Flits at the front of a buffer, or that a sender cannot inject, by node: shape (nodes,).
        The counters of a network do not include them: a flit counts when it leaves.
    target
        The last node of each row's path: shape (rows,).
    """

    circle: tuple[Wait, ...]
    stalled: Numbers
    program: AnyProgram
    target: Numbers

    def lines(self) -> list[str]:
        """Report a deadlock, what removes it, and what each of its packets waits for."""
        if not self.circle:
            return []
        count = f"deadlock: {len(self.circle)} packets wait for each other in a circle"
        first = "; ".join(filter(None, (count, remedy(without_circuits(self.program)))))
        return [first, *map(self.line, self.circle)]

    def remedies(self) -> list[str]:
        """Return what would free the packets: more VCs, and other routes."""
        program = without_circuits(self.program)
        return [*filter(None, (remedy(program), other_routes(program)))]

    def line(self, wait: Wait) -> str:
        """Say which packet waits where, and for which other packet."""
        waits = wait.why.format(wanted=self._name(wait.wanted), other=self._packet(wait.other))
        return f"node {self._name(wait.held)} holds {self._packet(wait.row)}, {waits}"

    def _name(self, channel: Channel) -> str:
        node, port, vc = channel
        ahead = self.program.config.topology.neighbor[node, port] if port else "its interface"
        return f"{node} -> {ahead} VC {vc}"

    def _packet(self, row: int) -> str:
        sender = without_circuits(self.program).row_node[row]
        return f"the packet from {sender} to {self.target[row]}"


def standstill(program: AnyProgram, run: Run) -> Standstill:
    """Find the packets and flits that stand in the network at the end of ``run``.

    In a network with circuits nothing waits.
    """
    if run.finished or isinstance(program, CircuitProgram):
        nothing = np.zeros(program.nodes, dtype=np.int64)
        return Standstill((), nothing, program, nothing)
    return _Network(program, run).standstill()


class _Network:
    """Packets under way at the end of a run, and the buffers that hold them.

    Lists have one entry for each hop of each row, in order of rows: ``row``, ``channel``, ``total``
    (flits of the packet from this hop on) and ``sent`` (those that have left). ``buffers`` has, for
    each channel of a link, the rows in the buffer at its end and the flits of each, from the front.
    ``holder`` has the row whose packet holds each output VC.
    """

    def __init__(self, program: Program, run: Run) -> None:
        self.program, self.config, self.run = program, program.config, run
        hops, packets = expected_hops(program), packets_of(self.config, run.trace)
        numbers = matched(hops, packets)
        known = numbers != NO_ROW
        sent = np.zeros(len(hops.row), dtype=np.int64)
        sent[numbers[known]] = (packets.end - packets.begin)[known]
        if self.config.all_port:
            # Deliveries of several packets interleave there, and none waits.
            delivered = hops.channel // self.config.vcs % self.config.topology.ports == 0
            sent[delivered] = hops.flits[delivered]
        order = np.lexsort((hops.hop, hops.row))
        self.row: list[int] = [*hops.row[order].tolist(), NO_ROW]
        self.channel: list[int] = hops.channel[order].tolist()
        self.total: list[int] = hops.flits[order].tolist()
        self.sent: list[int] = sent[order].tolist()
        self.first: list[int] = np.searchsorted(hops.row[order], range(len(hops.target))).tolist()
        self.target = hops.target
        crossed = np.argsort(order)[numbers[known]].tolist()
        self.holder = {
            self.channel[hop]: self.row[hop] for hop in crossed if self.sent[hop] < self.total[hop]
        }
        self.buffers: dict[int, list[tuple[int, int]]] = {}
        for hop in crossed:
            self._fill(hop)

    def _fill(self, hop: int) -> None:
        """Put the flits that have crossed a link, and not the next one, into its buffer."""
        channel = self.channel[hop]
        queue = self.buffers.get(channel, [])
        gone = 0
        if self.row[hop + 1] == self.row[hop]:
            # Used-up header flits are dropped when they reach the front.
            dropped = self.total[hop] - self.total[hop + 1]
            gone = self.sent[hop + 1]
            gone += dropped if gone or not queue else 0
        left = self.sent[hop] - gone
        if left > 0 and self._at(channel).port:
            self.buffers[channel] = [*queue, (self.row[hop], left)]

    def _at(self, channel: int) -> Channel:
        line, vc = divmod(channel, self.config.vcs)
        return Channel(*divmod(line, self.config.topology.ports), vc)

    def standstill(self) -> Standstill:
        """Find the packets that wait in a circle, and count the stalled flits."""
        waits = {}
        for row in {row for queue in self.buffers.values() for row, _ in queue}:
            if (wait := self._wait(row)) is not None:
                waits[row] = wait
        edges = [(wait.row, wait.other) for wait in waits.values()]
        circle = find_circle(np.array(edges, dtype=np.int64).reshape(-1, 2))
        stalled = self._stalled_injections()
        for channel in self.buffers:
            node, port, _ = self._at(channel)
            stalled[self.config.topology.neighbor[node, port]] += 1
        return Standstill(tuple(waits[row] for row in circle), stalled, self.program, self.target)

    def _wait(self, row: int) -> Wait | None:
        """Find the packet that a row's head waits for in a link's buffer; None if none."""
        hop = self.first[row]
        while self.row[hop + 1] == row and self.sent[hop + 1]:
            hop += 1
        queue = self.buffers.get(self.channel[hop], [])
        if row not in dict(queue) or self.row[hop + 1] != row:
            return None
        wanted = self.channel[hop + 1]
        ends = self._at(self.channel[hop]), self._at(wanted)
        before = queue[0][0]
        if before != row:
            return Wait(row, before, *ends, Why.AHEAD)
        if wanted in self.holder:
            return Wait(row, self.holder[wanted], *ends, Why.HOLDS)
        full = self.buffers.get(wanted, [])
        if sum(flits for _, flits in full) >= self.config.depth:
            return Wait(row, full[0][0], *ends, Why.FILLS)
        return None

    def _stalled_injections(self) -> Numbers:
        """Count, by node, the injection buffers that hold flits and the senders that wait."""
        program, vcs = self.program, self.config.vcs
        bounds, order = program.first_sender_row.tolist(), program.sender_order.tolist()
        stalled = np.zeros(program.nodes, dtype=np.int64)
        for sender, (begin, end) in enumerate(pairwise(bounds)):
            node, room = sender // self.config.lanes, [self.config.depth] * vcs
            for row in order[begin:end]:
                left, vc = self._left(row)
                if left == 0:
                    continue
                if not self._begun(node, row):
                    break
                stalled[node] += room[vc] == self.config.depth
                room[vc] -= left
                if room[vc] < 0:
                    stalled[node] += 1
                    break
        return stalled

    def _left(self, row: int) -> tuple[int, int]:
        """Return the flits of a row that have not left its node's router, and their VC."""
        hop, program = self.first[row], self.program
        if self.row[hop] == row:
            return self.total[hop] - self.sent[hop], self.channel[hop] % self.config.vcs
        # The first output of the route does not exist, so the whole packet stands.
        header = program.header_of(np.array([row]))
        return len(header) + int(program.length[row]), int(self.config.header.vc(header[0]))

    def _begun(self, node: int, row: int) -> bool:
        """Tell whether a row may have begun; False for a streaming row, which waits for words."""
        program = self.program
        if program.start[row] == NO_START:
            return bool(program.step[row] <= self.run.step[node] and not program.stream[row])
        # A node that only awaits timed packets counts its steps on, from 0 again.
        return bool(program.start[row] <= self.run.trace.cycle.max(initial=-1))
