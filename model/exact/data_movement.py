"""Words that packets carry and memories after a run, if no time decides them.

That holds on two conditions. No word that a row reads may change meanwhile, except those that it
waits for. And packets that write the same word all combine in place by one built-in operator, so
their order has no effect. Then the rows of a step may all read before any word is written; only
streaming rows go on repeatedly, by as many words as have arrived.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..base.arrays import Numbers, Words
from ..base.ragged import offsets_of, ranges
from ..program.program import Program
from ..program.streams import NO_FEEDER
from .timetable import Timetable


class Moved(NamedTuple):
    """The words after a run.

    memory
        The message memories at the end: shape (nodes, message words).
    payload
        The words that all rows sent, one row after the other.
    """

    memory: Words
    payload: Words


def move_words(program: Program, times: Timetable, memory: Words) -> Moved:
    """Move the words of all steps; ``memory`` is not changed."""
    shape = program.config.words_shape(int(program.length.sum()))
    result = Moved(memory.copy(), np.zeros(shape, dtype=np.uint64))
    first = offsets_of(program.length)
    order = np.argsort(program.step, kind="stable")
    bounds = np.searchsorted(program.step[order], np.arange(1, program.steps + 2))
    for begin, end in pairwise(bounds):
        rows = order[begin:end]
        gone, upto = np.zeros((2, len(rows)), dtype=np.int64)
        while True:
            gone, upto = upto, _may_go(program, times, rows, upto)
            if (upto == gone).all():
                break
            count = upto - gone
            row, word = np.repeat(rows, count), ranges(gone, count)
            result.payload[first[row] + word] = _move(program, times, result.memory, row, word)
    return result


def _may_go(program: Program, times: Timetable, rows: Numbers, gone: Numbers) -> Numbers:
    """Return how many words each of a step's rows may have sent when ``gone`` have left."""
    fed, length = times.feeder[rows], program.length[rows]
    if (fed == NO_FEEDER).all():
        return length
    come = np.zeros(len(program.step), dtype=np.int64)
    come[rows] = gone
    return np.where(fed == NO_FEEDER, length, np.minimum(program.lead[rows] + come[fed], length))


def _move(program: Program, times: Timetable, memory: Words, row: Numbers, word: Numbers) -> Words:
    """Read one word of each row, write or combine all at the targets, and return those read."""
    window, operator = program.window[row], program.operator[row]
    coming = memory[program.row_node[row], address_of(program.source_address[row], word, window)]
    node, address = times.target[row], address_of(program.target_address[row], word, window)
    replaces = operator == 0
    memory[node[replaces], address[replaces]] = coming[replaces]
    half = 1 << (program.config.address_bits - 1)
    for number in np.unique(operator[~replaces]).tolist():
        chosen = program.config.operators[(number - 1) // 2]
        here = np.flatnonzero(operator == number)
        # If several words go to one address, combine the first of each, then the second ones.
        while here.size:
            place = node[here] * program.config.message_words + address[here]
            one = np.unique(place, return_index=True)[1]
            now = here[one]
            there = memory[node[now], address[now] ^ (0 if number % 2 else half)]
            bits = program.config.narrow_width
            memory[node[now], address[now]] = chosen.combine(there, coming[now], bits)
            here = np.delete(here, one)
    return coming


def address_of(first: Numbers, word: Numbers, window: Numbers) -> Numbers:
    """Return the address of a word of a message that begins at ``first``, in its window."""
    address = first + word
    if not window.any():
        return address
    inside = (np.int64(1) << window) - 1
    return np.where(window > 0, (first & ~inside) | (address & inside), address)
