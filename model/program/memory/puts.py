"""The puts of the sends of a schedule: runs of blocks that are adjacent at both ends.

A send whose blocks are not adjacent becomes several puts. A packet that streams, or that another
row streams, stays whole, with its blocks in the order of the send; its addresses may wrap in a
window (docs/router.md, section 20)::

    blocks of a send     5    6    7    0    1          window of 8 blocks: one put from block 5 on
    in the memory        | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
                          ------>             ----------->
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.errors import InvalidInput, one_of
from ...base.ragged import offsets_of, portions, ranges
from ...network.config import NetworkConfig
from ...schedule.rules import send_name
from ...schedule.schedule import Schedule
from ...schedule.stream_runs import in_fixed_order
from .layout import Layout


class Puts(NamedTuple):
    """The puts of all sends, in the order of the sends: columns of equal length.

    ``window`` is w if the addresses wrap in 2 ** w words, 0 without a window.
    """

    send: Numbers
    source_address: Numbers
    target_address: Numbers
    length: Numbers
    window: Numbers
    operator: Numbers


def puts_of(schedule: Schedule, layout: Layout, config: NetworkConfig) -> Puts:
    """Return one put for each run of a send's blocks that are adjacent at both ends.

    Raises :class:`.InvalidInput` if a send that streams, or a feeder, has blocks that are neither
    adjacent in its order nor in a window; and for an operator that ``config`` does not have.
    """
    in_order, operators = in_fixed_order(schedule), operator_numbers(schedule, config)
    parts = [
        _puts(schedule, _placed(schedule, layout, config, operators, *pieces), in_order)
        for pieces in _pieces(schedule, layout, operators)
    ]
    return Puts(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _pieces(
    schedule: Schedule, layout: Layout, operators: Numbers
) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """Yield columns: send, first block and words of pieces with adjacent addresses, in parts.

    Pieces are runs of ascending blocks if all nodes have these adjacent, otherwise single blocks.
    """
    base, words = layout.base, schedule.blocks.words.astype(np.int64)
    alike = (operators == operators[:1]).all() and (base == base[:1]).all()
    if alike and layout.packed is None and not layout.halves.any:
        for send, runs in schedule.runs():
            first = runs.first.astype(np.int64)
            yield send, first, layout.starts[runs.end] - layout.starts[first]
        return
    schedule.require_listable("a program")
    for begin, end in portions(schedule.block_offsets):
        offsets = schedule.block_offsets[begin : end + 1]
        block = schedule.block_ids[offsets[0] : offsets[-1]].astype(np.int64)
        yield np.repeat(np.arange(begin, end), np.diff(offsets)), block, words[block]


class _Placed(NamedTuple):
    """The pieces of all sends: their addresses at both ends, and their operators at the target.

    ``copy`` is the copy at the target that the row writes, 0 without copies; a row for each copy.
    """

    send: Numbers
    words: Numbers
    copy: Numbers
    begin: Numbers
    goal: Numbers
    operator: Numbers


def _placed(
    schedule: Schedule,
    layout: Layout,
    config: NetworkConfig,
    operators: Numbers,
    send: Numbers,
    block: Numbers,
    words: Numbers,
) -> _Placed:
    """Return the addresses of pieces that begin with ``block``, with a row for each copy.

    A copy that is not written any more has no row.
    """
    step, source, target = (
        column[send] for column in (schedule.step, schedule.source, schedule.target)
    )
    halves, apart = layout.halves, layout.apart(config)
    begin = layout.addresses(source, block) + apart * halves.place(source, block, step - 1)
    there, then = halves.place(target, block, step - 1), halves.place(target, block, step)
    across = (there != then) & ~np.bool_(halves.copied)
    operator = np.where(schedule.combine[send], operators[block] * 2 - ~across, 0)
    goal = layout.addresses(target, block)
    if not halves.copied:
        return _Placed(send, words, np.zeros_like(send), begin, goal + apart * then, operator)
    row, copy = np.repeat(np.arange(len(send)), then + 1), ranges(0, then + 1)
    return _Placed(send[row], words[row], copy, begin[row], goal[row] + apart * copy, operator[row])


def _puts(schedule: Schedule, placed: _Placed, in_order: npt.NDArray[np.bool_]) -> Puts:
    """Return the puts of some sends; those marked in ``in_order`` stay whole."""
    within = np.where(in_order[placed.send], np.arange(len(placed.send)), placed.begin)
    order = np.lexsort((within, placed.copy, placed.send))
    send, words, _, begin, goal, operator = (column[order] for column in placed)
    new = np.ones(len(send), dtype=np.bool_)
    new[1:] = (send[1:] != send[:-1]) | (operator[1:] != operator[:-1])
    apart = np.zeros_like(new)
    for address in (begin, goal):
        apart[1:] |= address[1:] != (address + words)[:-1]
    apart &= ~new
    window = _windows(schedule, _Blocks(send, begin, goal, words), apart & in_order[send])
    new |= apart & ~in_order[send]
    first = np.flatnonzero(new)
    length = np.diff(offsets_of(words)[np.append(first, len(send))])
    window = window[send[first]]
    return Puts(send[first], begin[first], goal[first], length, window, operator[first])


def operator_numbers(schedule: Schedule, config: NetworkConfig) -> Numbers:
    """Return the number of each block's operator in the network, from 1; 0 without one.

    Raises :class:`.InvalidInput` for an operator that the network does not have.
    """
    numbers = {operator.name: place for place, operator in enumerate(config.operators, start=1)}
    names = schedule.blocks.operator
    for name in names:
        if name is not None and name not in numbers:
            built = one_of(numbers) if numbers else "none"
            allowed = f"{built}, as the network is built with no other"
            raise InvalidInput.of("operator", allowed, name)
    return np.array([0 if name is None else numbers[name] for name in names], np.int64)


class _Blocks(NamedTuple):
    """Blocks of sends as columns: their addresses at both ends, and their words."""

    send: Numbers
    begin: Numbers
    goal: Numbers
    words: Numbers


def _windows(schedule: Schedule, blocks: _Blocks, breaks: npt.NDArray[np.bool_]) -> Numbers:
    """Return each send's window, (sends,); its addresses must wrap at each index of ``breaks``."""
    window = np.zeros(schedule.sends, np.int64)
    total = np.bincount(blocks.send, blocks.words, schedule.sends).astype(np.int64)
    for place in np.flatnonzero(breaks).tolist():
        send = int(blocks.send[place])
        sizes = {
            int(address[place - 1] + blocks.words[place - 1] - address[place])
            for address in (blocks.begin, blocks.goal)
        }
        size = max(sizes)
        aligned = all(address[place] % max(size, 1) == 0 for address in (blocks.begin, blocks.goal))
        round_once = len(sizes) == 1 and window[send] == 0 and total[send] <= size
        if not (round_once and size > 1 and size.bit_count() == 1 and aligned):
            allowed = (
                "side by side in its order, or round a window that is a power of two, to stream"
            )
            raise InvalidInput.of(
                f"blocks of {send_name(schedule, send)}", f"{allowed}", "elsewhere"
            )
        window[send] = size.bit_length() - 1
    return window
