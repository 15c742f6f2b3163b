"""Broadcasts on a hypercube: Theorem 4.1 of Johnsson & Ho; copies; other ports."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from helpers.schedules import listed

from eyecast.model.collectives.cube.broadcast_copies import nesbt_copies
from eyecast.model.collectives.cube.broadcast_other_ports import (
    OTHER_PORTS_BROADCAST,
    full_duplex_broadcast,
    half_duplex_broadcast,
)
from eyecast.model.collectives.cube.collectives import cube_schedule
from eyecast.model.collectives.cube.routing_cycles import one_port_cycles
from eyecast.model.collectives.cube.scatter import full_duplex_path_scatter
from eyecast.model.collectives.cube.spanning_graphs import spanning_graph
from eyecast.model.collectives.declared.request import Request
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube
from eyecast.model.papers.costs.tables import find_cost
from eyecast.model.schedule.schedule import Schedule


def label(c: int, j: int, n: int) -> int:
    """Return f(i, j) of Theorem 4.1 for the relative address c."""
    if not c >> j & 1:
        return j + n
    k = next(m % n for m in range(j - 1, j - n - 1, -1) if c >> (m % n) & 1)
    return k if k >= j else k + n


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_theorem_4_1(n: int) -> None:
    source = 6 % (1 << n)
    graph = spanning_graph("nesbt", n, source)
    cycles = [cycle.tolist() for cycle in one_port_cycles(graph)]
    into: dict[int, list[tuple[int, int]]] = {node: [] for node in range(1 << n)}
    out: dict[int, list[tuple[int, int]]] = {node: [] for node in range(1 << n)}
    for j, tree in enumerate(graph.trees):
        for node in range(1 << n):
            if node == source:
                continue
            parent = int(tree.parent[node])
            assert cycles[j][node] == label(node ^ source, j, n)
            assert cycles[j][node] > cycles[j][parent]  # property 1; the source has -1
            into[node].append((cycles[j][node] % n, parent))
            out[parent].append((cycles[j][node] % n, node))
    for node in range(1 << n):
        for links in (into[node], out[node]):  # properties 2 and 3
            assert len({cycle for cycle, _ in links}) == len(links)
        partners = dict(into[node])
        for cycle, child in out[node]:  # property 4
            assert partners.get(cycle, child) == child
    assert max(map(max, cycles)) == (2 * n - 1 if n > 1 else 0)


def test_message_without_packets() -> None:
    """Without a packet size there is one packet for each tree."""
    for graph, all_port, expected in (
        ("sbt", False, [7]),
        ("brg", True, [7]),
        ("nrsbt", False, [3, 2, 2]),
        ("nesbt", False, [3, 2, 2]),
        ("nesbt", True, [3, 2, 2]),
    ):
        schedule = cube_schedule("broadcast", hypercube(3), 0, 7, graph=graph, all_port=all_port)
        assert schedule.blocks.words.tolist() == expected


# ---- Copies down the n trees of nESBT -----------------------------------------------------------


def links(n: int) -> list[tuple[int, int]]:
    return [(a, a ^ (1 << d)) for a in range(1 << n) for d in range(n)]


def holders(schedule: Schedule) -> set[int]:
    """Return the nodes that get a copy, by carrying out the sends one by one."""
    have = {(schedule.root, block) for block in range(len(schedule.blocks))}
    for send in sorted(listed(schedule), key=lambda send: send.step):
        for block in send.blocks:
            assert (send.source, block) in have
            have.add((send.target, block))
    owed = {(node, b) for b, nodes in enumerate(schedule.blocks.owed) for node in nodes or ()}
    assert have == owed
    return {node for node, _ in have}


def prove(cube: Topology, source: int) -> Schedule:
    schedule = nesbt_copies(cube, source, 3)
    schedule.check()
    assert holders(schedule) == set(range(cube.nodes)) - set(cube.faulty_nodes)
    assert schedule.steps <= len(cube.dims) + 1
    assert not {(send.source, send.target) for send in listed(schedule)} & set(cube.faulty_links)
    return schedule


@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_choices_of_n_minus_1_links(n: int) -> None:
    for faulty in combinations(links(n), n - 1):
        prove(with_faults(hypercube(n), (), faulty), 2 % (1 << n))


@pytest.mark.parametrize("n", [4, 5, 6])
def test_drawn_choices_of_n_minus_1_links(n: int) -> None:
    drawn = np.random.default_rng(n)
    all_links = links(n)
    for _ in range(25):
        chosen = drawn.choice(len(all_links), n - 1, replace=False)
        source = int(drawn.integers(1 << n))
        prove(with_faults(hypercube(n), (), [all_links[i] for i in chosen]), source)


def test_n_minus_1_links_of_one_node() -> None:
    # If all links into node 7 except one fail, the copy of the remaining tree still arrives.
    for kept in range(4):
        faulty = [(7 ^ (1 << d), 7) for d in range(4) if d != kept]
        schedule = prove(with_faults(hypercube(4), (), faulty), 0)
        assert sum(7 in (owed or ()) for owed in schedule.blocks.owed) == 1


def test_without_faults_every_copy_reaches_all() -> None:
    schedule = prove(hypercube(4), 5)
    assert schedule.sends == 4 * 15
    assert schedule.steps == 5
    assert schedule.blocks.owed == (tuple(range(16)),) * 4


def test_a_link_that_fails_takes_what_is_below_it() -> None:
    # Tree 0 of the 2-cube from node 0 is 0 -> 1 -> 3 -> 2, tree 1 is 0 -> 2 -> 3 -> 1.
    schedule = prove(with_faults(hypercube(2), (), [(1, 3)]), 0)
    assert schedule.blocks.owed == ((0, 1), (0, 1, 2, 3))


def test_faulty_nodes_are_left_out() -> None:
    schedule = prove(with_faults(hypercube(4), [6]), 0)
    assert all(6 not in (owed or ()) for owed in schedule.blocks.owed)


# ---- Half-duplex and full-duplex broadcasts, and a path's full-duplex scatter -------------------


@pytest.mark.parametrize("graph", OTHER_PORTS_BROADCAST)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("words", [1, 4, 13])
def test_broadcasts(graph: str, n: int, words: int) -> None:
    nodes = 1 << n
    for packet in (1, 3, words):
        count = -(-words // packet)
        half, full = (
            broadcast(Request(topology=hypercube(n), source=1, words=words, packet=packet), graph)
            for broadcast in (half_duplex_broadcast, full_duplex_broadcast)
        )
        for schedule in (half, full):
            schedule.check()
            assert schedule.sends == count * (nodes - 1)
        assert (half.port_model, full.port_model) == ("half-duplex", "full-duplex")
        if n > 2:
            steps = {
                "brg": (2 * count + nodes - 3, count + nodes - 2),
                "sbt": (n * count, n * count),
                "tcbt": (3 * count + 2 * n - 5, 2 * count + 2 * n - 4),
                "nesbt": (2 * count + n - 1, count + n),
            }
            assert (half.steps, full.steps) == steps[graph]


@pytest.mark.parametrize(
    ("graph", "ports", "broadcast"),
    [
        ("brg", "full-duplex", full_duplex_broadcast),
        ("tcbt", "full-duplex", full_duplex_broadcast),
        ("nesbt", "half-duplex", half_duplex_broadcast),
    ],
)
def test_broadcasts_take_the_steps_that_others_count(
    graph: str, ports: str, broadcast: Callable[..., Schedule]
) -> None:
    cost = find_cost("broadcast", graph, ports)
    for n in (2, 3, 4, 6):
        for packet in range(1, 14):
            asked = Request(topology=hypercube(n), source=0, words=12, packet=packet)
            schedule = broadcast(asked, graph)
            assert schedule.steps == cost.start_ups(n, 12, packet)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_path_scatter(n: int) -> None:
    cost = find_cost("scatter", "brg", "full-duplex")
    for packet in (1, 2, 4, 5, None):
        schedule = full_duplex_path_scatter(hypercube(n), 1, 4, packet=packet)
        schedule.check()
        assert schedule.port_model == "full-duplex"
        assert schedule.steps == cost.start_ups(n, 4, packet or 4)
