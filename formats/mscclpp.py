"""MSCCL++ execution plans in JSON: a schedule as the puts of every GPU's threadblocks.

A GPU has a threadblock for each GPU that it exchanges data with, and a memory channel between the
two. In a step the threadblock puts its chunks, signals, and waits for the other GPU's signal::

    rlxsignal rlxwait nop       the other GPU is ready, and its buffers may be written
    put ... nop signal          all chunks for that GPU in a step
    wait nop                    all chunks from that GPU in a step
    re, copy                    in a reduction: moves arrived chunks to their slots
    barrier                     before a threadblock puts chunks that another one has received,
                                or changes chunks that another one has put

"nop" synchronises all threads of a block. Every wait belongs to a signal of the same step, so no
threadblock waits for ever. Only an executor on GPUs can run a plan.

A put replaces its target at once. A reduction sends the values from before the step, so its puts go
to the other GPU's scratch buffer. After all sends of the step, that GPU combines the chunk with its
own ("re") or replaces its own ("copy").

(Source: microsoft/mscclpp, src/core/executor/execution_plan.cc, which reads plans, and
src/core/include/execution_common.hpp for its limits; python/mscclpp/language, which writes them.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..model.base.errors import InvalidInput
from ..model.base.files import write_bytes_atomically
from ..model.schedule.blocks import CUSTOM
from ..model.schedule.collective import Collective
from ..model.schedule.schedule import Schedule
from .chunks import Chunks, Slot, Transfer, in_chunks, runs_of, slots_from
from .format import Format, json_keys
from .ranks import OMITTED

MOST_OPERATIONS = 64
"""Most operations of a threadblock in the executor."""

_MEMORY = "memory"
_NAMES: dict[str, str] = {
    Collective.ALL_GATHER: "allgather",
    Collective.ALL_TO_ALL: "alltoall",
    Collective.BROADCAST: "broadcast",
    Collective.ALL_REDUCE: "allreduce",
    Collective.REDUCE_SCATTER: "reducescatter",
}
"""Names of collectives in plans; all others are custom."""
_ADD = "add"
_NOP = {"name": "nop"}
_BARRIER = "barrier"


def write_mscclpp(schedule: Schedule, path: Path) -> None:
    """Write ``schedule`` to ``path`` as a plan; its r-th working node is GPU r.

    Raises :class:`.InvalidInput` for blocks of different lengths, for an operator other than add,
    and for too many operations of a threadblock.
    """
    for operator in {*schedule.blocks.operator} - {None, _ADD}:
        raise InvalidInput.of("operator", f"{_ADD}, in an MSCCL++ plan", operator)
    chunks = in_chunks(schedule, schedule.block_ids.size or 1, "an MSCCL++ plan")
    gpus = [_Gpu(rank, chunks) for rank in range(chunks.ranks)]
    for _, transfers in groupby(chunks.transfers, lambda transfer: transfer.step):
        _add_step(gpus, list(transfers))
    plan = {
        "name": schedule.algorithm,
        "collective": _NAMES.get(chunks.collective, CUSTOM),
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
    """Add one step: all sends, then all receives, then the combining and copying."""
    by_pair: defaultdict[tuple[int, int], list[_Parcel]] = defaultdict(list)
    for transfer in transfers:
        parcel = _Parcel(transfer, gpus[transfer.target].landing(transfer))
        by_pair[transfer.source, transfer.target].append(parcel)
    for source in {source for source, _ in by_pair}:
        gpus[source].meet_to_put(each for each in transfers if each.source == source)
    for (source, target), parcels in by_pair.items():
        gpus[source].put(target, parcels)
    for (source, target), parcels in by_pair.items():
        gpus[target].wait(source, parcels)
    for gpu in gpus:
        gpu.settle()


class _Parcel(NamedTuple):
    """A transfer, and the first slot that it is put to: its final slot, or scratch."""

    transfer: Transfer
    landing: Slot


class _Gpu:
    """The threadblocks of a GPU by the other GPU.

    ``_written`` has the writer of each slot since the last barrier, ``_read`` the threadblocks that
    put it.
    """

    def __init__(self, rank: int, chunks: Chunks) -> None:
        self._rank, self._chunks = rank, chunks
        peers = sorted(
            {each.target for each in chunks.transfers if each.source == rank}
            | {each.source for each in chunks.transfers if each.target == rank}
        )
        self._peers = {peer: place for place, peer in enumerate(peers)}
        self._written: dict[Slot, int] = {}
        self._read: defaultdict[Slot, set[int]] = defaultdict(set)
        self._came: list[tuple[int, _Parcel]] = []
        hello = [_signal("rlxsignal"), _signal("rlxwait"), _NOP]
        self._operations: list[list[dict[str, Any]]] = [[*hello] for _ in peers] or [[]]
        # (GPU, buffer) of every remote target, in the order of first use.
        self._remote: dict[tuple[int, str], int] = {}
        self._references: list[dict[tuple[int, str], int]] = [{} for _ in self._operations]
        for begin, end in chunks.copies[rank]:
            self._bring(0, begin, end, 1, combine=False)

    def landing(self, transfer: Transfer) -> Slot:
        """Return the slot that a transfer to this GPU is put to; in a reduction, new scratch."""
        if not self._chunks.reduces:
            return transfer.end
        first = self._chunks.scratch[self._rank]
        self._chunks.scratch[self._rank] += transfer.count
        return "s", first

    def meet_to_put(self, transfers: Iterable[Transfer]) -> None:
        """Add a barrier if a threadblock will put chunks that another one has received."""
        for transfer in transfers:
            writers = {
                self._written.get(slot) for slot in slots_from(transfer.begin, transfer.count)
            }
            if writers - {None, self._peers[transfer.target]}:
                self._meet()
                return

    def _meet(self) -> None:
        """Add a barrier of all threadblocks."""
        for operations in self._operations:
            operations.append(
                {"name": _BARRIER, "barrier_id": 0, "num_threadblocks": len(self._operations)}
            )
        self._written.clear()
        self._read.clear()

    def put(self, peer: int, parcels: Iterable[_Parcel]) -> None:
        """Put chunks to a GPU, and signal it."""
        place = self._peers[peer]
        for transfer, (buffer, offset) in parcels:
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
            for slot in slots_from(transfer.begin, transfer.count):
                self._read[slot].add(place)
        self._operations[place] += (_NOP, _signal("signal"))

    def wait(self, peer: int, parcels: Iterable[_Parcel]) -> None:
        """Wait for the signal of a GPU, and note the slots into which it has put its parcels."""
        place = self._peers[peer]
        self._operations[place] += (_signal("wait"), _NOP)
        for parcel in parcels:
            if self._chunks.reduces:
                self._came.append((place, parcel))
            for slot in slots_from(parcel.landing, parcel.transfer.count):
                self._written[slot] = place

    def settle(self) -> None:
        """Move all chunks that arrived in this step of a reduction to their slots.

        One threadblock changes a slot in a step: the first that received a chunk for it.
        """
        changes: defaultdict[tuple[int, bool], list[tuple[Slot, Slot]]] = defaultdict(list)
        changer: dict[Slot, int] = {}
        for place, (transfer, landing) in self._came:
            ends = slots_from(transfer.end, transfer.count)
            for begin, end in zip(slots_from(landing, transfer.count), ends, strict=True):
                by = changer.setdefault(end, place)
                changes[by, transfer.combine].append((begin, end))
        self._came.clear()
        if any(
            {*self._read[end], self._written.get(end, by), self._written[begin]} - {by}
            for (by, _), pairs in changes.items()
            for begin, end in pairs
        ):
            self._meet()
        for (by, combine), pairs in changes.items():
            begins, ends = [begin for begin, _ in pairs], [end for _, end in pairs]
            for begin, end, count in runs_of(begins, ends, len(pairs)):
                self._bring(by, begin, end, count, combine=combine)

    def _bring(self, place: int, begin: Slot, end: Slot, count: int, *, combine: bool) -> None:
        """Let a threadblock copy chunks to other slots of its GPU, or combine them there."""
        source, target = _local(begin, count), _local(end, count)
        operation: dict[str, Any] = {"name": "copy", "src_buff": [source], "dst_buff": [target]}
        if combine:
            sources = [target, source]
            operation = {"name": "re", "src_buff": sources, "dst_buff": [target]}
            operation["reduce_op"] = "sum"
        self._operations[place].append(operation)
        if self._chunks.reduces:
            self._operations[place].append(_NOP)
            for slot in slots_from(end, count):
                self._written[slot] = place

    def to_json(self) -> dict[str, object]:
        """Return the GPU's entry in a plan; refuse too many operations."""
        for operations in self._operations:
            if len(operations) > MOST_OPERATIONS:
                allowed = f"at most {MOST_OPERATIONS} for an MSCCL++ plan"
                parameter = f"operations of a threadblock of gpu {self._rank}"
                raise InvalidInput.of(parameter, allowed, len(operations))
        chunks = self._chunks
        part = chunks.loop // chunks.ranks
        gathers = chunks.collective == Collective.ALL_GATHER
        scatters = chunks.collective == Collective.REDUCE_SCATTER
        return {
            "id": self._rank,
            "input_chunks": part if gathers else chunks.loop,
            "output_chunks": part if scatters else chunks.loop,
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
        """Return a threadblock with its channel and the remote buffers that it writes."""
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
    """Return a signal, or a wait for one, on the channel of a threadblock."""
    return {"name": name, "channel_ids": [0], "channel_type": _MEMORY}


def _local(slot: Slot, count: int) -> dict[str, Any]:
    """Return a reference to chunks of the GPU's own buffer."""
    return {"type": slot[0], "index": slot[1], "size": count}


MSCCLPP = Format(
    name="mscclpp",
    title="an MSCCL++ plan",
    suffixes=(".json",),
    looks=lambda content: "num_threads_per_block" in json_keys(content),
    omits={**OMITTED, "root": "root", "blocks.words": "words"},
    write_schedule=write_mscclpp,
)
