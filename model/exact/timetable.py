"""Begin cycles of all rows if no flit waits: docs/router.md, sections 4, 5, 10, 16 and 20.

::

    free ──► begin ─────► header ──► payload ─────────► free again, C + 1 cycles later
    step ──►                 │       (pauses before
                             │       streamed words)
                             └─► tail at the target h (R + 1) + 1 cycles later ──► the step is over

The clock goes through the steps in order. In a step a row begins when its sender is free. A wait
for streamed words delays the row, the later rows of its sender, and the rows that stream its
packet. So the first pause of each row, its gap, is computed in rounds until none changes.

If a feeder pauses behind its own first words, its packet comes in parts, and so does the packet
that streams it. Around a ring of short blocks each row pauses before each block::

    words of a row       | 3 |   | 0 |   | 1 |          block 3 is its own
    words of its feeder  | 0 |   | 1 |   | 2 |
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..base.arrays import Numbers
from ..base.ragged import offsets_of
from ..program.program import Program
from ..program.route_ends import Ends
from ..program.streams import NO_FEEDER, feeders
from .declined import Declined

MOST_ROUNDS = 1 << 16
"""Most rounds in which the gaps of a step are computed; a chain of n packets takes n rounds."""


class Pauses(NamedTuple):
    """Cycles that rows wait before one of their payload words: columns, by row and word."""

    row: Numbers
    word: Numbers
    cycles: Numbers

    def before(self, row: Numbers, word: Numbers) -> Numbers:
        """Return the cycles that each row pauses up to a word; a header flit has a word below 0."""
        most = int(self.word.max(initial=0)) + 2
        keys, sums = self.row * most + self.word, offsets_of(self.cycles)
        ends = np.searchsorted(keys, row * most + np.clip(word, -1, most - 2), side="right")
        return sums[ends] - sums[np.searchsorted(keys, row * most)]


@dataclass(frozen=True, eq=False)
class Timetable:
    """Times of the rows and steps of a run; all int64, cycles.

    begin
        The cycle in which each row's first header flit is injected: shape (rows,).
    pauses
        Cycles that rows wait for words that they stream.
    feeder
        The row whose packet each row streams, as :func:`~..program.streams.feeders` returns it.
    target, lane
        The node and lane that receive each row's packet.
    tail
        The cycle in which each row's tail leaves the network.
    cycles
        The first cycle in which all nodes are finished.
    steps
        The step register of each node in that cycle: shape (nodes,).
    step_ends
        As in :class:`~..run.run.Prediction`.
    """

    begin: Numbers
    pauses: Pauses
    feeder: Numbers
    target: Numbers
    lane: Numbers
    tail: Numbers
    cycles: int
    steps: Numbers
    step_ends: Numbers


def timetable(program: Program, ends: Ends, *, barrier: bool) -> Timetable:
    """Return the timetable of ``program``, whose packets go to ``ends``, if no flit waits.

    Raises :class:`.Declined` if a flag would be set, or if packets come in parts to a sender that
    has several rows in a step.
    """
    return _Clock(program, ends, barrier=barrier).run()


class _Clock:
    """A walk through the steps of a program with the times of all rows."""

    def __init__(self, program: Program, ends: Ends, *, barrier: bool) -> None:
        self.program, self.barrier = program, barrier
        config = self.config = program.config
        rows = len(program.step)
        self.target, self.lane = ends
        self.sender = program.sender
        self.feeder = np.where(program.length > program.lead, feeders(program), NO_FEEDER)
        self.headers = program.header_flits
        self.flits = self.headers + program.length
        self.flight = 1 + program.row_hops * (config.link_registers + 1)
        self.begin, self.gap, self.late = np.zeros((3, rows), dtype=np.int64)
        """``late`` is the wait for a feeder without pauses; below 0 if its words come early."""
        self.tail = np.zeros(rows, dtype=np.int64)
        self.pauses: list[Numbers] = []
        first = config.leading_words + np.where(
            np.diff(program.first_sender_row) > 0, config.table.control_words, 1
        )
        self.free = np.where(np.repeat(config.topology.has_interface, config.lanes), first, 0)
        """The cycle from which each sender has read its next row or the end of its table."""
        self.left = np.diff(program.first_sender_row)
        """Rows that each sender still has to send."""

    def run(self) -> Timetable:
        """Compute the times of all steps."""
        program, config = self.program, self.config
        _require_receives(program, self.target, self.lane)
        nodes, steps = program.nodes, program.steps
        now = np.zeros(nodes, dtype=np.int64)
        """The cycle in which each node's current step began."""
        over = np.zeros((steps if not self.barrier else 0, nodes), dtype=np.int64)
        last = np.zeros(nodes, dtype=np.int64)
        step_ends = np.zeros(steps, dtype=np.int64)
        order = program.sender_order[np.argsort(program.step[program.sender_order], kind="stable")]
        bounds = np.searchsorted(program.step[order], np.arange(1, steps + 2))
        for step in range(1, steps + 1):
            rows = order[bounds[step - 1] : bounds[step]]
            self._send(rows, now)
            waited = rows[~program.continued[rows]]
            seen = self.tail[waited] + config.write_delay + 1
            np.maximum.at(last, self.target[waited], seen)
            step_ends[step - 1] = seen.max(initial=0)
            ended = np.maximum(now, self.free.reshape(nodes, -1).max(axis=1))
            np.maximum.at(ended, self.target[waited], seen)
            if self.barrier:
                now = np.broadcast_to(ended.max() + 2 + config.barrier_registers, nodes)
            else:
                over[step - 1] = ended
                now = ended + 1
        finished = np.maximum(last, self.free.reshape(nodes, -1).max(axis=1))
        there = np.full(nodes, max(steps, 1)) if self.barrier else 1 + (over < finished).sum(axis=0)
        return Timetable(
            begin=self.begin,
            pauses=_sorted(self.pauses),
            feeder=self.feeder,
            target=self.target,
            lane=self.lane,
            tail=self.tail,
            cycles=int(finished.max()),
            steps=np.where(config.topology.has_interface, there, 0),
            step_ends=step_ends,
        )

    def _send(self, rows: Numbers, now: Numbers) -> None:
        """Send the ``rows`` of one step, given in sender order."""
        if not rows.size:
            return
        control = self.config.table.control_words
        sender = self.sender[rows]
        first = np.flatnonzero(np.diff(sender, prepend=-1))
        group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(rows))))
        senders = sender[first]
        base = np.maximum(self.free[senders], now[senders // self.config.lanes])
        streams = bool((self.feeder[rows] != NO_FEEDER).any())
        for _ in range(MOST_ROUNDS):
            busy = offsets_of(self.flits[rows] + self.gap[rows] + control)
            self.begin[rows] = base[group] + (busy[:-1] - busy[first][group])
            if not streams or not self._wait(rows):
                break
        else:
            raise Declined(f"streams are longer than {MOST_ROUNDS} packets")
        paused = self._paused(rows, alone=len(first) == len(rows)) if streams else 0
        end = self.begin[rows] + self.flits[rows] + paused - 1
        self.tail[rows] = end + self.flight[rows]
        lasting = np.append(first[1:], len(rows)) - 1
        self.left[senders] -= np.diff(np.append(first, len(rows)))
        self.free[senders] = end[lasting] + 1 + np.where(self.left[senders] > 0, control, 1)

    def _wait(self, rows: Numbers) -> bool:
        """Delay rows until the first word that they stream; return whether any gap has changed."""
        program = self.program
        rows = rows[self.feeder[rows] != NO_FEEDER]
        fed = self.feeder[rows]
        come = self.begin[fed] + self.headers[fed] + self.flight[fed] + self.config.write_delay
        natural = self.begin[rows] + self.headers[rows] + program.lead[rows]
        self.late[rows] = come + 2 - natural
        gap = np.maximum(self.late[rows] + np.where(program.lead[fed] == 0, self.gap[fed], 0), 0)
        changed = bool((gap != self.gap[rows]).any())
        self.gap[rows] = gap
        return changed

    def _paused(self, rows: Numbers, *, alone: bool) -> Numbers:
        """Note the pauses of ``rows``, and return the cycles of each row's pauses together."""
        program = self.program
        fed = self.feeder[rows[self.feeder[rows] != NO_FEEDER]]
        if not ((self.gap[fed] > 0) & (program.lead[fed] > 0)).any():
            paused = rows[self.gap[rows] > 0]
            self.pauses.append(np.stack((paused, program.lead[paused], self.gap[paused])))
            return self.gap[rows]
        if not alone:
            raise Declined("words that are sent on come with gaps")
        return self._paused_again(rows)

    def _paused_again(self, rows: Numbers) -> Numbers:
        """Do the same for packets that come in parts, each sender's only one in its step.

        Word w of a row waits ``late`` cycles longer than word w - lead of its feeder. So it waits
        for the largest sum of ``late`` along the chain of feeders whose leads are in its way.
        """
        lead, length = self.program.lead, self.program.length
        longest = np.zeros(len(lead), dtype=np.int64)
        word, late = np.zeros((2, len(rows)), dtype=np.int64)
        row = at = rows
        for _ in range(MOST_ROUNDS):
            on = (self.feeder[at] != NO_FEEDER) & (word + lead[at] < length[row])
            row, at, word, late = (column[on] for column in (row, at, word, late))
            if not row.size:
                return longest[rows]
            word, late, at = word + lead[at], late + self.late[at], self.feeder[at]
            more = np.maximum(late - longest[row], 0)
            longest[row] += more
            self.pauses.append(np.stack((row, word, more))[:, more > 0])
        raise Declined(f"streams are longer than {MOST_ROUNDS} packets")


def _sorted(parts: list[Numbers]) -> Pauses:
    """Return the columns of all ``parts``, by row and word."""
    row, word, cycles = np.concatenate((np.zeros((3, 0), np.int64), *parts), axis=1)
    order = np.lexsort((word, row))
    return Pauses(row[order], word[order], cycles[order])


def _require_receives(program: Program, target: Numbers, lane: Numbers) -> None:
    """Decline unless every expected packet arrives exactly once, and no other."""
    rows = np.flatnonzero(program.header_step)
    config = program.config
    steps = 1 << config.step_bits
    receiver = target[rows] * config.lanes + lane[rows] - 1
    come = np.sort(receiver * steps + program.step[rows])
    expected = np.sort(program.receiver * steps + program.receive_step)
    if len(come) != len(expected) or (come != expected).any() or (np.diff(come) == 0).any():
        raise Declined("packets come that no node expects, or do not come")
