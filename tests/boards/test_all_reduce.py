"""All-reduces on boards: the serial line loads contributions, and reads back NumPy's sums."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.board_runs import as_predicted
from helpers.drawn_reductions import wrong_nodes
from helpers.generated import generated
from helpers.simulated_lines import rtl_board

from eyecast.boards.run import compare_with_board, run_on_board
from eyecast.boards.serial.computer import SerialHost
from eyecast.boards.serial.frame import word_bytes
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import compile_all, make_room

SQUARE = NetworkConfig(topology=mesh((2, 2)), signature=True, operators=("add", "min-signed"))
WORDS = 9


def case_of(algorithm: str, operator: str = "add", config: NetworkConfig = SQUARE) -> Case:
    """Return an all-reduce of nine random words."""
    made = generated("all-reduce", algorithm, config.topology, words=WORDS, operator=operator)
    config, layouts = make_room(config, [made])
    _, (compiled,) = compile_all(config, [made], layouts)
    return Case.of(compiled, timing="barrier", seed=4)


def test_one_bit_of_one_sum_is_enough_to_differ() -> None:
    case = case_of("ring")
    assert wrong_nodes(case, case.predicted.memory) == []
    measured = as_predicted(case, WORDS)
    assert compare_with_board(case, measured).agrees
    wrong = measured.memory.copy()
    wrong[3, 8] ^= np.uint64(1)
    differs = compare_with_board(case, replace(measured, memory=wrong))
    assert [check.measured for check in differs.checks if not check.agrees] == [3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "operator"),
    [("ring", "add"), ("eye", "min-signed"), ("recursive-doubling", "add")],
)
def test_sums_come_back_over_the_serial_line(algorithm: str, operator: str) -> None:
    case = case_of(algorithm, operator)
    config = case.program.config
    with rtl_board(config, cycles=4_000_000) as line:
        host = SerialHost(line, word_bytes=word_bytes(config))
        result = run_on_board(host, case)
    assert result.agrees, result.checks
    assert wrong_nodes(case, result.measured.memory) == []
