"""Certificates of rows that stream: no packets wait in a circle, and the arriving words are sent.

Drawn programs are compared with the cycle model. A certified program runs to its end, and brings
the same words with other buffers. A program that hangs is refused with every order that is tried.
"""

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers.all_port_programs import all_port
from helpers.certificates import by_hand, compare_damaged, compiled, drawn, verdict
from helpers.programs import DOWN, UP, program, put
from helpers.streamed_programs import certificate_of, results, streamed_rows

import eyecast as package
from eyecast.model.base.errors import InvalidInput
from eyecast.model.certificate.certificate import certificate_json
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import ALGORITHMS
from eyecast.model.network.config import Timing
from eyecast.model.program.certified import Room
from eyecast.model.program.deadlock import DeadlockError, StreamDeadlockError
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.schedule.collective import ROOTLESS

BUFFERS: tuple[dict[str, int], ...] = (
    {"depth": 1},
    {"depth": 4},
    {"depth": 1, "link_registers": 2},
)
NETWORKS = package.mesh((4, 4)), package.torus((4, 4)), package.ring(8), package.binary_tree(7)
HELD = "its waits do not rise in the order of streams"
MISSING = "it is not in the order of streams"
TASKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("chain", {"source": 5, "words": 4}),
    ("combs", {"collective": "all-reduce", "words": 4, "ports": "all"}),
    ("stream-ring", {"collective": "all-gather", "words": 3}),
    ("packed-trees", {"collective": "all-reduce", "words": 8, "ports": "all"}),
)


def compare_drawn(programs: int, seed: int) -> Counter[str]:
    """Count what the checker says of drawn programs, and compare it with runs."""
    draw, seen = np.random.default_rng(seed), Counter[str]()
    for number in range(programs):
        given = streamed_rows(draw)
        made = program(**given)
        found, brought = results(made)
        try:
            ends = found.finished and not found.flags.any()
            said = verdict(made, certificate_of(made, draw, brought if ends else ()))
        except DeadlockError:
            continue
        assert ends or said != "holds", (seed, number)
        for buffers in BUFFERS if said == "holds" else ():
            again, words = results(program(**given, **buffers))
            assert again.finished, (seed, number, buffers)
            assert words == brought, (seed, number, buffers)
        seen[f"{re.sub('[0-9]+', 'N', said)}, {'ends' if ends else 'hangs'}"] += 1
    return seen


def test_a_certified_program_ends_and_one_that_hangs_is_refused() -> None:
    seen = compare_drawn(40, seed=1)
    assert seen["holds, ends"] > 10
    assert seen[f"node N, row N: {HELD}, hangs"] > 1


@pytest.mark.slow
def test_many_certified_programs_end_and_those_that_hang_are_refused() -> None:
    seen = compare_drawn(500, seed=2)
    assert seen["holds, ends"] > 120
    assert seen[f"node N, row N: {HELD}, hangs"] > 25
    assert seen["node N, row N: its words wait for themselves, hangs"] > 1
    assert seen["node N may read word N while it is written, ends"] > 5


def test_damaged_streams_are_refused_unless_they_work() -> None:
    seen = compare_damaged([(compiled(*task), Timing.BARRIER) for task in TASKS], 12)
    assert seen["refused, wrong"] > 15
    assert seen["holds"] > 1


@pytest.mark.slow
def test_many_damaged_streams_are_refused_unless_they_work() -> None:
    streamed = (
        each
        for seed in range(100, 140)
        for each in drawn(seed)
        if isinstance(each[0].program, Program) and each[0].program.stream.any()
    )
    seen = compare_damaged(streamed, 20)
    assert seen["good"] > 10
    assert seen["refused, wrong"] > 100


@pytest.mark.slow
def test_the_programs_of_all_streaming_algorithms_hold() -> None:
    held = set[tuple[str, str]]()
    for algorithm, ports in product(ALGORITHMS, (False, True)):
        if algorithm.circuits:
            continue
        for topology, words in product(NETWORKS, (1, 24, 64)):
            source = None if algorithm.collective in ROOTLESS else 1
            request = Request(topology=topology, words=words, source=source, all_port=ports)
            try:
                made = algorithm.generate(request)
            except InvalidInput:
                continue
            if made.stream.any():
                one = Room().compile_one(made)
                assert isinstance(one.program, Program)
                certificate = json.loads(certificate_json(one, Timing.BARRIER))
                assert certificate["owed"]
                assert verdict(one.program, certificate) == "holds", made
                held.add((algorithm.name, algorithm.collective))
    assert len(held) == 21


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task[0])
def test_an_order_of_streams_is_refused_if_it_does_not_rise(task: tuple[str, Any]) -> None:
    one = compiled(*task)
    assert isinstance(one.program, Program)
    certificate = json.loads(certificate_json(one, Timing.BARRIER))
    order = certificate["stream_order"]
    for wrong, why in (
        (order[::-1], HELD),
        ([*order[1:], order[0]], HELD),
        ([[item for group in order for item in group]], HELD),
        (order[1:], MISSING),
        ([], MISSING),
        ([[item for item in group if item[0] or len(item) > 2] for group in order], MISSING),
    ):
        said = verdict(one.program, certificate | {"stream_order": wrong})
        assert re.fullmatch(rf"node \d+, row \d+: {why}", said)


