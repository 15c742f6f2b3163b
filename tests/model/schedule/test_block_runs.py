"""Runs of blocks: they read as the array that they stand for."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from helpers.generated import generated
from helpers.refusals import refusal_of

from eyecast.model.base.ragged import offsets_of
from eyecast.model.collectives.streaming.rings import stream_ring_reduce_scatter
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.program.compiler import fit
from eyecast.model.schedule import table
from eyecast.model.schedule.block_runs import BlockRuns, end_to_end
from eyecast.model.schedule.duration import expected_cycles
from eyecast.model.schedule.file import schedule_json
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.schedule.streams import streams_of

BLOCKS = np.array([5, 6, 7, 0, 1, 2, 3, 9, 9, 4], np.int32)
OFFSETS = np.array([0, 5, 8, 10])


def test_runs_are_within_the_sends() -> None:
    runs = BlockRuns.of(BLOCKS, OFFSETS)
    assert runs.first.tolist() == [5, 0, 2, 9, 9, 4]
    assert runs.count.tolist() == [3, 2, 2, 1, 1, 1]
    assert BlockRuns.of(runs.array, OFFSETS) is runs


def test_runs_read_as_an_array() -> None:
    runs, every = BlockRuns.of(BLOCKS, OFFSETS), range(-1, len(BLOCKS) + 2)
    assert (len(runs), runs.size, runs.tolist()) == (10, 10, BLOCKS.tolist())
    for begin in every:
        for end in every:
            assert runs[begin:end].tolist() == BLOCKS[begin:end].tolist()
    for key in (np.array([3, 0, 9]), np.array([-1, 2]), BLOCKS > 3, 4, -2, slice(None, None, -1)):
        assert np.array_equal(runs[key], BLOCKS[key])
    assert np.array_equal(np.arange(10)[runs], BLOCKS)
    assert np.array_equal(2 * runs + 1, 2 * BLOCKS + 1)
    assert np.array_equal(runs >= 5, BLOCKS >= 5)
    assert np.asarray(runs).dtype == runs[2:3].dtype == np.int32
    assert runs.astype(np.int64).dtype == np.asarray(runs, np.int64).dtype == np.int64


def test_two_tables_end_to_end() -> None:
    runs = BlockRuns.of(BLOCKS, OFFSETS).array
    both = end_to_end([runs, runs])
    assert isinstance(both, BlockRuns)
    assert both.tolist() == end_to_end([runs, BLOCKS]).tolist() == [*BLOCKS, *BLOCKS]


def test_sends_of_some_blocks_and_pieces_in_another_order() -> None:
    random = Random(52)
    for _ in range(50):
        marks = np.array([random.random() < 0.6 for _ in range(10)])
        runs = BlockRuns.of(BLOCKS, OFFSETS)
        kept = runs.only(marks)
        assert kept.tolist() == BLOCKS[marks[BLOCKS]].tolist()
        numbers = np.cumsum(marks) - 1
        assert kept.renumbered(numbers).tolist() == numbers[BLOCKS[marks[BLOCKS]]].tolist()
    begins, ends = OFFSETS[[2, 0]], OFFSETS[[3, 1]]
    assert runs.of_pieces(begins, ends).tolist() == [*BLOCKS[8:], *BLOCKS[:5]]


@pytest.mark.parametrize("words", [1, 5, 16])
@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce"])
def test_tables_of_rings_are_those_with_arrays(collective: str, words: int) -> None:
    for algorithm in ("ring", "rings"):
        made = generated(
            collective, algorithm, torus((4, 3)), words=words, all_port=algorithm == "rings"
        )
        plain = replace(made, block_ids=np.asarray(made.block_ids))
        assert isinstance(made.block_ids, BlockRuns)
        sends = np.arange(made.sends)[::-2]
        assert np.array_equal(made.carried(sends), plain.carried(sends))
        marks = np.arange(len(made.blocks)) % 3 > 0
        one, other = made.carrying(marks), plain.carrying(marks)
        for column in ("step", "source", "block_offsets", "block_ids", "path_nodes"):
            assert np.array_equal(getattr(one, column), getattr(other, column))


@pytest.mark.parametrize("topology", [torus((4, 4)), mesh((8, 2)), torus((2, 4, 2))])
@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce"])
def test_a_schedule_in_runs_is_that_with_an_array(collective: str, topology: Topology) -> None:
    made = generated(collective, "stream-ring", topology, words=4 * topology.nodes)
    plain = replace(made, block_ids=np.asarray(made.block_ids))
    assert isinstance(made.block_ids, BlockRuns)
    assert not isinstance(plain.block_ids, BlockRuns)
    for schedule in (made, plain):
        schedule.check()
    network = NetworkConfig(topology=topology)
    programs = [fit(network, [each])[1][0].program for each in (made, plain)]
    for column in ("step", "source_address", "target_address", "length", "lead", "window"):
        assert np.array_equal(*(getattr(each, column) for each in programs))
    assert np.array_equal(made.send_words, plain.send_words)
    assert expected_cycles(made) == expected_cycles(plain)
    for one, other in zip(
        *(vars(streams_of(each)).values() for each in (made, plain)), strict=True
    ):
        assert one.tolist() == other.tolist()


def test_drawn_runs_have_the_errors_of_their_array() -> None:
    random, refused = Random(52), set()
    made = stream_ring_reduce_scatter(torus((4, 4)), 1, "add")
    for _ in range(150):
        carried = np.asarray(made.block_ids).copy()
        for place in random.sample(range(carried.size), random.randint(1, 2)):
            carried[place] = random.randrange(len(made.blocks))
        step = made.step.copy()
        step[random.randrange(made.sends)] += random.randrange(2)
        runs = BlockRuns.of(carried, made.block_offsets).array
        one, other = (_error(replace(made, step=step, block_ids=ids)) for ids in (carried, runs))
        assert one == other
        refused.add(None if one is None else one.split(": ")[-1].split(" ")[1])
    assert {"carries", "streams,", "would"} <= refused, refused


def test_runs_out_of_range_are_refused() -> None:
    made = stream_ring_reduce_scatter(torus((4, 4)), 1, "add")
    for step in (1, -20):
        runs = BlockRuns(
            made.block_ids[made.block_offsets[:-1]] + step, np.diff(made.block_offsets)
        )
        error = _error(replace(made, block_ids=runs.array))
        assert error is not None
        assert "block must be 0 to 15, not " in error


def test_programs_of_rings_list_no_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    made = generated("all-reduce", "stream-ring", torus((16, 16)), words=256)
    monkeypatch.setattr(BlockRuns, "__getitem__", None)
    _, (one,) = fit(NetworkConfig(topology=made.topology), [made])
    assert len(one.program.step) == made.sends


def test_too_many_blocks_are_refused_where_each_is_listed() -> None:
    made = generated("all-reduce", "rings", torus((4, 4)), words=64, all_port=True)
    many = np.full(made.sends, table.MOST_LISTED // made.sends + 1)
    blocks = BlockRuns(np.zeros(made.sends), many)
    large = replace(made, block_offsets=offsets_of(many), block_ids=blocks.array)
    line = f"must be at most {table.MOST_LISTED} (a smaller network helps), not {blocks.size}"
    network = NetworkConfig(topology=made.topology, all_port=True)
    assert refusal_of(schedule_json, large) == f"blocks of all sends together for a file {line}"
    program = refusal_of(fit, network, [large])
    assert program == f"blocks of all sends together for a program {line}"


def _error(schedule: Schedule) -> str | None:
    try:
        schedule.check()
    except ScheduleError as error:
        return str(error)
    return None
