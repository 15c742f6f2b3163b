"""Sums of bfloat16 numbers by ``ml_dtypes``, in the order in which a schedule adds."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from ml_dtypes import bfloat16

from eyecast.api import Schedule
from eyecast.chip.float_adder import NOT_A_BFLOAT16

Words = npt.NDArray[np.uint64]


def numbers_of(words: Words) -> npt.NDArray[np.generic]:
    """Return the numbers in words of 32 bits, two in each."""
    return words.astype("<u4").view(bfloat16)


def bits_of(numbers: npt.NDArray[np.generic]) -> npt.NDArray[np.uint16]:
    """Return the bits of numbers; NaN becomes the adder's."""
    bits = numbers.view(np.uint16)
    return np.where(np.isnan(numbers), np.uint16(NOT_A_BFLOAT16), bits)


def summed(
    schedule: Schedule, contributions: Mapping[int, Words]
) -> dict[tuple[int, int], npt.NDArray[np.generic]]:
    """Return each node's final value of each block, by (node, block).

    ``contributions[block]`` has shape (nodes, words). A send carries its source's value before the
    step; its target adds this value to its own, or replaces its own by it.
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
