"""The chunks of GPU libraries: where in whose buffers the blocks of a schedule stand.

Input and output of every rank are rows of equally long chunks. Which block is which chunk follows
from the collective; k is the number of blocks that each rank, or each pair of ranks, has::

    all-gather   in place: block j of rank r is chunk r * k + j of the output of all
    all-to-all   block j from rank s for d is chunk d * k + j of the input of s, and s * k + j of
                 the output of d
    broadcast    in place: block b is chunk b of the output of all
    all-reduce   in place: block b is chunk b of the output of all, at first their own
    custom       the blocks that a rank owns, in order, are its input, and those that it is owed,
                 in order, its output

A schedule whose ranks have different numbers of blocks is custom, as are a scatter, a gather and a
multicast. A block that passes through a rank stands in its scratch buffer, and so does one that a
rank gets once more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from ..model.base.errors import InvalidInput
from ..model.schedule.collective import Collective
from ..model.schedule.schedule import Schedule
from ..model.schedule.table import CUSTOM
from ..model.schedule.unrolled import unrolled

Slot = tuple[str, int]
"""Buffer, "i", "o" or "s", and offset."""


@dataclass(frozen=True)
class Transfer:
    """A run of chunks from rank to rank in a step: from ``begin`` on, to ``end`` on, ``count``.

    ``combine`` tells whether they are combined there with what stands at ``end``.
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
        The name of the collective, custom where the blocks fit no other.
    ranks, loop
        Number of ranks; chunks of the larger of input and output.
    inplace
        Whether the input is part of the output.
    copies
        For each rank the chunks that go from its input to its output: pairs of slots.
    transfers
        The runs, in order of steps.
    scratch
        For each rank the chunks of its scratch buffer.
    """

    collective: str
    ranks: int
    loop: int
    inplace: bool
    copies: list[list[tuple[Slot, Slot]]] = field(default_factory=list)
    transfers: list[Transfer] = field(default_factory=list)
    scratch: list[int] = field(default_factory=list)

    @property
    def reduces(self) -> bool:
        """Tell whether chunks are combined."""
        return self.collective == Collective.ALL_REDUCE


class _Layout:
    """The first and last slots of blocks: ``start[block]`` at its owner, ``end[block, rank]``."""

    def __init__(self, schedule: Schedule) -> None:
        nodes = schedule.topology.working_nodes.tolist()
        self.rank_of = {node: rank for rank, node in enumerate(nodes)}
        self.reduced = schedule.collective == Collective.ALL_REDUCE
        if schedule.blocks.reduced.any() and not self.reduced:
            allowed = "all-reduce, or one that copies, in MSCCL XML"
            raise InvalidInput.of("collective", allowed, schedule.collective)
        owners = [] if self.reduced else schedule.blocks.owner.tolist()
        self.owner = [self.rank_of[node] for node in owners]
        everyone = range(len(nodes))
        self.owed = [
            list(everyone) if owed is None else sorted(self.rank_of[node] for node in owed)
            for owed in schedule.blocks.owed
        ]
        self.collective, self.inplace = schedule.collective, False
        self.copies: list[list[tuple[Slot, Slot]]] = [[] for _ in nodes]
        self.start: dict[int, Slot] = {}
        self.end: dict[tuple[int, int], Slot] = {}
        self.loop = self._numbered(len(nodes))

    def _numbered(self, ranks: int) -> int:
        """Give every block its slots; the number of chunks of the larger of input and output."""
        match self.collective:
            case Collective.BROADCAST | Collective.ALL_REDUCE:
                return self._in_place(list(range(len(self.owed))))
            case Collective.ALL_GATHER:
                places, most = _counted(self.owner)
                if len(self.owner) == ranks * most:
                    places = [
                        owner * most + place
                        for owner, place in zip(self.owner, places, strict=True)
                    ]
                    return self._in_place(places)
            case Collective.ALL_TO_ALL:
                ends = [owed[0] for owed in self.owed]
                pairs = list(zip(self.owner, ends, strict=True))
                places, most = _counted(pairs)
                others = sum(source != target for source, target in pairs)
                if others == most * ranks * (ranks - 1):
                    return self._by_pairs(pairs, places, most, ranks)
        return self._custom()

    def _in_place(self, places: list[int]) -> int:
        """Let each block stand at one of ``places`` of all outputs."""
        self.inplace = True
        for block, place in enumerate(places):
            self.start[block] = ("o", place)
            for rank in {*self.owed[block], *self.owner[block : block + 1]}:
                self.end[block, rank] = ("o", place)
        return len(places)

    def _by_pairs(
        self, pairs: list[tuple[int, int]], places: list[int], most: int, ranks: int
    ) -> int:
        """Let the blocks of each pair stand side by side; a rank's own are copied."""
        for block, ((source, target), place) in enumerate(zip(pairs, places, strict=True)):
            self.start[block] = ("i", target * most + place)
            self.end[block, target] = ("o", source * most + place)
        for rank in range(ranks):
            own = range(rank * most, (rank + 1) * most)
            self.copies[rank] = [(("i", place), ("o", place)) for place in own]
        return most * ranks

    def _custom(self) -> int:
        """Number the blocks of each owner, and those of each rank that is owed some."""
        self.collective = CUSTOM
        places, inputs = _counted(self.owner)
        owed = [(block, rank) for block, ranks in enumerate(self.owed) for rank in ranks]
        ends, outputs = _counted([rank for _, rank in owed])
        self.start = {block: ("i", place) for block, place in enumerate(places)}
        self.end = {key: ("o", place) for key, place in zip(owed, ends, strict=True)}
        for (block, rank), slot in self.end.items():
            if self.owner[block] == rank:
                self.copies[rank].append((self.start[block], slot))
        return max(inputs, outputs)


