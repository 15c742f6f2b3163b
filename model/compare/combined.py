"""Results of a user's own operator, in the order in which the schedule combines.

A built-in operator makes the same of all contributions in whatever order, and is expected by that
alone (:mod:`~.program.payload`). One of a user's own may not: sums of floats depend on who is added
to whom. So the schedule is carried out on words, send by send, as docs/router.md, section 19 says::

    a send carries       what its source holds before the step, or if it streams, with what comes
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
from ..schedule.streams import streams_of

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
        schedule = self._schedule
        streams = streams_of(schedule)
        feeder = dict(zip(streams.send.tolist(), streams.feeder.tolist(), strict=True))
        by_step = defaultdict(list)
        for send, step in enumerate(schedule.step.tolist()):
            by_step[step].append(send)
        for step in sorted(by_step):
            self._carry_out_step(_feeders_first(by_step[step], feeder), feeder)
        return self._held

    def _carry_out_step(self, sends: Iterable[int], feeder: dict[int, int]) -> None:
        """Carry out the sends of one step, each block of those that stream behind its feeder's."""
        before = dict(self._held)
        coming: defaultdict[Place, list[tuple[int, Words]]] = defaultdict(list)
        for send in sends:
            source, target = int(self._schedule.source[send]), int(self._schedule.target[send])
            for block in self._blocks(send):
                fed = send in feeder and block in self._blocks(feeder[send])
                place, goal = (source, block), (target, block)
                if fed:
                    self._held[place] = self._combined(place, before, coming[place])
                carried = self._held[place] if fed else before[place]
                coming[goal].append((send, carried))
        for place, arriving in coming.items():
            self._held[place] = self._combined(place, before, arriving)

    def _combined(
        self, place: Place, before: dict[Place, Words], arriving: list[tuple[int, Words]]
    ) -> Words:
        """The value of a block in a node when all of ``arriving`` has come."""
        if not self._schedule.combine[arriving[0][0]]:
            return arriving[0][1]
        operator, bits = self._operators[place[1]], self._program.config.flit_width
        value = before[place]
        coming = np.array([words for _, words in arriving])
        if len(arriving) > 1:
            order = self._arrivals(place, [send for send, _ in arriving])
            coming = np.take_along_axis(coming, order, axis=0)
        for words in coming:
            value = operator.combine(value, words, bits)
        return value

    def _blocks(self, send: int) -> list[int]:
        begin, end = self._schedule.block_offsets[send : send + 2]
        carried = self._schedule.block_ids[begin:end].tolist()
        return [block for block in carried if block in self._operators]

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


def _feeders_first(sends: list[int], feeder: dict[int, int]) -> list[int]:
    """``sends`` of one step, each behind its feeder."""
    ordered: dict[int, None] = {}
    for send in sends:
        chain = [send]
        while (ahead := feeder.get(chain[-1])) is not None and ahead not in (*chain, *ordered):
            chain.append(ahead)
        ordered.update(dict.fromkeys(reversed(chain)))
    return list(ordered)


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
