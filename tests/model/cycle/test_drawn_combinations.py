"""Random programs that combine, stream and use windows, against an untimed interpreter.

The final memories do not depend on timing (``helpers.untimed``). VCs, depths, registers and
latencies of the network are random, and flits wait for each other.
"""

import numpy as np
import pytest
from helpers.drawn import draw_network
from helpers.untimed import carried_out

from eyecast.model.compare.drawn_programs import drawn_program
from eyecast.model.cycle.model import run
from eyecast.model.program.deadlock import DeadlockError, certify
from eyecast.model.program.payload import random_words
from eyecast.model.program.program import Program


def draw_program(seed: int) -> Program:
    draw = np.random.default_rng(seed)
    config = draw_network(draw)
    made = drawn_program(draw, config, int(draw.integers(1, 4)), (3 * config.topology.nodes,) * 2)
    made.check()
    return made


def compare(seeds: range) -> int:
    """Run the programs of these seeds; return how many were free of deadlock."""
    ran = 0
    for seed in seeds:
        made = draw_program(seed)
        try:
            certify(made)
        except DeadlockError:
            continue
        config = made.config
        memory = random_words(config, (made.nodes, config.message_words), seed)
        expected = carried_out(made, memory, seed)
        result = run(made, memory, timing="barrier", record_trace=False)
        assert result.finished, seed
        assert not result.flags.any(), seed
        assert (result.memory == expected).all(), seed
        ran += 1
    return ran


def test_drawn_programs_leave_the_words_that_no_time_changes() -> None:
    assert compare(range(40)) > 12


@pytest.mark.slow
def test_many_drawn_programs_leave_the_words_that_no_time_changes() -> None:
    assert compare(range(100, 3000)) > 1200
