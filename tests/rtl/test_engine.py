"""Run control: programs that are loaded, started, stopped and watched while a network runs.

A run must equal that of the same program in the network without a controller, which the cycle model
predicts. It is later by the cycles in which nodes read the words of ``expected``.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from amaranth.hdl import ClockDomain
from helpers.engine_host import (
    ACKNOWLEDGE,
    COMMAND,
    CONTROLLER,
    CYCLE,
    DONE,
    ENABLE,
    FAILED,
    IDENTITY,
    IDLE,
    IMAGE,
    MESSAGE,
    NO_SUCH_WORD,
    NOT_NOW,
    QUEUED,
    RESULT,
    RUNNING,
    START,
    STATUS,
    STOP,
    TABLE,
    TIMED_OUT,
    Engine,
    Host,
    expected_rows,
    program_words,
    rows_before,
)
from helpers.generated import generated
from helpers.programs import UP, program, put, words
from helpers.switch_networks import switch_star

from eyecast.model.cycle.model import run
from eyecast.model.network.config_file import identity
from eyecast.model.network.topology import hypercube, mesh, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.program import Program
from eyecast.model.run.run import FLAGS, Run

LIMITS = {"message_words": 8, "table_words": 32}
LINE = mesh((3,))
THERE, BACK = UP, UP + 1
BITS = {name: bit for bit, name in FLAGS.items()}


def there(**more: int) -> Program:
    """Return a program that sends node 0's words to node 1, and then to node 2."""
    rows = {0: [put(1, (THERE, 1), length=3, target=4)], 1: [put(2, (THERE, 1), length=2)]}
    return program(rows, {1: [1], 2: [2]}, LINE, **LIMITS | more)


def back(**more: int) -> Program:
    """Return a program that sends words of node 2 to node 0, in packets of two steps."""
    rows = {2: [put(2, (BACK, 2), length=4, source=1), put(3, (BACK, 2), target=7)]}
    return program(rows, {0: [2, 3]}, LINE, **LIMITS | more)


def engine_of(clock: ClockDomain, program: Program, *, programs: int = 3) -> Engine:
    """Return an engine of the network of ``program``, whose own network has no controller."""
    return Engine(clock, replace(program.config, programs=programs))


def predicted(
    program: Program, memory: npt.NDArray[np.uint64] | None = None, *, barrier: bool = True
) -> Run:
    memory = words(program) if memory is None else memory
    return run(program, memory, timing="barrier" if barrier else "self-timed")


async def require_run(host: Host, number: int, program: Program, *, barrier: bool = True) -> None:
    """Fill the memories, run the program, and compare everything that a host can read."""
    await host.fill(words(program))
    await host.run(number)
    await require_end(host, predicted(program, barrier=barrier))


async def require_end(host: Host, expected: Run) -> None:
    config = host.config
    cycles = expected.cycles + config.mask_words
    assert host.ctx.get(host.network.done)
    assert host.ctx.get(host.network.cycle) == cycles
    assert await host.read(CONTROLLER, 0, CYCLE) == cycles
    for node, arrived in enumerate(expected.arrived):
        mask = sum(int(bit) << step for step, bit in enumerate(arrived[0]))
        assert await host.read(STATUS, node, 4) == mask % (1 << config.narrow_width)
        assert await host.read(STATUS, node, 0) == 0
        if node not in config.topology.switches:
            assert await host.read(STATUS, node, 1) == expected.step[node]
    np.testing.assert_array_equal(await host.memory(), expected.memory)
    (rows,) = host.traces()
    assert rows_before(rows, cycles) == expected_rows(expected, config.mask_words)


@pytest.mark.parametrize(
    ("registers", "width"),
    [
        (0, 32),
        pytest.param(0, 192, marks=pytest.mark.slow),
        *(pytest.param(each, 32, marks=pytest.mark.slow) for each in (1, 2, 5)),
    ],
)
def test_programs_run_one_after_the_other_without_reset(
    clock: ClockDomain, registers: int, width: int
) -> None:
    first, second = (make(barrier_registers=registers, flit_width=width) for make in (there, back))
    engine = engine_of(clock, first)

    async def bench(host: Host) -> None:
        assert (await host.result()).state == IDLE
        await host.load(0, first, 0)
        await host.load(2, second, 9, barrier=False)
        for _ in range(1 if registers == 0 else 3):
            await require_run(host, 0, first)
            await require_run(host, 2, second, barrier=False)
        assert await host.result() == (0, DONE, 0, 2, 0)

    engine.simulate(bench)
    assert engine.longest_answer <= 2 * registers + 8


