"""Schedules as MSCCL XML.

Every pair of GPUs that is a send's source and target has a threadblock at each of its ends, which
does nothing else, so none can wait for another in a circle: a send waits for the threadblocks that
received what it carries, and those for sends of earlier steps alone. Where the executor's limits on
a threadblock or a channel are reached, another channel is taken.

(The limits: microsoft/msccl, src/include/msccl.h. What is executed: :mod:`.msccl_xml`.)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..model.base.errors import InvalidInput
from ..model.base.files import write_bytes_atomically
from ..model.schedule.schedule import Schedule
from .chunks import Chunks, Slot, Transfer, in_chunks
from .msccl_xml import COLLECTIVES, NOBODY

MOST_STEPS = 256
MOST_BLOCKS = 216
MOST_PEERS = 32
MOST_CHANNELS = 32
MOST_COUNT = 71
"""Limits of the executor: steps of a threadblock, threadblocks of a GPU, peers that a GPU sends to
or receives from on a channel, channels, and chunks of a step."""

_MOST_BYTES = 1 << 40
"""Size of messages up to which the algorithm may be chosen."""

Key = tuple[int, int, int, int]
"""A threadblock: its GPU, the GPUs that it sends to and receives from, and its channel."""

Place = tuple[Key, int]
"""A step: its threadblock and its place in it."""


@dataclass
class _Step:
    """A step to be written, and the step of another threadblock that it waits for."""

    kind: str
    source: Slot = ("i", -1)
    target: Slot = ("o", -1)
    count: int = 0
    awaited: Place | None = None
    awaitable: bool = False


@dataclass
class _Threadblock:
    """A threadblock to be written; ``ended`` are the last steps of others that it waited for."""

    steps: list[_Step] = field(default_factory=list)
    ended: dict[Key, int] = field(default_factory=dict)


def write_msccl(schedule: Schedule, path: Path) -> None:
    """Write ``schedule`` to ``path``; its r-th working node is GPU r.

    Raises :class:`.InvalidInput` for blocks that are not equally long, for more threadblocks or
    channels than can be executed, and for a name that XML cannot hold.
    """
    chunks = in_chunks(schedule, MOST_COUNT, "MSCCL XML")
    write_bytes_atomically(path, _Writer(chunks).xml(schedule.algorithm))


class _Writer:
    """The threadblocks of all transfers, and the XML that says them."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self._blocks: defaultdict[Key, _Threadblock] = defaultdict(_Threadblock)
        self._channel: dict[tuple[int, int], int] = {}
        self._sending: Counter[tuple[int, int]] = Counter()
        self._receiving: Counter[tuple[int, int]] = Counter()
        self._writer: dict[tuple[int, Slot], Place] = {}
        for rank, copies in enumerate(chunks.copies):
            for begin, end in copies:
                block = self._blocks[rank, NOBODY, NOBODY, 0]
                block.steps.append(_Step("cpy", begin, end, 1))
        for transfer in chunks.transfers:
            self._add(transfer)

    def _add(self, transfer: Transfer) -> None:
        """Add the steps of a transfer: a send, which waits for what it carries, and a receive."""
        source, target = transfer.source, transfer.target
        awaited = self._awaited(transfer)
        channel = self._channel.get((source, target))
        if channel is None or self._full(source, target, channel, len(awaited)):
            channel = self._new_channel(source, target, channel)
        sender = self._blocks[source, target, NOBODY, channel]
        receiver_key = (target, NOBODY, source, channel)
        receiver = self._blocks[receiver_key]
        new = [(key, place) for key, place in awaited.items() if sender.ended.get(key, -1) < place]
        sender.ended.update(new)
        for key, place in new:
            self._blocks[key].steps[place].awaitable = True
        sender.steps += (_Step("nop", awaited=each) for each in new[:-1])
        last = new[-1] if new else None
        slots = (transfer.begin, transfer.end, transfer.count)
        sender.steps.append(_Step("s", *slots, awaited=last))
        receiver.steps.append(_Step("r", *slots))
        buffer, offset = transfer.end
        for place in range(offset, offset + transfer.count):
            self._writer[target, (buffer, place)] = (receiver_key, len(receiver.steps) - 1)

    def _awaited(self, transfer: Transfer) -> dict[Key, int]:
        """The last step, for each threadblock, that writes what a transfer carries."""
        buffer, offset = transfer.begin
        awaited: dict[Key, int] = {}
        for place in range(offset, offset + transfer.count):
            written = self._writer.get((transfer.source, (buffer, place)))
            if written is not None:
                awaited[written[0]] = max(written[1], awaited.get(written[0], 0))
        return awaited

    def _full(self, source: int, target: int, channel: int, waits: int) -> bool:
        """Tell if a threadblock of a pair has no room for one more transfer."""
        sender = self._blocks[source, target, NOBODY, channel]
        receiver = self._blocks[target, NOBODY, source, channel]
        room = MOST_STEPS - max(1, waits)
        return len(sender.steps) > room or len(receiver.steps) >= MOST_STEPS

    def _new_channel(self, source: int, target: int, last: int | None) -> int:
        """Take the first channel after the ``last`` one of a pair that has room at both ends."""
        for channel in range(0 if last is None else last + 1, MOST_CHANNELS):
            ends = (self._sending[source, channel], self._receiving[target, channel])
            if max(ends) < MOST_PEERS:
                self._sending[source, channel] += 1
                self._receiving[target, channel] += 1
                self._channel[source, target] = channel
                return channel
        raise InvalidInput.of("channels for MSCCL XML", f"at most {MOST_CHANNELS}", "more")

    def xml(self, name: str) -> bytes:
        """The algorithm of this name as XML text."""
        from lxml import etree  # noqa: PLC0415 - takes long to import, and few commands need it

        chunks = self._chunks
        names = {ours: theirs for theirs, ours in COLLECTIVES.items()}
        root = etree.Element("algo")
        try:
            root.set("name", name)
        except ValueError as error:
            raise InvalidInput.of("algorithm for MSCCL XML", "text for XML", repr(name)) from error
        _set(root, proto="Simple", nchannels=1 + max((key[3] for key in self._blocks), default=0))
        _set(root, nchunksperloop=chunks.loop, ngpus=chunks.ranks, coll=names[chunks.collective])
        _set(root, inplace=int(chunks.inplace), outofplace=int(not chunks.inplace))
        _set(root, minBytes=0, maxBytes=_MOST_BYTES)
        of_rank: defaultdict[int, list[Key]] = defaultdict(list)
        for key in sorted(self._blocks):
            of_rank[key[0]].append(key)
        for rank in range(chunks.ranks):
            if len(of_rank[rank]) > MOST_BLOCKS:
                allowed = f"at most {MOST_BLOCKS} for MSCCL XML"
                raise InvalidInput.of(f"threadblocks of gpu {rank}", allowed, len(of_rank[rank]))
            gpu = etree.SubElement(root, "gpu")
            _set(gpu, id=rank, i_chunks=0 if chunks.inplace else chunks.loop)
            _set(gpu, o_chunks=chunks.loop, s_chunks=chunks.scratch[rank])
            self._write_blocks(gpu, of_rank[rank])
        etree.indent(root)
        text: bytes = etree.tostring(root)
        return text + b"\n"

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
