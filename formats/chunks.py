"""Chunks of GPU libraries: the buffer and offset of every block of a schedule.

Input and output of every rank are rows of equally long chunks. The collective decides the chunk of
a block. k is the number of blocks of each rank, or of each pair of ranks::

    all-gather      in place: block j of rank r is chunk r * k + j of every output
    all-to-all      block j from rank s to d is chunk d * k + j of the input of s, and s * k + j
                    of the output of d
    broadcast       in place: block b is chunk b of every output
    all-reduce      in place: block b is chunk b of every output, which first holds the own value
    reduce          in place, in the same way
    reduce-scatter  in place: block j of rank r is chunk r * k + j of every input
    custom          the blocks that a rank owns or contributes to, in order, are its input;
                    the blocks that it is owed, in order, are its output

A schedule is custom if its ranks have different numbers of blocks, or if it is a scatter, a gather
or a multicast. A block that passes through a rank has a scratch slot there. A copied block that a
rank gets again has a further scratch slot; a reduced block has one slot at each rank.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..model.base.errors import InvalidInput
from ..model.schedule.blocks import CUSTOM
from ..model.schedule.collective import Collective
from ..model.schedule.schedule import Schedule
from ..model.schedule.unrolled import unrolled

Slot = tuple[str, int]
"""Buffer ("i", "o" or "s") and offset."""


@dataclass(frozen=True)
class Transfer:
    """``count`` consecutive chunks from ``begin`` at one rank to ``end`` at another in one step.

    If ``combine`` is true, they are combined with the chunks at ``end``.
    """

    step: int
    source: int
    target: int
    begin: Slot
    end: Slot
    count: int
    combine: bool


@dataclass
class Chunks:
    """A schedule in chunks.

    collective
        The collective's name; custom if the blocks fit no other.
    ranks, loop
        Number of ranks; number of chunks of the larger of input and output.
    inplace
        True if the input is part of the output, or the output part of the input.
    reduces
        True if chunks are combined.
    copies
        For each rank, pairs of slots: chunks that go from its input to its output.
    transfers
        All transfers, in order of steps.
    scratch
        For each rank, the number of chunks of its scratch buffer.
    """

    collective: str
    ranks: int
    loop: int
    inplace: bool
    reduces: bool
    copies: list[list[tuple[Slot, Slot]]] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    scratch: list[int] = field(default_factory=list)


class _Layout:
    """First and last slots of blocks.

    ``start[block, rank]`` is the slot of a rank that holds the block at first; ``end[block, rank]``
    that of a rank that is owed it, or that has only one slot for it.
    """

    def __init__(self, schedule: Schedule) -> None:
        nodes = schedule.topology.working_nodes.tolist()
        self.rank_of = {node: rank for rank, node in enumerate(nodes)}
        blocks = range(len(schedule.blocks))
        self.reduced = schedule.blocks.reduced.tolist()
        self.holders = [
            [self.rank_of[node] for node in schedule.blocks.holders(block, schedule.topology)]
            for block in blocks
        ]
        everyone = range(len(nodes))
        self.owed = [
            list(everyone) if owed is None else sorted(self.rank_of[node] for node in owed)
            for owed in schedule.blocks.owed
        ]
        self.collective, self.inplace = schedule.collective, False
        self.copies: list[list[tuple[Slot, Slot]]] = [[] for _ in nodes]
        self.start: dict[tuple[int, int], Slot] = {}
        self.end: dict[tuple[int, int], Slot] = {}
        self.loop = self._numbered(len(nodes))

    def _numbered(self, ranks: int) -> int:
        """Assign slots to all blocks; return the chunks of the larger of input and output."""
        match self.collective:
            case Collective.BROADCAST | Collective.ALL_REDUCE | Collective.REDUCE:
                return self._in_place("o", list(range(len(self.owed))))
            case Collective.ALL_GATHER:
                if places := _side_by_side([first for first, *_ in self.holders], ranks):
                    return self._in_place("o", places)
            case Collective.REDUCE_SCATTER:
                if places := _side_by_side([first for first, *_ in self.owed], ranks):
                    return self._in_place("i", places)
            case Collective.ALL_TO_ALL:
                ends = [owed[0] for owed in self.owed]
                owners = [first for first, *_ in self.holders]
                pairs = list(zip(owners, ends, strict=True))
                places, most = _counted(pairs)
                others = sum(source != target for source, target in pairs)
                if others == most * ranks * (ranks - 1):
                    return self._by_pairs(pairs, places, most, ranks)
        return self._custom()

    def _in_place(self, buffer: str, places: list[int]) -> int:
        """Put block b at ``places[b]`` of ``buffer`` at every rank."""
        self.inplace = True
        for block, place in enumerate(places):
            for rank in self.holders[block]:
                self.start[block, rank] = (buffer, place)
            for rank in {*self.owed[block], *self.holders[block]}:
                self.end[block, rank] = (buffer, place)
        return len(places)

    def _by_pairs(
        self, pairs: list[tuple[int, int]], places: list[int], most: int, ranks: int
    ) -> int:
        """Put the blocks of each pair side by side; a rank copies the blocks for itself."""
        for block, ((source, target), place) in enumerate(zip(pairs, places, strict=True)):
            self.start[block, source] = ("i", target * most + place)
            self.end[block, target] = ("o", source * most + place)
        for rank in range(ranks):
            own = range(rank * most, (rank + 1) * most)
            self.copies[rank] = [(("i", place), ("o", place)) for place in own]
        return most * ranks

    def _custom(self) -> int:
        """Number the initial blocks and the owed blocks of each rank.

        A rank combines a reduced block that it is owed in its output.
        """
        self.collective = CUSTOM
        held = [(block, rank) for block, ranks in enumerate(self.holders) for rank in ranks]
        begins, inputs = _counted([rank for _, rank in held])
        owed = [(block, rank) for block, ranks in enumerate(self.owed) for rank in ranks]
        ends, outputs = _counted([rank for _, rank in owed])
        self.start = {key: ("i", place) for key, place in zip(held, begins, strict=True)}
        self.end = {key: ("o", place) for key, place in zip(owed, ends, strict=True)}
        for key in held:
            block, rank = key
            if key in self.end:
                self.copies[rank].append((self.start[key], self.end[key]))
                if self.reduced[block]:
                    self.start[key] = self.end[key]
        return max(inputs, outputs)


def _side_by_side(ranks_of: list[int], ranks: int) -> list[int]:
    """Return offsets that put each rank's blocks side by side; [] for unequal numbers of blocks."""
    places, most = _counted(ranks_of)
    if len(ranks_of) != ranks * most:
        return []
    return [rank * most + place for rank, place in zip(ranks_of, places, strict=True)]


