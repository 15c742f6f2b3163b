"""MSCCL++ execution plans in JSON: a schedule as the puts of every GPU's threadblocks.

A GPU has a threadblock for each other one that it sends to or receives from, with a memory channel
between the two. In a step it puts, signals that it has, and waits for the signal of the other::

    rlxsignal rlxwait nop       the other GPU is there, and its buffers may be written
    put ... nop signal          all that goes to it in a step
    wait nop                    all that comes from it in a step
    barrier                     where a threadblock puts on what another one has received

"nop" lets all threads of a block come together. What one step waits for was signalled in the same
step, so no threadblock can wait for ever. Only an executor on GPUs can run a plan.

(Source: microsoft/mscclpp, src/core/executor/execution_plan.cc, which reads plans, and
src/core/include/execution_common.hpp for its limits; python/mscclpp/language, which writes them.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from ..model.base.errors import InvalidInput
from ..model.base.files import write_bytes_atomically
from ..model.schedule.collective import Collective
from ..model.schedule.schedule import Schedule
from ..model.schedule.table import CUSTOM
from .chunks import Chunks, Slot, Transfer, in_chunks
from .format import Format

MOST_OPERATIONS = 64
"""Of a threadblock, in the executor."""

_MEMORY = "memory"
_NAMES: dict[str, str] = {
    Collective.ALL_GATHER: "allgather",
    Collective.ALL_TO_ALL: "alltoall",
    Collective.BROADCAST: "broadcast",
    CUSTOM: "custom",
}
_NOP = {"name": "nop"}
_BARRIER = "barrier"


def write_mscclpp(schedule: Schedule, path: Path) -> None:
    """Write ``schedule`` to ``path`` as a plan; its r-th working node is GPU r.

    Raises :class:`.InvalidInput` for blocks that are not equally long, and for more operations of a
    threadblock than can be executed.
    """
    if schedule.blocks.reduced.any():
        # A put of theirs replaces; they reduce in steps of the receiving GPU.
        allowed = "one that copies, in an MSCCL++ plan (MSCCL XML holds an all-reduce)"
        raise InvalidInput.of("collective", allowed, schedule.collective)
    chunks = in_chunks(schedule, schedule.block_ids.size or 1, "an MSCCL++ plan")
    gpus = [_Gpu(rank, chunks) for rank in range(chunks.ranks)]
    for _, transfers in groupby(chunks.transfers, lambda transfer: transfer.step):
        _add_step(gpus, list(transfers))
    plan = {
        "name": schedule.algorithm,
        "collective": _NAMES[chunks.collective],
        "protocol": "Simple",
        "inplace": chunks.inplace,
        "reuse_resources": False,
        "gpus": [gpu.to_json() for gpu in gpus],
        "num_threads_per_block": 1024,
        "use_double_scratch_buffer": False,
        "buffer_alignment": 16,
        "min_message_size": 0,
        "max_message_size": (1 << 64) - 1,
    }
    write_bytes_atomically(path, msgspec.json.encode(plan) + b"\n")


def _add_step(gpus: list[_Gpu], transfers: list[Transfer]) -> None:
    """Add what happens in a step: all sends, then all receives."""
    by_pair: defaultdict[tuple[int, int], list[Transfer]] = defaultdict(list)
    for transfer in transfers:
        by_pair[transfer.source, transfer.target].append(transfer)
    for source in {source for source, _ in by_pair}:
        gpus[source].meet(each for each in transfers if each.source == source)
    for (source, target), parts in by_pair.items():
        gpus[source].put(target, parts)
    for (source, target), parts in by_pair.items():
        gpus[target].wait(source, parts)


class _Gpu:
    """The threadblocks of a GPU by the other GPU; and which of them received what since they met.

    A threadblock's operations end with a wait or a signal, whose threads have come together.
    """

    def __init__(self, rank: int, chunks: Chunks) -> None:
        self._rank, self._chunks = rank, chunks
        peers = sorted(
            {each.target for each in chunks.transfers if each.source == rank}
            | {each.source for each in chunks.transfers if each.target == rank}
        )
        self._peers = {peer: place for place, peer in enumerate(peers)}
        self._received: dict[Slot, int] = {}
        hello = [_signal("rlxsignal"), _signal("rlxwait"), _NOP]
        self._operations: list[list[dict[str, Any]]] = [[*hello] for _ in peers] or [[]]
        # (GPU, buffer) of what is written elsewhere, in the order of its first use.
        self._remote: dict[tuple[int, str], int] = {}
        self._references: list[dict[tuple[int, str], int]] = [{} for _ in self._operations]
        for begin, end in chunks.copies[rank]:
            self._operations[0].append(
                {"name": "copy", "src_buff": [_local(begin, 1)], "dst_buff": [_local(end, 1)]}
            )

    def meet(self, transfers: Iterable[Transfer]) -> None:
        """Let all threadblocks meet, if one is to put what another has received."""
        for transfer in transfers:
            buffer, offset = transfer.begin
            places = range(offset, offset + transfer.count)
            bringers = {self._received.get((buffer, place)) for place in places}
            if bringers - {None, self._peers[transfer.target]}:
                for operations in self._operations:
                    operations.append(
                        {
                            "name": _BARRIER,
                            "barrier_id": 0,
                            "num_threadblocks": len(self._operations),
                        }
                    )
                self._received.clear()
                return

    def put(self, peer: int, transfers: Iterable[Transfer]) -> None:
        """Put chunks to a GPU, and signal it."""
        place = self._peers[peer]
        for transfer in transfers:
            buffer, offset = transfer.end
            remote = (peer, buffer)
            self._remote.setdefault(remote, len(self._remote))
            reference = self._references[place].setdefault(remote, len(self._references[place]))
            target = {"buffer_id": reference, "index": offset, "size": transfer.count}
            self._operations[place].append(
                {
                    "name": "put",
                    "src_buff": [_local(transfer.begin, transfer.count)],
                    "dst_buff": [target],
                    "channel_type": _MEMORY,
                }
            )
        self._operations[place] += (_NOP, _signal("signal"))

    def wait(self, peer: int, transfers: Iterable[Transfer]) -> None:
        """Wait for the signal of a GPU, and note what it has put here."""
        place = self._peers[peer]
        self._operations[place] += (_signal("wait"), _NOP)
        for transfer in transfers:
            buffer, offset = transfer.end
            for each in range(offset, offset + transfer.count):
                self._received[buffer, each] = place

    def to_json(self) -> dict[str, object]:
        """The GPU as a plan has it; refused where it has more operations than can be executed."""
        for operations in self._operations:
            if len(operations) > MOST_OPERATIONS:
                allowed = f"at most {MOST_OPERATIONS} for an MSCCL++ plan"
                parameter = f"operations of a threadblock of gpu {self._rank}"
                raise InvalidInput.of(parameter, allowed, len(operations))
        chunks = self._chunks
        own = chunks.loop // chunks.ranks if chunks.collective == Collective.ALL_GATHER else None
        return {
            "id": self._rank,
            "input_chunks": chunks.loop if own is None else own,
            "output_chunks": chunks.loop,
            "scratch_chunks": chunks.scratch[self._rank],
            "threadblocks": [
                self._threadblock(place, operations)
                for place, operations in enumerate(self._operations)
            ],
            "channels": [{"channel_type": _MEMORY, "connected_to": [*self._peers]}]
            if self._peers
            else [],
            "remote_buffers": [
                {"rank": rank, "type": buffer, "access_channel_types": [_MEMORY]}
                for rank, buffer in self._remote
            ],
            "semaphores": [],
        }

    def _threadblock(self, place: int, operations: list[dict[str, Any]]) -> dict[str, object]:
        """A threadblock, with its one channel and the remote buffers that it writes."""
        ids = [self._remote[remote] for remote in self._references[place]]
        references = {"access_channel_type": _MEMORY, "remote_buffer_ids": ids}
        channel = {"channel_type": _MEMORY, "channel_ids": [place]}
        return {
            "id": place,
            "ops": operations,
            "channels": [channel] if self._peers else [],
            "remote_buffer_refs": [references] if ids else [],
        }


def _signal(name: str) -> dict[str, Any]:
    """A signal, or a wait for one, on the one channel of a threadblock."""
    return {"name": name, "channel_ids": [0], "channel_type": _MEMORY}


def _local(slot: Slot, count: int) -> dict[str, Any]:
    """Chunks of a buffer of the GPU itself."""
    return {"type": slot[0], "index": slot[1], "size": count}


MSCCLPP = Format(
    name="mscclpp",
    title="an MSCCL++ plan",
    suffixes=(".json",),
    looks=lambda head: b'"num_threads_per_block"' in head or b'"input_chunks"' in head,
    omits="routes, port model and words",
    write_schedule=write_mscclpp,
)
