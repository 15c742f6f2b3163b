"""The broadcast of Jiang & Wu, section 4: its worked example, its theorems and its costs."""

from dataclasses import replace
from itertools import combinations
from math import ceil, log2

import numpy as np
import pytest
from helpers.fault_meshes import drawn_meshes, faulty_mesh, nodes_of
from helpers.refusals import refusal_of
from helpers.schedules import listed

from eyecast.model.collectives.fault_blocks.blocks import fault_blocks
from eyecast.model.collectives.fault_blocks.broadcast import (
    jiang_wu_broadcast,
    most_steps,
    most_tcd,
    region_eyes,
    region_sends,
)
from eyecast.model.collectives.fault_blocks.regions import FaultRegions
from eyecast.model.collectives.fault_blocks.unicasts import VCS
from eyecast.model.collectives.halving.rectangle import (
    rectangle_broadcast,
    rectangle_steps,
    rectangle_tcd,
)
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.papers.items.jiang_wu import FIGURE_8
from eyecast.model.program.compiler import Compiled, compile_schedule
from eyecast.model.program.deadlock import find_cycle
from eyecast.model.program.payload import Payload
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule

SLOWING = faulty_mesh(5, 3, [(1, 1), (3, 1)])
"""The smallest mesh in which two messages of a step share a link, with the source at 2,0."""


def enabled_nodes(topology: Topology) -> list[int]:
    inside = {
        topology.node_at(node)
        for block in fault_blocks(topology)
        for node in nodes_of(block.left, block.right, block.bottom, block.top)
    }
    return [node for node in range(topology.nodes) if node not in inside]


def config_of(schedule: Schedule) -> NetworkConfig:
    vcs = int(schedule.vcs.max(initial=0)) + 1
    return NetworkConfig(
        topology=schedule.topology, vcs=vcs, flit_width=64, table_words=512, steps=schedule.steps
    )


def on_vc_0(schedule: Schedule) -> Schedule:
    return replace(schedule, vcs=np.zeros_like(schedule.vcs))


# ---- The worked example -----------------------------------------------------------------------


def test_eyes_of_table_1() -> None:
    """Compare the broadcast from 4,5 with the paper's text, eye by eye."""
    schedule = jiang_wu_broadcast(FIGURE_8, FIGURE_8.node_at((4, 5)), 4)
    schedule.check()
    sends = [
        (
            send.step,
            *(tuple(FIGURE_8.coordinates(end).tolist()) for end in (send.source, send.target)),
        )
        for send in listed(schedule)
        if send.step <= 5
    ]
    assert sorted(sends) == [
        (1, (4, 5), (4, 6)),
        (2, (4, 6), (7, 4)),
        (3, (4, 6), (5, 1)),
        (3, (7, 4), (5, 11)),
        (4, (4, 6), (3, 7)),
        (4, (5, 1), (1, 4)),
        (4, (5, 11), (7, 11)),
        (4, (7, 4), (6, 8)),
        (5, (4, 6), (5, 5)),
        (5, (7, 11), (8, 8)),
    ]
    path = listed(schedule)[1].path
    assert FIGURE_8.coordinates(path).tolist() == [[4, 6], [4, 5], [5, 5], [6, 5], [7, 5], [7, 4]]
    assert schedule.steps == 5 + rectangle_steps((2, 13)) == 10 <= most_steps((10, 13), 3)


def test_halves_of_algorithm_4_overlap_where_those_of_table_1_do_not() -> None:
    """By Algorithm 4, both halves of the regions 1 to 5 contain region 3."""
    first, last = 1, 5
    middle = (first + last) / 2
    assert set(range(first, int(middle) + 1)) & set(range(ceil(middle), last + 1)) == {3}
    assert list(region_sends(5, 3)) == [(1, 3, 1), (2, 1, 0), (2, 3, 2), (3, 3, 4)]


def test_sends_between_regions_reach_all_in_the_fewest_steps() -> None:
    for regions in range(1, 70):
        for start in range(0, regions, 5):
            reached = {start: 0}
            for step, sender, receiver in region_sends(regions, start):
                assert reached[sender] < step
                assert receiver not in reached
                reached[receiver] = step
            assert sorted(reached) == list(range(regions))
            assert max(reached.values()) == ceil(log2(regions))


# ---- Drawn fault sets -------------------------------------------------------------------------


