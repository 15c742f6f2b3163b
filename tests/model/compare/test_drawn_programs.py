"""Programs for the soak: which kinds are drawn, and how often."""

import numpy as np
import pytest
from helpers.soak.programs import (
    LONGEST_RUN,
    LONGEST_WRONG_WAY,
    FirstRun,
    ProgramCase,
    _address,
    _Growing,
    draw_controller,
    draw_program_cases,
    drawn_program,
)

from eyecast.model.base.errors import InvalidInput
from eyecast.model.cycle.control import Control
from eyecast.model.network.config import TIMINGS, NetworkConfig, Timing
from eyecast.model.network.topology import mesh
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.row import Row


def network(**parameters: object) -> NetworkConfig:
    given = {"vcs": 2, "message_words": 256, "table_words": 1024} | parameters
    return NetworkConfig(topology=mesh((3, 2)), **given)  # type: ignore[arg-type]


def test_half_of_the_networks_have_a_controller() -> None:
    draw = np.random.default_rng(1)
    number = sum(draw_controller(draw)["programs"] > 0 for _ in range(400))
    assert 170 < number < 230


def test_before_half_of_the_runs_another_program_runs() -> None:
    draw, config = np.random.default_rng(1), network(programs=2)
    memory = empty_memory(config)
    first = [
        FirstRun.draw(draw, config, memory, Timing.BARRIER, Control()) is not None
        for _ in range(100)
    ]
    assert 40 < sum(first) < 60


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("operators", [(), ("add",)])
def test_words_that_are_combined_or_streamed_have_steps_that_all_nodes_begin_together(
    operators: tuple[str, ...], streams: bool
) -> None:
    config = network(operators=operators, streams=streams)
    cases = draw_program_cases(np.random.default_rng(1), config, 12)
    timings = {case.timing for case in cases}
    assert timings == ({Timing.BARRIER} if operators or streams else {*TIMINGS})


def test_a_run_that_a_flag_ends_has_no_limit_drawn() -> None:
    cases = [*draw_program_cases(np.random.default_rng(1), network(programs=1), 80)]
    flagged = [case.limit for case in cases if case.predicted.flags.any()]
    assert {*flagged} == {LONGEST_RUN} < {case.limit for case in cases}


def test_a_network_that_keeps_one_program_runs_no_other_first() -> None:
    draw, refused = np.random.default_rng(1), list[str]()
    for _ in range(40):
        try:
            assert ProgramCase.draw(draw, network(programs=1)).first is None
        except InvalidInput as error:
            refused.append(str(error))
    assert not [line for line in refused if "number of programs" in line]


@pytest.mark.parametrize("all_port", [False, True])
def test_packets_are_sent_on_as_they_come(all_port: bool) -> None:
    config = network(streams=True, all_port=all_port)
    made = drawn_program(np.random.default_rng(1), config, 3, (20, 20))
    made.check()
    assert {*made.step.tolist()} == {1, 2, 3}
    streams = {*made.stream.tolist()}
    # 0 is a row that does not stream; others are lanes.
    assert streams == {*range(config.lanes + 1)}


@pytest.mark.parametrize(
    ("place", "window", "address"),
    [(0, 0, 13), (-6, 0, 7), (4, 0, 17), (0, 3, 13), (-6, 3, 15), (4, 3, 9), (-2, 2, 15)],
)
def test_places_before_and_behind_an_address_stay_in_its_window(
    place: int, window: int, address: int
) -> None:
    assert _address(13, place, window) == address


@pytest.mark.parametrize(("length", "wrong"), [(0, 2), (1, 2), (2, 2), (5, 5)])
def test_a_row_that_reads_beyond_the_memory_sends_its_last_word_and_others(
    length: int, wrong: int
) -> None:
    growing = _Growing(np.random.default_rng(1), network())
    row = growing._wrong(Row(1, (), 0, 0, length), 2)
    assert (row.source_address, row.length) == (255, wrong)


def test_wrong_routes_go_on_by_each_number_of_hops() -> None:
    growing = _Growing(np.random.default_rng(1), network())
    hops = {len(growing._wrong(Row(1, (), 0, 0, 1), 4).route) for _ in range(60)}
    assert hops == {*range(1, LONGEST_WRONG_WAY + 1)}
