"""Bounds are never above the fewest cycles found by a random search, and mostly equal to them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers.topologies import distances, neighbors
from helpers.word_search import cycles_of, links_of

from eyecast.model.bounds import cycles
from eyecast.model.bounds.cycles import least_cycles
from eyecast.model.collectives.reductions.bounds import reduction_cycles
from eyecast.model.network.edges import Edges
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree, star_tree
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology, line, mesh, ring, torus
from eyecast.model.schedule.blocks import NO_OWNER, Blocks

ONE, ALL = PortModel.FULL_DUPLEX, PortModel.ALL_PORT
Asked = list[tuple[int, tuple[int, ...], int]]
"""Requests: owner, targets and words of each."""
NETWORKS = (line(4), ring(5), mesh((2, 3)), torus((2, 3)), binary_tree(7), star_tree(3, 2))


def blocks_of(asked: Asked) -> Blocks:
    owners, owed, words = zip(*asked, strict=True)
    return Blocks(np.array(owners), owed, np.array(words))


def draw_asked(draw: np.random.Generator, nodes: list[int]) -> Asked:
    """Draw a broadcast, all-gather, scatter, gather, all-to-all, or words for lists of nodes."""
    everyone, words = tuple(nodes), int(draw.integers(1, 5))
    root = int(draw.choice(nodes))
    others = [node for node in nodes if node != root]

    def some() -> tuple[int, ...]:
        number = int(draw.integers(1, len(nodes) + 1))
        return tuple(sorted(draw.choice(nodes, number, replace=False).tolist()))

    kinds: list[Asked] = [
        [(root, everyone, words)],
        [(node, everyone, words) for node in nodes],
        [(root, (node,), words) for node in others],
        [(node, (root,), words) for node in others],
        [(a, (b,), 1) for a in nodes for b in nodes if a != b],
        [(int(draw.choice(nodes)), some(), int(draw.integers(1, 5))) for _ in range(4)],
    ]
    return kinds[draw.integers(len(kinds))]


def draw_network(draw: np.random.Generator) -> Topology:
    """Draw a network: whole, with a faulty node, or with one-way links; all nodes are in reach."""
    topology = NETWORKS[draw.integers(len(NETWORKS))]
    kind = draw.integers(3)
    if kind == 0:
        topology = with_faults(topology, [int(draw.integers(topology.nodes))])
    if kind == 1:
        links = draw.permutation(sorted(set(links_of(topology))))[:3].tolist()
        topology = with_faults(topology, (), [(begin, end) for begin, end in links])
    working, ends = {*topology.working_nodes.tolist()}, neighbors(topology)
    joined = all(working <= distances(ends, node).keys() for node in working)
    return topology if joined and len(working) > 1 else draw_network(draw)


def equal_bounds(seed: int, number: int) -> int:
    """Require that no bound is above the cycles found; count the bounds that equal them."""
    draw = np.random.default_rng(seed)
    equal = 0
    for _ in range(number):
        topology = draw_network(draw)
        asked = draw_asked(draw, topology.working_nodes.tolist())
        ports = (ONE, ALL)[draw.integers(2)]
        bound = least_cycles(topology, blocks_of(asked), ports).value
        if bound:
            found = cycles_of(topology, asked, all_port=ports == ALL, enough=bound)
            assert bound <= found, (topology.label, asked, ports)
            equal += bound == found
    return equal


def test_no_bound_is_above_the_fewest_cycles_found() -> None:
    assert equal_bounds(1, 25) >= 20


@pytest.mark.slow
def test_no_bound_of_many_is_above_the_fewest_cycles_found() -> None:
    assert equal_bounds(2, 1500) >= 1200


def test_words_for_near_nodes_go_no_farther() -> None:
    """The word for far nodes leaves first; the ten for near nodes leave while it travels."""
    asked: Asked = [(0, (1, 2), 10), (0, (9, 10), 1)]
    bound = least_cycles(line(11), blocks_of(asked), ONE).value
    assert bound <= cycles_of(line(11), asked, all_port=False) == 13


@pytest.mark.parametrize("ports", [ONE, ALL])
def test_the_cut_of_a_subtree_bounds_an_all_to_all(ports: PortModel) -> None:
    """Seven nodes have 60 words for each of the eight others, over one link."""
    asked: Asked = [(a, (b,), 60) for a in range(15) for b in range(15) if a != b]
    assert least_cycles(binary_tree(15), blocks_of(asked), ports).value == 7 * 8 * 60 + 1


@pytest.mark.parametrize("ports", [ONE, ALL])
def test_of_many_pairs_the_hops_are_kept(ports: PortModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is the same without the sum over all pairs, as for a large network."""
    to_all: Asked = [(a, (b,), 4) for a in range(30) for b in range(30) if a != b]
    asked = [Blocks.of_broadcast(0, 16), blocks_of(to_all)]
    whole = [least_cycles(mesh((6, 5)), each, ports) for each in asked]
    monkeypatch.setattr(cycles, "MOST_PAIRS", 8)
    assert [least_cycles(mesh((6, 5)), each, ports) for each in asked] == whole


