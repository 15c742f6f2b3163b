"""Symbolic execution of an MSCCL algorithm: moves the names of chunks instead of data.

Each chunk's name is its index in all inputs together, one GPU's input after the other. Every slot
of a buffer holds the name of its chunk. Local copies and scratch buffers then disappear: the result
is which chunks went from which GPU to which, in which order. The final outputs show whether the
algorithm is the collective that it claims to be::

    allgather   nchunksperloop / ngpus chunks a GPU; every output has all of them in order
    alltoall    nchunksperloop chunks a GPU, equally many for each GPU; chunks from GPU s for GPU
                d stand in the output of d where the chunks for s stand in the input of s
    broadcast   every output equals the input of one GPU, the root
    custom      no promise: a GPU is owed the final content of its output, or of its input
                if no GPU has an output

In place, the input of an allgather is a part of its output, the output of a reduce_scatter a part
of its input, and the input of another collective is its output. The buffers of a custom collective
are always separate. :mod:`.msccl_promises` has the promises of reductions.

(Sources: microsoft/msccl-tools, msccl/language/collectives.py; microsoft/msccl,
src/graph/tuning.cc, mscclInPlaceTotalCountHelper.)
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import chain

from ..model.base.errors import InvalidInput
from ..model.schedule.blocks import CUSTOM
from ..model.schedule.collective import Collective
from .msccl_xml import MOST_CHUNKS, NOBODY, Algorithm, Slot, Step

Block = tuple[int, int]
"""A threadblock: GPU and number."""

Connection = tuple[int, int, int]
"""Sending GPU, receiving GPU and channel."""


@dataclass
class ChunkMoves:
    """Sends in the order of their execution, a row for each.

    ``chunks`` are the chunks of a send without repetition; ``after`` the rows that precede it.
    """

    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    chunks: list[tuple[int, ...]] = field(default_factory=list)
    after: list[tuple[int, ...]] = field(default_factory=list)


class Execution:
    """An algorithm, executed to its end. Raises :class:`.InvalidInput` if it does not end.

    moves
        The sends.
    outputs
        For each GPU, the chunk at each offset of its output.
    stride
        Chunks of an input: chunk c is at offset ``c % stride`` of the input of GPU ``c // stride``.
    """

    def __init__(self, algorithm: Algorithm) -> None:
        self._algorithm = algorithm
        self.stride = _input_chunks(algorithm)
        if self.stride * algorithm.ranks > MOST_CHUNKS:
            complaint = f"chunks of all inputs must be at most {MOST_CHUNKS}"
            given = f"{complaint}, not {self.stride * algorithm.ranks}"
            raise algorithm.xml.refusal(algorithm.xml.root, given)
        self.moves = ChunkMoves()
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
        # For each slot since its last write: each threadblock's last step that read it.
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
        """For each GPU, the chunk at each filled offset of its output."""
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
        """True if inputs serve as outputs: in a custom collective without outputs."""
        algorithm = self._algorithm
        return algorithm.collective == CUSTOM and not any(each["o"] for each in algorithm.sizes)

    @property
    def _scatters_in_place(self) -> bool:
        """True if outputs are parts of the inputs."""
        algorithm = self._algorithm
        return algorithm.inplace and algorithm.collective == Collective.REDUCE_SCATTER

    def rank_of(self, chunk: int) -> int:
        """Return the GPU whose input has the chunk."""
        return chunk // self.stride

    def _first_chunk(self, rank: int, place: int) -> int:
        """Return the chunk at an offset of a GPU's input."""
        return rank * self.stride + place

    def _own_chunks(self, rank: int) -> int:
        """Return the number of chunks of a GPU's input."""
        if self._algorithm.collective == CUSTOM:
            return self._algorithm.sizes[rank]["i"]
        return self.stride

    def _slot(self, rank: int, slot: Slot) -> Slot:
        """Return the slot itself or, in place, the shared slot of input and output."""
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
        """Run every threadblock as far as possible, until all have ended."""
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
        """Run a threadblock until a step must wait; return the threadblocks that it wakes."""
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
        """Return the threadblock or connection that a step must wait for; None if it can run."""
        rank, block = key[0], self._blocks[key]
        if step.awaited is not None and self._done[rank, step.awaited[0]] <= step.awaited[1]:
            return rank, step.awaited[0]
        connection = (block.recv, rank, block.channel)
        return connection if step.receives and not self._underway[connection] else None

    def _carry_out(self, key: Block, step: Step) -> None:
        """Move the chunks of a step that need not wait."""
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
        """Combine chunks with the step's other operand; only in a reduction."""
        raise NotImplementedError

    def _store(self, key: Block, step: Step, chunks: list[int]) -> None:
        """Store chunks in a step's slots, after earlier writes and reads there have ended."""
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
        """Return the chunks that a step reads from ``first`` on; require that they were written."""
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
        """Require that a step waits for another step of its GPU, given by threadblock and index."""
        number, place = other
        if number != key[1] and self._ended[key].get(number, -1) < place:
            line = self._blocks[key[0], number].steps[place].element.sourceline
            race = f"must wait for line {line}, which {does} of gpu {key[0]}"
            raise self._algorithm.xml.refusal(step.element, race)

    def _receive(self, key: Block, step: Step) -> list[int]:
        """Return the chunks of the first send on its way to a threadblock."""
        rank, block = key[0], self._blocks[key]
        row, chunks, send = self._underway[block.recv, rank, block.channel].popleft()
        if len(chunks) != step.count:
            line = send.element.sourceline
            given = f"{len(chunks)}, as the send that it receives (line {line})"
            raise self._algorithm.xml.refusal(step.element, f"cnt must be {given}")
        # Sends of one threadblock are ordered, so the last one stands for all.
        self._behind[key].discard(self._received.get(key, NOBODY))
        self._behind[key].add(row)
        self._received[key] = row
        return chunks

    def _send(self, key: Block, step: Step, chunks: list[int]) -> None:
        """Store a send of ``chunks``, and put it on its way."""
        rank, block, row = key[0], self._blocks[key], len(self.moves.source)
        self.moves.source.append(rank)
        self.moves.target.append(block.send)
        self.moves.chunks.append(tuple(dict.fromkeys(chunks)))
        self.moves.after.append(tuple(sorted(self._behind[key])))
        self._behind[key] = {row}
        self._underway[rank, block.send, block.channel].append((row, chunks, step))

    def _stuck(self, stuck: list[Block]) -> InvalidInput:
        """Return the error of a deadlock: threadblocks wait for a missing send, or in a circle.

        A threadblock that waits for a connection waits for the sender of the connection.
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
    """Return the chunks of every GPU's input; in a custom collective the largest input."""
    chunks, ranks = algorithm.chunks, algorithm.ranks
    if algorithm.collective in _OF_A_PART_FOR_EACH and chunks % ranks:
        complaint = f"nchunksperloop must be a multiple of ngpus, {ranks}, not {chunks}"
        raise algorithm.xml.refusal(algorithm.xml.root, complaint)
    if algorithm.collective == Collective.ALL_GATHER:
        return chunks // ranks
    if algorithm.collective == CUSTOM:
        return max(1, *(sizes["i"] for sizes in algorithm.sizes))
    return chunks
