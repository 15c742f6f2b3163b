"""In place or across: where reduced blocks lie while they are combined.

A node that sends a block in the step in which something comes for it must send what it held before,
whatever comes when. So what comes is written to the same place of the other half of the memory,
combined with the word of this half (*across*), or as it is, and the next step sends from there: the
block *changes halves* (docs/router.md, section 19). Where a node does not send the block in that
step, or streams it, what comes is combined in place; and so is what comes back to it, every word of
which left before (:func:`returning_moves`)::

    recursive doubling, node 0      start    step 1    step 2    step 3      end
    upper half                      0        .         0-3       .           .
    lower half, the block's own     .        0-1       .         0-7         0-7

A block ends in the lower half, at its own address. So it starts in the upper one where it changes
an odd number of times, and is loaded there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput
from ..schedule.rules import LARGEST_STEP
from ..schedule.schedule import Schedule
from ..schedule.streamed_moves import Moves

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_STEPS = LARGEST_STEP + 2


@dataclass(frozen=True, eq=False)
class Halves:
    """The steps in which blocks change halves.

    ``keys`` are ``(node * blocks + block) * _STEPS + step``, ascending.
    """

    blocks: int
    keys: Numbers

    @classmethod
    def of(cls, schedule: Schedule) -> Halves:
        """Find them. Raises :class:`.InvalidInput` where two come for a block that is sent."""
        count = len(schedule.blocks)
        if not schedule.blocks.reduced.any():
            return cls(count, np.zeros(0, np.int64))
        moves = Moves.of(schedule)
        # What streams is sent on as it comes, and not as it was before.
        whole = ~schedule.stream[moves.send]
        sent = (moves.source * _STEPS + moves.step)[whole]
        back = _returning(schedule, moves)
        come = np.delete(moves.target * _STEPS + moves.step, back)
        sent, come = np.sort(sent), np.sort(come)
        keys = come[_among(come, sent)]
        for key in keys[1:][keys[1:] == keys[:-1]][:1]:
            pair, at = divmod(int(key), _STEPS)
            node, of_block = divmod(pair, count)
            raise InvalidInput.of(
                f"what comes for block {of_block} at node {node} in step {at}, in which it sends "
                f"the block,",
                "one send",
                "several: one memory cannot combine them and send what was there before",
            )
        return cls(count, keys)

    @property
    def any(self) -> bool:
        """Tell whether some block changes, and so needs both halves of a memory."""
        return bool(self.keys.size)

    def after(
        self,
        nodes: npt.NDArray[np.integer],
        blocks: npt.NDArray[np.integer],
        steps: npt.NDArray[np.integer],
    ) -> Flags:
        """Tell which blocks, each in its node, lie in the upper half after a step; 0: at first."""
        pairs = (nodes.astype(np.int64) * self.blocks + blocks) * _STEPS
        still = np.searchsorted(self.keys, pairs + _STEPS - 1) - np.searchsorted(
            self.keys, pairs + steps, side="right"
        )
        odd: Flags = still % 2 == 1
        return odd


def _returning(schedule: Schedule, moves: Moves) -> Numbers:
    """The moves by which blocks come back, in the same step, to who sent them.

    They left in no other send than that one, which streams nothing itself, and nothing else comes.
    """
    back, left = moves.returning()
    whole = ~schedule.stream[moves.send]
    sent, come = (ends * _STEPS + moves.step for ends in (moves.source, moves.target))
    alone = whole[left] & _once(sent[left], sent[whole]) & _once(come[back], come)
    return back[alone]


def _once(numbers: Numbers, others: Numbers) -> Flags:
    """Tell which ``numbers`` are among the others just once."""
    distinct, counts = np.unique(others, return_counts=True)
    return _among(numbers, distinct[counts == 1])


def _among(numbers: Numbers, ordered: Numbers) -> Flags:
    """Tell which ``numbers`` are among those that are ``ordered``.

    (np.isin sorts them once more, which takes thirty times as long.)
    """
    if not ordered.size:
        return np.zeros(numbers.size, np.bool_)
    places = np.minimum(np.searchsorted(ordered, numbers), ordered.size - 1)
    found: Flags = ordered[places] == numbers
    return found