def _counted(keys: list[int] | list[tuple[int, int]]) -> tuple[list[int], int]:
    """Count how often each key came before: its places, and the largest number of any key."""
    counts: defaultdict[object, int] = defaultdict(int)
    places = []
    for key in keys:
        places.append(counts[key])
        counts[key] += 1
    return places, max(counts.values(), default=0)


def in_chunks(schedule: Schedule, most: int, title: str) -> Chunks:
    """The chunks of ``schedule``, in runs of at most ``most``.

    Raises :class:`.InvalidInput` where blocks are not equally long, which ``title`` cannot say.
    """
    words = sorted({*schedule.blocks.words.tolist()})
    if len(words) > 1:
        raise InvalidInput.of(
            f"blocks for {title}", "equally long", f"{words[0]} to {words[-1]} words"
        )
    schedule = unrolled(schedule)
    layout = _Layout(schedule)
    ranks = len(layout.rank_of)
    chunks = Chunks(layout.collective, ranks, layout.loop, layout.inplace)
    chunks.copies = layout.copies
    chunks.scratch = [0] * ranks
    place = {(block, owner): layout.start[block] for block, owner in enumerate(layout.owner)}
    if layout.reduced:
        place = dict(layout.end)
    for step, source, target, blocks, combine in _sends(schedule, layout):
        begins, ends = [], []
        for block in blocks:
            begins.append(place[block, source])
            end = layout.end.get((block, target))
            if not layout.reduced and (end is None or (block, target) in place):
                end = ("s", chunks.scratch[target])
                chunks.scratch[target] += 1
            assert end is not None
            place.setdefault((block, target), end)
            ends.append(end)
        runs = _runs(begins, ends, most)
        chunks.transfers += (Transfer(step, source, target, *run, combine) for run in runs)
    return chunks


def _sends(schedule: Schedule, layout: _Layout) -> Iterator[tuple[int, int, int, list[int], bool]]:
    """Step, source, target and blocks of each send, and if it combines, in order of steps."""
    bounds, ids = schedule.block_offsets.tolist(), schedule.block_ids.tolist()
    pieces = [ids[begin:end] for begin, end in pairwise(bounds)]
    order = schedule.step.argsort(kind="stable").tolist()
    for send in order:
        ends = (int(schedule.source[send]), int(schedule.target[send]))
        source, target = (layout.rank_of[node] for node in ends)
        combine = bool(schedule.combine[send])
        yield int(schedule.step[send]), source, target, sorted(pieces[send]), combine


def _runs(begins: list[Slot], ends: list[Slot], most: int) -> list[tuple[Slot, Slot, int]]:
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
