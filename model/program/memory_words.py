"""A program as the words that a host loads into a network: docs/router.md, sections 4 and 16."""

from __future__ import annotations

import numpy as np

from ..base.arrays import Numbers, Words
from ..base.ragged import offsets_of, ranges
from .row import NO_START
from .table import RowTable


def table_words(program: RowTable) -> tuple[Numbers, Words]:
    """Return (first, words): where each table begins and ends, and the words of all tables.

    Sender n has the words ``first[n]`` to ``first[n + 1] - 1``, end mark included. In a network
    with a controller they begin with the ``leading_words`` of :func:`expected_words`.
    """
    config, order = program.config, program.sender_order
    leading = config.leading_words
    control = config.table.control_words
    header_flits = program.header_flits[order]
    before = row_begins(program)[order]
    first = offsets_of(program.table_sizes)
    words = np.zeros(int(first[-1]), dtype=np.uint64)
    if leading:
        words[first[:-1, None] + np.arange(leading)] = expected_words(program)
    fields = {
        "step": program.step[order],
        "header_flits": header_flits,
        "source_address": program.source_address[order],
        "length": program.length[order],
        "start": program.start[order] - NO_START,
        **{name: getattr(program, name)[order] for name in ("stream", "lead", "window")},
    }
    words[before[:, None] + np.arange(control)] = config.table.pack(fields)
    words[ranges(before + control, header_flits)] = program.header_of(order)
    return first, words


def row_begins(program: RowTable) -> Numbers:
    """Return for each row the index of its first word in the words of :func:`table_words`."""
    config, order = program.config, program.sender_order
    sizes = config.table.control_words + program.header_flits[order]
    begins = np.empty_like(order)
    # Each sender's rows are followed by its end mark, a word 0, which the array holds already.
    begins[order] = offsets_of(sizes)[:-1] + program.sender[order]
    return begins + config.leading_words * (program.sender + 1)


def expected_words(program: RowTable) -> Words:
    """Return the steps in which each ejection port receives, as bit masks over step numbers.

    Shape (nodes * lanes, mask words): bit i of word w is for step ``w * narrow_width + i``.
    """
    config, expected = program.config, program.expected
    bits = np.zeros((len(expected), config.mask_words * config.narrow_width), dtype=np.uint64)
    bits[:, : expected.shape[1]] = expected
    places = np.arange(config.narrow_width, dtype=np.uint64)
    masks = bits.reshape(len(expected), config.mask_words, config.narrow_width) << places
    words: Words = masks.sum(axis=2, dtype=np.uint64)
    return words
