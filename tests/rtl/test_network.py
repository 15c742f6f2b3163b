"""The whole network in Amaranth's own simulator.

Here a reset may last a single cycle; cocotb's bench and a board hold it while they load. Memories
may be read ahead, as on a board.
"""

import numpy as np
import pytest
from amaranth.hdl import ClockDomain
from helpers.amaranth_simulation import simulate
from helpers.generated import generated
from helpers.network_in_python import NetworkBench, wait
from helpers.programs import NORTH, UP, program, put, simulated

from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.network.config import TIMINGS, NetworkConfig
from eyecast.model.network.topology import hypercube, mesh
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.program import Program
from eyecast.model.run.signature import signatures
from eyecast.model.traffic.program import traffic_program
from eyecast.model.traffic.traffic import draw_refusal, draw_traffic
from eyecast.rtl.parts.host_map import HostSpace, StatusWord, status_words
from eyecast.sim.loading import job_of, prepare

SLACK = 20
"""Cycles beyond the prediction after which a run counts as hanging."""


class Bench(NetworkBench):
    """A network whose state after a run is compared with the prediction."""

    async def require(self, ctx, predicted) -> None:
        """Require the predicted cycles, and the predicted words that the host then reads."""
        late, nodes = self.config.barrier_registers, range(self.config.topology.nodes)
        taken = await self.cycles_to_done(ctx, predicted.cycles + late + SLACK)
        assert taken == predicted.cycles + late
        assert ctx.get(self.network.cycle) == predicted.cycles
        assert ctx.get(self.network.error) == predicted.flags.any()
        for node in nodes:
            flags = await self.read(ctx, node, HostSpace.STATUS, StatusWord.FLAGS)
            assert flags == predicted.flags[node]
        if self.config.signature:
            last, expected = status_words(self.config) - 1, signatures(predicted.trace, self.config)
            for node in nodes:
                assert await self.read(ctx, node, HostSpace.STATUS, last) == expected[node]

    async def require_messages(self, ctx, case: Case) -> None:
        """Require every word at its address."""
        ctx.set(self.reset, 1)
        for node, address in np.ndindex(self.config.topology.nodes, case.payload.layout.size):
            word = case.predicted.memory[node, address]
            # A word that was never written may have any value.
            if word:
                assert await self.read(ctx, node, HostSpace.MESSAGE, address) == word


@pytest.mark.parametrize(
    ("registers", "look_ahead"),
    [
        pytest.param(0, False, marks=pytest.mark.slow),
        pytest.param(0, True, marks=pytest.mark.slow),
        pytest.param(3, False, marks=pytest.mark.slow),
        (3, True),
        pytest.param(5, False, marks=pytest.mark.slow),
        pytest.param(5, True, marks=pytest.mark.slow),
    ],
)
def test_one_cycle_of_reset_is_enough(clock: ClockDomain, registers: int, look_ahead: bool) -> None:
    rows = {0: [put(1, (UP, 2)), put(3, (UP, 1))]}
    each = program(rows, {1: [3], 2: [1]}, barrier_registers=registers, message_words=16)
    predicted = simulated(each, "barrier")
    bench = Bench(clock, each.config, look_ahead=look_ahead)
    job = prepare(each, [], timing="barrier", read_words=0, cycle_limit=0)

    async def testbench(ctx) -> None:
        await bench.load(ctx, job)
        await bench.require(ctx, predicted)
        # Interrupt at any time in a run, and after it.
        for cycles in range(1, predicted.cycles + registers + SLACK, 7):
            await bench.interrupt(ctx, cycles)
            await bench.interrupt(ctx, cycles % 7 + 1)
            await bench.require(ctx, predicted)

    simulate(bench.module, testbench)


def wrong_programs(registers: int) -> list[Program]:
    """Return programs with an error in step 1 or 2 of two nodes: a packet, a row or a write."""
    rows = {0: [put(2, (UP, 1))], 2: [put(1, (UP, 1))]}
    wrong_row = {**rows, 2: [put(1, (UP, 1)), put(1, (NORTH, 1))]}
    wrong_write = {**rows, 2: [put(1, (UP, 1), length=3, target=14)]}
    limits = {"barrier_registers": registers, "message_words": 16}
    return [
        program(rows, {3: [2]}, **limits),
        program(wrong_row, {1: [2], 3: [1, 2]}, **limits),
        program(wrong_write, {1: [2], 3: [1]}, **limits),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("timing", "registers"), [("self-timed", 0), ("barrier", 3)])
