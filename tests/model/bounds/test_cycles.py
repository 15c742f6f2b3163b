"""Bounds in cycles: equal to the literature's and to hand counts, and never above a run."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from eyecast.model.bounds import cycles
from eyecast.model.bounds.cycles import least_cycles
from eyecast.model.bounds.demand import Demand
from eyecast.model.bounds.hops import hops_from, lengths_from
from eyecast.model.collectives.reductions.bounds import reduction_cycles
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology, line, mesh, ring, torus
from eyecast.model.schedule.blocks import Blocks

ONE, ALL = PortModel.FULL_DUPLEX, PortModel.ALL_PORT


def all_gather(nodes: int, words: int) -> Blocks:
    return Blocks(np.arange(nodes), (None,) * nodes, np.full(nodes, words))


def all_to_all(nodes: int, words: int) -> Blocks:
    pairs = [(a, b) for a in range(nodes) for b in range(nodes) if a != b]
    owed = tuple((b,) for _, b in pairs)
    return Blocks(np.array([a for a, _ in pairs]), owed, np.full(len(pairs), words))


def scatter(nodes: int, words: int) -> Blocks:
    owed = tuple((node,) for node in range(1, nodes))
    return Blocks(np.zeros(nodes - 1), owed, np.full(nodes - 1, words))


@pytest.mark.parametrize(
    ("topology", "blocks", "ports", "cycles"),
    [
        (mesh((8, 8)), Blocks.of_broadcast(0, 1024), ONE, 14 + 1024),
        (mesh((8, 8)), Blocks.of_broadcast(0, 1024), ALL, 14 + 512),
        # Four links leave the root in the middle, but only two lead to a corner.
        (mesh((8, 8)), Blocks.of_broadcast(27, 1024), ALL, 8 + 512),
        (mesh((8, 8)), all_gather(64, 16), ONE, 63 * 16 + 1),
        (mesh((8, 8)), all_gather(64, 256), ALL, 63 * 128 + 1),
        (torus((8, 8)), all_gather(64, 256), ALL, 63 * 64 + 1),
        (torus((16, 16)), all_gather(256, 256), ALL, 255 * 64 + 1),
        (mesh((8, 8)), all_to_all(64, 4), ONE, 512 + 1),
        # The last node of a line is 3 hops away; two words for each of 3 nodes leave node 0.
        (line(4), scatter(4, 2), ONE, 6 + 1),
        (line(4), scatter(4, 1), ONE, 3 + 1),
        # Words of nodes 0 and 1 for two nodes each share the link 2 -> 3.
        (line(7), Blocks(np.array([0, 1]), ((3, 4), (5, 6)), np.array([10, 10])), ONE, 20 + 1),
        (line(3), Blocks(np.array([0]), ((0,),), np.array([5])), ONE, 0),
        (line(3), Blocks(np.array([0]), ((),), np.array([5])), ONE, 0),
        (line(3), Blocks(np.array([0]), ((),), np.array([5])), ALL, 0),
    ],
)
def test_known_bounds(topology: Topology, blocks: Blocks, ports: PortModel, cycles: int) -> None:
    assert least_cycles(topology, blocks, ports).value == cycles


TWO_BY_THREE = graph([[-1, 2, 3, 4]] * 2 + [[-1, 0, 1, -1]] * 3)


def two_hops_apart(more: int) -> Blocks:
    """Return 60 words from each node of K(2,3) for each two hops away, and more from node 0."""
    pairs = [*permutations(range(2), 2), *permutations(range(2, 5), 2)]
    owner, target = np.array(pairs).T
    owed = (*((node,) for node in target.tolist()), (2, 3))
    return Blocks(np.append(owner, 0), owed, np.array([60] * len(pairs) + [more]))


@pytest.mark.parametrize(("more", "hops"), [(0, 8 * 60 * 2), (12, 8 * 60 * 2 + 2 * 12)])
def test_words_for_single_and_for_several_nodes_share_all_links(more: int, hops: int) -> None:
    """Between nodes two hops apart in K(2,3), the links carry more hops than any cut allows.

    Node 0 has ``more`` words for both of its neighbors 2 and 3.
    """
    bound = least_cycles(TWO_BY_THREE, two_hops_apart(more), ALL)
    assert (bound.value, bound.reason) == (
        hops // 12,
        f"all words together cross at least {hops:,} links, 12 at a time",
    )


@pytest.mark.parametrize(("pairs", "counted"), [(25, True), (24, False)])
def test_the_hops_of_all_words_are_added_up_to_a_number_of_pairs(
    pairs: int, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cycles, "MOST_PAIRS", pairs)
    assert (
        "all words together" in least_cycles(TWO_BY_THREE, two_hops_apart(0), ALL).reason
    ) == counted


def test_link_registers_make_a_hop_longer() -> None:
    blocks = Blocks.of_broadcast(0, 100)
    assert least_cycles(mesh((4, 4)), blocks, ONE, hop_cycles=3).value == 3 * 6 + 100


def test_a_path_is_as_long_as_the_registers_of_its_links() -> None:
    """The link 0 -> 1 of a line has five registers, and 1 -> 2 the two of the network."""
    registers = np.full((3, 3), -1)
    registers[0, 1] = 5
    slow = replace(line(3), link_registers_of=registers)
    bound = least_cycles(slow, Blocks.of_broadcast(0, 100), ONE, hop_cycles=3)
    assert bound.value == (1 + 5) + (1 + 2) + 100


def test_lengths_of_paths_go_around_a_long_link() -> None:
    """From node 0 of a ring of four, whose link 0 -> 1 has length 9; the link 2 -> 3 is missing."""
    four = with_faults(ring(4), (), [(2, 3)])
    lengths = np.ones(four.neighbor.shape, np.int64)
    lengths[0, four.neighbor[0].tolist().index(1)] = 9
    found = lengths_from(four, np.array([0, 2]), lengths)
    assert found.tolist() == [[0, 3, 2, 1], [2, 1, 0, 3]]


def test_a_node_without_a_path_to_it_is_minus_one_hop_away() -> None:
    one_way = with_faults(line(3), (), [(1, 2)])
    assert hops_from(one_way, np.array([0, 2])).tolist() == [[0, 1, -1], [2, 1, 0]]


def test_one_node_alone_sends_nothing() -> None:
    assert least_cycles(mesh((1, 1)), Blocks.of_broadcast(0, 5), ONE).value == 0


def test_the_reason_is_said() -> None:
    bound = least_cycles(mesh((8, 8)), all_to_all(64, 4), ONE)
    assert bound.reason == "4,096 words must leave 32 nodes by 8 links"


def test_the_words_between_nodes_are_those_that_the_nodes_receive() -> None:
    """Node 0 has words for two nodes, node 1 for one node, and node 2 for all nodes."""
    blocks = Blocks(np.array([0, 1, 2]), ((1, 3), (0,), None), np.array([20, 7, 3]))
    demand = Demand.of(line(4), blocks)
    between = demand.between(demand.owners)
    assert between.sum(axis=0).tolist() == demand.received().tolist() == [10, 23, 0, 23]


def test_a_large_network_has_bounds_too() -> None:
    bound = least_cycles(mesh((300, 300)), Blocks.of_broadcast(0, 10), ALL)
    assert bound.value == 598 + 5


@pytest.mark.parametrize(("nodes", "cycles"), [(2048, 200 + 2046), (2049, 100 + 2048)])
def test_words_of_several_nodes_are_added_in_up_to_four_million_pairs(
    nodes: int, cycles: int
) -> None:
    """Nodes 0 and 1 have 100 words each for the last node of a line."""
    blocks = Blocks(np.array([0, 1]), ((nodes - 1,),) * 2, np.array([100, 100]))
    assert least_cycles(line(nodes), blocks, ONE).value == cycles


def reduced(owed: tuple[tuple[int, ...] | None, ...], words: int) -> Blocks:
    return Blocks.reduced_to(owed, words, "add")


@pytest.mark.parametrize(
    ("blocks", "ports", "cycles"),
    [
        # A reduction is a broadcast backwards, and a reduce-scatter an all-gather.
        (reduced(((0,),), 1024), ONE, 14 + 1024),
        (reduced(((0,),), 1024), ALL, 14 + 512),
        (reduced(tuple((node,) for node in range(64)), 16), ONE, 63 * 16 + 1),
        # 2 * 63 / 64 of the words through each port (Patarasuk and Yuan, 2009).
        (reduced((None,), 1024), ONE, 2016),
        (reduced((None,), 16384), ONE, 32256),
        # 2 * 63 hops of each word over 224 links.
        (reduced((None,), 16384), ALL, 9216),
    ],
)
def test_bounds_of_reductions(blocks: Blocks, ports: PortModel, cycles: int) -> None:
    assert reduction_cycles(mesh((8, 8)), blocks, ports, hop_cycles=1).value == cycles
