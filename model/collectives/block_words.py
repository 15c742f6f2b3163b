"""Unequal blocks: as many words for each node, or for each pair of nodes, as a table says.

An algorithm makes its schedule for blocks that are all about as long as the longest. Then every
block gets the words that it has, in equal shares to the parts into which the algorithm cuts it; and
a part without words is left out of all sends, with the sends and steps that carry no other::

    words 3, 0, 2       step 1   0 -> 1  blocks 0, 2        step 1   0 -> 1  5 words
                        step 2   1 -> 2  block 1            (nothing is left of step 2)

What is proved of a schedule does not depend on the lengths of its blocks, except where it streams:
there every block must have words, and lie behind the block that it follows
(``model/schedule/stream_runs.py``).

A file is JSON. The words are a number for each node, in an all-to-all a row for each source with a
number for each target; nodes that take no part have 0::

    {"format": "eyecast-block-words", "version": 1, "words": [3, 0, 2, 7]}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from ..base.errors import InvalidInput, one_of
from ..base.json_file import decode_versioned, read_json
from ..base.pieces import shares_of
from ..network.topology import Topology
from ..schedule.carrying import carrying
from ..schedule.collective import OF_OWNERS, OF_TARGETS, Collective
from ..schedule.schedule import Schedule
from ..schedule.stream_runs import stream_runs

FORMAT = "eyecast-block-words"
MOST_WORDS = 1 << 30
"""Of a block: the longest, raised to a power of two, must be a word count, too."""

BlockWords = tuple[int, ...] | tuple[tuple[int, ...], ...]
"""Words of each node's block, or for each source the words of its blocks for all targets."""

SERVED = (*OF_TARGETS, *OF_OWNERS, Collective.ALL_TO_ALL)
"""Collectives that have a block for each node, or pair of nodes."""

_Words = Annotated[int, msgspec.Meta(ge=0, le=MOST_WORDS)]
Table = list[_Words | list[_Words]]
"""Words as a file has them."""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    words: Table


def read_block_words(path: str | Path) -> BlockWords:
    """Read the words of blocks in the JSON file ``path``.

    Raises :class:`.InvalidInput` with one line that names the file and what is allowed.
    """
    return as_block_words(
        read_json(path, lambda text: decode_versioned(text, FORMAT, (1,), _File)).words
    )


def as_block_words(table: Sequence[int | Sequence[int]]) -> BlockWords:
    """Make a table of words, one for each node or pair, one that does not change."""
    return tuple(  # type: ignore[return-value]
        tuple(map(int, each)) if isinstance(each, Sequence | np.ndarray) else int(each)
        for each in table
    )


def require_shape(words: BlockWords, collective: str, nodes: int) -> None:
    """Raise :class:`.InvalidInput` unless ``words`` are those of a collective of so many nodes."""
    if collective not in SERVED:
        allowed = f"left out with {collective}, or given for {one_of(SERVED)}"
        raise InvalidInput(f"block words must be {allowed}")
    pairs = collective == Collective.ALL_TO_ALL
    rows = [row for row in words if isinstance(row, tuple)]
    if len(rows) != (len(words) if pairs else 0):
        allowed = "a row of words for each source" if pairs else "a number for each node"
        raise InvalidInput(f"block words of {collective} must be {allowed}")
    lengths = {"block words": len(words)}
    lengths |= {f"block words of source {source}": len(row) for source, row in enumerate(rows)}
    for name, length in lengths.items():
        if length != nodes:
            raise InvalidInput.of(name, f"{nodes}, one for each node", length)
    each: Iterable[int] = chain.from_iterable(rows) if pairs else words  # type: ignore[assignment]
    for count in each:
        if not 0 <= count <= MOST_WORDS:
            raise InvalidInput.of("block words", f"0 to {MOST_WORDS}", count)


def require_within(words: BlockWords, topology: Topology, groups: Sequence[Iterable[int]]) -> None:
    """Raise :class:`.InvalidInput` for words that are not moved within any of ``groups``."""
    table = np.array(words, np.int64)
    group = np.full(topology.nodes, -1)
    for number, nodes in enumerate(groups):
        group[list(nodes)] = number
    apart = group < 0 if table.ndim == 1 else (group[:, None] != group) | (group < 0)
    for node, *target in np.argwhere(apart & (table > 0))[:1].tolist():
        where = f"of node {node}" + "".join(f" for node {each}" for each in target)
        allowed = "0, as both are not in one collective" if target else "0, as it takes no part"
        raise InvalidInput.of(f"block words {where}", allowed, table[(node, *target)])


def require_block_words(words: BlockWords, collective: str, topology: Topology) -> None:
    """Raise :class:`.InvalidInput` unless ``words`` are those of a collective on ``topology``."""
    require_shape(words, collective, topology.nodes)
    require_within(words, topology, [topology.working_nodes])


def selected(words: BlockWords, places: Sequence[int | None]) -> BlockWords:
    """The words at ``places``, of sources and of targets; 0 where a place is None."""
    table = np.array(words, np.int64)
    missing = [place is None for place in places]
    index = np.array([place or 0 for place in places])
    chosen = table[index] if table.ndim == 1 else table[np.ix_(index, index)]
    chosen[missing] = 0
    if table.ndim == 2:
        chosen[:, missing] = 0
    return as_block_words(chosen.tolist())


def longest(words: BlockWords) -> int:
    """The words of the longest block, raised to a power of two, which some algorithms ask for."""
    return 1 << max(int(np.array(words).max()) - 1, 0).bit_length()


def with_block_words(schedule: Schedule, words: BlockWords) -> Schedule:
    """The schedule with blocks of these ``words``, where it was made for equal ones.

    Raises :class:`.InvalidInput` for streams that run round in windows, as their blocks are equal,
    and for a block without words that streams.
    """
    name = f"{schedule.algorithm} {schedule.collective}"
    if schedule.stream.any() and stream_runs(schedule)[1]:
        raise InvalidInput(
            f"block words must be left out with {name}, whose streams take equal blocks"
        )
    blocks, collective = schedule.blocks, schedule.collective
    owner = blocks.owner.astype(np.int64)
    goal = np.array([owed[0] if owed else -1 for owed in blocks.owed], np.int64)
    share = goal if collective in OF_TARGETS else owner
    if collective == Collective.ALL_TO_ALL:
        share = owner * schedule.topology.nodes + goal
    lengths = shares_of(np.array(words, np.int64).ravel(), share)
    if schedule.stream.any() and not lengths.all():
        raise InvalidInput.of(f"block words with {name}, which streams,", "at least 1", 0)
    made = replace(schedule, blocks=replace(blocks, words=lengths.astype(np.int32)))
    return carrying(made, lengths > 0)
