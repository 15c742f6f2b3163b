"""Cuts against all subsets of small networks and networkx' flows, and distances."""

from collections import deque
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from eyecast.model.base.arrays import Numbers
from eyecast.model.bounds.cycles import least_cycles
from eyecast.model.bounds.hops import UNREACHED, hops_from, lengths_from
from eyecast.model.bounds.sides import NodeSets, sides
from eyecast.model.bounds.tightest_cut import Cutter
from eyecast.model.collectives.lower_bounds import lower_bounds
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.kinds import KINDS
from eyecast.model.network.links import linked_pairs
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.routes import route
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.collective import Collective

SOME = Fraction(1, 1000)


def links(topology: Topology) -> list[tuple[int, int]]:
    return [
        (node, end) for node in range(topology.nodes) for end in topology.neighbor[node] if end >= 0
    ]


ONE_WAY = with_faults(mesh((3, 3)), (), [(0, 1), (4, 3), (4, 7), (8, 7), (2, 5)])


def held(found: Iterator[NodeSets]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(each).tolist()) for several in found for each in several}


def test_the_tried_cuts_are_planes_and_the_nodes_nearer_to_one_end() -> None:
    """Without owners the cuts of a line are its planes, and those of a star its subtrees."""
    no_owners = np.zeros((0, 4), np.int64)
    below = {frozenset(range(place)) for place in range(1, 4)}
    above = {frozenset(range(place, 4)) for place in range(1, 4)}
    assert held(sides(mesh((4,)), no_owners)) == below | above
    star = graph([[-1, 1, 2, 3], *[[-1, 0, -1, -1]] * 3])
    leaves = {frozenset({leaf}) for leaf in (1, 2, 3)}
    assert held(sides(star, no_owners)) == leaves | {frozenset(range(4)) - leaf for leaf in leaves}


def test_a_node_that_neither_end_of_a_link_reaches_is_not_nearer_to_one() -> None:
    """Node 2 has no links, and the link from node 1 to node 3 has no way back."""
    island = graph([[-1, 1, -1], [-1, 0, 3], [-1, -1, -1], [-1, 1, -1]])
    found = held(sides(with_faults(island, (), [(3, 1)]), np.zeros((0, 4), np.int64)))
    assert frozenset({0, 1}) in found
    assert frozenset({0, 1, 2}) not in found


def test_the_tried_cuts_of_large_and_of_wrapped_grids() -> None:
    """A large grid is cut at its ends and middle, a wrapped axis into halves."""
    no_owners = np.zeros((0, 1), np.int64)
    sizes = {len(each) for each in held(sides(mesh((64, 65)), no_owners))}
    places = {65 * place for place in (1, 32, 63)} | {64 * place for place in (1, 32, 64)}
    assert sizes == places | {64 * 65 - size for size in places}
    assert held(sides(torus((90, 50)), no_owners)) == {
        frozenset(half)
        for half in (
            {node for node in range(4500) if node % 90 < 45},
            {node for node in range(4500) if node % 90 >= 45},
            range(2250),
            range(2250, 4500),
        )
    }


def without_a_link(*dims: int) -> Topology:
    return with_faults(mesh(dims), (), [(0, 1)])