@pytest.mark.parametrize("count", [15, pytest.param(300, marks=pytest.mark.slow)])
def test_theorems_5_and_6(count: int) -> None:
    """Require no contention and the bounds on steps and TCD, for many random sets of faults."""
    draw = np.random.default_rng(10)
    for topology in drawn_meshes(count, seed=11, longest=10):
        source = int(draw.choice(enabled_nodes(topology)))
        schedule = jiang_wu_broadcast(topology, source, 1)
        schedule.check()
        blocks = len(fault_blocks(topology))
        m, n = topology.dims
        regions, fault_free = 3 * blocks + 1, rectangle_tcd((m, n))
        lg = [ceil(log2(count)) for count in (regions, m, n)]
        assert schedule.steps <= most_steps((m, n), blocks) == 1 + sum(lg)
        tcd = regions * (2 * m + 2 * n + fault_free - m * n) + m * n + 3 * blocks
        assert schedule.tcd <= most_tcd((m, n), blocks) == tcd
        assert schedule.vcs.max(initial=0) < VCS


def test_steps_and_nodes_served() -> None:
    """The steps between regions and the longest region's steps add up to all steps."""
    for topology in drawn_meshes(5, seed=12, longest=12):
        enabled = enabled_nodes(topology)
        cut = FaultRegions.of(topology)
        longest = max(rectangle_steps(region.sides) for region in cut.regions)
        eyes = region_eyes(topology)
        for source in enabled[::9]:
            schedule = jiang_wu_broadcast(topology, source, 1)
            assert schedule.steps == (source not in eyes) + ceil(log2(len(cut.regions))) + longest
            assert sorted([source, *schedule.target.tolist()]) == enabled
            assert set(schedule.path_nodes.tolist()) <= set(enabled)
            if len(enabled) < topology.nodes:
                assert schedule.blocks.owed == (tuple(enabled),)


def test_a_mesh_without_faults_is_one_region() -> None:
    for sides in [(1, 1), (1, 6), (8, 8), (5, 7)]:
        topology = mesh(sides)
        eyes = region_eyes(topology)
        for source in range(topology.nodes):
            schedule = jiang_wu_broadcast(topology, source, 1)
            schedule.check()
            if source in eyes:
                assert schedule.tcd == rectangle_broadcast(topology, source, 1).tcd
            assert schedule.blocks.owed == (None,)


# ---- Virtual channels -------------------------------------------------------------------------


def test_messages_meet_without_virtual_channels() -> None:
    source = SLOWING.node_at((2, 0))
    schedule = jiang_wu_broadcast(SLOWING, source, 5)
    schedule.check()
    assert schedule.largest_link_load == 2
    message = "send 5 (step 4, 7 -> 3): it shares link 7 -> 2, VC 0 with send 4 (step 4, 11 -> 1)"
    assert refusal_of(on_vc_0(schedule).check, kind=ScheduleError) == message


def test_messages_do_not_meet_in_smaller_meshes() -> None:
    for width, height in [(3, 3), (3, 4), (4, 3)]:
        inner = nodes_of(1, width - 2, 1, height - 2)
        for count in range(len(inner) + 1):
            for faults in combinations(inner, count):
                topology = faulty_mesh(width, height, faults)
                for source in enabled_nodes(topology):
                    on_vc_0(jiang_wu_broadcast(topology, source, 1)).check()


def test_two_messages_on_one_link_slow_each_other_down() -> None:
    """Flits wait exactly with the sources from which two messages share a link."""
    waiting, sharing = set(), set()
    for source in enabled_nodes(SLOWING):
        schedule = jiang_wu_broadcast(SLOWING, source, 5)
        config = config_of(schedule)
        memory = Payload.random(Compiled.of(schedule, config), 1).memory(config)
        result = run(compile_schedule(schedule, config), memory, timing="barrier")
        assert result.finished
        waiting |= {source} if result.stalled_flits.any() else set()
        sharing |= {source} if schedule.largest_link_load > 1 else set()
    assert SLOWING.node_at((2, 0)) in sharing
    assert waiting == sharing


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_network_delivers_on_virtual_channels(timing: str) -> None:
    """Every enabled node gets the message; three channel paths, 4,5 to 7,1 and others, use VC 1."""
    schedule = jiang_wu_broadcast(FIGURE_8, FIGURE_8.node_at((4, 5)), 5)
    config = config_of(schedule)
    assert config.vcs == VCS
    memory = Payload.random(Compiled.of(schedule, config), 1).memory(config)
    result = run(compile_schedule(schedule, config), memory, timing=timing)
    assert result.finished
    assert not result.flags.any()
    enabled = enabled_nodes(FIGURE_8)
    assert (result.memory[enabled, :5] == memory[schedule.root, :5]).all()
    between_nodes = (result.trace.port > 0) & (result.trace.kind >= 2)
    assert (result.trace.vc[between_nodes] == 1).sum() == schedule.vcs.sum() == 7 + 10 + 6


def test_routes_do_not_wait_in_a_circle() -> None:
    draw = np.random.default_rng(14)
    for topology in drawn_meshes(8, seed=15):
        schedule = jiang_wu_broadcast(topology, int(draw.choice(enabled_nodes(topology))), 1)
        assert find_cycle(compile_schedule(schedule, config_of(schedule))) == []
