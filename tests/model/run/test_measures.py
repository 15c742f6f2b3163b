"""Measures of runs: causes of runs that do not finish, and flits of links."""

import numpy as np
import pytest
from helpers.programs import DOWN, LINE, UP, program, put, ring_of_packets, simulated

from eyecast.model.run import link_flits as module
from eyecast.model.run.link_flits import link_flits
from eyecast.model.run.measures import troubles
from eyecast.model.run.standstill import standstill


def test_nodes_that_wait_are_in_order_of_steps_behind_nodes_with_flags() -> None:
    # Node 1 gets the packet of step 1; those of step 2, and node 2's of step 1, never come.
    rows = {0: [put(1, (UP, 1))], 3: [put(1, (DOWN, 4))]}
    made = program(rows, {1: [1, 2], 2: [1]})
    assert troubles(made, simulated(made)) == [
        "node 0 is in step 1, has set bad_route",
        "node 2 is in step 1, waits for a receive in step 1",
        "node 1 is in step 2, waits for a receive in step 2",
    ]


def test_a_deadlock_is_in_front_of_the_nodes() -> None:
    made = ring_of_packets(5, 2)
    ran = simulated(made)
    first, *others = troubles(made, ran)
    assert first.startswith("deadlock: 5 packets wait for each other")
    assert [first, *others] == standstill(made, ran).lines()


def test_a_run_that_has_finished_has_no_troubles() -> None:
    made = program({0: [put(1, (UP, 1))]}, {1: [1]})
    assert troubles(made, simulated(made)) == []


@pytest.mark.parametrize("piece", [1, 4, 1 << 22])
def test_all_flits_of_a_trace_are_counted(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PIECE_ROWS", piece)
    made = program({0: [put(1, (UP, 2), length=3)], 1: [put(1, (UP, 1))]}, {2: [1, 2]})
    counts = link_flits(LINE, simulated(made, cycle_limit=60).trace)
    # Packets of four and of two flits.
    expected = np.zeros((4, 3), np.int64)
    expected[0, UP], expected[1, UP], expected[2, 0] = 4, 6, 6
    assert counts.tolist() == expected.tolist()
