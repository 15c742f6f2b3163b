"""Timetables: no flit waits, every word is there before it is sent on; and orders of sends."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers.carried_out import carried_out
from helpers.generated import generated
from helpers.refusals import refusal_of
from helpers.schedules import Send, build
from hypothesis import given, settings
from hypothesis import strategies as st

from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.port_model import PORT_MODELS, PortModel
from eyecast.model.network.topology import Topology, hypercube, mesh, ring, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.compiler import Compiled
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.checks import check_timed
from eyecast.model.schedule.ordered import CircleError, OrderedSends, packed_schedule
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.schedule.timetable import Busy, begins, ends, free_from, occupy

FOUR_WORDS, ROW = 5, 2
"""Flits of a packet of four words, and cycles in which its row is read."""


def on_timetable(made: Schedule) -> Schedule:
    """Return the same sends on a timetable: in the order of their steps, without barriers."""
    order = np.argsort(made.step, kind="stable")
    assert (order == np.arange(made.sends)).all()
    return replace(made, timed=True)


def begin(*sends: Send) -> list[int]:
    """Return the cycles in which sends of four words begin."""
    schedule = build((4, 1), list(sends), port_model="full-duplex")
    lasting = np.full(len(sends), FOUR_WORDS)
    return begins(schedule, lasting, ROW, hop_cycles=1).tolist()


def test_free_cycles_are_those_of_a_calendar() -> None:
    """Two resources are occupied in drawn cycles, and asked for free ones, beside a calendar."""
    draw = np.random.default_rng(1998)
    first, never = np.array([0, 60, 120]), np.iinfo(np.int64).max
    busy = Busy(first, np.zeros(2, np.int64), np.full(120, never), np.full(120, never))
    calendar = np.zeros((2, 600), np.bool_)
    for _ in range(120):
        resource, cycle, cycles = (int(draw.integers(*ends)) for ends in ((2,), (200,), (1, 6)))
        free = next(
            begin
            for begin in range(cycle, 600)
            if not calendar[resource, begin : begin + cycles].any()
        )
        assert free_from(busy, resource, cycle, cycles) == free
        occupy(busy, resource, free, cycles)
        calendar[resource, free : free + cycles] = True
    # Times that meet are one.
    edges = np.diff(calendar.astype(np.int64), prepend=0, append=0)
    assert busy.used.tolist() == (edges == 1).sum(axis=1).tolist()


# ---- By hand: docs/router.md, section 5 ------------------------------------------------------


def test_a_block_is_sent_on_two_cycles_after_its_last_word() -> None:
    # The header is injected in cycle 2 and leaves node 2 by port 0 in 5; the last word in 9.
    assert begin(Send(1, [0, 1, 2]), Send(2, [2, 3])) == [2, 11]


def test_a_node_reads_its_next_row_between_two_packets() -> None:
    assert begin(Send(1, [0, 1]), Send(2, [0, 1, 2])) == [2, 2 + FOUR_WORDS + ROW]


def test_a_link_is_passed_one_after_the_other() -> None:
    # The first send passes the link from node 2 in cycles 5 to 9, so the second passes from 10 on.
    # The third, of one flit, is last in the list and passes before both.
    sends = [Send(1, [0, 1, 2, 3], [0]), Send(2, [1, 2, 3], [1]), Send(3, [2, 3], [2])]
    blocks = Blocks(np.arange(3), (None,) * 3, np.ones(3))
    made = build((4, 1), sends, blocks, "custom", "full-duplex")
    assert begins(made, np.array([5, 5, 1]), ROW, hop_cycles=1).tolist() == [2, 8, 2]


def test_a_register_on_each_link_is_a_cycle_more() -> None:
    schedule = build((4, 1), [Send(1, [0, 1, 2]), Send(2, [2, 3])])
    lasting = np.full(2, FOUR_WORDS)
    begin = begins(schedule, lasting, ROW, hop_cycles=2)
    assert begin.tolist() == [2, 13]
    assert ends(schedule, begin, lasting, 2).tolist() == [12, 21]


def test_the_table_must_have_what_is_brought_before_what_takes_it_on() -> None:
    assert refusal_of(begin, Send(2, [1, 2]), Send(1, [0, 1]), kind=ScheduleError) == (
        "send 0 (step 2, 1 -> 2): timed, it stands before the send that brings its blocks"
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "send 0 (step 2, 1 -> 2): timed, it stands before the send that brings its blocks"),
        ({"port_model": PortModel.ALL_PORT}, "port model of a timed schedule must be one of"),
        ({"stream": np.array([True, False])}, "send 0 (step 2, 1 -> 2): timed, it must neither"),
    ],
)
def test_the_proof_refuses_what_no_timetable_has(change: dict[str, Any], words: str) -> None:
    made = build((3, 1), [Send(2, [1, 2]), Send(1, [0, 1])])
    made.check()
    with pytest.raises(ScheduleError, match=re.escape(words)):
        check_timed(replace(made, timed=True, **change))


def test_the_proof_asks_for_an_order_of_timed_sends_alone() -> None:
    made = build((3, 1), [Send(1, [0, 1]), Send(2, [1, 2])])
    replace(made, timed=True).check()
    with pytest.raises(ScheduleError, match="stands before the send"):
        replace(build((3, 1), [Send(2, [1, 2]), Send(1, [0, 1])]), timed=True).check()


def test_rows_stand_in_the_order_in_which_they_begin() -> None:
    # Node 1 passes on node 0's block. While it waits, it sends its own block, which comes later in
    # the list.
    sends = [Send(1, [0, 1], [0]), Send(2, [1, 2], [0]), Send(3, [1, 2, 3], [1])]
    blocks = Blocks(np.array([0, 1]), ((1, 2), (3,)), np.full(2, 4))
    made = replace(build((4, 1), sends, blocks, "custom", "full-duplex"), root=None, timed=True)
    case = carried_out(made)
    assert case.program.start.tolist() == [2, 2, 10]
    assert case.program.length.tolist() == [4, 4, 4]
    # The header leaves node 1 by its link in cycle 11, and the tail arrives at node 2 in 16.
    assert case.predicted.cycles == 17


# ---- On the cycle model ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topology", "collective", "name", "parameters"),
    [
        (mesh((4, 4)), "broadcast", "eye", {}),
        (mesh((4, 3)), "all-to-all", "ring", {}),
        (mesh((4, 3)), "all-gather", "ring", {"link_registers": 1, "depth": 4}),
        (torus((4, 4)), "all-to-all", "recursive-doubling", {"vcs": 2}),
        (torus((4, 2)), "scatter", "ring", {"flit_width": 16}),
        (hypercube(4), "all-to-all", "sbt", {}),
        (mesh((5, 4)), "broadcast", "tree", {"link_registers": 2, "depth": 6}),
    ],
)
def test_any_schedule_is_carried_out_as_reckoned(
    topology: Topology, collective: str, name: str, parameters: dict[str, Any]
) -> None:
    source = 1 if collective in ("broadcast", "scatter") else None
    made = generated(collective, name, topology, words=3, source=source)
    timed = on_timetable(made)
    timed.check()
    one = compile_certified(timed, parameters)
    cases = [Case.of(one, timing=timing, seed=3) for timing in Timing]
    for case in cases:
        assert case.predicted.finished
        assert not case.predicted.stalled_flits.any()
        got = case.payload.delivered(case.predicted.memory, topology)
        assert got.sum() == len(topology.working_nodes)
        program = case.program
        last = program.start + program.header_flits + program.length
        last += 1 + program.row_hops * (1 + program.config.link_registers)
        assert case.predicted.cycles == last.max()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "timed_rows must be given for a timed schedule"),
        (
            {"timed_rows": True, "link_registers": 1},
            "depth must be at least 4 for a timed schedule, not 2",
        ),
    ],
)
def test_networks_without_timed_rows_are_refused(parameters: dict[str, Any], words: str) -> None:
    made = on_timetable(generated("broadcast", "eye", mesh((2, 2)), words=1, source=0))
    assert (
        refusal_of(Compiled.of, made, NetworkConfig(topology=made.topology, **parameters)) == words
    )


@pytest.mark.parametrize(
    "parameters", [{"contention_free": True}, {"streams": True}, {"programs": 1}]
)
def test_networks_that_have_no_timed_rows_are_refused(parameters: dict[str, Any]) -> None:
    made = on_timetable(generated("broadcast", "eye", mesh((2, 2)), words=1, source=0))
    (name,) = parameters
    told = refusal_of(compile_certified, made, parameters)
    allowed = "must be left out with eye, whose rows are timed, not given"
    assert told == f"{name.replace('_', ' ')} {allowed}"


# ---- Orders of sends -----------------------------------------------------------------------------


CHORDS = graph([[-1, (i + 1) % 9, (i - 1) % 9, (i + 3) % 9, (i - 3) % 9] for i in range(9)])
NETWORKS = (mesh((3, 3)), torus((3, 3)), ring(9), hypercube(3), CHORDS)


def all_to_all(topology: Topology, port_model: PortModel) -> Schedule:
    nodes = range(topology.nodes)
    pairs = [(source, target) for source in nodes for target in nodes if source != target]
    sends = OrderedSends(
        source=[source for source, _ in pairs],
        target=[target for _, target in pairs],
        blocks=[(block,) for block in range(len(pairs))],
        after=[()] * len(pairs),
    )
    owed = tuple((target,) for _, target in pairs)
    blocks = Blocks([source for source, _ in pairs], owed, [4] * len(pairs))
    return packed_schedule(topology, "all-to-all", "mine", port_model, None, blocks, sends)


def relayed(topology: Topology, walks: list[list[int]], port_model: PortModel) -> Schedule:
    """Return a schedule in which each walk passes its own block from node to node."""
    source, target, blocks, after = [], [], [], []
    for block, walk in enumerate(walks):
        for place, (begin, end) in enumerate(pairwise(walk)):
            after.append((len(source) - 1,) if place else ())
            source.append(begin)
            target.append(end)
            blocks.append((block,))
    owned = Blocks([w[0] for w in walks], tuple((w[-1],) for w in walks), [1] * len(walks))
    sends = OrderedSends(source=source, target=target, blocks=blocks, after=after)
    return packed_schedule(topology, "custom", "mine", port_model, None, owned, sends)


@pytest.mark.parametrize("port_model", PORT_MODELS)
@pytest.mark.parametrize("topology", NETWORKS, ids=lambda topology: topology.label)
def test_all_pairs_are_packed_by_the_rules(topology: Topology, port_model: PortModel) -> None:
    schedule = all_to_all(topology, port_model)
    schedule.check()
    assert schedule.largest_link_load == 1
    assert schedule.sends == topology.nodes * (topology.nodes - 1)


def test_pairs_of_a_hypercube_need_as_many_steps_as_a_node_has_partners() -> None:
    assert all_to_all(hypercube(4), PortModel.EXCHANGE).steps == 15


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(NETWORKS),
    st.sampled_from(PORT_MODELS),
    st.lists(st.lists(st.integers(0, 7), min_size=2, max_size=6), min_size=1, max_size=12),
)
def test_what_a_send_comes_after_ends_in_earlier_steps(
    topology: Topology, port_model: PortModel, walks: list[list[int]]
) -> None:
    walks = [[w[0], *(b for a, b in pairwise(w) if a != b)] for w in walks]
    walks = [walk for walk in walks if len(walk) > 1]
    if walks:
        relayed(topology, walks, port_model).check()


def test_the_longest_chain_is_placed_first() -> None:
    schedule = relayed(mesh((4,)), [[0, 3], [0, 1, 2, 3]], PortModel.FULL_DUPLEX)
    pairs = zip(schedule.source.tolist(), schedule.target.tolist(), strict=True)
    steps = dict(zip(pairs, schedule.step.tolist(), strict=True))
    assert (steps[0, 1], steps[1, 2], schedule.steps) == (1, 2, 4)


def test_sends_that_wait_for_each_other_are_refused() -> None:
    sends = OrderedSends(
        source=[0, 1, 0], target=[1, 2, 3], blocks=[(0,)] * 3, after=[(1,), (2,), (0,)]
    )
    blocks = Blocks([0], (None,), [1])
    line = "order of sends must be without a circle, not send 0 after send 1 after send 2 after"
    with pytest.raises(CircleError, match=line) as caught:
        packed_schedule(mesh((4,)), "custom", "mine", PortModel.FULL_DUPLEX, 0, blocks, sends)
    assert caught.value.circle == [0, 1, 2]


def test_a_target_that_no_path_leads_to_is_refused() -> None:
    apart = graph([[-1, 1], [-1, 0], [-1, 3], [-1, 2]])
    with pytest.raises(InvalidInput, match="target of a route from node 0 must be a node that"):
        relayed(apart, [[0, 2]], PortModel.FULL_DUPLEX)
