"""Every parameter of a network at its largest, on the hardware."""

from dataclasses import replace

import pytest
from helpers.programs import UP, changed, program, put, simulated
from helpers.tree_networks import graph_of
from helpers.whole_jobs import whole_job

from eyecast.model.compare.case import watchdog
from eyecast.model.compare.checks import compare_runs
from eyecast.model.network.config import MOST_MEMORY_WORDS
from eyecast.model.network.topology import mesh
from eyecast.model.program.program import Program
from eyecast.sim.build import build_simulator
from eyecast.sim.simulator import simulate

LARGEST = {
    "vcs": 8,
    "depth": 16,
    "flit_width": 64,
    "message_words": MOST_MEMORY_WORDS,
    "table_words": MOST_MEMORY_WORDS,
    "steps": 4095,
    "link_registers": 3,
    "barrier_registers": 7,
}


def assert_hardware_is_as_predicted(program: Program) -> None:
    predicted = simulated(program, "barrier")
    assert predicted.finished
    job = whole_job(program, "barrier", watchdog(predicted))
    measured = next(simulate(build_simulator(program.config), [job]))
    checks, difference = compare_runs(program, predicted, measured)
    assert difference is None
    assert [check for check in checks if not check.agrees] == []
    assert (measured.memory == predicted.memory).all()


@pytest.mark.slow
def test_all_but_the_number_of_nodes_and_ports() -> None:
    """Two nodes with a full table, the last step, the longest packet and the last VC."""
    last = put(4095, (UP, 1, 7), length=MOST_MEMORY_WORDS)
    fillers = [replace(put(step, (UP, 1, step % 8)), start=0) for step in range(1, 4095)]
    rows = sorted([*fillers * 5, *fillers[:1374]], key=lambda row: row.step)
    made = program({0: [*rows, last]}, {1: [4095]}, mesh((2,)), timed_rows=True, **LARGEST)
    made = changed(made, awaited=(0, len(rows)))
    assert made.table_sizes.max() == MOST_MEMORY_WORDS
    assert_hardware_is_as_predicted(made)


@pytest.mark.slow
def test_17_ports_per_node() -> None:
    """Two nodes with 16 links between them; packets use the first and the last link."""
    topology = graph_of(2, [(0, 1)] * 16)
    assert topology.ports == 17
    rows = {0: [put(1, (16, 1), length=4)], 1: [put(2, (1, 1), length=3)]}
    made = program(rows, {1: [1], 0: [2]}, topology, message_words=8)
    assert_hardware_is_as_predicted(made)
