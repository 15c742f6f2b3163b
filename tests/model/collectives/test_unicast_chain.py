"""U-mesh, U-torus and U-mesh on a torus: every step from every source, and random multicasts."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers.schedules import listed

from eyecast.model.collectives.unicast_chain import (
    u_mesh_broadcast,
    u_mesh_multicast,
    u_torus_broadcast,
    u_torus_multicast,
    u_torus_open_broadcast,
    u_torus_open_multicast,
)
from eyecast.model.network.routes import dateline_vcs
from eyecast.model.network.topology import hypercube, line, mesh, ring, torus
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule

DIMS = [
    *((a, b) for a in range(1, 7) for b in range(1, 7)),
    *((1,), (9,), (7, 5), (5, 7), (8, 8), (3, 3, 3), (5, 3, 4), (2, 2, 2, 2)),
]


def most_on_a_link(schedule: Schedule) -> int:
    """Return the most sends of one step that share a directed link, on any VC."""
    counts = Counter((s.step, *hop) for s in listed(schedule) for hop in pairwise(s.path))
    return max(counts.values(), default=0)


def prove(schedule: Schedule, targets: int) -> None:
    schedule.check()
    assert schedule.sends == targets
    assert 2**schedule.steps >= targets + 1
    assert schedule.steps == 0 or 2 ** (schedule.steps - 1) < targets + 1


@pytest.mark.parametrize("dims", DIMS)
def test_sources_all_over_the_network(dims: tuple[int, ...]) -> None:
    nodes = mesh(dims).nodes
    for source in range(0, nodes, 1 + nodes // 12):
        on_mesh = u_mesh_broadcast(mesh(dims), source, 2)
        paper = u_torus_broadcast(torus(dims), source, 2)
        opened = u_torus_open_broadcast(torus(dims), source, 2)
        for schedule in (on_mesh, paper, opened):
            prove(schedule, schedule.topology.nodes - 1)
        for schedule in (on_mesh, opened):
            assert most_on_a_link(schedule) <= 1
            assert not schedule.vcs.any()


@pytest.mark.parametrize("seed", range(50))
def test_drawn_multicasts(seed: int) -> None:
    draw = np.random.default_rng(seed)
    dims = tuple(draw.integers(1, 9, draw.integers(1, 4)).tolist())
    nodes = int(np.prod(dims))
    source = int(draw.integers(nodes))
    targets = draw.choice(nodes, draw.integers(0, nodes + 1)).tolist()
    others = set(targets) - {source}
    for multicast, topology in (
        (u_mesh_multicast, mesh(dims)),
        (u_torus_multicast, torus(dims)),
        (u_torus_open_multicast, torus(dims)),
    ):
        schedule = multicast(topology, source, targets, 2)
        prove(schedule, len(others))
        assert set(schedule.target.tolist()) == others


def test_lines_rings_and_hypercubes() -> None:
    for topology in (line(13), hypercube(5)):
        for source in range(topology.nodes):
            prove(u_mesh_broadcast(topology, source, 2), topology.nodes - 1)
    for nodes in range(1, 20):
        for broadcast in (u_torus_broadcast, u_torus_open_broadcast):
            prove(broadcast(ring(nodes), nodes // 3, 2), nodes - 1)


def test_sends_of_a_chain_by_hand() -> None:
    """Compare with the drawing at the top of the module: a line of 8, with the source at 4."""
    sends = listed(u_mesh_broadcast(line(8), 4, 1))
    found = {(send.step, send.source, send.target) for send in sends}
    assert found == {(1, 4, 3), (2, 3, 1), (2, 4, 6), (3, 1, 0), (3, 3, 2), (3, 4, 5), (3, 6, 7)}


def test_u_torus_needs_both_channels() -> None:
    """Two sends share a link; with datelines, or with VC 0 alone, they would share a channel."""
    schedule = u_torus_broadcast(torus((3, 5)), 0, 1)
    assert most_on_a_link(schedule) == 2
    for vcs in (
        dateline_vcs(schedule.topology, schedule.path_offsets, schedule.path_nodes),
        np.zeros_like(schedule.vcs),
    ):
        with pytest.raises(ScheduleError, match="it shares link"):
            replace(schedule, vcs=vcs).check()