@pytest.mark.slow
def test_programs_of_other_networks(clock: ClockDomain) -> None:
    """Run on networks with two words of ``expected``, with lanes, and with switches."""
    made = generated("scatter", "sbnt", hypercube(2), words=3, source=1, all_port=True)
    compiled = compile_certified(made, {"message_words": 16, "table_words": 16})
    leaves = switch_star(3)
    crossing = program(
        {1: [put(1, (1, 1), (3, 1), length=2, target=4)]}, {3: [1]}, leaves, **LIMITS
    )
    for each in (there(steps=40), compiled.program, crossing):
        engine = engine_of(clock, each)

        async def bench(host: Host, each: Program = each) -> None:
            await host.load(1, each, 5)
            await require_run(host, 1, each)

        engine.simulate(bench)


@pytest.mark.slow
@pytest.mark.parametrize("registers", [0, 3])
def test_a_queued_program_starts_when_the_one_before_is_done(
    clock: ClockDomain, registers: int
) -> None:
    # A run long enough for requests.
    limits = {"barrier_registers": registers, "steps": 63}
    first, second = (slow(make(**limits)) for make in (there, back))
    engine = engine_of(clock, first)

    async def bench(host: Host) -> None:
        await host.load(0, first, 0)
        await host.load(1, second, 9)
        await host.fill(words(first))
        await host.write(CONTROLLER, 0, ENABLE, 1)
        assert await host.command(START, 0) == 0
        assert await host.read(CONTROLLER, 0, QUEUED) == 0
        assert await host.command(START, 1) == 0
        assert await host.read(CONTROLLER, 0, QUEUED) == 2
        assert await host.command(START, 1) == NOT_NOW
        # The words of both programs are protected; the words between them are not.
        for address in (0, 4, 9, 14):
            assert await host.request(TABLE, 2, address, 0) == (0, NOT_NOW)
        for address in (8, 12):
            assert await host.request(CONTROLLER, 0, address, 0) == (0, NOT_NOW)
        await host.write(TABLE, 2, 8, 5)
        await host.write(CONTROLLER, 0, 16, 5)
        await host.until("done")
        assert host.ctx.get(host.network.interrupt)
        await host.until("busy")
        assert await host.command(ACKNOWLEDGE) == 0
        assert not host.ctx.get(host.network.interrupt)
        await host.until("done")
        assert host.ctx.get(host.network.interrupt)
        await host.write(CONTROLLER, 0, ENABLE, 0)
        assert not host.ctx.get(host.network.interrupt)
        assert await host.read(CONTROLLER, 0, QUEUED) == 0
        assert (await host.result()).program == 1
        after = predicted(first).memory
        (first_rows, second_rows) = host.traces()
        later = host.config.mask_words
        assert rows_before(first_rows, 1000) == expected_rows(predicted(first), later)
        expected = predicted(second, after)
        assert rows_before(second_rows, 1000) == expected_rows(expected, later)
        np.testing.assert_array_equal(await host.memory(), expected.memory)

    engine.simulate(bench)


def slow(program: Program) -> Program:
    """Return the program in later steps, so that it takes longer by the empty steps."""
    later = 50
    rows = [[replace(row, step=row.step + later) for row in rows] for rows in program.rows]
    receives = [[step + later for step in steps] for steps in program.receives]
    return Program.from_rows(program.config, program.port_model, rows, receives)


@pytest.mark.slow
@pytest.mark.parametrize("registers", [0, 3])
def test_a_stopped_program_leaves_nothing_behind(clock: ClockDomain, registers: int) -> None:
    first, second = (make(barrier_registers=registers) for make in (there, back))
    engine = engine_of(clock, first)

    async def bench(host: Host) -> None:
        await host.load(0, first, 0)
        await host.load(1, second, 9)
        for cycles in (1, 5, 7, 12):
            await host.fill(words(second))
            assert await host.command(START, 1) == 0
            for _ in range(cycles):
                await host.ctx.tick()
            assert await host.command(STOP) == 0
            assert not host.ctx.get(host.network.busy)
            assert (await host.result()).state == IDLE
            for node in range(3):
                # The status is as after a reset.
                status = [await host.read(STATUS, node, address) for address in range(5)]
                assert status == [0, 1, 6, 0, 0]
            await require_run(host, 0, first)

    engine.simulate(bench)


