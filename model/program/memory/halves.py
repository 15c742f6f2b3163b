"""Halves of the memory, and copies, for reduced blocks while they are combined.

A node may send a block in the step in which a packet for that block arrives. It must send the old
value, whatever arrives first. So the arriving words are written to the other half of the memory,
combined with the words of this half (*across*) or unchanged. The next step sends from there: the
block *changes halves* (docs/router.md, section 19). If the node does not send the block in that
step, or streams it, arriving words are combined in place. The same holds for words that return to
their sender: each of them has left before (:func:`.returning_rows`)::

    recursive doubling, node 0      start    step 1    step 2    step 3      end
    upper half                      0        .         0-3       .           .
    lower half, the block's own     .        0-1       .         0-7         0-7

A block ends in the lower half, at its own address. So if it changes halves an odd number of times,
it starts in the upper half, and is loaded there.

Two packets that arrive for a block in one step cannot both go across: the second would undo the
first, in an unknown order. Such a block has *copies* instead, all loaded before the start. Arriving
words are combined in place with all copies except the one that is sent, which is then out of use.
So there is one copy more than the block has changes, and the last copy left is at the block's own
address::

    trivance-whole, nodes in a ring of 9    start    step 1       step 2       end
    copy 2                                  0        . sent       out of use
    copy 1                                  0        0-2 of 9     . sent
    copy 0, the block's own                 0        0-2 of 9     all          all

Each message is sent once for each remaining copy: more words, in fewer steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.arrays import Numbers
from ...base.errors import InvalidInput
from ...network.operators import is_built_in
from ...schedule.rules import LARGEST_STEP
from ...schedule.schedule import Schedule
from ...schedule.streamed_moves import Moves, parts_of

Flags = npt.NDArray[np.bool_]

_STEPS = LARGEST_STEP + 2


@dataclass(frozen=True, eq=False)
class Halves:
    """The steps in which blocks change halves, or lose a copy.

    ``keys`` are ``(node * blocks + block) * _STEPS + step``, ascending. If ``copied``, blocks have
    copies; otherwise they have one place in each half of the memory.
    """

    blocks: int
    keys: Numbers
    copied: bool = False

    @classmethod
    def of(cls, schedule: Schedule) -> Halves:
        """Return the changes of a schedule. Raises :class:`.InvalidInput` for impossible copies."""
        count = len(schedule.blocks)
        if not (schedule.blocks.reduced.any() and _sends_while_it_gets(schedule)):
            return cls(count, np.zeros(0, np.int64))
        schedule.require_listable("a program")
        parts = [_changes(schedule, Moves.of(schedule, some)) for some in parts_of(schedule)]
        keys = np.sort(np.concatenate(parts))
        again = keys[1:] == keys[:-1]
        for key in keys[1:][again][:1]:
            _require_copies(schedule, int(key))
        return cls(count, keys[np.append(True, ~again)] if keys.size else keys, bool(again.any()))

    @property
    def any(self) -> bool:
        """Tell whether some block changes, and so needs more than one place in a memory."""
        return bool(self.keys.size)

    @property
    def places(self) -> int:
        """The most places that a block has in a memory: halves, or copies."""
        if not self.copied:
            return 1 + self.any
        return 1 + int(np.unique(self.keys // _STEPS, return_counts=True)[1].max())

    def place(
        self,
        nodes: npt.NDArray[np.integer],
        blocks: npt.NDArray[np.integer],
        steps: npt.NDArray[np.integer],
    ) -> Numbers:
        """Return the place of each block in its node after a step; step 0 is the start.

        Place 0 is at the block's own address, 1 in the other half; with copies, the highest left.
        """
        pairs = (nodes.astype(np.int64) * self.blocks + blocks) * _STEPS
        left: Numbers = np.searchsorted(self.keys, pairs + _STEPS - 1) - np.searchsorted(
            self.keys, pairs + steps, side="right"
        )
        return left if self.copied else left % 2


def _sends_while_it_gets(schedule: Schedule) -> bool:
    """Tell whether a node sends words that it had before a step in which it gets a packet."""
    sent, come = (
        schedule.step * np.int64(schedule.topology.nodes) + end
        for end in (schedule.source, schedule.target)
    )
    return bool(np.isin(come, sent[~schedule.stream]).any())


def _changes(schedule: Schedule, moves: Moves) -> Numbers:
    """Return a key, as in :class:`Halves`, for each move into a block that its node sends as well.

    The moves are those of some blocks.
    """
    # A send that streams forwards arriving words, not the old value.
    whole = ~schedule.stream[moves.send]
    sent = np.sort((moves.source * _STEPS + moves.step)[whole])
    come = np.delete(moves.target * _STEPS + moves.step, _returning(schedule, moves))
    pair, step = np.divmod(come[_among(come, sent)], _STEPS)
    node, index = np.divmod(pair, moves.blocks.size)
    keys: Numbers = (node * len(schedule.blocks) + moves.blocks[index]) * _STEPS + step
    return keys


def _require_copies(schedule: Schedule, key: int) -> None:
    """Refuse copies that could differ in value, or that a stream uses."""
    pair, step = divmod(key, _STEPS)
    node, block = divmod(pair, len(schedule.blocks))
    operator = schedule.blocks.operator[block]
    if is_built_in(operator) and not schedule.stream.any():
        return
    why = "in a schedule that streams" if is_built_in(operator) else f"by {operator}"
    raise InvalidInput.of(
        f"words for block {block} at node {node} in step {step}, in which it sends the block,",
        "one send, but by a built-in operator and without streams",
        f"several {why}: their order would decide",
    )


def _returning(schedule: Schedule, moves: Moves) -> Numbers:
    """Return the moves that bring blocks back, in the same step, to the node that sent them.

    The block must leave in one send only, which does not stream; no other packet may arrive for it.
    """
    back, left = moves.returning()
    whole = ~schedule.stream[moves.send]
    sent, come = (ends * _STEPS + moves.step for ends in (moves.source, moves.target))
    alone = whole[left] & _once(sent[left], sent[whole]) & _once(come[back], come)
    return back[alone]


def _once(numbers: Numbers, others: Numbers) -> Flags:
    """Tell which ``numbers`` occur exactly once among the others."""
    distinct, counts = np.unique(others, return_counts=True)
    return _among(numbers, distinct[counts == 1])


def _among(numbers: Numbers, ordered: Numbers) -> Flags:
    """Tell which ``numbers`` are among the sorted numbers ``ordered``.

    (np.isin sorts them again, which takes thirty times as long.)
    """
    if not ordered.size:
        return np.zeros(numbers.size, np.bool_)
    places = np.minimum(np.searchsorted(ordered, numbers), ordered.size - 1)
    found: Flags = ordered[places] == numbers
    return found
