"""The host of a network with programs, in Amaranth's own simulator (docs/router.md, section 16).

The numbers are copied from that section, not from the hardware's sources.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from amaranth.hdl import ClockDomain, Module, ResetSignal, Signal

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.config_file import identity
from eyecast.model.program.memory_words import expected_words, table_words
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.program import Program
from eyecast.model.run.run import Run
from eyecast.rtl.network import Network

from .amaranth_simulation import simulate

MESSAGE, TABLE, CONTROLLER, STATUS = range(4)
IDENTITY, IMAGE, COMMAND, RESULT, CYCLE, QUEUED, ENABLE = range(7)
START, STOP, ACKNOWLEDGE = 1, 2, 3
IDLE, STARTING, RUNNING, DONE, FAILED, TIMED_OUT = range(6)
NO_SUCH_WORD, NOT_NOW, DAMAGED = 1, 2, 3
BARRIER = 1

EJECTION_PORT = 64
"""First number of ejection ports in a trace: port l of an all-port network is 64 + l."""

LONGEST_ANSWER = 8
"""Cycles until an answer, at most; without barrier registers, with an idle memory."""


class Result(NamedTuple):
    """The fields of the word *result*."""

    flags: int
    state: int
    known: int
    program: int
    culprit: int


class Engine:
    """A network with programs, or its controller alone, and its requests."""

    def __init__(
        self, clock: ClockDomain, config: NetworkConfig, *, network: Any | None = None
    ) -> None:
        self.config = config
        self.network = Network(config, trace=True) if network is None else network
        self.reset, self.module = Signal(init=1), Module()
        self.module.domains += clock
        self.module.d.comb += ResetSignal().eq(self.reset)
        self.module.submodules.network = self.network
        self.longest_answer = 0

    def simulate(self, bench: Callable[[Host], Awaitable[None]], *background: Any) -> None:
        """Run ``bench`` after a reset; the network prints its trace."""
        printed = io.StringIO()

        async def testbench(ctx: Any) -> None:
            await ctx.tick()
            ctx.set(self.reset, 0)
            await ctx.tick()
            await ctx.tick()
            await bench(Host(self, ctx, printed))

        with contextlib.redirect_stdout(printed):
            simulate(self.module, testbench, *background)


class Host:
    """A sender of requests; it decodes the answers."""

    def __init__(self, engine: Engine, ctx: Any, printed: io.StringIO) -> None:
        self.engine, self.config, self.network = engine, engine.config, engine.network
        self.ctx, self.printed = ctx, printed

    async def request(
        self, space: int, node: int, address: int, write: int | None = None
    ) -> tuple[int, int]:
        """Carry out a request; return the word read and the refusal."""
        ctx, port = self.ctx, self.network.host
        ctx.set(port.valid, 1)
        ctx.set(port.write, write is not None)
        ctx.set(port.space, space)
        ctx.set(port.node, node)
        ctx.set(port.address, address)
        ctx.set(port.write_data, write or 0)
        while not ctx.get(port.ready):
            await ctx.tick()
        await ctx.tick()
        # Once a request has been taken, the network ignores the port.
        ctx.set(port.valid, 0)
        for name in ("write", "space", "node", "address", "write_data"):
            ctx.set(getattr(port, name), 0)
        taken = 1
        while not ctx.get(port.answered):
            assert not ctx.get(port.ready)
            await ctx.tick()
            taken += 1
        assert not ctx.get(port.ready)
        self.engine.longest_answer = max(self.engine.longest_answer, taken)
        answer = ctx.get(port.read_data), ctx.get(port.refusal)
        await ctx.tick()
        assert not ctx.get(port.answered)
        return answer

    async def write(self, space: int, node: int, address: int, word: int) -> None:
        assert await self.request(space, node, address, word) == (0, 0)

    async def read(self, space: int, node: int, address: int) -> int:
        word, refusal = await self.request(space, node, address)
        assert refusal == 0
        return word

    async def command(self, command: int, program: int = 0) -> int:
        """Give a command; return the refusal."""
        word, refusal = await self.request(CONTROLLER, 0, COMMAND, command | program << 8)
        assert word == 0
        return refusal

    async def result(self) -> Result:
        word = await self.read(CONTROLLER, 0, RESULT)
        widths = (8, 3, 1, 4, 16)
        fields = []
        for width in widths:
            fields.append(word & ((1 << width) - 1))
            word >>= width
        assert word == 0
        return Result(*fields)

    async def load(
        self,
        number: int,
        program: Program,
        base: int,
        *,
        barrier: bool = True,
        limit: int = 0,
        length: int | None = None,
    ) -> None:
        """Load a program, and write its directory entry."""
        tables = [*program_words(program)]
        for receiver, words in enumerate(tables):
            node, lane = divmod(receiver, self.config.lanes)
            if node in self.config.topology.switches:
                continue
            first = lane << (self.config.table_words - 1).bit_length()
            for place, word in enumerate(words, first + base):
                await self.write(TABLE, node, place, word)
        mode = barrier * BARRIER + 2 * program.half_duplex
        longest = max(map(len, tables)) if length is None else length
        for place, word in enumerate((base, longest, mode, limit), 8 + 4 * number):
            await self.write(CONTROLLER, 0, place, word)
        await self.write(CONTROLLER, 0, IMAGE, identity(self.config))

    async def fill(self, memory: npt.NDArray[np.uint64]) -> None:
        """Write all message memories, wide words piece by piece."""
        for (node, *place), word in np.ndenumerate(memory):
            if node not in self.config.topology.switches:
                await self.write(MESSAGE, node, self.address(*place), int(word))

    def address(self, word: int, piece: int = 0) -> int:
        """Return the address of a word, or of a piece of it, in a message memory."""
        return (word << (self.config.pieces - 1).bit_length()) + piece

    async def memory(self) -> npt.NDArray[np.uint64]:
        """Read all message memories, wide words piece by piece."""
        memory = empty_memory(self.config)
        for node, *place in np.ndindex(memory.shape):
            if node not in self.config.topology.switches:
                memory[node, *place] = await self.read(MESSAGE, node, self.address(*place))
        return memory

    async def until(self, *outputs: str, limit: int = 1000) -> None:
        """Wait for one of these outputs."""
        for _ in range(limit):
            if any(self.ctx.get(getattr(self.network, name)) for name in outputs):
                return
            await self.ctx.tick()
        raise AssertionError(f"none of {outputs} within {limit} cycles")

    async def run(self, program: int) -> None:
        """Start a program and wait for its end."""
        self.traces()
        assert await self.command(START, program) == 0
        assert self.ctx.get(self.network.busy)
        await self.until("done", "error")

    def traces(self) -> list[list[tuple[int, ...]]]:
        """Return the rows of each run printed since the last call, in order.

        Flits that leave by ejection port l of an all-port network are printed as port 64 + l.
        """
        runs: list[list[tuple[int, ...]]] = [[]]
        for line in self.printed.getvalue().splitlines():
            cycle, node, port, vc, kind, *pieces = map(int, line.split())
            data = sum(piece << 64 * place for place, piece in enumerate(pieces))
            row = cycle, node, port, vc, kind, data
            if runs[-1] and row[0] < runs[-1][-1][0]:
                runs.append([])
            runs[-1].append(row)
        self.printed.seek(0)
        self.printed.truncate()
        return [sorted(rows, key=_place) for rows in runs]


def _place(row: tuple[int, ...]) -> tuple[int, ...]:
    """Return a row's sort key: ejection ports come before all others."""
    cycle, node, port, *_ = row
    return (cycle, node, port - 2 * EJECTION_PORT if port > EJECTION_PORT else port)


def program_words(program: Program) -> Iterator[list[int]]:
    """Return each sender's words of ``expected`` and then its table, node by node."""
    # In a network without programs a table has only its rows.
    program = Program.from_rows(
        replace(program.config, programs=0, tile_ports=False, parity=False),
        program.port_model,
        program.rows,
        program.receives,
        receive_ports=program.receive_ports,
    )
    first, words = table_words(program)
    masks = expected_words(program)
    for receiver, mask in enumerate(masks):
        yield [*mask.tolist(), *words[first[receiver] : first[receiver + 1]].tolist()]


def expected_rows(run: Run, later: int) -> list[tuple[int, ...]]:
    """Return the rows of a trace, this many cycles later."""
    return [
        (row.cycle + later, row.node, row.port, row.vc, row.kind, row.data) for row in run.trace
    ]


def rows_before(rows: Sequence[tuple[int, ...]], cycle: int) -> list[tuple[int, ...]]:
    """Return the rows of a trace up to its end, with ejection ports as port 0."""
    return [
        (*row[:2], 0 if row[2] > EJECTION_PORT else row[2], *row[3:])
        for row in rows
        if row[0] < cycle
    ]