def _counted(keys: list[int] | list[tuple[int, int]]) -> tuple[list[int], int]:
    """Return for each key how often it came before, and the largest count of a key."""
    counts: defaultdict[object, int] = defaultdict(int)
    places = []
    for key in keys:
        places.append(counts[key])
        counts[key] += 1
    return places, max(counts.values(), default=0)


def in_chunks(schedule: Schedule, most: int, title: str) -> Chunks:
    """Return ``schedule`` in chunks, with at most ``most`` chunks in a transfer.

    Raises :class:`.InvalidInput` if blocks differ in length, because ``title`` has no unequal
    blocks, and for a scan, because it has none.
    """
    if schedule.blocks.scanned.any():
        allowed = f"one that {title} has, or custom without a scan"
        raise InvalidInput.of("collective", allowed, schedule.collective)
    words = sorted({*schedule.blocks.words.tolist()})
    if len(words) > 1:
        raise InvalidInput.of(
            f"blocks for {title}", "equally long", f"{words[0]} to {words[-1]} words"
        )
    schedule = unrolled(schedule)
    layout = _Layout(schedule)
    ranks = len(layout.rank_of)
    chunks = Chunks(
        layout.collective, ranks, layout.loop, layout.inplace, reduces=any(layout.reduced)
    )
    chunks.copies = layout.copies
    chunks.scratch = [0] * ranks
    place = dict(layout.start)
    for step, source, target, blocks, combine in _sends(schedule, layout):
        begins, ends = [], []
        for block in blocks:
            begins.append(place[block, source])
            ends.append(_goal(chunks, layout, place, block, target))
        runs = runs_of(begins, ends, most)
        chunks.transfers += (Transfer(step, source, target, *run, combine) for run in runs)
    return chunks


def _goal(
    chunks: Chunks, layout: _Layout, place: dict[tuple[int, int], Slot], block: int, rank: int
) -> Slot:
    """Return the slot to which a block is sent at a rank; store its first slot in ``place``."""
    key = block, rank
    if layout.reduced[block] and key in place:
        return place[key]
    end = layout.end.get(key)
    if end is None or key in place:
        end = ("s", chunks.scratch[rank])
        chunks.scratch[rank] += 1
    place.setdefault(key, end)
    return end


def _sends(schedule: Schedule, layout: _Layout) -> Iterator[tuple[int, int, int, list[int], bool]]:
    """Yield step, source, target, blocks and the combine mark of each send, in order of steps."""
    bounds, ids = schedule.block_offsets.tolist(), schedule.block_ids.tolist()
    pieces = [ids[begin:end] for begin, end in pairwise(bounds)]
    order = schedule.step.argsort(kind="stable").tolist()
    for send in order:
        ends = (int(schedule.source[send]), int(schedule.target[send]))
        source, target = (layout.rank_of[node] for node in ends)
        combine = bool(schedule.combine[send])
        yield int(schedule.step[send]), source, target, sorted(pieces[send]), combine


def slots_from(first: Slot, count: int) -> list[Slot]:
    """Return ``count`` consecutive slots from ``first`` on."""
    buffer, offset = first
    return [(buffer, place) for place in range(offset, offset + count)]


def runs_of(
    begins: Sequence[Slot], ends: Sequence[Slot], most: int
) -> list[tuple[Slot, Slot, int]]:
    """Cut slots into runs that are consecutive on both sides: first slots and length of each."""
    runs: list[tuple[Slot, Slot, int]] = []
    for begin, end in sorted(zip(begins, ends, strict=True)):
        if runs:
            (buffer, offset), (end_buffer, end_offset), count = runs[-1]
            follows = begin == (buffer, offset + count) and end == (end_buffer, end_offset + count)
            if follows and count < most:
                runs[-1] = (runs[-1][0], runs[-1][1], count + 1)
                continue
        runs.append((begin, end, 1))
    return runs