@pytest.mark.slow
def test_the_limit_of_cycles(clock: ClockDomain) -> None:
    """A run that is one cycle longer than its limit is timed out, and the next run is not."""
    made = there()
    cycles = predicted(made).cycles + 1
    stuck = program({}, {2: [1]}, LINE, **LIMITS)
    engine = engine_of(clock, made)

    async def bench(host: Host) -> None:
        await host.load(0, made, 0, limit=cycles)
        await host.load(1, stuck, 20, limit=30)
        await host.fill(words(made))
        await host.run(0)
        assert host.ctx.get(host.network.error)
        assert host.ctx.get(host.network.cycle) == cycles - 1
        # In the last cycle only the last node, which gets the last packet, is not finished.
        assert await host.result() == (0, TIMED_OUT, 1, 0, 2)
        await host.write(CONTROLLER, 0, 11, cycles + 1)
        await require_run(host, 0, made)
        await host.run(1)
        assert await host.result() == (0, TIMED_OUT, 1, 1, 2)
        assert host.ctx.get(host.network.cycle) == 29
        await require_run(host, 0, made)

    engine.simulate(bench)


def wrong_programs(**more: int) -> list[tuple[Program, int, str]]:
    """Return wrong programs, each with the first node that sets a flag, and the flag."""
    limits = LIMITS | more
    rows = {0: [put(1, (THERE, 2), length=2)]}
    far = {0: [put(1, (THERE, 2), length=2, target=7)]}
    nowhere = {0: [put(1, (BACK, 1))], 2: [put(1, (THERE, 1))]}
    return [
        (program(rows, {1: [1]}, LINE, **limits), 2, "unexpected_receive"),
        (program(far, {1: [1], 2: [1]}, LINE, **limits), 2, "bad_write"),
        (program(nowhere, {1: [1]}, LINE, **limits), 0, "bad_route"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("registers", [0, 1, 4])
def test_a_program_that_is_wrong_names_its_node(clock: ClockDomain, registers: int) -> None:
    limits = {"barrier_registers": registers}
    sound, wrong = there(**limits), wrong_programs(**limits)
    engine = engine_of(clock, sound)

    async def bench(host: Host) -> None:
        await host.load(0, sound, 0)
        await host.load(1, sound, 20)
        for made, node, flag in wrong:
            await host.load(2, made, 10)
            await host.run(2)
            assert host.ctx.get(host.network.error)
            for _ in range(2 * registers + 8):
                await host.ctx.tick()
            assert await host.result() == (1 << BITS[flag], FAILED, 1, 2, node)
            await require_run(host, 0, sound)
        # Words after the end of a program are ignored, so node 1 has no end row here.
        await host.write(CONTROLLER, 0, 13, len(list(program_words(sound))[1]) - 1)
        await host.run(1)
        assert await host.result() == (1 << BITS["bad_row"], FAILED, 1, 1, 0)

    engine.simulate(bench)


@pytest.mark.slow
@pytest.mark.parametrize("width", [32, 192])
def test_refusals(clock: ClockDomain, width: int) -> None:
    """Refused requests change nothing: the next run is correct."""
    rows = {0: [put(1, (THERE, 1), length=2, target=4)]}
    made = program(rows, {1: [1]}, LINE, message_words=6, table_words=20, flit_width=width)
    config = replace(made.config, programs=2)
    engine = Engine(clock, config)
    # A word of 192 bits has three pieces; the fourth address is none.
    nowhere = ((0, 6), (3, 0)) if width == 32 else ((0, 3), (0, 24), (3, 0))
    no_such_words = [
        *[(MESSAGE, *place, write) for place in nowhere for write in (None, 1)],
        *[(TABLE, 0, 20, 1), (TABLE, 3, 0, 1), (TABLE, 0, 0, None)],
        *[(CONTROLLER, 0, address, write) for address in (7, 16, 31) for write in (None, 1)],
        *[(CONTROLLER, 1, IDENTITY, None), (CONTROLLER, 0, COMMAND, None)],
        *[(CONTROLLER, 0, address, 1) for address in (IDENTITY, RESULT, CYCLE, QUEUED)],
        *[(CONTROLLER, 0, COMMAND, command) for command in (0, 4, 255)],
        *[(STATUS, 0, 5, None), (STATUS, 3, 0, None), (STATUS, 1, 0, 1)],
    ]

    async def bench(host: Host) -> None:
        assert await host.read(CONTROLLER, 0, IDENTITY) == identity(config)
        assert await host.read(CONTROLLER, 0, IMAGE) == 0
        assert await host.command(START, 0) == NOT_NOW
        await host.load(0, made, 3)
        for number in (1, 2, 15, 255):
            assert await host.command(START, number) == NOT_NOW
        for asked in no_such_words:
            assert await host.request(*asked) == (0, NO_SUCH_WORD), asked
        # A program that ends beyond the table.
        await host.write(CONTROLLER, 0, 8, 17)
        assert await host.command(START, 0) == NOT_NOW
        await host.write(CONTROLLER, 0, 8, 3)
        # The image of another network.
        await host.write(CONTROLLER, 0, IMAGE, identity(config) ^ 1)
        assert await host.command(START, 0) == NOT_NOW
        assert await host.read(CONTROLLER, 0, IMAGE) == identity(config) ^ 1
        await host.write(CONTROLLER, 0, IMAGE, identity(config))
        assert await host.result() == (0, IDLE, 0, 0, 0)
        await require_run(host, 0, made)

    engine.simulate(bench)
    assert engine.longest_answer <= 8


@pytest.mark.parametrize(
    ("width", "message_words"), [pytest.param(32, 64, marks=pytest.mark.slow), (192, 34)]
)
def test_a_host_reads_and_writes_while_the_network_runs(
    clock: ClockDomain, width: int, message_words: int
) -> None:
    """The host waits for the network; the network never waits for the host.

    The host begins another word before each word that it writes, and reads in between: that changes
    neither word.
    """
    far, near = put(1, (THERE, 2), length=20), put(2, (THERE, 1), source=2, length=20)
    rows = {0: [replace((near, far)[step % 2], step=step) for step in range(1, 13)]}
    limits = {"message_words": message_words, "table_words": 64, "flit_width": width}
    made = program(rows, {2: [*range(1, 13, 2)], 1: [*range(2, 13, 2)]}, LINE, **limits)
    engine, memory = engine_of(clock, made), predicted(made).memory
    pieces = range(made.config.pieces)
    seen = []

    async def bench(host: Host) -> None:
        await host.load(0, made, 0)
        await host.fill(words(made))
        assert await host.command(START, 0) == 0
        # The network uses 22 words.
        place = 22
        while host.ctx.get(host.network.busy):
            node = place % 3
            for piece in pieces[:-1]:
                await host.write(MESSAGE, node, host.address(2, piece), 99)
            held = memory[node, place, ...].reshape(-1)
            for piece in pieces:
                address = host.address(place, piece)
                assert await host.read(MESSAGE, node, address) == held[piece]
                await host.write(MESSAGE, node, address, int(held[piece]) + 1)
            held += np.uint64(1)
            seen.append((node, place))
            place += 1
        cycles = predicted(made).cycles + 1
        assert host.ctx.get(host.network.cycle) == cycles
        (trace,) = host.traces()
        assert rows_before(trace, cycles) == expected_rows(predicted(made), 1)
        np.testing.assert_array_equal(await host.memory(), memory)

    engine.simulate(bench)
    assert len(seen) > 3
    assert 20 < engine.longest_answer < 64 + 8


@pytest.mark.slow
def test_a_host_is_not_kept_waiting_by_a_network_that_hangs(clock: ClockDomain) -> None:
    """Packets wait for each other in a circle, and their senders keep the memories for ever."""
    rows = {node: [put(1, (THERE, 2), length=8)] for node in range(3)}
    made = program(rows, {node: [1] for node in range(3)}, torus((3,)), **LIMITS)
    engine = engine_of(clock, made)

    async def bench(host: Host) -> None:
        await host.load(0, made, 0)
        await host.fill(words(made))
        assert await host.command(START, 0) == 0
        for _ in range(100):
            await host.ctx.tick()
        assert (await host.result()).state == RUNNING
        assert await host.request(MESSAGE, 1, 0) == (0, NOT_NOW)
        assert await host.command(STOP) == 0
        np.testing.assert_array_equal(await host.memory(), words(made))

    engine.simulate(bench)
    assert engine.longest_answer <= 64 + 8
