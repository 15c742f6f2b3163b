"""Barrier registers: every step except the first begins as many cycles later as there are.

Predicted cycles come from the formula of docs/router.md, section 5, not from the model.
"""

from dataclasses import replace

import numpy as np
import pytest
from helpers.command import Command, result
from helpers.programs import LINE, NORTH, UP, program, put, words
from helpers.verified import verified
from helpers.whole_jobs import whole_job

from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.cycle.model import cycle_limit, run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology, mesh, ring
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.program import Program
from eyecast.model.run.run import HardwareRun
from eyecast.model.run.signature import signatures
from eyecast.model.run.trace import first_difference
from eyecast.sim.build import build_simulator
from eyecast.sim.simulator import simulate

SLOW = pytest.mark.slow
TIMINGS = ("barrier", "self-timed")

LIMITS = {"barrier_registers": 5, "message_words": 16, "signature": True}
IN_ORDER = program({0: [put(1, (UP, 2)), put(3, (UP, 1))]}, {1: [3], 2: [1]}, **LIMITS)
# No node expects the packet, so all nodes are finished before it arrives.
STRAY = program({0: [put(1, (UP, 3), length=9)]}, {}, **LIMITS)
# The packet asks for a port that leads nowhere, and node 3 waits for ever.
LOST = program({0: [put(1, (UP, 1), (NORTH, 1))]}, {3: [1]}, **LIMITS)
FLAGGED = program({0: [put(2, (UP, 1))], 2: [put(1, (UP, 1))]}, {3: [2]}, **LIMITS)


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(IN_ORDER.config, id="5-on-a-line"),
        *(
            pytest.param(
                NetworkConfig(topology=mesh((4, 4)), barrier_registers=number, signature=True),
                id=f"{number}-on-4x4",
                marks=SLOW,
            )
            for number in (1, 7)
        ),
    ],
)
def test_a_broadcast_takes_so_many_cycles_more_for_each_step(config: NetworkConfig) -> None:
    registers, nodes = config.barrier_registers, config.topology.nodes
    schedules = [eye_broadcast(config.topology, root, 5) for root in (0, nodes // 3, nodes - 1)]
    cases = [
        Case.of(Compiled.of(schedule, config), timing=timing, seed=number)
        for number, schedule in enumerate(schedules)
        for timing in TIMINGS
    ]
    for found in verified(cases):
        if found.case.timing == "barrier":
            longest = found.case.schedule.longest_per_step
            steps = sum(h + 5 + 4 + registers for h in longest)
            assert found.measured.cycles == config.table.control_words + steps - 2 - registers


@SLOW
@pytest.mark.parametrize("topology", [ring(3), mesh((5, 3))], ids=lambda each: each.label)
def test_nodes_that_are_no_power_of_two(topology: Topology) -> None:
    config = NetworkConfig(topology=topology, barrier_registers=4, depth=1)
    cases = [
        Case.of(Compiled.of(tree_broadcast(topology, 1, 9), config), timing=timing, seed=0)
        for timing in TIMINGS
    ]
    list(verified(cases))


def on_hardware(*programs: Program, timing: str) -> list[HardwareRun]:
    """Run programs one after another on the same network."""
    jobs = [whole_job(each, timing, cycle_limit(each)) for each in programs]
    return list(simulate(build_simulator(programs[0].config), jobs))


@pytest.mark.parametrize("timing", TIMINGS)
def test_nothing_is_left_of_the_run_before(timing: str) -> None:
    programs = (IN_ORDER, STRAY, IN_ORDER, LOST, IN_ORDER, FLAGGED, STRAY, STRAY, IN_ORDER)
    assert programs[0].config.topology is LINE
    for each, measured in zip(programs, on_hardware(*programs, timing=timing), strict=True):
        predicted = run(each, words(each), timing=timing)
        assert measured.finished == predicted.finished
        assert first_difference(predicted.trace, measured.trace) is None
        if predicted.finished:
            assert measured.cycles == predicted.cycles
        if each is not STRAY:
            # The stray packet still moves while the host reads.
            assert (measured.flags == predicted.flags).all()
            assert (measured.step == predicted.step).all()
            assert (measured.memory == predicted.memory).all()
            assert (measured.signature == signatures(predicted.trace, each.config)).all()


def test_without_them_the_same_program_takes_five_cycles_less_for_each_step() -> None:
    slow, fast = (
        run(each, words(each), timing="barrier")
        for each in (
            IN_ORDER,
            replace(IN_ORDER, config=replace(IN_ORDER.config, barrier_registers=0)),
        )
    )
    # The second step is over at once, but takes the barrier's cycles too.
    assert slow.cycles - fast.cycles == 2 * 5
    assert np.array_equal(slow.memory, fast.memory)


def test_a_file_says_how_many(eyecast: Command) -> None:
    options = ("--mesh", "4x4", "--source", "0,0")
    without = result(eyecast("predict", *options, "--json"))
    result(eyecast("program", *options, "--barrier-registers", "3", "-o", "p.json", "--json"))
    read = result(eyecast("predict", "--program", "p.json", "--json"))
    said = result(eyecast("predict", *options, "--barrier-registers", "3", "--json"))
    assert read["cycles"] == said["cycles"] == without["cycles"] + 3 * (len(without["steps"]) - 1)