def chain(**changes: Any) -> tuple[Program, dict[str, Any]]:
    """Return a program whose second row streams, with these changes, and its certificate."""
    first, second = (put(1, (UP, 1), length=4, stream=stream) for stream in (0, 1))
    good, made = (
        program({0: [first], 1: [row]}, {1: [1], 2: [1]}, streams=True)
        for row in (second, replace(second, **changes))
    )
    return made, certificate_of(good, np.random.default_rng(0), results(good)[1])


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "holds"),
        ({"length": 5}, "node 1, row 0: streams more words than come"),
        ({"length": 3}, "node 2 lacks the word at 3"),
        ({"stream": 2}, "node 1, row 0: the packet that it streams does not come"),
        ({"stream": 0}, "node 1 may read word 0 while it is written"),
        ({"stream": 0, "lead": 1}, "node 1, row 0: a lead without a stream"),
        ({"lead": 1}, "node 1 may read word 0 while it is written"),
        ({"lead": 4}, "node 1 may read word 0 while it is written"),
        ({"source_address": 1}, "node 1 may read word 1 while it is written"),
        ({"window": 1}, "node 1, row 0: its words are not in the memory"),
        ({"window": 8}, "node 1, row 0: its window is too large"),
    ],
)
def test_a_row_that_streams_sends_the_arriving_words(changes: dict[str, int], why: str) -> None:
    made, certificate = chain(**changes)
    assert verdict(made, certificate) == why


def test_rows_stream_only_with_a_barrier_and_where_the_network_can() -> None:
    made, certificate = chain()
    without = replace(made, config=replace(made.config, streams=False))
    said = verdict(without, certificate)
    assert said == "node 1, row 0: the packet that it streams does not come"
    said = verdict(made, certificate | {"timing": "self-timed"})
    assert said == "rows stream without a barrier between steps"


def test_a_ring_of_streams_that_waits_for_itself_hangs_and_is_refused() -> None:
    for lead in (0, 1):
        rows = {
            node: [put(1, (UP, 1), source=16, target=17, length=4, stream=1, lead=lead)]
            for node in range(4)
        }
        made = program(rows, {n: [1] for n in rows}, package.torus((4,)), streams=True, vcs=2)
        found, brought = results(made)
        assert found.finished == bool(lead)
        said = verdict(made, certificate_of(made, np.random.default_rng(0), brought))
        assert said == ("holds" if lead else "node 0, row 0: its words wait for themselves")


IN_PLACE, ACROSS = 1, 2


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ({"target": 16}, {"target": 16}, "node 2, row 0: another packet"),
        ({"target": 16, "operator": IN_PLACE}, {"target": 16}, "node 2, row 0: another packet"),
        ({"target": 16, "operator": IN_PLACE}, {"target": 16, "operator": IN_PLACE}, "holds"),
        ({"target": 144, "operator": ACROSS}, {"target": 16}, "node 1 may read word 16 while"),
        ({"target": 144, "operator": ACROSS}, {"target": 17}, "holds"),
    ],
)
def test_packets_of_a_step_write_one_word_only_in_a_known_order(
    one: dict[str, int], other: dict[str, int], why: str
) -> None:
    """Nodes 0 and 2 send a word each to node 1, by two ports."""
    rows = {0: [put(1, (UP, 1), **one)], 2: [put(1, (DOWN, 1), **other)]}
    receives = {1: [(1, UP), (1, DOWN)]}
    made = all_port(rows, receives, package.line(3), operators="add")
    holds = [{"node": node, "words": 1, "address": 0, "value": node} for node in (0, 2)]
    certificate = by_hand(
        [[0, UP, 0], [2, DOWN, 0], [1, 0, 0]],
        [*holds, {"node": 1, "words": 1, "address": 16, "value": 1}],
        [{"node": 0, "words": 1, "address": 0, "values": [0], "operator": 0}],
    )
    assert verdict(made, certificate).startswith(why)


CIRCLES: tuple[dict[int, list[Row]], ...] = (
    # Node 1 holds the link that node 0's packet needs, and waits for words of that packet.
    {
        0: [put(1, (UP, 2), length=4)],
        1: [put(1, (UP, 2), length=4, stream=1)],
        2: [put(1, (DOWN, 1), length=4, stream=1)],
    },
    # Node 0 waits for a link that node 1 holds, which waits for one that node 2 holds.
    {
        0: [put(1, (UP, 2), length=4)],
        1: [put(1, (UP, 2), length=4)],
        2: [put(1, (UP, 2), length=4, stream=1)],
    },
    # Node 1 first sends on what node 2 sends on of its second packet.
    {
        1: [put(1, (UP, 2), length=4, stream=1), put(1, (UP, 1), length=4)],
        2: [put(1, (DOWN, 1), length=4, stream=1)],
    },
)
"""Rows on a line that wait for each other in a circle, though their routes do not."""


@pytest.mark.parametrize("rows", CIRCLES, ids=["at a link", "along a route", "at a sender"])
def test_packets_that_wait_in_a_circle_hang_and_are_refused(rows: dict[int, list[Row]]) -> None:
    receives = Counter(
        node + segment.hops * (1 if segment.port == UP else -1)
        for node, sent in rows.items()
        for row in sent
        for segment in row.route
    )
    assert set(receives.values()) == {1}
    made = program(rows, {node: [1] for node in receives}, package.line(5), streams=True)
    found, _ = results(made)
    assert not found.finished
    for seed in range(12):
        said = verdict(made, certificate_of(made, np.random.default_rng(seed), ()))
        assert re.fullmatch(rf"node \d, row \d: {HELD}", said)
    with pytest.raises(StreamDeadlockError):
        certificate_json(compiled()._replace(program=made), Timing.BARRIER)
