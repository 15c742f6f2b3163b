"""Unequal blocks: a table gives the words of each node's block, or of each pair's.

An algorithm first makes its schedule for equal blocks, about as long as the longest. Then every
block gets its own length, shared equally among the parts into which the algorithm cuts it. Parts
without words are removed from all sends; sends and steps that carry nothing else are removed too::

    words 3, 0, 2       step 1   0 -> 1  blocks 0, 2        step 1   0 -> 1  5 words
                        step 2   1 -> 2  block 1            (step 2 is removed)

The checks of a schedule do not depend on the lengths of its blocks, except in streams: there every
block must have words, and stand in memory behind the block that it follows
(``model/schedule/stream_runs.py``).

A file is JSON. It has one number for each node; for an all-to-all, one row for each source with a
number for each target. Nodes that take no part have 0::

    {"format": "eyecast-block-words", "version": 1, "words": [3, 0, 2, 7]}
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput, one_of
from ...base.json_file import decode_versioned, read_json
from ...base.ragged import shares_of
from ...network.topology import Topology
from ...schedule.collective import OF_OWNERS, OF_TARGETS, Collective
from ...schedule.schedule import Schedule
from ...schedule.stream_runs import stream_runs

FORMAT = "eyecast-block-words"
MOST_WORDS = 1 << 30
"""Most words of a block: :func:`longest`, a power of two, must be a valid word count too."""

BlockWords = tuple[int, ...] | tuple[tuple[int, ...], ...]
"""Words of each node's block; in an all-to-all, for each source the words of each target's."""

SERVED = (*OF_TARGETS, *OF_OWNERS, Collective.ALL_TO_ALL)
"""Collectives with a block for each node, or for each pair of nodes."""

_Words = Annotated[int, msgspec.Meta(ge=0, le=MOST_WORDS)]
Table = list[_Words | list[_Words]]
"""The words of blocks as a file lists them."""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    words: Table


def read_block_words(path: str | Path) -> BlockWords:
    """Read the words of blocks from the JSON file ``path``.

    Raises :class:`.InvalidInput` with one line that names the file and the allowed values.
    """
    return as_block_words(
        read_json(path, lambda text: decode_versioned(text, FORMAT, (1,), _File)).words
    )


def as_block_words(
    table: Sequence[int | Sequence[int]] | npt.NDArray[np.integer[Any]],
) -> BlockWords:
    """Return a table of words, one for each node or pair, as tuples of ints."""
    return tuple(  # type: ignore[return-value]
        tuple(map(int, each)) if isinstance(each, Sequence | np.ndarray) else int(each)
        for each in table
    )


def require_shape(words: BlockWords, collective: str, nodes: int) -> None:
    """Raise :class:`.InvalidInput` unless ``words`` fit a collective of this many ``nodes``."""
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
    """Raise :class:`.InvalidInput` for words of a node in none of ``groups``, or across two."""
    table = np.array(words, np.int64)
    apart = np.ones((topology.nodes,) * table.ndim, np.bool_)
    for nodes in map(list, groups):
        apart[nodes if table.ndim == 1 else np.ix_(nodes, nodes)] = False
    for node, *target in np.argwhere(apart & (table > 0))[:1].tolist():
        where = f"of node {node}" + "".join(f" for node {each}" for each in target)
        allowed = "0, as both are not in one collective" if target else "0, as it takes no part"
        raise InvalidInput.of(f"block words {where}", allowed, table[(node, *target)])


def require_block_words(words: BlockWords, collective: str, topology: Topology) -> None:
    """Raise :class:`.InvalidInput` unless ``words`` fit a collective of all working nodes."""
    require_shape(words, collective, topology.nodes)
    require_within(words, topology, [topology.working_nodes])


def selected(words: BlockWords, places: Sequence[int | None]) -> BlockWords:
    """Return the words of the nodes ``places``, as sources and as targets; 0 where one is None."""
    table = np.array(words, np.int64)
    missing = [place is None for place in places]
    index = np.array([place or 0 for place in places])
    chosen = table[index] if table.ndim == 1 else table[np.ix_(index, index)]
    chosen[missing] = 0
    if table.ndim == 2:
        chosen[:, missing] = 0
    return as_block_words(chosen.tolist())


def longest(words: BlockWords) -> int:
    """Return the longest block's words, rounded up to a power of two as some algorithms need."""
    return 1 << max(int(np.array(words).max()) - 1, 0).bit_length()


def with_block_words(schedule: Schedule, words: BlockWords) -> Schedule:
    """Return a schedule made for equal blocks, with blocks of these ``words`` instead.

    Raises :class:`.InvalidInput` for streams in windows, which need equal blocks, and for a
    streaming schedule with a block without words.
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
    return made.carrying(lengths > 0)
