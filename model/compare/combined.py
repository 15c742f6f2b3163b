"""Results of a custom operator, in the order in which the schedule combines.

A built-in operator gives the same result in any order, so its results need no order
(:mod:`..program.payload`). A custom one may not: a sum of floats depends on the order. So this
module carries out the schedule on words, send by send, as in docs/router.md, section 19::

    a send carries       the source's value before the step or, if it streams, after its arrivals
    at its target        there = operator(there, coming), or coming, if it replaces

If two sends combine into one block of a node in one step, each word is combined in order of
arrival, in the same cycle lower lane first. The schedule does not give that order, so it comes from
the trace of the prediction. Nothing else comes from that trace, and nothing from the hardware.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..base.arrays import Words
from ..network.config import NetworkConfig
from ..network.operators import Operator
from ..program.compiler import Compiled
from ..program.memory.layout import upper_half
from ..program.payload import Payload
from ..run.packets import packets_of, routed
from ..run.run import Run
from ..run.trace import Trace
from ..schedule.schedule import Schedule
from ..schedule.streamed_moves import FIRST, Moves

Place = tuple[int, int]
"""A node and a block."""

Cycles = Mapping[tuple[int, int, int], Mapping[int, int]]
"""Cycles of words by address, for each node, lane and step."""


def with_results(payload: Payload, compiled: Compiled, predicted: Run) -> Payload:
    """Add to ``payload`` the expected results of all blocks that a custom operator combines.

    Raises :class:`.InvalidInput` for an operator without a meaning.
    """
    own = {each.name: each for each in compiled.program.config.operators if not each.built_in}
    if not own.keys() & set(compiled.schedule.blocks.operator):
        return payload
    combining = _Combining(payload, compiled, own, predicted.trace)
    return replace(payload, results=payload.results | combining.carried_out())


class _Combining:
    """Values of blocks while a schedule is carried out."""

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
        """Carry out all steps; return the words of each block at each node that holds it."""
        moves = Moves.of(self._schedule)
        for begin, end in moves.steps():
            self._carry_out_step(moves, range(begin, end))
        return self._held

    def _carry_out_step(self, moves: Moves, rows: Iterable[int]) -> None:
        """Carry out the moves of one step, given in streaming order."""
        before, count = dict(self._held), len(self._schedule.blocks)
        coming: defaultdict[Place, list[tuple[int, Words]]] = defaultdict(list)
        for row in rows:
            source, block = divmod(int(moves.source[row]), count)
            if block not in self._operators:
                continue
            place = source, block
            carried = before[place]
            if moves.ahead[row] != FIRST:
                # All arrivals at this source that the move streams were handled before.
                carried = self._combined(place, carried, coming[place])
            goal = int(moves.target[row]) // count, block
            coming[goal].append((int(moves.send[row]), carried))
        for place, arriving in coming.items():
            self._held[place] = self._combined(place, before.get(place), arriving)

    def _combined(
        self, place: Place, value: Words | None, arriving: list[tuple[int, Words]]
    ) -> Words:
        """Return a block's value at a node after all of ``arriving`` has been combined into it.

        If one of the sends replaces the value, ``arriving`` is already in order of arrival.
        """
        operator, bits = self._operators[place[1]], self._program.config.narrow_width
        coming = np.array([words for _, words in arriving])
        combine = [bool(self._schedule.combine[send]) for send, _ in arriving]
        if len(arriving) > 1 and all(combine):
            order = self._arrivals(place, [send for send, _ in arriving])
            coming = coming[order, np.arange(order.shape[1])]
        for words, combines in zip(coming, combine, strict=True):
            value = (
                operator.combine(value, words, bits) if combines and value is not None else words
            )
        assert value is not None
        return value

    def _arrivals(self, place: Place, sends: list[int]) -> npt.NDArray[np.intp]:
        """Return the order in which ``sends`` arrive, for each word: shape (sends, words)."""
        node, block = place
        words = int(self._schedule.blocks.words[block])
        keys = []
        for send in sends:
            lane = _lane(self._schedule, send)
            came = self._cycles[node, lane, int(self._schedule.step[send])]
            # The node sends nothing of the block in this step, or only one send would arrive.
            first = self._layout.address(node, block)
            first = first if first in came else first + upper_half(self._program.config)
            ports = self._program.config.topology.ports
            keys.append([came[first + word] * ports + lane for word in range(words)])
        return np.argsort(np.array(keys), axis=0)

    @cached_property
    def _cycles(self) -> Cycles:
        return _cycles_of_words(self._program.config, self._predicted)


def _lane(schedule: Schedule, send: int) -> int:
    """Return the link port by which a send enters its target."""
    last = schedule.path_offsets[send + 1] - 1
    before, target = schedule.path_nodes[last - 1 : last + 1].tolist()
    port = int(schedule.topology.ports_between(np.array([before]), np.array([target]))[0])
    return int(schedule.topology.peer[before, port])


def _cycles_of_words(config: NetworkConfig, trace: Trace) -> Cycles:
    """Return the cycle in which each word crosses its last link.

    An interface takes words from all lanes after the same delay, so their order is unchanged.
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
            # The packets of a send take the same path; only the last one carries the step.
            cycles[int(router[packet]), lane, step], came_so_far = came_so_far, {}
    return cycles
