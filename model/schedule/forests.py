"""A quick proof that results of reduced blocks are whole, for schedules that use no value twice.

In most large all-reduces a value (:mod:`.reduction`) is combined at most once, and is copied from
then on. The values of a block are then trees, and two that nobody has combined yet share no
contribution. So a result is whole if it has as many contributions as there are. Loops over all
moves of a block keep one value for each node; no move is written down but those of some blocks::

    node 0   0 ──┐                           a value is a number; its contributions are counted:
    node 1   1 ──┴─ 4 ──┐                    4 has 2, and 6 has 4
    node 2   2 ──┐      ├─ 6 ─── 6 ...
    node 3   3 ──┴─ 5 ──┘

:mod:`.reduction` proves all other schedules, and names what is wrong with a schedule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Int32s, Numbers
from ..base.loops import compiled_loop
from ..base.ragged import offsets_of, portions
from .block_runs import BlockRuns
from .streams import streams_of
from .table import SendTable

NONE = -1
"""No send, no known value, or all nodes."""

AT_ONCE = 1 << 22
"""Moves that are written down at a time, about."""


class _Sends(NamedTuple):
    """Columns of the sends: with the send that each forwards, and the one that forwards it."""

    step: Int32s
    source: Int32s
    target: Int32s
    combine: npt.NDArray[np.bool_]
    feeder: Int32s
    fed: Int32s


class _Runs(NamedTuple):
    """Runs of blocks: send i carries those from run ``offsets[i]`` to ``offsets[i + 1]``."""

    offsets: Numbers
    first: Int32s
    end: Int32s

    @classmethod
    def of(cls, schedule: SendTable) -> _Runs:
        """Return the runs of a table in which they are known, or else each block as one."""
        offsets, carried = schedule.block_offsets, schedule.block_ids
        if not isinstance(carried, BlockRuns):
            return cls(offsets.copy(), carried, carried + np.int32(1))
        offsets = np.searchsorted(carried.offsets, offsets)
        return cls(offsets, carried.first, carried.end.astype(np.int32))


class _State(NamedTuple):
    """What is known of one block, and marks of earlier blocks and steps that are no longer valid.

    ``held`` has the value of each node, ``weight`` the contributions of each value, 0 once it is
    combined. ``carried`` has the value of each send, ``NONE`` if it forwards an arriving one, and
    ``carries`` the last block of each send.
    ``arrived`` and ``left`` have the last step in which a block came to a node, and left it.
    """

    held: Int32s
    weight: Int32s
    carried: Int32s
    carries: Int32s
    arrived: Numbers
    left: Numbers


def proves_whole(schedule: SendTable) -> bool:
    """Tell whether all blocks are reduced and whole, and no value is combined twice.

    False also for schedules that the loops do not serve: those in which some nodes do not
    contribute to a block, or a block is owed to some nodes, two or more.
    """
    blocks, nodes = schedule.blocks, schedule.topology.nodes
    streams = streams_of(schedule)
    alike = {*blocks.contributors} == {None} and {*blocks.prefix} == {None}
    single = all(owed is None or len(owed) <= 1 for owed in blocks.owed)
    if not (alike and single and blocks.reduced.all()):
        return False
    feeder, fed = np.full((2, schedule.sends), NONE, np.int32)
    feeder[streams.send], fed[streams.feeder] = streams.feeder, streams.send
    sends = _Sends(schedule.step, schedule.source, schedule.target, schedule.combine, feeder, fed)
    # A number that no node has stands for nobody.
    owed = np.array([NONE if to is None else [*to, nodes][0] for to in blocks.owed], np.int32)
    owed[blocks.words == 0] = nodes
    order = np.argsort(schedule.step, kind="stable").astype(np.int32)
    runs = _Runs.of(schedule)
    moves = np.zeros(len(owed) + 1, np.int64)
    _count_moves(runs, moves)
    moves = np.cumsum(moves[:-1])
    state = _State(
        held=np.empty(nodes, np.int32),
        weight=np.empty(nodes + int(moves.max(initial=0)), np.int32),
        carried=np.empty(schedule.sends, np.int32),
        carries=np.full(schedule.sends, NONE, np.int32),
        arrived=np.full(nodes, NONE),
        left=np.full(nodes, NONE),
    )
    contributes, offsets = np.zeros(nodes, np.int32), offsets_of(moves)
    contributes[schedule.topology.working_nodes] = 1
    for low, high in portions(offsets, AT_ONCE):
        bounds = offsets[low : high + 1] - offsets[low]
        written = np.empty(bounds[-1], np.int32)
        _write_moves(runs, order, low, bounds[:-1].copy(), written)
        if not _are_whole(sends, owed[low:high], low, bounds, written, contributes, state):
            return False
    return True


@compiled_loop
def _count_moves(runs: _Runs, moves: Numbers) -> None:
    """Set ``moves`` to the moves of each block less those of the block before it."""
    for run in range(len(runs.first)):
        moves[runs.first[run]] += 1
        moves[runs.end[run]] -= 1


@compiled_loop
def _write_moves(runs: _Runs, order: Int32s, low: int, places: Numbers, written: Int32s) -> None:
    """Write the sends of some blocks, from block ``low`` on, into ``written``.

    The sends of each block are in ``order``, from the block's place in ``places`` on.
    """
    high = low + len(places)
    for send in order:
        for run in range(runs.offsets[send], runs.offsets[send + 1]):
            for block in range(max(runs.first[run], low), min(runs.end[run], high)):
                written[places[block - low]] = send
                places[block - low] += 1


@compiled_loop
def _are_whole(
    sends: _Sends,
    owed: Int32s,
    low: int,
    bounds: Numbers,
    written: Int32s,
    contributes: Int32s,
    state: _State,
) -> bool:
    """Tell whether some blocks are whole, from block ``low`` on, with the sends ``written``."""
    held, weight, nodes, whole = state.held, state.weight, len(contributes), contributes.sum()
    for block in range(len(owed)):
        for node in range(nodes):
            held[node], weight[node] = node, contributes[node]
        values = nodes
        begin, last = bounds[block], bounds[block + 1]
        while begin < last:
            end = begin
            while end < last and sends.step[written[end]] == sends.step[written[begin]]:
                state.carries[written[end]] = low + block
                end += 1
            values = _values_after(sends, written[begin:end], low + block, values, state)
            if values == NONE:
                return False
            begin = end
        for node in range(nodes):
            due = (owed[block] == NONE) | (owed[block] == node)
            if due and contributes[node] and weight[held[node]] != whole:
                return False
    return True


@compiled_loop
def _values_after(sends: _Sends, moving: Int32s, block: int, values: int, state: _State) -> int:
    """Move a block by its sends of one step; return the number of values then.

    Returns ``NONE`` if the block comes to a node twice, if a streamed block leaves a node twice, if
    a value is combined twice, or with nothing, and if streams wait for each other.
    """
    held, weight, carried, carries = state.held, state.weight, state.carried, state.carries
    # No other step of any block has this number.
    now = np.int64(block) << 32 | sends.step[moving[0]]
    streams = twice = False
    for send in moving:
        source, target, feeder = sends.source[send], sends.target[send], sends.feeder[send]
        if state.arrived[target] == now:
            return NONE
        twice |= state.left[source] == now
        state.arrived[target] = state.left[source] = now
        carried[send] = held[source]
        if feeder != NONE and carries[feeder] == block:
            carried[send], streams = NONE, True
    if streams and twice:
        return NONE
    moved = 0
    for leading in moving:
        send, value = leading, carried[leading]
        while value != NONE:
            target = sends.target[send]
            if sends.combine[send]:
                other = held[target]
                if other == value or weight[other] == 0 or weight[value] == 0:
                    return NONE
                weight[values] = weight[other] + weight[value]
                weight[other] = weight[value] = 0
                value = values
                values += 1
            held[target] = value
            moved += 1
            send = sends.fed[send]
            if send == NONE or carries[send] != block:
                break
    # Around a circle no send is first.
    return values if moved == len(moving) else NONE