@pytest.mark.parametrize("look_ahead", [False, True])
def test_flags(clock: ClockDomain, timing: str, registers: int, look_ahead: bool) -> None:
    """No node gets beyond the step with the error."""
    programs = wrong_programs(registers)
    bench = Bench(clock, programs[0].config, look_ahead=look_ahead)

    async def testbench(ctx) -> None:
        for each in programs:
            predicted = simulated(each, timing)
            assert predicted.flags.any()
            await bench.load(ctx, prepare(each, [], timing=timing, read_words=0, cycle_limit=0))
            await wait(ctx, 2 * int(predicted.trace.cycle.max()) + 10 * registers + SLACK)
            assert ctx.get(bench.network.error)
            for node in range(each.config.topology.nodes):
                flags = await bench.read(ctx, node, HostSpace.STATUS, StatusWord.FLAGS)
                step = await bench.read(ctx, node, HostSpace.STATUS, StatusWord.STEP)
                assert (flags, step) == (predicted.flags[node], predicted.step[node])

    simulate(bench.module, testbench)


@pytest.mark.slow
@pytest.mark.parametrize("registers", [1, 4])
@pytest.mark.parametrize("look_ahead", [False, True])
def test_all_ports(clock: ClockDomain, registers: int, look_ahead: bool) -> None:
    made = generated("scatter", "sbnt", hypercube(2), words=3, source=1, all_port=True)
    compiled = compile_certified(made, {"message_words": 32, "barrier_registers": registers})
    cases = [Case.of(compiled, timing=timing, seed=1) for timing in TIMINGS]
    require_cases(clock, cases, look_ahead=look_ahead)


# Every pair of values.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("vcs", "registers", "look_ahead"),
    [(1, 2, False), (1, 3, True), (2, 2, True), (2, 3, False)],
)
def test_contention_free(clock: ClockDomain, vcs: int, registers: int, look_ahead: bool) -> None:
    config = NetworkConfig(
        topology=mesh((2, 2)),
        vcs=vcs,
        contention_free=True,
        signature=True,
        message_words=32,
        barrier_registers=registers,
    )
    made = eye_broadcast(config.topology, 1, 5)
    require_cases(
        clock, [Case.of(Compiled.of(made, config), timing="barrier", seed=1)], look_ahead=look_ahead
    )


def require_cases(clock: ClockDomain, cases: list[Case], *, look_ahead: bool) -> None:
    bench = Bench(clock, cases[0].program.config, look_ahead=look_ahead)

    async def testbench(ctx) -> None:
        for case in cases:
            await bench.load(ctx, job_of(case))
            await bench.require(ctx, case.predicted)
            await bench.require_messages(ctx, case)

    simulate(bench.module, testbench)


@pytest.mark.slow
@pytest.mark.parametrize("registers", [2, 5])
def test_timed_rows(clock: ClockDomain, registers: int) -> None:
    """Each row waits for its cycle, and nodes sometimes refuse flits."""
    topology = mesh((3,))
    config = NetworkConfig(
        topology=topology,
        vcs=2,
        timed_rows=True,
        signature=True,
        message_words=64,
        table_words=512,
        steps=1,
        barrier_registers=registers,
    )
    traffic = draw_traffic(topology, "uniform", rate=0.6, flits=5, cycles=30, seed=3)
    refusal = draw_refusal(topology, 0.3, 3)
    program = traffic_program(traffic, config, 3)
    case = TrafficCase.of(traffic, program, seed=3, refusal=refusal)
    bench = Bench(clock, config, look_ahead=False)
    job = prepare(
        case.program,
        [(node, 0, words) for node, words in enumerate(case.words)],
        timing="self-timed",
        read_words=0,
        cycle_limit=0,
        refusal=refusal,
    )

    async def testbench(ctx) -> None:
        await bench.load(ctx, job)
        await bench.require(ctx, case.predicted)
        await bench.interrupt(ctx, 20)
        await bench.interrupt(ctx, 1)
        taken = await bench.cycles_to_done(ctx, 2 * case.predicted.cycles)
        assert taken == case.predicted.cycles + registers

    simulate(bench.module, testbench)
