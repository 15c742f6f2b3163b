"""Schedules as MSCCL XML.

Every pair of source and target GPU has one threadblock at each end, which only serves this pair. No
circular wait can arise: a send waits only for the threadblocks that received its content, and they
wait for sends of earlier steps. In a reduction, a combining ("rrc") or replacing receive waits for
all earlier reads and writes of its slots. At the executor's limits for a threadblock or a channel,
the writer takes another channel.

(The limits: microsoft/msccl, src/include/msccl.h. The execution: :mod:`.msccl_xml`.)
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from ..model.base.errors import InvalidInput, require_range
from ..model.base.files import write_bytes_atomically
from ..model.schedule.collective import Collective
from ..model.schedule.schedule import Schedule
from .chunks import Chunks, Slot, Transfer, in_chunks, runs_of, slots_from
from .msccl_xml import COLLECTIVES, NOBODY

MOST_STEPS = 256
MOST_BLOCKS = 216
MOST_PEERS = 32
MOST_CHANNELS = 32
MOST_COUNT = 71
"""Limits of the executor.

Steps of a threadblock, threadblocks of a GPU, peers that a GPU sends to or receives from on a
channel, channels, and chunks of a step.
"""

_MOST_BYTES = 1 << 40
"""Largest message in bytes for which the algorithm may be chosen."""

Key = tuple[int, int, int, int]
"""A threadblock: its GPU, the GPUs that it sends to and receives from, and its channel."""

Place = tuple[Key, int]
"""A step: its threadblock and its index there."""


@dataclass
class _Step:
    """A step to write, and the step of another threadblock that it waits for."""

    kind: str
    source: Slot = ("i", -1)
    target: Slot = ("o", -1)
    count: int = 0
    awaited: Place | None = None
    awaitable: bool = False


@dataclass
class _Threadblock:
    """A threadblock to write; ``ended`` has the last awaited step of each other threadblock."""

    steps: list[_Step] = field(default_factory=list)
    ended: dict[Key, int] = field(default_factory=dict)


def write_msccl(schedule: Schedule, path: Path) -> None:
    """Write ``schedule`` to ``path``; its r-th working node is GPU r.

    Raises :class:`.InvalidInput` for blocks of different lengths, for more threadblocks or channels
    than the executor has, and for a name that XML cannot hold.
    """
    chunks = in_chunks(schedule, MOST_COUNT, "MSCCL XML")
    write_bytes_atomically(path, _Writer(chunks).xml(schedule.algorithm))


class _Writer:
    """The threadblocks of all transfers, and their XML."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self._blocks: defaultdict[Key, _Threadblock] = defaultdict(_Threadblock)
        self._channel: dict[tuple[int, int], int] = {}
        self._sending: Counter[tuple[int, int]] = Counter()
        self._receiving: Counter[tuple[int, int]] = Counter()
        self._writer: dict[tuple[int, Slot], Place] = {}
        self._readers: defaultdict[tuple[int, Slot], list[Place]] = defaultdict(list)
        for rank, copies in enumerate(chunks.copies):
            key = (rank, NOBODY, NOBODY, 0)
            runs = runs_of([begin for begin, _ in copies], [end for _, end in copies], MOST_COUNT)
            require_range(
                f"steps by which gpu {rank} copies, for MSCCL XML,", len(runs), 0, MOST_STEPS
            )
            for place, (begin, end, count) in enumerate(runs):
                self._blocks[key].steps.append(_Step("cpy", begin, end, count))
                self._writer.update({(rank, slot): (key, place) for slot in slots_from(end, count)})
        steps = groupby(chunks.transfers, key=lambda transfer: transfer.step)
        # In a reduction, sends of a step carry the values from before its receives. With copies
        # alone, a chunk may be sent on in the step of its arrival.
        alone = ([transfer] for transfer in chunks.transfers)
        for together in (list(step) for _, step in steps) if chunks.reduces else alone:
            channels = [self._add_send(transfer) for transfer in together]
            for transfer, channel in zip(together, channels, strict=True):
                self._add_receive(transfer, channel)

    def _add_send(self, transfer: Transfer) -> int:
        """Add the send of a transfer, which waits for its content; return its channel."""
        source, target = transfer.source, transfer.target
        awaited = self._awaited(source, transfer.begin, transfer.count)
        channel = self._channel.get((source, target))
        waits = max(len(awaited), len(self._overwrites(transfer)))
        if channel is None or self._full(source, target, channel, waits):
            channel = self._new_channel(source, target, channel)
        key = (source, target, NOBODY, channel)
        slots = (transfer.begin, transfer.end, transfer.count)
        self._add_step(key, "s", slots, awaited)
        for slot in slots_from(transfer.begin, transfer.count):
            self._readers[source, slot].append((key, len(self._blocks[key].steps) - 1))
        return channel

    def _add_receive(self, transfer: Transfer, channel: int) -> None:
        """Add the receive of a transfer, which waits for earlier users of its slots."""
        target = transfer.target
        key = (target, NOBODY, transfer.source, channel)
        begin = transfer.end if transfer.combine else transfer.begin
        kind = "rrc" if transfer.combine else "r"
        slots = (begin, transfer.end, transfer.count)
        self._add_step(key, kind, slots, self._overwrites(transfer))
        for slot in slots_from(transfer.end, transfer.count):
            self._writer[target, slot] = (key, len(self._blocks[key].steps) - 1)
            self._readers[target, slot].clear()

    def _add_step(
        self, key: Key, kind: str, slots: tuple[Slot, Slot, int], awaited: dict[Key, int]
    ) -> None:
        """Add a step to a threadblock; further awaited steps become "nop" steps before it."""
        block = self._blocks[key]
        new = [
            (other, place)
            for other, place in awaited.items()
            if other != key and block.ended.get(other, -1) < place
        ]
        block.ended.update(new)
        for other, place in new:
            self._blocks[other].steps[place].awaitable = True
        block.steps += (_Step("nop", awaited=each) for each in new[:-1])
        block.steps.append(_Step(kind, *slots, awaited=new[-1] if new else None))

    def _overwrites(self, transfer: Transfer) -> dict[Key, int]:
        """Return each threadblock's last step that uses the slots that a transfer overwrites."""
        if not self._chunks.reduces:
            return {}
        used = self._awaited(transfer.target, transfer.end, transfer.count)
        for slot in slots_from(transfer.end, transfer.count):
            for key, place in self._readers[transfer.target, slot]:
                used[key] = max(place, used.get(key, 0))
        return used

    def _awaited(self, rank: int, first: Slot, count: int) -> dict[Key, int]:
        """Return each threadblock's last step that writes to the slots of a GPU."""
        awaited: dict[Key, int] = {}
        for slot in slots_from(first, count):
            written = self._writer.get((rank, slot))
            if written is not None:
                awaited[written[0]] = max(written[1], awaited.get(written[0], 0))
        return awaited

    def _full(self, source: int, target: int, channel: int, waits: int) -> bool:
        """Return whether a pair's threadblock has no room for one more transfer."""
        sender = self._blocks[source, target, NOBODY, channel]
        receiver = self._blocks[target, NOBODY, source, channel]
        room = MOST_STEPS - max(1, waits)
        return len(sender.steps) > room or len(receiver.steps) > room

    def _new_channel(self, source: int, target: int, last: int | None) -> int:
        """Take a pair's next channel after ``last`` with room at both ends."""
        for channel in range(0 if last is None else last + 1, MOST_CHANNELS):
            ends = (self._sending[source, channel], self._receiving[target, channel])
            if max(ends) < MOST_PEERS:
                self._sending[source, channel] += 1
                self._receiving[target, channel] += 1
                self._channel[source, target] = channel
                return channel
        raise InvalidInput.of("channels for MSCCL XML", f"at most {MOST_CHANNELS}", "more")

    def xml(self, name: str) -> bytes:
        """Return the algorithm of this name as XML text."""
        from lxml import etree  # noqa: PLC0415 - takes long to import, and few commands need it

        chunks = self._chunks
        names = {ours: theirs for theirs, ours in COLLECTIVES.items()}
        root = etree.Element("algo")
        try:
            root.set("name", name)
        except ValueError as error:
            allowed = "text without control characters"
            raise InvalidInput.of("algorithm for MSCCL XML", allowed, repr(name)) from error
        _set(root, proto="Simple", nchannels=1 + max((key[3] for key in self._blocks), default=0))
        _set(root, nchunksperloop=chunks.loop, ngpus=chunks.ranks, coll=names[chunks.collective])
        _set(root, inplace=int(chunks.inplace), outofplace=int(not chunks.inplace))
        _set(root, minBytes=0, maxBytes=_MOST_BYTES)
        of_rank: defaultdict[int, list[Key]] = defaultdict(list)
        for key in sorted(self._blocks):
            of_rank[key[0]].append(key)
        inputs, outputs = self._sizes()
        for rank in range(chunks.ranks):
            if len(of_rank[rank]) > MOST_BLOCKS:
                allowed = f"at most {MOST_BLOCKS} for MSCCL XML"
                raise InvalidInput.of(f"threadblocks of gpu {rank}", allowed, len(of_rank[rank]))
            gpu = etree.SubElement(root, "gpu")
            _set(gpu, id=rank, i_chunks=inputs, o_chunks=outputs)
            _set(gpu, s_chunks=chunks.scratch[rank])
            self._write_blocks(gpu, of_rank[rank])
        etree.indent(root)
        text: bytes = etree.tostring(root)
        return text + b"\n"

    def _sizes(self) -> tuple[int, int]:
        """Return the chunks of input and output; in place only the larger buffer has chunks."""
        loop = self._chunks.loop
        if not self._chunks.inplace:
            return loop, loop
        return (loop, 0) if self._chunks.collective == Collective.REDUCE_SCATTER else (0, loop)

    def _write_blocks(self, gpu: Any, keys: list[Key]) -> None:
        """Write the threadblocks of a GPU, numbered in this order."""
        from lxml import etree  # noqa: PLC0415

        number = {key: place for place, key in enumerate(keys)}
        for key in keys:
            tb = etree.SubElement(gpu, "tb")
            _set(tb, id=number[key], send=key[1], recv=key[2], chan=key[3])
            for place, step in enumerate(self._blocks[key].steps):
                element = etree.SubElement(tb, "step")
                _set(element, s=place, type=step.kind)
                _set(element, srcbuf=step.source[0], srcoff=step.source[1])
                _set(element, dstbuf=step.target[0], dstoff=step.target[1], cnt=step.count)
                tb_awaited, step_awaited = NOBODY, NOBODY
                if step.awaited is not None:
                    tb_awaited, step_awaited = number[step.awaited[0]], step.awaited[1]
                _set(element, depid=tb_awaited, deps=step_awaited, hasdep=int(step.awaitable))


def _set(element: Any, **attributes: object) -> None:
    for name, value in attributes.items():
        element.set(name, str(value))
