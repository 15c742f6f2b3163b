"""Reductions derived from copying collectives: the same steps and links, and correct sums."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from helpers.drawn_reductions import case_of, draw_cases, wrong_nodes
from helpers.every_schedule import every_schedule
from helpers.generated import generated
from helpers.schedules import listed
from helpers.switch_networks import switch_mesh

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.compare.case import Case
from eyecast.model.cycle.model import run
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.schedule.collective import REDUCTIONS
from eyecast.model.schedule.schedule import Schedule

PAIRS = (("broadcast", "reduce"), ("all-gather", "reduce-scatter"))
ONE_WAY = ("nesbt-copies", "packed-trees", "stream-ring", "hamiltonian")
NETWORKS = [
    mesh((4, 4)),
    mesh((3, 5)),
    torus((4, 4)),
    hypercube(3),
    with_faults(mesh((4, 4)), [5], [(0, 1)]),
]

FEWER = [
    with_faults(mesh((3, 3)), [4]),
    with_faults(torus((4, 4)), [3, 5, 6]),
    with_faults(hypercube(3), [1, 6]),
    switch_mesh(2, 3),
]


def made(topology: Topology, collective: str, algorithm: str, words: int = 3) -> Schedule:
    root = 3 if collective in ("broadcast", "reduce") else None
    return generated(collective, algorithm, topology, words=words, source=root)


@pytest.mark.parametrize("topology", NETWORKS)
def test_backwards_takes_as_many_steps_and_links(topology: Topology) -> None:
    compared = 0
    for forwards, backwards in PAIRS:
        for each in algorithms_for(forwards, circuits=False):
            if each.name in ONE_WAY:
                continue
            try:
                there = made(topology, forwards, each.name)
            except InvalidInput:
                continue
            back = made(topology, backwards, each.name)
            back.check()
            assert back.port_model == there.port_model
            if not topology.faulty_links:
                # With one-way links, the paths back differ.
                assert (back.steps, back.sends) == (there.steps, there.sends)
                assert back.tcd == there.tcd
            compared += 1
    assert compared >= 2


def test_every_send_goes_back_where_it_came_from() -> None:
    there, back = made(mesh((4, 4)), "broadcast", "eye"), made(mesh((4, 4)), "reduce", "eye")
    expected = [(5 - send.step, send.path[::-1]) for send in listed(there)]
    assert sorted((send.step, send.path) for send in listed(back)) == sorted(expected)
    assert back.combine.all()


def test_links_that_lead_one_way_are_gone_round() -> None:
    """Node 1 has no link to node 0, so its contribution takes another path."""
    topology = with_faults(mesh((2, 2)), [], [(1, 0)])
    schedule = generated("reduce", "tree", topology, words=1, source=0)
    schedule.check()
    assert all([1, 0] not in [send.path[i : i + 2] for i in range(3)] for send in listed(schedule))


def test_who_cannot_reach_the_root_has_no_part() -> None:
    topology = with_faults(mesh((3, 1)), [], [(2, 1)])
    schedule = generated("reduce", "tree", topology, words=1, source=0, partial=True)
    schedule.check()
    assert (schedule.collective, schedule.blocks.contributors) == ("custom", ((0, 1),))


@pytest.mark.parametrize("words", [1, 7, 16, 33])
def test_parts_of_any_message(words: int) -> None:
    """If the nodes do not divide the words, the last nodes have less, or no part at all."""
    schedule = made(mesh((4, 4)), "all-reduce", "ring", words)
    schedule.check()
    lengths = schedule.blocks.words
    assert lengths.sum() == words
    assert (lengths.size, lengths.max() - lengths.min() <= 1) == (min(words, 16), True)
    case = case_of(schedule, 5)
    assert wrong_nodes(case, case.predicted.memory) == []


@pytest.mark.parametrize(
    ("topology", "words"),
    [
        *((FEWER[0], 1), (FEWER[1], 7), (FEWER[2], 7), (FEWER[3], 1)),
        *(pytest.param(each, 64, marks=pytest.mark.slow) for each in FEWER),
    ],
)
def test_faulty_nodes_and_switches_take_no_words_away(topology: Topology, words: int) -> None:
    """The whole message is reduced, whichever nodes take part."""
    served = 0
    for ports in (False, True):
        for schedule in every_schedule(topology, "all-reduce", words=words, all_port=ports):
            schedule.check()
            assert schedule.blocks.words.sum() == words, schedule.algorithm
            served += 1
    assert served >= 3


def test_words_of_the_busiest_node_are_the_least_there_are() -> None:
    """2 (N - 1) / N of the message enters and leaves every node (Patarasuk & Yuan 2009)."""
    for algorithm in ("ring", "recursive-halving", "circulant"):
        schedule = made(mesh((4, 4)), "all-reduce", algorithm, 32)
        words = np.diff(schedule.block_offsets) * 2
        assert np.bincount(schedule.source, words).max() == 2 * 15 * 2


def test_a_barrier_is_an_all_reduce_of_one_word() -> None:
    schedule = made(mesh((4, 4)), "barrier", "recursive-doubling", 16)
    schedule.check()
    assert schedule.blocks.words.tolist() == [1]
    assert schedule.blocks.operator == ("and",)
    names = {each.name for each in algorithms_for("barrier")}
    assert "eye" in names
    assert not names & {"ring", "circulant", "recursive-halving"}


def test_all_reduce_of_1024_words_on_a_mesh_of_64() -> None:
    """With one port 2,016 words pass every node, in at most 1.10 times as many cycles."""
    case = case_of(made(mesh((8, 8)), "all-reduce", "ring", 1024), 1)
    assert case.predicted.cycles == 2211 <= 1.10 * 2016
    assert wrong_nodes(case, case.predicted.memory) == []


# ---- Drawn reductions in the cycle model --------------------------------------------------------


def check_cases(seed: int, count: int) -> Counter[tuple[str, str]]:
    """Carry out drawn cases; count them by collective and algorithm."""
    seen: Counter[tuple[str, str]] = Counter()
    for case in draw_cases(np.random.default_rng(seed), count):
        assert case.predicted.finished, case
        assert wrong_nodes(case, case.predicted.memory) == [], case
        assert not case.predicted.flags.any(), case
        schedule = case.schedule
        seen[schedule.collective, schedule.algorithm.removesuffix("-rooted")] += 1
    return seen


def test_drawn_cases() -> None:
    seen = check_cases(0, 40)
    assert {collective for collective, _ in seen} >= set(REDUCTIONS)


RARE = {
    *("combs", "hierarchy", "jiang-wu", "nesbt", "nrbrg", "overlapped", "paced", "sbt", "swing"),
    *("swing-whole", "tcbt", "trivance-whole"),
}
"""Algorithms for slow links or for few shapes, which the draws may miss."""


@pytest.mark.slow
def test_two_thousand_drawn_cases() -> None:
    seen = check_cases(1, 1980)
    for collective in REDUCTIONS:
        names = {
            each.name.removesuffix("-rooted") for each in algorithms_for(collective, circuits=False)
        }
        assert names - {name for of, name in seen if of == collective} <= RARE


def wrongly_run(case: Case, operator: int) -> Case:
    """Return the case with another operator in all combining rows."""
    column = np.where(case.program.operator > 0, operator, 0)
    program = replace(case.program, operator=column)
    after = run(program, case.payload.memory(program.config), timing="barrier")
    return replace(case, predicted=after)


def test_a_wrong_sum_is_noticed() -> None:
    """A word that replaces instead of combining leaves contributions out of the result."""
    (case,) = draw_cases(np.random.default_rng(3), 1)
    assert wrong_nodes(case, case.predicted.memory) == []
    wrong = wrongly_run(case, 0)
    assert wrong_nodes(wrong, wrong.predicted.memory) != []
