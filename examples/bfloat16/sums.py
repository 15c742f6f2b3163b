"""Sums of bfloat16 numbers by ``ml_dtypes``, in the order in which a schedule adds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from ml_dtypes import bfloat16

from eyecast.api import Schedule

from .adder import NOT_A_NUMBER

Words = npt.NDArray[np.uint64]


def numbers_of(words: Words) -> npt.NDArray[np.generic]:
    """The numbers in words of 32 bits, two in each."""
    return words.astype("<u4").view(bfloat16)


def bits_of(numbers: npt.NDArray[np.generic]) -> npt.NDArray[np.uint16]:
    """Their bits; those of what is not a number are the adder's."""
    bits = numbers.view(np.uint16)
    return np.where(np.isnan(numbers), np.uint16(NOT_A_NUMBER), bits)


def summed(
    schedule: Schedule, contributions: Mapping[int, Words]
) -> dict[tuple[int, int], npt.NDArray[np.generic]]:
    """What each node ends with of each block, by (node, block).

    ``contributions[block]`` has shape (nodes, words). A send carries what its source has before the
    step; at its target it is added to what is there, or replaces it.
    """
    held = {
        (node, block): numbers_of(words)
        for block, own in contributions.items()
        for node, words in enumerate(own)
    }
    for step in range(1, schedule.steps + 1):
        before = dict(held)
        for send in np.flatnonzero(schedule.step == step):
            source, target = int(schedule.source[send]), int(schedule.target[send])
            begin, end = schedule.block_offsets[send : send + 2]
            for block in schedule.block_ids[begin:end].tolist():
                coming = before[source, block]
                with np.errstate(over="ignore", invalid="ignore"):
                    total = before[target, block] + coming if schedule.combine[send] else coming
                held[target, block] = total
    return held
