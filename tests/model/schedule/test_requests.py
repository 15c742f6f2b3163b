"""Schedules against their requests: each algorithm's schedule, and every way to deliver less."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.command import Command, refusal
from helpers.drawn_requests import as_asked, draw_asked, draw_network, made
from helpers.generated import generated
from helpers.refusals import refusal_of
from helpers.sweeps import points_of

from eyecast import api
from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.files import InputFile
from eyecast.model.collectives import registry
from eyecast.model.collectives.algorithm import Algorithm
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.group_choice import Grouping
from eyecast.model.collectives.group_file import Group, groups_of
from eyecast.model.collectives.registry import ALGORITHMS, find_algorithm
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.schedule.blocks import NO_OWNER, Blocks
from eyecast.model.schedule.file import read_schedule, schedule_json
from eyecast.model.schedule.requested import Requested
from eyecast.model.schedule.requested_blocks import blocks_of
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule
from eyecast.sweeps.collective import prepare

CHIPLETS = chiplets((2, 1), (2, 2), latency=2, rate=2)
NETWORKS = [mesh((3, 3)), mesh((4, 2)), hypercube(3), torus((4, 4)), torus((3, 3)), CHIPLETS]


def requests_for(algorithm: Algorithm) -> Iterator[Request]:
    """Return requests that at least one algorithm serves."""
    rooted = algorithm.collective in ("broadcast", "multicast", "scatter", "gather", "reduce")
    for topology in NETWORKS:
        for all_port in (False, True):
            yield Request(
                topology=topology,
                words=32,
                source=0 if rooted else None,
                targets=(1, 5) if algorithm.collective == "multicast" else None,
                all_port=all_port,
            )


def first_served(algorithm: Algorithm) -> tuple[Request, Schedule]:
    """Return the first request that an algorithm serves, and its schedule."""
    for request in requests_for(algorithm):
        try:
            return request, algorithm.generate(request)
        except InvalidInput as error:
            assert not isinstance(error, ScheduleError)
    raise AssertionError(algorithm.name)


def with_words(schedule: Schedule, block: int, more: int) -> Schedule:
    """Return the schedule with ``more`` words in one block."""
    words = schedule.blocks.words.copy()
    words[block] += more
    return replace(schedule, blocks=replace(schedule.blocks, words=words))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: f"{each.collective}-{each.name}")
def test_no_builder_may_take_a_word_away_or_add_one(algorithm: Algorithm) -> None:
    request, schedule = first_served(algorithm)
    replace(algorithm, make=lambda _: schedule).generate(request).check()
    some = np.flatnonzero(schedule.blocks.words)
    for block, more in ((some[0], -1), (some[-1], -1), (some[0], 1)):
        wrong = with_words(schedule, int(block), more)
        sabotaged = replace(algorithm, make=lambda _, wrong=wrong: wrong)
        with pytest.raises(ScheduleError, match=r"^words of .*, as requested, not \d+$"):
            sabotaged.generate(request).check()


def drawn(count: int, seed: int) -> Iterator[tuple[dict[str, object], Schedule]]:
    """Draw requests; yield each with the schedule made for it."""
    draw = np.random.default_rng(seed)
    while count:
        asked = draw_asked(draw, draw_network(draw))
        schedule = made(asked)
        if schedule is not None:
            yield asked, schedule
            count -= 1


def compare_with_judge(count: int, seed: int) -> Counter[object]:
    """Compare check() with the judge, on the schedule and with a block one word off."""
    draw = np.random.default_rng(seed)
    seen: Counter[object] = Counter()
    for asked, schedule in drawn(count, seed):
        assert as_asked(asked, schedule), asked
        block = int(draw.integers(len(schedule.blocks)))
        wrong = with_words(schedule, block, 1 if schedule.blocks.words[block] == 0 else -1)
        if not as_asked(asked, wrong):
            with pytest.raises(ScheduleError, match="as requested"):
                wrong.check()
            seen["refused"] += 1
        seen.update((asked.get("collective", "groups"), bool(schedule.topology.faulty_nodes)))
    return seen


def test_drawn_requests_are_fulfilled() -> None:
    seen = compare_with_judge(25, 1)
    assert seen["refused"] >= 20
    assert seen["groups"] >= 1
    assert seen[True] >= 3


@pytest.mark.slow
def test_many_drawn_requests_are_fulfilled() -> None:
    seen = compare_with_judge(400, 2)
    assert seen["refused"] >= 320
    assert min(seen.values()) >= 5


MESH = mesh((3, 2))


def asked_on_mesh(collective: str, algorithm: str, **more: object) -> Schedule:
    request = Request(**{"topology": MESH, "words": 6, **more})
    return find_algorithm(collective, algorithm).generate(request)


BROADCAST = asked_on_mesh("broadcast", "tree", source=1)
MULTICAST = asked_on_mesh("multicast", "tree", source=1, targets=(0, 4))
SCATTER = asked_on_mesh("scatter", "ring", source=1)
ALL_TO_ALL = asked_on_mesh("all-to-all", "ring")
REDUCE = asked_on_mesh("reduce", "tree", source=1, operator="max")
TABLE = asked_on_mesh("gather", "ring", source=1, block_words=(1, 2, 3, 4, 0, 6))


@pytest.mark.parametrize(
    ("schedule", "changes", "line"),
    [
        (BROADCAST, {"words": 7}, "words of the broadcast must be 7, as requested, not 6"),
        (BROADCAST, {"root": 2}, "root must be 2, as requested, not 1"),
        (BROADCAST, {"root": None}, "root of the requested broadcast must be a node, not None"),
        (
            BROADCAST,
            {"collective": "multicast"},
            "collective must be multicast, as requested, not broadcast",
        ),
        (
            BROADCAST,
            {"collective": "gossip"},
            "collective of the request must be broadcast, multicast, scatter, gather, all-gather, "
            "all-to-all, neighbor, halo, reduce, reduce-scatter, all-reduce, barrier, scan or "
            "exscan, not gossip",
        ),
        (BROADCAST, {"words": (6,)}, "words of the requested broadcast must be a number"),
        (MULTICAST, {"targets": (0,)}, "node 4 must not get the multicast, as requested"),
        (MULTICAST, {"targets": None}, "node 2 must get the multicast, as requested"),
        (MULTICAST, {"targets": (0, 1, 4)}, None),
        (SCATTER, {"words": 5}, "words of the scatter for node 0 must be 5, as requested, not 6"),
        (
            SCATTER,
            {"words": (6, 6, 6)},
            "words of the requested scatter must be a number, or one for each node that takes part",
        ),
        (
            ALL_TO_ALL,
            {"words": ((6,) * 6, (6,) * 5)},
            "words of the requested all-to-all must be a number, or a row for each node that takes "
            "part, with one for each",
        ),
        (
            ALL_TO_ALL,
            {"words": 5},
            "words of the all-to-all of node 0 for node 0 must be 5, as requested, not 6",
        ),
        (REDUCE, {"operator": "add"}, "operator must be add, as requested, not max"),
        (REDUCE, {"operator": None}, "operator must be None, as requested, not max"),
        (TABLE, {"words": (1, 9, 3, 4, 0, 6)}, "words of the gather of node 1"),
        (TABLE, {"words": (1, 2, 3, 4, 1, 6)}, "words of the gather of node 4 must be 1"),
    ],
)
def test_what_is_not_as_requested(
    schedule: Schedule, changes: dict[str, object], line: str | None
) -> None:
    schedule.check()
    (request,) = schedule.requests
    other = replace(schedule, requests=(replace(request, **changes),))
    if line is None:
        other.check()
        return
    assert refusal_of(other.check, kind=ScheduleError).startswith(line)


def test_who_takes_no_part_gets_nothing() -> None:
    fewer = with_faults(mesh((3, 1)), [2])
    schedule = generated("scatter", "direct", fewer, words=2, source=0)
    schedule.check()
    blocks = Blocks(np.array([0, 0]), ((1,), (2,)), np.array([2, 2]))
    with pytest.raises(ScheduleError, match=r"^no block must be for node 2, as requested$"):
        replace(schedule, blocks=blocks).check()


def in_groups() -> Schedule:
    """Return two groups: a broadcast of 3 words, and an all-gather with a table of words."""
    groups = [
        {"nodes": [0, 1, 3], "collective": "broadcast", "root": 1, "words": 3},
        {"nodes": [2, 5], "collective": "all-gather", "block_words": [4, 0]},
    ]
    asked = Grouping(MESH, groups_of(groups, "broadcast"), "broadcast")

    def make(topology: Topology, group: Group, _place: int) -> Schedule:
        algorithm = "tree" if group.collective == "broadcast" else "circulant"
        return generated(
            str(group.collective),
            algorithm,
            topology,
            words=group.words or 16,
            source=group.root,
            block_words=group.block_words,
        )

    return asked.schedule(make)


def test_groups_keep_their_requests() -> None:
    first = Requested(collective="broadcast", words=3, root=1)
    assert in_groups().requests == (first, Requested(collective="all-gather", words=(4, 0)))


@pytest.mark.parametrize(
    ("place", "changes", "line"),
    [
        (0, {"words": 4}, "group 0: words of the broadcast must be 4, as requested, not 3"),
        (
            0,
            {"root": 0},
            "group 0: blocks must be those of the requested broadcast: block 0 is owned by node 1, "
            "not 0",
        ),
        (
            1,
            {"words": (4, 1)},
            "group 1: words of the all-gather of node 5 must be 1, as requested, not 0",
        ),
        (
            1,
            {"collective": "reduce-scatter"},
            "group 1: blocks must be those of the requested reduce-scatter: block 0 is one of an "
            "owner",
        ),
    ],
)
def test_what_is_not_as_a_group_requested(
    place: int, changes: dict[str, object], line: str
) -> None:
    schedule = in_groups()
    requests = [*schedule.requests]
    requests[place] = replace(requests[place], **changes)
    assert refusal_of(replace(schedule, requests=tuple(requests)).check, kind=ScheduleError) == line


def test_each_group_has_a_request_and_each_block_a_group() -> None:
    schedule = in_groups()
    with pytest.raises(ScheduleError, match=r"^number of requests must be 2, not 1$"):
        replace(schedule, requests=schedule.requests[:1]).check()
    idle = Blocks(np.array([4]), ((4,),), np.array([1]))
    blocks = Blocks(
        np.append(schedule.blocks.owner, idle.owner),
        (*schedule.blocks.owed, *idle.owed),
        np.append(schedule.blocks.words, idle.words),
    )
    with pytest.raises(ScheduleError, match=r"^block 3 must be of a group, as requested$"):
        replace(schedule, blocks=blocks).check()


def test_who_is_left_out_is_named_or_refused() -> None:
    """An algorithm may leave nodes out only on request, or if its paper does so."""
    cut = with_faults(mesh((3, 1)), [], [(1, 2)])
    schedule = generated("broadcast", "tree", cut, words=2, source=0, partial=True)
    schedule.check()
    assert (schedule.collective, schedule.unserved) == ("custom", (2,))
    whole = replace(schedule, requests=(replace(schedule.requests[0], partial=False),))
    with pytest.raises(ScheduleError, match=r"^collective must be broadcast, as requested"):
        whole.check()
    with pytest.raises(ScheduleError, match=r"^words of the broadcast must be 2"):
        with_words(schedule, 0, -1).check()


def test_copies_are_whole_and_each_node_gets_one() -> None:
    broken = with_faults(hypercube(2), [], [(0, 1)])
    schedule = generated("broadcast", "nesbt-copies", broken, words=2, source=0, all_port=True)
    schedule.check()
    with pytest.raises(ScheduleError, match=r"^words of each broadcast must be 2, as requested"):
        with_words(schedule, 1, -1).check()
    fewer = replace(schedule, blocks=replace(schedule.blocks, owed=((0,), (0, 2))))
    with pytest.raises(ScheduleError, match=r"block 0 is not owed to node 1$"):
        fewer.check()


@pytest.fixture
def less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one algorithm for all-reduce make blocks with one word less."""
    (whole,) = (each for each in ALGORITHMS if (each.collective, each.name) == SABOTAGED)

    def make(request: Request) -> Schedule:
        return with_words(whole.make(request), 0, -1)

    others = (each for each in ALGORITHMS if each is not whole)
    monkeypatch.setattr(registry, "ALGORITHMS", (*others, replace(whole, make=make)))


