"""Bounds in cycles: equal to the literature's and to hand counts, and never above a run."""

from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest
from helpers.topologies import distances, neighbors
from helpers.word_search import cycles_of, links_of

from eyecast.model.bounds import cycles
from eyecast.model.bounds.cycles import least_cycles
from eyecast.model.bounds.demand import Demand
from eyecast.model.bounds.hops import hops_from, lengths_from
from eyecast.model.collectives.reductions.bounds import reduction_cycles
from eyecast.model.network.edges import Edges
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree, star_tree
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology, line, mesh, ring, torus
from eyecast.model.schedule.blocks import NO_OWNER, Blocks

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
        (mesh((1, 1)), Blocks.of_broadcast(0, 5), ONE, 0),
        (mesh((300, 300)), Blocks.of_broadcast(0, 10), ALL, 598 + 5),
        # In a binary tree, 7 nodes have 60 words for each of the 8 others, over one link.
        (binary_tree(15), all_to_all(15, 60), ONE, 7 * 8 * 60 + 1),
        (binary_tree(15), all_to_all(15, 60), ALL, 7 * 8 * 60 + 1),
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


def test_the_reason_is_said() -> None:
    bound = least_cycles(mesh((8, 8)), all_to_all(64, 4), ONE)
    assert bound.reason == "4,096 words must leave 32 nodes by 8 links"


def test_the_words_between_nodes_are_those_that_the_nodes_receive() -> None:
    """Node 0 has words for two nodes, node 1 for one node, and node 2 for all nodes."""
    blocks = Blocks(np.array([0, 1, 2]), ((1, 3), (0,), None), np.array([20, 7, 3]))
    demand = Demand.of(line(4), blocks)
    between = demand.between(demand.owners)
    assert between.sum(axis=0).tolist() == demand.received().tolist() == [10, 23, 0, 23]


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


# ---- Bounds are never above the fewest cycles found by a random search, and mostly equal to them


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
    assert equal_bounds(2, 300) >= 240


def test_words_for_near_nodes_go_no_farther() -> None:
    """The word for far nodes leaves first; the ten for near nodes leave while it travels."""
    asked: Asked = [(0, (1, 2), 10), (0, (9, 10), 1)]
    bound = least_cycles(line(11), blocks_of(asked), ONE).value
    assert bound <= cycles_of(line(11), asked, all_port=False) == 13


@pytest.mark.parametrize("ports", [ONE, ALL])
def test_of_many_pairs_the_hops_are_kept(ports: PortModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is the same without the sum over all pairs, as for a large network."""
    to_all: Asked = [(a, (b,), 4) for a in range(30) for b in range(30) if a != b]
    asked = [Blocks.of_broadcast(0, 16), blocks_of(to_all)]
    whole = [least_cycles(mesh((6, 5)), each, ports) for each in asked]
    monkeypatch.setattr(cycles, "MOST_PAIRS", 8)
    assert [least_cycles(mesh((6, 5)), each, ports) for each in asked] == whole


def reduced_among(contributors: tuple[int, ...], owed: tuple[int, ...], words: list[int]) -> Blocks:
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
    listed = reduced_among(everyone, everyone, [1000])
    cut = reduced_among(everyone[::-1], everyone, [125] * 8)
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
    ("nodes", "words"), [(2, 1), (2, 3), (3, 1), pytest.param(3, 2, marks=pytest.mark.slow)]
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
