"""Unequal blocks: each algorithm moves exactly the words of each node."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.carried_out import carried_out
from helpers.drawn_requests import as_asked
from helpers.generated import generated
from helpers.schedule_judge import problems

from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.ragged import even_shares, shares_of
from eyecast.model.bounds.cycles import least_cycles
from eyecast.model.collectives.declared.block_words import (
    SERVED,
    BlockWords,
    as_block_words,
    longest,
    read_block_words,
    selected,
)
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import algorithms_for, find_algorithm
from eyecast.model.collectives.shown_bounds import least_counts, schedule_bound, word_measures
from eyecast.model.network.faults import with_faults
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology, hypercube, line, mesh
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.collective import Collective
from eyecast.model.schedule.cost import message_words
from eyecast.model.schedule.file import read_schedule, write_schedule
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule


def made_of(topology: Topology, collective: str, words: BlockWords | int) -> dict[str, Schedule]:
    """Return the schedules of all algorithms that serve, with one port and all ports, by name."""
    request = Request(
        topology=topology,
        words=words if isinstance(words, int) else 1,
        source=1 if Collective(collective).rooted else None,
        block_words=None if isinstance(words, int) else words,
    )
    made = {}
    for algorithm in algorithms_for(collective, circuits=False):
        for all_port in (False, True):
            try:
                schedule = algorithm.generate(replace(request, all_port=all_port))
            except InvalidInput:
                continue
            made[f"{algorithm.name}, all ports: {all_port}"] = schedule
    return made


def drawn_words(nodes: int, collective: str, seed: int) -> BlockWords:
    draw = np.random.default_rng(seed)
    shape = (nodes, nodes) if collective == "all-to-all" else nodes
    return as_block_words((draw.integers(0, 12, shape) * draw.integers(0, 2, shape)).tolist())


@pytest.mark.parametrize("collective", SERVED)
@pytest.mark.parametrize("topology", [mesh((3, 2)), hypercube(3)])
def test_every_node_gets_the_words_that_there_are(collective: str, topology: Topology) -> None:
    words = drawn_words(topology.nodes, collective, seed=3)
    assert 0 in np.array(words)
    asked = {"network": topology, "collective": collective, "block_words": words}
    asked |= {"source": 1} if Collective(collective).rooted else {}
    made = made_of(topology, collective, words)
    assert len(made) > 1
    for name, schedule in made.items():
        schedule.check()
        assert problems(schedule) == set(), name
        assert schedule.send_words.all(), name
        assert {*schedule.step.tolist()} == {*range(1, schedule.steps + 1)}, name
        assert as_asked({**asked, "algorithm": schedule.algorithm}, schedule), name
        measured = {"steps": schedule.steps, "tcd": schedule.tcd, **word_measures(schedule)}
        assert all(measured[each] >= least for each, least in least_counts(schedule).items()), name
        assert carried_out(schedule).predicted.cycles >= schedule_bound(schedule).value, name


@pytest.mark.parametrize("collective", SERVED)
def test_equal_words_change_nothing(collective: str) -> None:
    """A list of eight words for each node gives the same sends as the number eight."""
    topology = mesh((4, 2))
    words = np.full((8, 8) if collective == "all-to-all" else 8, 8)
    told = made_of(topology, collective, as_block_words(words.tolist()))
    equal = made_of(topology, collective, 8)
    compared = 0
    for name, schedule in told.items():
        # Only equal blocks can stream around cycles or in windows.
        if name not in equal or equal[name].stream.any():
            assert name.startswith(("hamiltonian", "packed-chains", "stream-ring"))
            continue
        compared += 1
        for column in ("step", "source", "target", "path_nodes", "vcs", "block_ids", "combine"):
            assert np.array_equal(getattr(schedule, column), getattr(equal[name], column)), name
        assert np.array_equal(schedule.blocks.words, equal[name].blocks.words), name
        assert message_words(schedule) == 8
    assert compared > 1


def test_what_has_no_words_costs_nothing() -> None:
    """The root of a scatter on a line has five words for its neighbor, and none for others."""
    ring = find_algorithm("scatter", "ring")
    one = ring.generate(
        Request(topology=line(6), words=1, source=0, block_words=(0, 5, 0, 0, 0, 0))
    )
    assert (one.sends, one.steps, one.send_words.tolist()) == (1, 1, [5])
    alone = generated("broadcast", "tree", line(2), words=5, source=0)
    assert carried_out(one).predicted.cycles == carried_out(alone).predicted.cycles
    none = ring.generate(Request(topology=line(6), words=1, source=0, block_words=(0,) * 6))
    none.check()
    assert (none.sends, none.steps, schedule_bound(none).value) == (0, 0, 0)


def test_a_packet_has_the_words_of_its_blocks() -> None:
    """In a gather along a line, each node sends the received blocks and its own block."""
    words = (1, 2, 0, 8)
    gather = generated(
        "gather", "recursive-doubling", line(4), words=1, source=0, block_words=words
    )
    for send in range(gather.sends):
        begin, end = gather.block_offsets[send : send + 2]
        carried = gather.block_ids[begin:end].tolist()
        assert gather.send_words[send] == sum(words[block] for block in carried) > 0


def test_greedy_cuts_long_blocks_into_more_pieces() -> None:
    """One node has 64 words, all others two: sends have 2 to 16 words."""
    words = (2,) * 5 + (64,) + (2,) * 10
    request = Request(topology=mesh((4, 4)), words=1, all_port=True, block_words=words)
    for collective in ("all-gather", "reduce-scatter"):
        made = find_algorithm(collective, "greedy").generate(request)
        made.check()
        assert made.blocks.words.sum() == sum(words)
        assert np.bincount(made.blocks.words)[3:].sum() >= 4
        assert 2 <= made.send_words.max() <= 16


def test_shares_are_even() -> None:
    numbers = np.array([0, 1, 0, 1, 0, 2])
    dealt = shares_of(np.array([8, 1, 5]), numbers)
    assert dealt.tolist() == [3, 1, 3, 0, 2, 5]
    assert dealt[numbers == 0].tolist() == even_shares(8, 3).tolist()


@pytest.mark.parametrize(
    ("collective", "complaint"),
    [
        ("all-gather", "node 0 is left out: no send brings it block 1"),
        ("reduce-scatter", "node 1 is left out: its block 1 lacks what node"),
    ],
)
def test_a_block_with_words_must_be_brought(collective: str, complaint: str) -> None:
    """Sends without words may be missing; sends with words must not."""
    made = generated(collective, "ring", mesh((2, 2)), words=1, block_words=(3, 0, 2, 1))
    made.check()
    blocks = replace(made.blocks, words=np.array([3, 1, 2, 1]))
    one = replace(made, blocks=blocks, requests=())
    with pytest.raises(ScheduleError, match=complaint):
        one.check()
    assert problems(one) == {"left out"}


@pytest.mark.parametrize(
    ("ports", "least"),
    # Node 1 gets five words from one side and two from the other; five must cross two links.
    [(PortModel.FULL_DUPLEX, 7 + 1), (PortModel.ALL_PORT, 5 + 2)],
)
def test_bounds_count_the_words_that_are_sent(ports: PortModel, least: int) -> None:
    blocks = Blocks(np.array([0, 1, 2]), (None,) * 3, np.array([5, 0, 2]))
    assert least_cycles(line(3), blocks, ports).value == least


def test_steps_and_hops_are_bounded_where_every_node_has_other_words() -> None:
    made = generated("all-gather", "ring", mesh((2, 2)), words=1, block_words=(1, 2, 3, 4))
    assert least_counts(made) == {"steps": 2, "tcd": 6}


def test_the_longest_block_there_may_be_is_moved() -> None:
    words = (MOST, 0, 0, 0)
    made = generated("all-gather", "ring", mesh((2, 2)), words=1, block_words=words)
    made.check()
    assert made.blocks.words.sum() == MOST


def test_a_schedule_file_keeps_blocks_without_words(tmp_path: Path) -> None:
    made = generated("all-gather", "ring", mesh((2, 2)), words=1, block_words=(3, 0, 2, 1))
    write_schedule(made, tmp_path / "schedule.json")
    assert '"version":2' in (tmp_path / "schedule.json").read_text()
    again = read_schedule(tmp_path / "schedule.json")
    again.check()
    assert again.blocks.words.tolist() == [3, 0, 2, 1]


def test_words_of_some_nodes() -> None:
    assert selected((4, 5, 6), [2, None, 0]) == (6, 0, 4)
    assert selected(((1, 2), (3, 4)), [1, None, 0]) == ((4, 0, 3), (0, 0, 0), (2, 0, 1))
    assert (longest((0, 0)), longest((1, 5))) == (1, 8)


MOST = 2**30


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
def test_unequal_blocks_stream_round_one_ring(collective: str) -> None:
    topology = with_faults(mesh((3, 3)), [4])
    words = (3, 1, 4, 1, 0, 9, 2, 6, 5)
    made = generated(collective, "stream-ring", topology, words=1, block_words=words)
    assert made.stream.any()
    assert made.blocks.words.tolist() == [each for each in words if each]
    carried_out(made)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"format": "eyecast-block-words", "version": 1, "words": [1, -1]}', "words[1]: Expected"),
        (
            '{"format": "eyecast-block-words", "version": 1, "words": [1, 2.5]}',
            "words[1]: Expected",
        ),
        (
            '{"format": "eyecast-block-words", "version": 2, "words": []}',
            "version must be 1, not 2",
        ),
        ('{"format": "eyecast-schedule", "version": 1, "words": []}', "format must be "),
        ('{"format": "eyecast-block-words", "version": 1}', "Object missing required field words"),
        ("3, 4", "Expected object, got int"),
    ],
)
def test_files_that_are_wrong(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "words.json"
    path.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_block_words(path)
    assert str(caught.value).startswith(f"{path}: {complaint}")
    assert "\n" not in str(caught.value)
