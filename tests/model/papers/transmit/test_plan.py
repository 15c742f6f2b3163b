"""Plans and their flood against the paper's definition, and the schedules made from them."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.topologies import distances, neighbors
from helpers.transmit import covered, drawn_graphs, node_link

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree, de_bruijn, diagonal_mesh, star_tree
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring
from eyecast.model.papers.transmit.cubes_and_de_bruijn import antipodal_plan, theorem_6_plan
from eyecast.model.papers.transmit.lines import path_plan
from eyecast.model.papers.transmit.plan import (
    NOT_REACHED,
    Plan,
    counted_time,
    counted_work,
    flood,
    require_connected,
)
from eyecast.model.papers.transmit.schedule import transmit_schedule
from eyecast.model.papers.transmit.search import greedy_plan
from eyecast.model.schedule.file import read_schedule, write_schedule
from eyecast.model.schedule.rules import ScheduleError

NETWORKS = [
    *(line(1), line(9), ring(7), mesh((4, 3)), hypercube(4)),
    *(binary_tree(12), star_tree(3, 3), diagonal_mesh(5), de_bruijn(2, 4), de_bruijn(3, 2)),
    with_faults(mesh((4, 4)), [5, 10], [(0, 1)]),
    node_link(5, [(0, 1), (2, 1), (2, 3), (4, 3)], directed=True),
]


# ---- The time at which a processor has the message ------------------------------------------


def test_the_line_drawn_in_the_module() -> None:
    plan = Plan.of_centres(line(9), (2, 6, 8), "drawn")
    assert plan.arrival.tolist() == [3, 2, 1, 2, 3, 3, 2, 3, 3]
    assert plan.cost == (3, 3)


def test_the_papers_example_of_a_binary_tree() -> None:
    """Section 3: in FT(12) the host sends to vertices 2, 6 and 7 in time units 1, 2 and 3."""
    plan = Plan.of_centres(binary_tree(12), (2 - 1, 6 - 1, 7 - 1), "Figure 1")
    assert plan.cost == (3, 3)
    assert Plan.of_centres(binary_tree(12), (0,), "Figure 1").cost == (4, 1)


def test_one_send_takes_the_diameter_and_one_step() -> None:
    """Section 1: there is always a (D + 1, 1) scheme."""
    for topology in (line(6), hypercube(4), binary_tree(15), de_bruijn(2, 4)):
        links = neighbors(topology)
        diameter = max(max(distances(links, node).values()) for node in links)
        slowest = max(Plan(topology, ((1, node),), "one").time for node in links)
        assert slowest == diameter + 1


def test_alon_on_a_cube() -> None:
    """Section 1: sends to a node and then to its opposite take ceil(n / 2) + 1 time units."""
    assert antipodal_plan(hypercube(3)).arrival.tolist() == [1, 2, 2, 3, 2, 3, 3, 2]


@pytest.mark.parametrize("topology", [*NETWORKS, *drawn_graphs(40, 9, seed=1)])
def test_flood_is_the_union_of_neighborhoods(topology: Topology) -> None:
    links = neighbors(topology)
    draw = np.random.default_rng(topology.nodes)
    for _ in range(5):
        steps = np.flatnonzero(draw.random(6) < 0.5).tolist() or [0]
        sends = tuple((step + 1, int(draw.integers(topology.nodes))) for step in steps)
        arrival = flood(topology, sends)
        for time in range(1, 16):
            reached = np.flatnonzero((arrival != NOT_REACHED) & (arrival <= time))
            assert set(reached.tolist()) == covered(links, sends, time)


def test_idle_steps_and_late_sends_count_as_time() -> None:
    assert Plan(line(3), ((2, 1),), "idle").cost == (3, 1)
    assert Plan(line(3), ((1, 1), (5, 0)), "late").cost == (5, 2)


def test_a_plan_that_leaves_a_node_out_has_no_cost() -> None:
    topology = node_link(3, [(1, 0), (1, 2)], directed=True)
    plan = Plan(topology, ((1, 0),), "half")
    assert plan.missed == [1, 2]
    with pytest.raises(InvalidInput, match=r"^plan must be one that reaches all nodes, not one wi"):
        _ = plan.cost


BAD_PLANS: list[tuple[tuple[tuple[int, int], ...], str]] = [
    (((0, 1),), "step of a send of the host must be at least 1, not 0"),
    (((1, 4),), "target of the host must be 0 to 3, not 4"),
    (((1, -1),), "target of the host must be 0 to 3, not -1"),
    (((1, 0),), "target of the host must be a node that is not faulty, not 0"),
    *(
        (
            ((2, 1), (step, 2)),
            "step of a send of the host must be after step 2, in which the host sends too, "
            f"not {step}",
        )
        for step in (2, 1)
    ),
]


@pytest.mark.parametrize(("sends", "message"), BAD_PLANS)
def test_plans_that_cannot_be(sends: Any, message: str) -> None:
    assert refusal_of(Plan, with_faults(line(4), [0]), sends, "bad") == message


# ---- Counting -------------------------------------------------------------------------------


def test_counted_bounds_are_the_least_that_hold_enough() -> None:
    for largest in ([1, 3, 5, 7, 9], [1, 5, 13, 16], [1, 4, 4], [1]):
        sizes = largest + [largest[-1]] * 40
        for nodes in range(1, 40):
            time = counted_time(largest, nodes)
            assert sum(sizes[:time]) >= nodes > sum(sizes[: time - 1])
            work = counted_work(largest, nodes, time)
            assert sum(sizes[time - work : time]) >= nodes > sum(sizes[time - work + 1 : time])
            assert counted_work(largest, nodes, time - 1) == time


def test_networks_that_hang_together() -> None:
    for topology in NETWORKS:
        require_connected(topology)
    require_connected(line(5000))
    require_connected(with_faults(line(4), [3]))
    require_connected(with_faults(line(3), [], [(0, 1), (2, 1)]))


def test_networks_in_pieces_are_refused() -> None:
    assert refusal_of(require_connected, with_faults(line(4), [1])) == (
        "network to transmit on must be connected, not a line of 4 with 1 faulty node, where "
        "nothing links node 2 to node 0"
    )
    assert refusal_of(require_connected, node_link(4, [(0, 1), (2, 3)])) == (
        "network to transmit on must be connected, not a graph of 4, where nothing links node 2 "
        "to node 0"
    )
    assert refusal_of(require_connected, with_faults(line(2), [0, 1])) == (
        "network to transmit on must be one with a node that is not faulty, not none"
    )


# ---- Schedules ------------------------------------------------------------------------------


def plans() -> list[Plan]:
    found = [greedy_plan(topology) for topology in [*NETWORKS, *drawn_graphs(20, 9, seed=2)]]
    idle = Plan(line(5), ((2, 1), (4, 4)), "idle")
    # Node 1 has the message in step 2, so the send of step 3 is useless.
    useless = Plan(line(5), ((1, 2), (2, 0), (3, 1), (4, 4)), "useless")
    return [*found, idle, useless, theorem_6_plan(de_bruijn(2, 5)), path_plan(line(200))]


@pytest.mark.parametrize("plan", plans(), ids=lambda plan: f"{plan.topology.label} {plan.scheme}")
def test_schedules_are_proved_and_arrive_when_the_flood_does(plan: Plan) -> None:
    schedule = transmit_schedule(plan, 3)
    schedule.check()
    arrival, host = plan.arrival, plan.topology.nodes
    assert schedule.topology.nodes == host + 1
    assert dict(zip(schedule.target.tolist(), schedule.step.tolist(), strict=True)) == {
        node: step for node, step in enumerate(arrival.tolist()) if step != NOT_REACHED
    }
    assert (schedule.distances == 1).all()
    from_host = schedule.source == host
    sent = list(zip(schedule.step[from_host].tolist(), schedule.target[from_host], strict=True))
    assert sent == [(step, node) for step, node in plan.sends if arrival[node] == step]
    assert len({step for step, _ in sent}) == len(sent), "the host is one-port"
    assert schedule.blocks.words.tolist() == [3]


def test_a_useless_send_is_left_out() -> None:
    schedule = transmit_schedule(Plan(line(3), ((1, 1), (2, 0)), "useless"), 1)
    assert schedule.sends == 3
    plan = Plan(line(3), ((1, 1), (3, 0)), "useless")
    assert [send for send in plan.sends if send[1] == 0] == [(3, 0)]
    assert transmit_schedule(plan, 1).topology.neighbor[3].tolist() == [-1, 1, -1, -1]


def test_a_schedule_in_a_file(tmp_path: Any) -> None:
    schedule = transmit_schedule(theorem_6_plan(de_bruijn(2, 3)), 16)
    write_schedule(schedule, tmp_path / "s.json")
    back = read_schedule(tmp_path / "s.json")
    back.check()
    assert back.topology.label == "de Bruijn graph 2,3 and host"
    assert (back.root, back.algorithm, back.steps, back.tcd) == (8, "transmit", 3, 8)


def test_the_check_notices_a_link_that_works_the_other_way_only() -> None:
    schedule = transmit_schedule(theorem_6_plan(de_bruijn(2, 3)), 1)
    # Node 2 sends to 4 over its link; 4 has no link to 2.
    send = schedule.target.tolist().index(4)
    assert schedule.source[send] == 2
    path = schedule.path_nodes.copy()
    path[2 * send : 2 * send + 2] = (4, 2)
    source, target = schedule.source.copy(), schedule.target.copy()
    source[send], target[send] = 4, 2
    with pytest.raises(ScheduleError, match=re.escape("there is no link 4 -> 2")):
        replace(schedule, source=source, target=target, path_nodes=path).check()


def test_messages_without_words_are_refused() -> None:
    assert refusal_of(transmit_schedule, path_plan(line(4)), 0) == "words must be at least 1, not 0"