SABOTAGED = ("all-reduce", "circulant")
LESS = "words of the all-reduce must be 6, as requested, not 5"
ASKED = ("--mesh", "3x2", "--collective", "all-reduce", "--words", "6")


@pytest.mark.usefixtures("less")
@pytest.mark.parametrize(
    "typed",
    [
        ("schedule", *ASKED, "--algorithm", "circulant"),
        ("schedule", *ASKED, "--algorithm", "best"),
        ("compare", *ASKED),
        ("verify", *ASKED, "--algorithm", "circulant"),
    ],
    ids=" ".join,
)
def test_no_command_takes_less_than_was_asked(typed: tuple[str, ...], eyecast: Command) -> None:
    assert eyecast(*typed) == refusal(LESS)


@pytest.mark.usefixtures("less")
def test_no_group_takes_less_than_was_asked(eyecast: Command) -> None:
    answer = eyecast("schedule", *ASKED, "--group", "rows", "--algorithm", "circulant")
    assert answer == refusal(f"group 0: {LESS}")
    compared = eyecast("compare", *ASKED, "--group", "rows", "--why")
    assert f"circulant was not compared: group 0: {LESS}" in compared.output


@pytest.mark.usefixtures("less")
def test_python_takes_no_less_than_was_asked() -> None:
    for algorithm in ("circulant", "best"):
        with pytest.raises(ScheduleError, match=LESS):
            api.schedule(MESH, algorithm, collective="all-reduce", words=6)
    with pytest.raises(ScheduleError, match=LESS):
        api.compare(MESH, collective="all-reduce", words=6)


