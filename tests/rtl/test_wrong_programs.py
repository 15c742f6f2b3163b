"""Wrong programs: each run ends by itself, and reports the error or the waiting node.

There are twenty-four mistakes of a compiler or a person, and flipped bits of tables.
"""

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from amaranth.hdl import ClockDomain
from helpers.engine_host import (
    CONTROLLER,
    DONE,
    FAILED,
    IDLE,
    NOT_NOW,
    START,
    STATUS,
    STOP,
    TABLE,
    TIMED_OUT,
    Engine,
    Host,
    program_words,
)
from helpers.generated import generated
from helpers.memories import Memories
from helpers.programs import pack, program, put, words

from eyecast.model.cycle.model import run
from eyecast.model.network.topology import mesh
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.run import FLAGS

SQUARE = mesh((2, 2))
EAST, WEST, SOUTH, NORTH = (1, 1), (2, 1), (3, 1), (4, 1)
"""Segments: up and down axis 0, up and down axis 1; node 3 is east and south of node 0."""
LIMITS = {"message_words": 12, "table_words": 32, "vcs": 3}
BASE, LIMIT = 3, 120
PARITY = 1 << 1

SOUND: dict[int, list[Row]] = {
    0: [put(1, EAST, length=3, target=4), put(2, SOUTH, length=3, target=4)],
    1: [put(2, SOUTH, length=3, source=4, target=4)],
}
EXPECTED = {1: [1], 2: [2], 3: [2]}


@dataclass(frozen=True)
class Wrong:
    """A mistake: other rows or receives, or other words at given indices of a node's table.

    A table begins with the word of ``expected``, and each row here has a control word and a header.
    """

    state: int
    culprit: int
    flag: str | None
    rows: Mapping[int, list[Row]] = field(default_factory=dict)
    receives: Mapping[int, list[int]] = field(default_factory=dict)
    words: Mapping[tuple[int, int], int] = field(default_factory=dict)
    port_model: str = "full-duplex"
    length: int | None = None


def control(step: int, header_flits: int, source: int, length: int) -> int:
    return pack((step, 4), (header_flits, 4), (source, 4), (length, 4))


def header(*slots: tuple[int, int], step: int = 1, address: int = 4) -> int:
    """Return a header flit: (port, VC) of each segment of one hop, and the delivery, port 5."""
    fields = [each for port, vc in slots for each in ((port, 3), (vc, 2))]
    return pack(*fields, (5, 3), (step, 4), (address, 4))


def failed(culprit: int, flag: str, **more: object) -> Wrong:
    return Wrong(FAILED, culprit, flag, **more)  # type: ignore[arg-type]


def timed_out(culprit: int, **more: object) -> Wrong:
    return Wrong(TIMED_OUT, culprit, None, **more)  # type: ignore[arg-type]


FIRST, SECOND = SOUND[0]
CIRCLE = {
    0: [put(1, EAST, SOUTH, length=12)],
    1: [put(1, SOUTH, WEST, length=12)],
    3: [put(1, WEST, NORTH, length=12)],
    2: [put(1, NORTH, EAST, length=12)],
}
WRONG: dict[str, Wrong] = {
    "rows in another order": timed_out(0, rows={0: [SECOND, FIRST]}),
    "a row after its step": failed(0, "bad_row", rows={0: [SECOND, FIRST]}, receives={1: []}),
    "delivery step 0": timed_out(0, words={(0, 2): header((1, 0), step=0)}),
    "a packet that nobody sends": timed_out(2, receives={2: [2, 3]}),
    "a packet that nobody expects": failed(2, "unexpected_receive", receives={2: []}),
    "expected in step 0": timed_out(3, words={(3, 0): 1 << 2 | 1}),
    "a packet of another step": failed(
        1, "unexpected_receive", words={(0, 2): header((1, 0), step=2)}
    ),
    "two packets in a step": failed(
        1, "unexpected_receive", rows={0: [FIRST, replace(FIRST, target_address=8), SECOND]}
    ),
    "a route to another node": failed(2, "unexpected_receive", rows={1: [put(2, SOUTH, WEST)]}),
    "a port without a link": failed(0, "bad_route", rows={0: [put(1, WEST)]}),
    "beyond the edge": failed(1, "bad_route", rows={0: [put(1, EAST, EAST)]}),
    "there and back to itself": failed(1, "bad_route", rows={0: [put(1, EAST, WEST)]}),
    "an unknown port": failed(0, "bad_row", words={(0, 2): header((6, 0))}),
    "an unknown port on the way": failed(1, "bad_route", words={(0, 2): header((1, 0), (7, 0))}),
    "an unknown VC": failed(0, "bad_row", words={(0, 2): header((1, 3))}),
    "an unknown VC on the way": failed(1, "bad_route", words={(0, 2): header((1, 0), (3, 3))}),
    "a message that is too long": failed(0, "bad_row", words={(0, 1): control(1, 1, 10, 3)}),
    "an address beyond the memory": failed(1, "bad_write", rows={0: [put(1, EAST, target=12)]}),
    "a header of no flits": failed(0, "bad_row", words={(0, 1): control(1, 0, 0, 3)}),
    "a header of all that follows": failed(
        1, "unexpected_receive", words={(0, 1): control(1, 3, 0, 3)}
    ),
    "a send and a receive, half-duplex": failed(
        1,
        "send_and_receive",
        rows={1: [put(1, SOUTH, length=3, target=4)]},
        receives={3: [1]},
        port_model="half-duplex",
    ),
    "no end row": failed(1, "bad_row", words={(1, 3): control(3, 1, 0, 1)}),
    "fewer words than the table has": failed(0, "bad_row", length=5),
    "a circle of packets": timed_out(0, rows=CIRCLE, receives={n: [1] for n in range(4)}),
}


