"""Results of a user's own operator, in the order in which the schedule combines.

A built-in operator makes the same of all contributions in whatever order, and is expected by that
alone (:mod:`..program.payload`). One of a user's own may not: sums of floats depend on who is added
to whom. So the schedule is carried out on words, send by send, as docs/router.md, section 19 says::

    a send carries       what its source holds before the step, or if it streams, once that has come
    at its target        there = operator(there, coming), or coming, if it replaces

Two sends that combine into one block of a node in one step do so word by word as they arrive, that
of the lower lane first in the same cycle. No schedule says when that is; the trace of the
prediction does. Nothing else is taken from it, and nothing at all from the hardware.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..network.config import NetworkConfig
from ..network.operators import Operator
from ..program.compiler import Compiled
from ..program.layout import upper_half
from ..program.payload import Payload, Words
from ..run.packets import packets_of, routed
from ..run.trace import Trace
from ..schedule.schedule import Schedule
from ..schedule.streamed_moves import FIRST, Moves

Place = tuple[int, int]
"""A node and a block."""

Cycles = Mapping[tuple[int, int, int], Mapping[int, int]]
"""Cycles of words by address: by node, lane and step."""


def with_results(payload: Payload, compiled: Compiled, predicted: Trace) -> Payload:
    """Add to ``payload`` what each node is to hold of the blocks that an own operator combines.

    ``predicted`` is the trace of the prediction. Raises :class:`.InvalidInput` for an operator
    without a meaning.
    """
    own = {each.name: each for each in compiled.program.config.operators if not each.built_in}
    if not own.keys() & set(compiled.schedule.blocks.operator):
        return payload
    combining = _Combining(payload, compiled, own, predicted)
    return replace(payload, results=combining.carried_out())


class _Combining:
    """The values of blocks while a schedule is carried out, and what tells their order."""

    def __init__(
        self, payload: Payload, compiled: Compiled, own: dict[str, Operator], predicted: Trace
    ) -> None:
        self._schedule, self._layout, self._program = compiled
        self._predicted = predicted
        names = self._schedule.blocks.operator
        self._operators = {
            block: own[name] for block, name in enumerate(names) if name is not None and name in own
        }
        self._held: dict[Place, Words] = {
            (node, block): words
            for block in self._operators
            for node, words in zip(
                payload.holders[block], payload.contributions[block], strict=True
            )
        }

    def carried_out(self) -> dict[Place, Words]:
        """Carry out all steps; what each node then holds of each block."""
        moves = Moves.of(self._schedule)
        for begin, end in moves.steps():
            self._carry_out_step(moves, range(begin, end))
        return self._held

    def _carry_out_step(self, moves: Moves, rows: Iterable[int]) -> None:
        """Carry out the moves of one step, which are in the order in which they stream."""
        before, count = dict(self._held), len(self._schedule.blocks)
        coming: defaultdict[Place, list[tuple[int, Words]]] = defaultdict(list)
        for row in rows:
            source, block = divmod(int(moves.source[row]), count)
            if block not in self._operators:
                continue
            place = source, block
            carried = before[place]
            if moves.ahead[row] != FIRST:
                # Nothing else comes to who streams, or it is not ahead.
                carried = self._combined(place, carried, coming[place])
            goal = int(moves.target[row]) // count, block
            coming[goal].append((int(moves.send[row]), carried))
        for place, arriving in coming.items():
            self._held[place] = self._combined(place, before.get(place), arriving)

    def _combined(
        self, place: Place, value: Words | None, arriving: list[tuple[int, Words]]
    ) -> Words:
        """The value of a block in a node when all of ``arriving`` has come to what was there.

        Where one replaces what is there, it is known which comes when, and they are in that order.
        """
        operator, bits = self._operators[place[1]], self._program.config.flit_width
        coming = np.array([words for _, words in arriving])
        combine = [bool(self._schedule.combine[send]) for send, _ in arriving]
        if len(arriving) > 1 and all(combine):
            order = self._arrivals(place, [send for send, _ in arriving])
            coming = np.take_along_axis(coming, order, axis=0)
        for words, combines in zip(coming, combine, strict=True):
            value = (
                operator.combine(value, words, bits) if combines and value is not None else words
            )
        assert value is not None
        return value

    def _arrivals(self, place: Place, sends: list[int]) -> npt.NDArray[np.intp]:
        """Which of ``sends`` is first, second, … in each word of a block: shape (sends, words)."""
        node, block = place
        words = int(self._schedule.blocks.words[block])
        keys = []
        for send in sends:
            lane = _lane(self._schedule, send)
            came = self._cycles[node, lane, int(self._schedule.step[send])]
            # In a node that sends nothing of it in this step, or one send alone would come.
            first = self._layout.address(node, block)
            first = first if first in came else first + upper_half(self._program.config)
            ports = self._program.config.topology.ports
            keys.append([came[first + word] * ports + lane for word in range(words)])
        return np.argsort(np.array(keys), axis=0)

    @cached_property
    def _cycles(self) -> Cycles:
        return _cycles_of_words(self._program.config, self._predicted)


def _lane(schedule: Schedule, send: int) -> int:
    """The link port by which a send comes to its target."""
    last = schedule.path_offsets[send + 1] - 1
    before, target = schedule.path_nodes[last - 1 : last + 1].tolist()
    port = int(schedule.topology.ports_between(np.array([before]), np.array([target]))[0])
    return int(schedule.topology.peer[before, port])


def _cycles_of_words(config: NetworkConfig, trace: Trace) -> Cycles:
    """The cycle in which each word goes over its last link.

    An interface takes what comes at each of its lanes as it comes, so all words of a node are as
    many cycles later at it.
    """
    moving = Trace(*(column[trace.port != 0] for column in trace.columns))
    packets = packets_of(config, moving)
    router, front, channel, first = routed(config, packets)
    ends = np.flatnonzero((channel >= 0) & (channel // config.vcs % config.topology.ports == 0))
    cycles: dict[tuple[int, int, int], dict[int, int]] = {}
    flits, came_so_far = packets.flits, {}
    for packet in ends.tolist():
        sender, port = (int(column[front[packet]]) for column in (flits.node, flits.port))
        lane = int(config.topology.peer[sender, port])
        step, address, window = (
            int(part(first[packet]))
            for part in (config.header.step, config.header.address, config.header.window)
        )
        inside = (1 << (window or config.address_bits)) - 1
        came = flits.cycle[packets.header_end[packet] : packets.end[packet]].tolist()
        for word, cycle in enumerate(came):
            came_so_far[address & ~inside | (address + word) & inside] = cycle
        if step:
            # Of a send's packets, which go the same way, the last one alone says the step.
            cycles[int(router[packet]), lane, step], came_so_far = came_so_far, {}
    return cycles
