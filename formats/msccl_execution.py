"""Execution of an MSCCL algorithm, to see what it moves: with the names of chunks in place of data.

A chunk has the number of its place in all inputs, one GPU's after the other. Every slot of a buffer
holds the number of the chunk that stands in it, so local copies and scratch buffers come to
nothing: what is left is which chunks went from which GPU to which, and in which order. At the end
the outputs tell if the algorithm is the collective that it says it is::

    allgather   nchunksperloop / ngpus chunks a GPU; in all outputs stand all of them in order
    alltoall    nchunksperloop chunks a GPU, as many for each; chunks for GPU d from GPU s stand
                in the output of d where those for s stand in the input of s
    broadcast   all outputs are the input of one GPU, the root
    custom      nothing is promised; what stands in an output at the end is owed to its GPU, and
                where no GPU has an output, what stands in an input

In place, the input of an allgather is its own part of the output, the output of a reduce_scatter
its own part of the input, and the input of another collective the output itself; of a custom
collective nothing is known, and its buffers are apart. What reductions promise is in
:mod:`.msccl_results`.

(Sources: microsoft/msccl-tools, msccl/language/collectives.py; microsoft/msccl,
src/graph/tuning.cc, mscclInPlaceTotalCountHelper.)
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import chain

from ..model.base.errors import InvalidInput
from ..model.schedule.collective import Collective
from ..model.schedule.table import CUSTOM
from .msccl_xml import MOST_CHUNKS, NOBODY, Algorithm, Slot, Step

Block = tuple[int, int]
"""A threadblock: GPU and number."""

Connection = tuple[int, int, int]
"""The GPU that sends, the one that receives, and the channel."""


@dataclass
class Moves:
    """Sends in the order in which they happened, with a row for each.

    ``chunks`` are those that a send carries, each once; ``after`` the rows that it comes after.
    """

    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    chunks: list[tuple[int, ...]] = field(default_factory=list)
    after: list[tuple[int, ...]] = field(default_factory=list)


class Execution:
    """An algorithm, executed to its end. Raises :class:`.InvalidInput` where it has none.

    moves
        The sends.
    outputs
        For each GPU the chunk at each offset of its output.
    stride
        Chunks of an input: chunk c is at place ``c % stride`` of the input of GPU ``c // stride``.
    """

    def __init__(self, algorithm: Algorithm) -> None:
        self._algorithm = algorithm
        self.stride = _input_chunks(algorithm)
        if self.stride * algorithm.ranks > MOST_CHUNKS:
            complaint = f"chunks of all inputs must be at most {MOST_CHUNKS}"
            given = f"{complaint}, not {self.stride * algorithm.ranks}"
            raise algorithm.xml.refusal(algorithm.xml.root, given)
        self.moves = Moves()
        self._memory: list[dict[Slot, int]] = [{} for _ in range(algorithm.ranks)]
        self._writer: list[dict[Slot, tuple[int, int]]] = [{} for _ in range(algorithm.ranks)]
        for rank in range(algorithm.ranks):
            for place in range(self._own_chunks(rank)):
                first = self._first_chunk(rank, place)
                self._memory[rank][self._slot(rank, ("i", place))] = first
        self._blocks = {
            (rank, number): block
            for rank, blocks in enumerate(algorithm.gpus)
            for number, block in sorted(blocks.items())
        }
        self._done = dict.fromkeys(self._blocks, 0)
        # Since a slot was written, for each threadblock its last step that has read it.
        self._readers: defaultdict[tuple[int, Slot], dict[int, int]] = defaultdict(dict)
        self._behind: dict[Block, set[int]] = {key: set() for key in self._blocks}
        self._received: dict[Block, int] = {}
        self._ended: dict[Block, dict[int, int]] = {key: {} for key in self._blocks}
        self._snapshots: dict[tuple[int, int, int], tuple[frozenset[int], dict[int, int]]] = {}
        self._underway: defaultdict[Connection, deque[tuple[int, list[int], Step]]]
        self._underway = defaultdict(deque)
        self._waiting: defaultdict[Block | Connection, list[Block]] = defaultdict(list)
        self._execute()

    @property
    def outputs(self) -> list[dict[int, int]]:
        """For each GPU the chunk at each offset of its output that has one."""
        if self._scatters_in_place:
            own = range(self.stride // self._algorithm.ranks)
            return [
                {offset: memory[self._slot(rank, ("o", offset))] for offset in own}
                for rank, memory in enumerate(self._memory)
            ]
        output = "i" if self.ends_in_inputs else "o"
        return [
            {offset: chunk for (buffer, offset), chunk in memory.items() if buffer == output}
            for memory in self._memory
        ]

    @property
    def ends_in_inputs(self) -> bool:
        """Tell whether inputs are outputs, as a custom collective has none."""
        algorithm = self._algorithm
        return algorithm.collective == CUSTOM and not any(each["o"] for each in algorithm.sizes)

    @property
    def _scatters_in_place(self) -> bool:
        """Tell whether outputs are parts of the inputs."""
        algorithm = self._algorithm
        return algorithm.inplace and algorithm.collective == Collective.REDUCE_SCATTER

    def rank_of(self, chunk: int) -> int:
        """The GPU of whose input a chunk is."""
        return chunk // self.stride

    def _first_chunk(self, rank: int, place: int) -> int:
        """The chunk that stands at a place of the input of a GPU."""
        return rank * self.stride + place

    def _own_chunks(self, rank: int) -> int:
        """Chunks of the input of a GPU."""
        if self._algorithm.collective == CUSTOM:
            return self._algorithm.sizes[rank]["i"]
        return self.stride

    def _slot(self, rank: int, slot: Slot) -> Slot:
        """The slot itself; in place, the one slot of input and output that it is."""
        buffer, offset = slot
        if self._scatters_in_place:
            own = rank * self.stride // self._algorithm.ranks
            return ("i", own + offset) if buffer == "o" else slot
        if buffer != "i" or not self._algorithm.inplace or self._algorithm.collective == CUSTOM:
            return slot
        if self._algorithm.collective == Collective.ALL_GATHER:
            return "o", rank * self.stride + offset
        return "o", offset

    def _execute(self) -> None:
        """Let every threadblock go on for as long as it can, until all are at their ends."""
        ready = deque(self._blocks)
        while ready:
            ready.extend(self._advance(ready.popleft()))
        stuck = [key for key in self._blocks if self._done[key] < len(self._blocks[key].steps)]
        if stuck:
            raise self._stuck(stuck)
        for (source, target, channel), underway in self._underway.items():
            for _, _, step in underway:
                unheard = f"gpu {target} never receives it from gpu {source} on channel {channel}"
                raise self._algorithm.xml.refusal(step.element, unheard)

    def _advance(self, key: Block) -> list[Block]:
        """Execute the steps of a threadblock up to one that must wait; list who may go on then."""
        rank, block = key[0], self._blocks[key]
        woken: list[Block] = []
        while self._done[key] < len(block.steps):
            place = self._done[key]
            step = block.steps[place]
            waited = self._waits_for(key, step)
            if waited is not None:
                self._waiting[waited].append(key)
                return woken
            if step.awaited is not None:
                behind, ended = self._snapshots[rank, *step.awaited]
                self._behind[key] |= behind
                for number, last in ended.items():
                    self._ended[key][number] = max(last, self._ended[key].get(number, 0))
            self._ended[key][key[1]] = place
            self._carry_out(key, step)
            if step.awaitable:
                self._snapshots[rank, key[1], place] = (
                    frozenset(self._behind[key]),
                    dict(self._ended[key]),
                )
            self._done[key] += 1
            woken += self._waiting.pop(key, [])
            if step.sends:
                woken += self._waiting.pop((rank, block.send, block.channel), [])
        return woken

    def _waits_for(self, key: Block, step: Step) -> Block | Connection | None:
        """The threadblock or connection that a step must wait for; None where it need not."""
        rank, block = key[0], self._blocks[key]
        if step.awaited is not None and self._done[rank, step.awaited[0]] <= step.awaited[1]:
            return rank, step.awaited[0]
        connection = (block.recv, rank, block.channel)
        return connection if step.receives and not self._underway[connection] else None

    def _carry_out(self, key: Block, step: Step) -> None:
        """Move the chunks of a step, which need not wait."""
        if step.kind == "nop":
            return
        chunks = self._receive(key, step) if step.receives else self._load(key, step, step.source)
        if step.reduces:
            chunks = self._reduce(key, step, chunks)
        if step.stores:
            self._store(key, step, chunks)
        if step.sends:
            self._send(key, step, chunks)

    def _reduce(self, key: Block, step: Step, chunks: list[int]) -> list[int]:
        """Combine chunks with those that a step reduces them with; only in a reduction."""
        raise NotImplementedError

    def _store(self, key: Block, step: Step, chunks: list[int]) -> None:
        """Put chunks where a step writes them, each after what was there is written and read."""
        rank, (buffer, offset) = key[0], step.target
        for place, chunk in enumerate(chunks, offset):
            slot = self._slot(rank, (buffer, place))
            for number, read in self._readers.pop((rank, slot), {}).items():
                self._require_behind(key, step, (number, read), f"reads {buffer}[{place}]")
            if self._memory[rank].get(slot, chunk) != chunk:
                writer = self._writer[rank].get(slot, (key[1], -1))
                self._require_behind(key, step, writer, f"writes {buffer}[{place}]")
            self._memory[rank][slot] = chunk
            self._writer[rank][slot] = (key[1], self._done[key])

    def _load(self, key: Block, step: Step, first: Slot) -> list[int]:
        """The chunks that a step reads from ``first`` on, each after it is written."""
        rank, (buffer, offset) = key[0], first
        chunks = []
        for place in range(offset, offset + step.count):
            slot = self._slot(rank, (buffer, place))
            if slot not in self._memory[rank]:
                empty = f"{buffer}[{place}] of gpu {rank} must hold a chunk by then, not nothing"
                raise self._algorithm.xml.refusal(step.element, empty)
            writer = self._writer[rank].get(slot, (key[1], -1))
            self._require_behind(key, step, writer, f"writes {buffer}[{place}]")
            self._readers[rank, slot][key[1]] = self._done[key]
            chunks.append(self._memory[rank][slot])
        return chunks

    def _require_behind(self, key: Block, step: Step, other: tuple[int, int], does: str) -> None:
        """Require that a step waits for an ``other`` one of its GPU, by threadblock and place."""
        number, place = other
        if number != key[1] and self._ended[key].get(number, -1) < place:
            line = self._blocks[key[0], number].steps[place].element.sourceline
            race = f"must wait for line {line}, which {does} of gpu {key[0]}"
            raise self._algorithm.xml.refusal(step.element, race)

    def _receive(self, key: Block, step: Step) -> list[int]:
        """The chunks of the first send underway to a threadblock."""
        rank, block = key[0], self._blocks[key]
        row, chunks, send = self._underway[block.recv, rank, block.channel].popleft()
        if len(chunks) != step.count:
            line = send.element.sourceline
            given = f"{len(chunks)}, as the send that it receives (line {line})"
            raise self._algorithm.xml.refusal(step.element, f"cnt must be {given}")
        # Sends of one threadblock come after each other, so the last stands for all.
        self._behind[key].discard(self._received.get(key, NOBODY))
        self._behind[key].add(row)
        self._received[key] = row
        return chunks

    def _send(self, key: Block, step: Step, chunks: list[int]) -> None:
        """Note a send of ``chunks``, and put it underway."""
        rank, block, row = key[0], self._blocks[key], len(self.moves.source)
        self.moves.source.append(rank)
        self.moves.target.append(block.send)
        self.moves.chunks.append(tuple(dict.fromkeys(chunks)))
        self.moves.after.append(tuple(sorted(self._behind[key])))
        self._behind[key] = {row}
        self._underway[rank, block.send, block.channel].append((row, chunks, step))

    def _stuck(self, stuck: list[Block]) -> InvalidInput:
        """The error that threadblocks wait for ever: for a send that is not there, or in a circle.

        A threadblock that waits for a connection waits for the one that sends on it.
        """
        senders = {
            (rank, block.send, block.channel): (rank, number)
            for (rank, number), block in self._blocks.items()
            if block.send != NOBODY
        }
        refusal = self._algorithm.xml.refusal
        walk: dict[Block, Step] = {}
        key = stuck[0]
        while key not in walk:
            step = self._blocks[key].steps[self._done[key]]
            walk[key] = step
            waited = self._waits_for(key, step)
            assert waited is not None
            if len(waited) == 2:
                key = waited
                continue
            source, _, channel = waited
            sender = senders.get(waited)
            if sender is None or self._done[sender] == len(self._blocks[sender].steps):
                missing = f"gpu {source} sends nothing more for it on channel {channel}"
                return refusal(step.element, missing)
            key = sender
        visited = list(walk)
        lines = [walk[each].element.sourceline for each in visited[visited.index(key) :]]
        around = ", ".join(str(line) for line in chain(lines[1:], lines[:1]))
        return refusal(walk[key].element, f"must not wait in a circle: for line {around}")


_OF_A_PART_FOR_EACH = (Collective.ALL_GATHER, Collective.ALL_TO_ALL, Collective.REDUCE_SCATTER)


def _input_chunks(algorithm: Algorithm) -> int:
    """Chunks of the input of every GPU, the most of any in a custom collective."""
    chunks, ranks = algorithm.chunks, algorithm.ranks
    if algorithm.collective in _OF_A_PART_FOR_EACH and chunks % ranks:
        complaint = f"nchunksperloop must be a multiple of ngpus, {ranks}, not {chunks}"
        raise algorithm.xml.refusal(algorithm.xml.root, complaint)
    if algorithm.collective == Collective.ALL_GATHER:
        return chunks // ranks
    if algorithm.collective == CUSTOM:
        return max(1, *(sizes["i"] for sizes in algorithm.sizes))
    return chunks
