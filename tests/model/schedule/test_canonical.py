"""Canonical order: every sum is the one that a recursive definition adds, or is refused."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from helpers.generated import generated
from helpers.schedules import Send, build
from hypothesis import given, settings
from hypothesis import strategies as st

import eyecast
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.network.topology import Topology
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.file import read_schedule, write_schedule
from eyecast.model.schedule.requested import Requested
from eyecast.model.schedule.rules import ScheduleError

Sum = object
"""A node's number, or a pair of sums whose order counts for nothing."""


def canonical(nodes: Sequence[int]) -> Sum:
    """Return the canonical sum of ``nodes``: the largest power of two first, then the rest."""
    if len(nodes) == 1:
        return nodes[0]
    half = 1
    while 2 * half < len(nodes):
        half *= 2
    return frozenset((canonical(nodes[:half]), canonical(nodes[half:])))


def sums_of(schedule: eyecast.Schedule) -> dict[tuple[int, int], Sum]:
    """Carry out the sends one by one on sums instead of numbers; return those owed at the end."""
    blocks, topology = schedule.blocks, schedule.topology
    held: dict[tuple[int, int], Sum] = {
        (node, block): node
        for block in range(len(blocks))
        for node in blocks.holders(block, topology)
    }
    for step in range(1, schedule.steps + 1):
        before = dict(held)
        for send in np.flatnonzero(schedule.step == step).tolist():
            begin, end = schedule.block_offsets[send : send + 2]
            for block in schedule.block_ids[begin:end].tolist():
                at = int(schedule.target[send]), block
                coming = before[int(schedule.source[send]), block]
                held[at] = frozenset((held[at], coming)) if schedule.combine[send] else coming
    everyone = topology.working_nodes.tolist()
    return {
        (node, block): held[node, block]
        for block, owed in enumerate(blocks.owed)
        for node in (everyone if owed is None else owed)
    }


NETWORKS = [
    eyecast.mesh((4, 4)),
    eyecast.mesh((5, 3)),
    eyecast.torus((7,)),
    eyecast.hypercube(3),
    eyecast.with_faults(eyecast.mesh((4, 4)), faulty_nodes=[5, 6]),
]
AGREED = [
    ("reduce", "aligned-tree"),
    ("reduce-scatter", "aligned-halving"),
    ("all-reduce", "aligned-tree"),
    ("all-reduce", "aligned-halving"),
    ("barrier", "aligned-tree"),
]


def request(topology: Topology, collective: str, root: int = 3) -> Request:
    source = root if collective == "reduce" else None
    return Request(topology=topology, words=20, source=source, order="canonical")


@pytest.mark.parametrize("topology", NETWORKS, ids=lambda topology: topology.label)
@pytest.mark.parametrize(("collective", "name"), AGREED)
def test_every_sum_is_the_canonical_one(topology: Topology, collective: str, name: str) -> None:
    made = find_algorithm(collective, name).generate(request(topology, collective))
    made.check()
    expected = canonical(topology.working_nodes.tolist())
    assert set(sums_of(made).values()) == {expected}


@settings(max_examples=30, deadline=None)
@given(
    sides=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    name=st.sampled_from(["tree", "ring", "chain", "eye", "recursive-doubling", "sbt-rooted"]),
)
def test_what_is_accepted_is_canonical_and_what_is_refused_is_not(
    sides: tuple[int, int], name: str
) -> None:
    topology = eyecast.mesh(sides)
    try:
        made = generated("all-reduce", name, topology, words=32, source=None)
    except eyecast.InvalidInput:
        return
    if made.stream.any():
        return
    wanted = replace(made.requests[0], canonical=True)
    asked = replace(made, requests=(wanted,))
    expected = canonical(topology.working_nodes.tolist())
    if set(sums_of(made).values()) <= {expected}:
        asked.check()
    else:
        with pytest.raises(ScheduleError, match="canonical order"):
            asked.check()


def test_an_algorithm_with_another_order_is_refused_with_the_send_that_breaks_it() -> None:
    mesh = eyecast.mesh((4, 4))
    complaint = (
        r"algorithm must be one that adds in the canonical order, as aligned-tree and "
        r"aligned-halving do on any network, not ring: send 11 \(step 1, 0 -> 4\): it combines the "
        r"sum of nodes 0 with that of nodes 4, which is not the canonical order"
    )
    with pytest.raises(eyecast.InvalidInput, match=complaint):
        find_algorithm("all-reduce", "ring").generate(request(mesh, "all-reduce"))
    with pytest.raises(eyecast.InvalidInput, match=r"canonical, or levels with hierarchy, not x"):
        eyecast.schedule(mesh, "ring", collective="all-reduce", order="x")


def test_best_finds_the_fastest_algorithm_that_keeps_the_order() -> None:
    made = eyecast.schedule(
        eyecast.mesh((4, 4)), "best", collective="all-reduce", order="canonical"
    )
    assert set(sums_of(made).values()) == {canonical(range(16))}


def test_a_file_keeps_the_request(tmp_path) -> None:
    made = find_algorithm("reduce", "aligned-tree").generate(request(NETWORKS[0], "reduce"))
    write_schedule(made, tmp_path / "made.json")
    again = read_schedule(tmp_path / "made.json")
    assert again.requests[0].canonical
    exchanged = replace(again, step=again.step[::-1])
    with pytest.raises(ScheduleError):
        exchanged.check()


def test_two_sends_that_combine_in_one_step_have_no_order() -> None:
    """Node 2 has the highest rank, so that adding the two arrivals first would be canonical."""
    blocks = Blocks.reduced_to(((2,),), np.array([4]), "add")
    sends = [Send(1, [0, 2], combine=True), Send(1, [1, 2], combine=True)]
    made = build(eyecast.ring(3), sends, blocks, "reduce", "all-port")
    made = replace(made, root=2)
    made.check()
    wanted = Requested(collective="reduce", words=4, root=2, operator="add", canonical=True)
    with pytest.raises(ScheduleError, match="in the same step, in no canonical order"):
        replace(made, requests=(wanted,)).check()