@pytest.mark.slow
def test_every_wrong_program_ends_and_is_named(clock: ClockDomain) -> None:
    sound = program(SOUND, EXPECTED, SQUARE, **LIMITS)
    config = replace(sound.config, programs=2)
    engine = Engine(clock, config)
    predicted = run(sound, words(sound), timing="barrier")

    async def bench(host: Host) -> None:
        for name, wrong in WRONG.items():
            made = program(
                SOUND | dict(wrong.rows),
                EXPECTED | dict(wrong.receives),
                SQUARE,
                wrong.port_model,
                **LIMITS,
            )
            await host.load(0, made, BASE, limit=LIMIT, length=wrong.length)
            for (node, place), word in wrong.words.items():
                await host.write(TABLE, node, BASE + place, word)
            await host.run(0)
            for _ in range(8):
                await host.ctx.tick()
            result = await host.result()
            flags = [FLAGS[bit] for bit in range(8) if result.flags >> bit & 1]
            seen = result.state, result.culprit, *flags
            assert seen == (wrong.state, wrong.culprit, *filter(None, [wrong.flag])), name
            assert result.known
        # The wrong run leaves no trace: a correct program then runs as predicted.
        await host.load(1, sound, 9, limit=LIMIT)
        await host.fill(words(sound))
        await host.run(1)
        assert (await host.result()).state == DONE
        np.testing.assert_array_equal(await host.memory(), predicted.memory)

    engine.simulate(bench)
    assert engine.longest_answer <= 8


def broadcast() -> Program:
    """Return a broadcast of three words from node 0, in two steps."""
    made = generated("broadcast", "eye", SQUARE, words=3, source=0)
    return compile_certified(made, {"message_words": 8, "table_words": 32}).program


FLIPS = 40
ENDS = {
    False: {"done, right": 22, "failed": 8, "timed out": 7, "done, wrong": 3},
    True: {"failed": 40},
}
"""How many runs with a flipped bit end in each way, without and with parity (the engine guide)."""


@pytest.mark.slow
@pytest.mark.parametrize("parity", [False, True], ids=["plain", "parity"])
def test_no_flipped_bit_of_a_table_hangs(
    clock: ClockDomain, monkeypatch: pytest.MonkeyPatch, parity: bool
) -> None:
    made = broadcast()
    memories = Memories(monkeypatch)
    engine = Engine(clock, replace(made.config, programs=1, parity=parity))
    draw, ends = random.Random(19), Counter[str]()
    tables = list(program_words(made))
    places = [(node, place) for node, table in enumerate(tables) for place in range(len(table))]
    memory = words(made)
    right = run(made, memory, timing="barrier").memory

    async def bench(host: Host) -> None:
        await host.load(0, made, BASE, limit=LIMIT)
        for _ in range(FLIPS):
            node, place = draw.choice(places)
            bit = draw.randrange(32 + parity)
            await host.fill(memory)
            memories.flip(host.ctx, memories.tables[node], BASE + place, bit)
            # The run ends within its limit, or the test fails here.
            await host.run(0)
            result = await host.result()
            ends[await ended(host, result.state)] += 1
            if parity:
                assert (result.state, result.culprit) == (FAILED, node)
                assert result.flags & PARITY
            assert await host.command(STOP) == 0
            await host.write(TABLE, node, BASE + place, tables[node][place])

    async def ended(host: Host, state: int) -> str:
        if state != DONE:
            return {FAILED: "failed", TIMED_OUT: "timed out"}[state]
        same = np.array_equal(await host.memory(), right)
        return "done, right" if same else "done, wrong"

    engine.simulate(bench)
    assert dict(ends) == ENDS[parity]


@pytest.mark.slow
def test_commands_at_the_wrong_time(clock: ClockDomain) -> None:
    """Start without a load, start twice more during a run, and stop in the middle of a run."""
    made = broadcast()
    engine = Engine(clock, replace(made.config, programs=3))

    async def bench(host: Host) -> None:
        assert await host.command(START, 0) == NOT_NOW
        assert (await host.result()).state == IDLE
        for number in range(3):
            await host.load(number, made, 9 * number, limit=LIMIT)
        assert await host.command(START, 0) == 0
        assert await host.command(START, 1) == 0
        assert await host.command(START, 2) == NOT_NOW
        assert host.ctx.get(host.network.busy)
        assert await host.command(STOP) == 0
        # The queued program is gone too, and all nodes are as after a reset.
        for _ in range(100):
            assert not host.ctx.get(host.network.busy)
            await host.ctx.tick()
        assert (await host.result()).state == IDLE
        assert [await host.read(STATUS, 0, address) for address in range(5)] == [0, 1, 6, 0, 0]
        # The entry with a length of 0 cannot be started; the others can.
        await host.write(CONTROLLER, 0, 9, 0)
        assert await host.command(START, 0) == NOT_NOW
        await host.fill(words(made))
        await host.run(2)
        assert (await host.result())[1:4:2] == (DONE, 2)
        predicted = run(made, words(made), timing="barrier")
        np.testing.assert_array_equal(await host.memory(), predicted.memory)

    engine.simulate(bench)