@pytest.mark.parametrize(
    ("topology", "owners", "kinds"),
    [
        (mesh((256,)), [0], ["planes", "near an owner"]),
        (mesh((257,)), [0], ["planes"]),
        (without_a_link(32, 64), [], ["planes", "planes", "near a link"]),
        (without_a_link(683, 3), [], ["planes", "planes"]),
    ],
)
def test_more_cuts_are_tried_up_to_a_size(
    topology: Topology, owners: list[int], kinds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hops = hops_from(topology, np.array(owners, np.int64))
    # The hops between all nodes take long, and the number of cuts is not of interest here.
    no_hops = np.zeros((topology.nodes, topology.nodes), np.int8)
    monkeypatch.setattr("eyecast.model.bounds.sides.hops_from", lambda *_: no_hops)
    assert len(list(sides(topology, hops))) == 2 * len(kinds)


@pytest.mark.parametrize(("dims", "cuts"), [((64, 64), 63 + 63), ((17, 241), 3 + 3)])
def test_up_to_4096_nodes_a_grid_is_cut_at_every_coordinate(
    dims: tuple[int, ...], cuts: int
) -> None:
    found = sides(mesh(dims), np.zeros((0, 1), np.int64))
    assert sum(map(len, found)) == 2 * cuts


def test_the_nodes_within_each_distance_of_an_owner_are_tried() -> None:
    hops = np.array([[2, 1, 0, 1, UNREACHED]])
    within = [{2}, {1, 2, 3}]
    found = held(sides(mesh((5,)), hops))
    assert all(frozenset(near) in found for near in within)
    assert all(frozenset(range(5)) - near in found for near in within)


def best_ratio(
    topology: Topology, words: list[int], target: int, *, backwards: bool = False
) -> Fraction:
    """Return the best ratio of words to links over all sets of nodes without the target."""
    ways = [(b, a) if backwards else (a, b) for a, b in links(topology)]
    best = SOME
    for members in range(1, 1 << topology.nodes):
        if members >> target & 1:
            continue
        crossing = sum(members >> a & 1 and not members >> b & 1 for a, b in ways)
        inside = sum(count for node, count in enumerate(words) if members >> node & 1)
        if crossing:
            best = max(best, Fraction(inside, crossing))
    return best


@pytest.mark.parametrize("topology", [mesh((3, 3)), torus((3, 3)), hypercube(3), ONE_WAY])
@pytest.mark.parametrize("backwards", [False, True])
def test_the_tightest_cut_is_that_of_all_subsets(topology: Topology, backwards: bool) -> None:
    draw = np.random.default_rng(0)
    for target in (0, topology.nodes - 1):
        words = draw.integers(0, 9, topology.nodes)
        words[target] = 0
        cutter = Cutter(topology, backwards=backwards)
        found = cutter.tightest(words, target, SOME)
        assert found is not None
        assert found.ratio == best_ratio(topology, words.tolist(), target, backwards=backwards)
        assert cutter.tightest(words, target, found.ratio) is None


def nx_flow(topology: Topology, target: int, ratio: Fraction, words: int) -> bool:
    """Tell whether ``words`` of each working node reach ``target`` under a limit for each link."""
    import networkx as nx

    graph = nx.DiGraph()
    for begin, end in links(topology):
        graph.add_edge(begin, int(end), capacity=ratio.numerator)
    for node in topology.working_nodes.tolist():
        graph.add_edge("origin", node, capacity=words * ratio.denominator)
    flown = nx.maximum_flow_value(graph, "origin", target)
    return flown == words * ratio.denominator * len(topology.working_nodes)


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_an_all_gather_is_that_of_networkx(seed: int) -> None:
    whole = mesh((4, 4))
    topology = with_faults(whole, draw_faults(whole, 0.15, seed=seed, keep=()))
    working, words = topology.working_nodes, 100
    blocks = Blocks(working, (None,) * len(working), np.full(len(working), words))
    bound = least_cycles(topology, blocks, PortModel.ALL_PORT).value - 1
    # The bound is the cut's ratio, rounded up to whole cycles, plus one hop.
    goals = working.tolist()
    assert all(nx_flow(topology, goal, Fraction(bound), words) for goal in goals)
    below = Fraction(bound) - 1
    assert not all(nx_flow(topology, goal, below, words) for goal in goals)


# ---- Distances -----------------------------------------------------------------------------------


SIZES = {
    "mesh": ((4, 3), (3, 1, 2), (5,)),
    "torus": ((5, 2), (4, 3), (2, 2, 3)),
    "hypercube": ((1,), (4,)),
    "line": ((1,), (6,)),
    "ring": ((1,), (2,), (7,)),
    "binary-tree": ((1,), (11,)),
    "star-tree": ((1, 4), (3, 4)),
    "diagonal-mesh": ((1,), (2,), (5,)),
    "de-bruijn": ((2, 3), (3, 2)),
}
NETWORKS = [KINDS[name].network(size) for name in KINDS for size in SIZES[name]]


def searched(topology: Topology) -> Numbers:
    """Search the links breadth first: hops between all nodes, shape (nodes, nodes)."""
    ends: dict[int, list[int]] = {node: [] for node in range(topology.nodes)}
    for begin, end in zip(*map(np.ndarray.tolist, linked_pairs(topology)), strict=True):
        ends[begin].append(end)
    hops = np.full((topology.nodes, topology.nodes), UNREACHED)
    for source in range(topology.nodes):
        hops[source, source], waiting = 0, deque([source])
        while waiting:
            node = waiting.popleft()
            for end in ends[node]:
                if hops[source, end] == UNREACHED:
                    hops[source, end] = hops[source, node] + 1
                    waiting.append(end)
    return hops


@pytest.mark.parametrize("whole", NETWORKS, ids=lambda network: network.label)
def test_distances_are_those_of_a_search(whole: Topology) -> None:
    links = list(zip(*map(np.ndarray.tolist, linked_pairs(whole)), strict=True))[:1]
    for topology in (whole, with_faults(whole, [whole.nodes - 1]), with_faults(whole, (), links)):
        expected, every = searched(topology), np.arange(topology.nodes)
        assert (hops_from(topology, every) == expected).all()
        assert (lengths_from(topology, every, np.ones(topology.neighbor.shape)) == expected).all()
        sources, targets = np.nonzero(expected != UNREACHED)
        for vcs in (1, 2):
            offsets, _, _ = route(topology, sources, targets, vcs)
            assert (np.diff(offsets) - 1 == expected[sources, targets]).all()
        if topology.whole_grid and topology.nodes > 1:
            found = lower_bounds(Collective.ALL_TO_ALL, topology, None, 1, "full-duplex")
            assert found.word_hops.value == expected.sum()
