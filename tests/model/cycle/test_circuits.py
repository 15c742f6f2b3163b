"""The cycle model of circuits, held to the worked example of the page and to small tables."""

import numpy as np
from helpers.circuits import example
from helpers.router_page import section

from eyecast.model.cycle.circuits import run_circuits


def test_the_example_of_the_page() -> None:
    program = example()
    memory = np.zeros((3, 8), np.uint64)
    memory[0, :2] = 0xA1, 0xA2
    run = run_circuits(program, memory)
    assert run.finished
    assert run.cycles == 9
    assert not run.flags.any()
    shown = "".join(f"    {flit}\n" for flit in run.trace)
    assert shown in section("### Cycles")
    assert len(run.trace) == 8
    assert run.memory[:, :2].tolist() == [[0xA1, 0xA2]] * 3