@pytest.mark.usefixtures("less")
def test_no_sweep_takes_less_than_was_asked() -> None:
    grid = {"kind": "collective", "network": "mesh 3x2", "algorithm": "circulant", "words": 6}
    (point,) = points_of({**grid, "collective": "all-reduce"})
    with pytest.raises(ScheduleError, match=LESS):
        prepare(point.values)


def test_a_file_says_what_was_asked(tmp_path: Path, eyecast: Command) -> None:
    for schedule in (BROADCAST, MULTICAST, TABLE, REDUCE, in_groups()):
        back = read_schedule(InputFile("s.json", schedule_json(schedule).encode()))
        assert back.requests == schedule.requests
        back.check()
    less = with_words(in_groups(), 0, -1)
    (tmp_path / "s.json").write_text(schedule_json(less))
    line = "s.json: group 0: words of the broadcast must be 3, as requested, not 2"
    for command in ("predict", "verify"):
        assert eyecast(command, "--schedule", "s.json") == refusal(line)


# ---- Requests of blocks without a schedule -------------------------------------------------------


def columns(blocks: Blocks) -> list[tuple[object, ...]]:
    """Return owner, owed nodes, words, contributors and operator of each block."""
    numbers = zip(blocks.owner.tolist(), blocks.owed, blocks.words.tolist(), strict=True)
    others = zip(blocks.contributors, blocks.operator, strict=True)
    return [(*number, *other) for number, other in zip(numbers, others, strict=True)]


def test_a_broadcast_in_pieces() -> None:
    request = Requested(collective="broadcast", words=5, root=1)
    whole = [(1, None, 3, (), None), (1, None, 2, (), None)]
    assert columns(blocks_of(mesh((3,)), [request], (), 2)) == whole


def test_requests_of_two_groups() -> None:
    gather = Requested(collective="gather", words=(4, 2), root=3)
    add = Requested(collective="all-reduce", words=3, operator="add")
    found = columns(blocks_of(mesh((2, 2)), [gather, add], [(1, 3), (0, 2)], 2))
    pieces = [(1, (3,), 2), (1, (3,), 2), (3, (3,), 1), (3, (3,), 1)]
    assert found == [
        *((*piece, (), None) for piece in pieces),
        (NO_OWNER, (0, 2), 2, (0, 2), "add"),
        (NO_OWNER, (0, 2), 1, (0, 2), "add"),
    ]


def test_a_reduction_of_all_nodes() -> None:
    request = Requested(collective="reduce", words=2, root=0, operator="max")
    assert columns(blocks_of(mesh((3,)), [request], (), 1)) == [(NO_OWNER, (0,), 2, None, "max")]
