"""Tree broadcasts and multicasts across switches: they serve all other nodes in fewest steps."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.switch_networks import fat_tree, switch_mesh, switch_star, switch_tree
from helpers.tree_networks import (
    drawn_edges,
    drawn_graph,
    graph_of,
    judge,
    proved,
    star,
    with_drawn_faults,
)

from eyecast.model.collectives.tree.broadcast import tree_broadcast, tree_multicast
from eyecast.model.collectives.tree.graph import two_way_graph
from eyecast.model.collectives.tree.intervals import interval_sends, tree_path
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import with_switches
from eyecast.model.network.topology import Topology, line, mesh
from eyecast.model.schedule.broadcast_bounds import least_spanning_tcd
from eyecast.model.schedule.schedule import Schedule


@pytest.mark.parametrize(
    "topology",
    [switch_star(1), switch_star(2), switch_star(9), switch_tree(), switch_mesh(4, 3), fat_tree(4)],
    ids=lambda topology: topology.label,
)
def test_every_source_of_networks_as_they_are_built(topology: Topology) -> None:
    steps = (len(topology.working_nodes) - 1).bit_length()
    for source in topology.working_nodes.tolist():
        schedule = proved(topology, source)
        assert (schedule.collective, schedule.steps) == ("broadcast", steps)


@pytest.mark.parametrize("ports", [4, 8])
def test_fat_trees_are_served_at_the_lower_bound(ports: int) -> None:
    topology = fat_tree(ports)
    source = int(topology.working_nodes[-1])
    assert proved(topology, source).tcd == least_spanning_tcd(topology)


def test_stars_are_served_at_the_optimum() -> None:
    assert [proved(switch_star(n), 1).tcd for n in (2, 5, 33)] == [2, 8, 64]


@pytest.mark.parametrize("seed", range(40))
def test_any_graph_any_switches_any_faults(seed: int) -> None:
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(4, 60))
    edges = drawn_edges(nodes, int(draw.integers(0, nodes)), draw)
    switches = np.flatnonzero(draw.random(nodes) < draw.random())
    whole = graph_of(nodes, edges, switches[: nodes - 2].tolist())
    proved(whole, int(draw.choice(whole.working_nodes)))
    topology, _ = with_drawn_faults(whole, 0.1, 0.2, seed)
    if topology.working_nodes.size:
        proved(topology, int(draw.choice(topology.working_nodes)))


@pytest.mark.parametrize("seed", range(10))
def test_intervals_count_the_links_over_who_is_left_out(seed: int) -> None:
    draw = np.random.default_rng(seed)
    nodes = int(draw.integers(5, 40))
    graph = two_way_graph(drawn_graph(nodes, nodes // 3, seed))
    members = draw.random(nodes) < 0.5
    members[0] = True
    steps = int(members.sum() - 1).bit_length()
    tree = interval_sends(graph, 0, steps, 20, members)
    paths = [tree_path(tree.parents, *ends) for ends in tree.rows[:, 1:].tolist()]
    assert tree.tcd == sum(len(path) - 1 for path in paths)
    assert sorted(tree.rows[:, 2].tolist()) == np.flatnonzero(members)[1:].tolist()


@pytest.mark.parametrize("seed", range(12))
def test_links_of_one_way_between_switches(seed: int) -> None:
    """In a one-way ring every third node is a member, and no path leads back."""
    nodes = 6 + 3 * seed
    ring = graph_of(nodes, [(n, (n + 1) % nodes) for n in range(nodes)])
    members = range(0, nodes, 3)
    switches = [n for n in range(nodes) if n not in members]
    topology = with_faults(
        with_switches(ring, switches), [], [((n + 1) % nodes, n) for n in range(nodes)]
    )
    schedule = proved(topology, 0)
    assert schedule.steps == (len(members) - 1).bit_length()


def test_switches_that_nobody_needs_may_be_out_of_reach() -> None:
    cut_off = graph_of(4, [(0, 1), (1, 2), (2, 3)], [1, 3])
    schedule = tree_broadcast(with_faults(cut_off, [], [(2, 3), (3, 2)]), 0, 2)
    schedule.check()
    assert (schedule.collective, schedule.steps, schedule.tcd) == ("broadcast", 1, 2)
    assert schedule.blocks.owed == (None,)


def test_a_source_that_is_a_switch_and_a_node_out_of_reach() -> None:
    assert refusal_of(tree_broadcast, switch_star(3), 0, 2) == (
        "source must be a node with a network interface, not switch 0"
    )
    assert refusal_of(tree_broadcast, with_faults(switch_star(3), [0]), 1, 2) == (
        "network for a broadcast from node 1 must be one in which it reaches all nodes, "
        "not a graph of 4 with 1 switch and 1 faulty node, where no path leads to node 2"
    )


# ---- Multicasts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "topology", [mesh((5, 4)), star(12), fat_tree(4), line(17)], ids=lambda topology: topology.label
)
def test_multicasts_take_the_fewest_steps(topology: Topology) -> None:
    draw = np.random.default_rng(topology.nodes)
    working = topology.working_nodes
    for _ in range(25):
        size = int(draw.integers(1, working.size))
        source, *targets = draw.choice(working, 1 + size, replace=False).tolist()
        schedule = tree_multicast(topology, source, [*targets, source], 3)
        schedule.check()
        # The judge knows only broadcasts: it takes nodes outside the multicast for switches.
        others = set(range(topology.nodes)) - {source, *targets}
        judge_as(schedule, others, source)
        assert schedule.blocks.owed == (tuple(sorted(targets)),)
        assert schedule.steps == len(targets).bit_length()
        assert set(schedule.target.tolist()) == set(targets)


def judge_as(schedule: Schedule, switches: set[int], source: int) -> None:
    """Judge a multicast as the broadcast of a network in which all others are switches."""
    topology = replace(schedule.topology, switches=tuple(sorted(switches)))
    judge(replace(schedule, topology=topology), source)


def test_multicasts_over_links_of_one_way() -> None:
    one_way = with_faults(line(6), [], [(n + 1, n) for n in range(5)])
    schedule = tree_multicast(one_way, 1, [5, 3, 4], 2)
    schedule.check()
    assert schedule.steps == 2
    assert refusal_of(tree_multicast, one_way, 1, [0, 3], 2) == (
        "network for a multicast from node 1 must be one in which it reaches its targets, "
        "not a line of 6 with 5 faulty links, where no path leads to node 0"
    )


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([0], "target must be a node with a network interface, not switch 0"),
        ([9], "target must be 0 to 4, not 9"),
        ([3], "target must be a node that is not faulty, not 3"),
    ],
)
def test_targets_that_are_refused(targets: list[int], message: str) -> None:
    assert refusal_of(tree_multicast, with_faults(switch_star(4), [3]), 1, targets, 2) == message