def reduced(contributors: tuple[int, ...], owed: tuple[int, ...], words: list[int]) -> Blocks:
    count = len(words)
    owners = np.full(count, NO_OWNER)
    return Blocks(
        owners, (owed,) * count, np.array(words), (contributors,) * count, ("add",) * count
    )


def test_an_all_reduce_of_listed_nodes_shares_its_sends() -> None:
    """In each row of a 6x6 mesh, the row's 6 ports send each of its words 2 * 5 times."""
    rows = [tuple(range(6 * row, 6 * row + 6)) for row in range(6)]
    blocks = Blocks(np.full(6, NO_OWNER), tuple(rows), np.full(6, 1024), tuple(rows), ("add",) * 6)
    bound = reduction_cycles(mesh((6, 6)), blocks, ONE, hop_cycles=1)
    assert bound.value == -(-2 * 5 * 1024 // 6)


def test_a_bound_is_that_of_the_request_and_not_of_its_blocks() -> None:
    """With node 4 of a 3x3 mesh faulty, three descriptions of one all-reduce have one bound.

    The other nodes are listed or not, and the words are in one block or in eight.
    """
    topology = with_faults(mesh((3, 3)), [4])
    everyone = tuple(node for node in range(9) if node != 4)
    listed = reduced(everyone, everyone, [1000])
    cut = reduced(everyone[::-1], everyone, [125] * 8)
    unlisted = Blocks.reduced_to((None,), 1000, "add")
    for ports, value in ((ONE, 2 * 7 * 1000 // 8), (ALL, 2 * 7 * 1000 // 16)):
        bounds = {
            reduction_cycles(topology, blocks, ports, hop_cycles=1).value
            for blocks in (listed, cut, unlisted)
        }
        assert bounds == {value}


def least_all_reduce(nodes: int, words: int) -> int:
    """Return the fewest cycles of an all-reduce of fully linked nodes, by search.

    In a cycle a node sends one word that it has, its own contribution or a sum, and gets one.
    """
    start = tuple(tuple(frozenset([node]) for _ in range(words)) for node in range(nodes))
    every = frozenset(range(nodes))
    reached, count = {start}, 0
    while not any(all(part == every for has in state for part in has) for state in reached):
        count += 1
        reached = {after for state in reached for after in _moved(state, nodes, words)}
    return count + 1


State = tuple[tuple[frozenset[int], ...], ...]


def _moved(state: State, nodes: int, words: int) -> set[State]:
    """Return all states after a cycle in which every node gets one useful word, or none."""
    found: set[State] = {state}
    sent = {(state, frozenset[int]())}
    for target in range(nodes):
        more = set()
        for now, senders in sent:
            for source in range(nodes):
                for word in range(words):
                    had, brought = now[target][word], state[source][word]
                    if source in senders or brought <= had or source == target:
                        continue
                    joined = had | brought if had.isdisjoint(brought) else brought
                    if len(joined) > len(had):
                        has = (*now[target][:word], joined, *now[target][word + 1 :])
                        after = (*now[:target], has, *now[target + 1 :])
                        more.add((after, senders | {source}))
        sent |= more
    found |= {now for now, _ in sent}
    return found


@pytest.mark.parametrize(
    ("nodes", "words"),
    [(2, 1), (2, 3), (3, 1), pytest.param(3, 2, marks=pytest.mark.slow)],
)
def test_an_all_reduce_takes_no_less_than_its_bound(nodes: int, words: int) -> None:
    """Two nodes reach the bound; three do not, because nodes wait for each other's words."""
    blocks = Blocks.reduced_to((None,), words, "add")
    bound = reduction_cycles(ring(nodes), blocks, ONE, hop_cycles=1).value
    least = least_all_reduce(nodes, words)
    assert bound == least if nodes == 2 else bound < least


def pendant(length: int) -> Topology:
    """Return a ring of five nodes, with a line of more nodes attached to node 0."""
    line = [0, *range(5, 5 + length)]
    ends = [(node, (node + 1) % 5) for node in range(5)] + list(pairwise(line))
    return Edges(5 + length, np.array(ends), np.zeros(len(ends), np.bool_)).topology()


def test_hops_behind_a_cut_are_those_to_the_nodes_outside() -> None:
    """Four words go over one link to node 5, and both ways around the ring in no more cycles.

    Node 1 gets the words in one order and node 4 in the other. So node 2 gets three words from
    node 1, and the last from node 3 in cycle 3.
    """
    assert least_cycles(pendant(1), Blocks.of_broadcast(0, 4), ALL).value == 4 + 1


@pytest.mark.parametrize(
    "asked",
    [
        # The word for all nodes leaves first, and travels to node 7 while the others leave.
        [(0, tuple(range(8)), 1), (0, (1, 5), 3)],
        [(0, tuple(range(8)), 1), (0, (5,), 3)],
    ],
)
def test_after_a_cut_words_go_as_far_as_those_who_get_them(asked: Asked) -> None:
    bound = least_cycles(pendant(3), blocks_of(asked), ALL).value
    assert bound == cycles_of(pendant(3), asked, all_port=True) == 5


@pytest.mark.parametrize(("length", "words"), [(251, 3), (252, 2)])
def test_up_to_256_nodes_the_way_behind_the_tightest_cut_counts(length: int, words: int) -> None:
    """Three words leave the end of a line by one link, and node 2 gets them by two ports."""
    bound = least_cycles(pendant(length), Blocks.of_broadcast(length + 3, 3), ALL)
    assert bound.value == words + length + 1
    cut = f"3 words must leave 2 nodes by 1 link, and go {length + 1} hops"
    assert (bound.reason == cut) == (length == 251)


def test_no_words_leave_the_nodes_for_a_switch_without_others() -> None:
    """A slow link leads from the switch between the two nodes to a second switch."""
    ends = np.array([(0, 2), (1, 2), (2, 3)])
    two = Edges(4, ends, np.zeros(3, np.bool_), switches=(2, 3)).topology()
    rates = np.ones(two.neighbor.shape, np.int64)
    rates[2, two.neighbor[2] == 3] = 63
    slow = replace(two, link_rate_of=rates)
    assert least_cycles(slow, Blocks.of_broadcast(0, 1), ONE).value == 2 + 1


def test_words_leave_a_set_of_nodes_by_the_links_out_of_it() -> None:
    """Nodes 0, 1, 4 and 5 have three words each for a node outside; two links lead there."""
    topology = with_faults(mesh((4, 2)), (), [(2, 1)])
    asked: Asked = [(node, (node + 2,), 3) for node in (0, 1, 4, 5)]
    bound = least_cycles(topology, blocks_of(asked), ONE).value
    assert bound == cycles_of(topology, asked, all_port=False) == 2 * 3 + 1
