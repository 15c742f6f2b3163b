"""Lower bounds against exhaustive searches on tiny networks."""

from collections.abc import Iterator
from itertools import combinations, pairwise, permutations, product
from typing import Any

import numpy as np
import pytest
from helpers.carried_out import carried_out
from helpers.every_schedule import every_schedule
from helpers.irregular_networks import drawn_networks
from helpers.schedules import Send, build
from helpers.switch_networks import fat_tree
from helpers.topologies import distances, neighbors

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.lower_bounds import Costs, counted_costs, lower_bounds
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.collectives.shown_bounds import least_counts, schedule_bound, word_measures
from eyecast.model.compare.cycles import schedule_cycles
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree, de_bruijn, diagonal_mesh, star_tree
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.collective import Collective

Known = tuple[frozenset[int], ...]
"""For each node, the owners of the blocks that it has."""

ROOTED = ("broadcast", "scatter", "gather")
COLLECTIVES = (*ROOTED, "all-gather", "all-to-all")


def steps_allowed(nodes: int, port_model: str) -> Iterator[list[tuple[int, int]]]:
    """Return the sends of one step, with free links: as many as the port model allows."""
    if port_model == "full-duplex":
        for targets in permutations(range(nodes)):
            yield [(s, t) for s, t in enumerate(targets) if s != t]
        return
    for order in permutations(range(nodes)):
        pairs = list(zip(order[::2], order[1::2], strict=False))
        yield pairs if port_model == "half-duplex" else pairs + [(t, s) for s, t in pairs]


def least_steps(collective: str, nodes: int, port_model: str) -> int:
    """Return the fewest steps by a search in which a source sends all that it has."""

    def done(known: Known) -> bool:
        if collective in ("broadcast", "scatter"):
            return all(0 in has for has in known)
        some = known[:1] if collective == "gather" else known
        return all(len(has) == nodes for has in some)

    moves = {tuple(sorted(sends)) for sends in steps_allowed(nodes, port_model)}
    reached: set[Known] = {tuple(frozenset([node]) for node in range(nodes))}
    steps = 0
    while not any(map(done, reached)):
        steps += 1
        reached = {after(known, sends) for known in reached for sends in moves}
    return steps


def after(known: Known, sends: tuple[tuple[int, int], ...]) -> Known:
    now = list(known)
    for source, target in sends:
        now[target] = now[target] | known[source]
    return tuple(now)


SEARCHED = [*product([2, 3, 4], ["half-duplex", "exchange", "full-duplex"]), (5, "exchange")]


@pytest.mark.parametrize(("nodes", "port_model"), SEARCHED)
def test_steps_against_a_search(nodes: int, port_model: str) -> None:
    """Only a half-duplex all-gather of 3 nodes takes more than its bound: 4 steps, not 3."""
    for collective in COLLECTIVES:
        root = 0 if collective in ROOTED else None
        bound = lower_bounds(collective, line(nodes), root, 1, port_model).steps.value
        least = least_steps(collective, nodes, port_model)
        loose = port_model == "half-duplex" and collective not in ROOTED and nodes > 2
        assert least == bound + loose


def test_steps_of_all_ports() -> None:
    """A node of a ring can reach two others in a step, so the block reaches 3, 9, 27 nodes."""
    for nodes, steps in ((3, 1), (4, 2), (9, 2), (10, 3), (27, 3), (28, 4)):
        for collective in COLLECTIVES:
            root = 1 if collective in ROOTED else None
            assert lower_bounds(collective, ring(nodes), root, 1, "all-port").steps.value == steps
    both = [Send(1, [1, 0]), Send(1, [1, 2])]
    schedule = build((3,), both, Blocks.of_broadcast(1, 1), port_model="all-port")
    schedule.check()
    assert lower_bounds("broadcast", line(3), 1, 1, "all-port").steps.value == schedule.steps


TINY = [line(2), line(3), line(4), ring(3), ring(4), mesh((2, 2))]


def links_of(topology: Topology) -> list[tuple[int, int]]:
    return [(node, to) for node, ends in neighbors(topology).items() for to in sorted(ends)]


def ways(links: list[tuple[int, int]], path: list[int], goal: int) -> list[set[tuple[int, int]]]:
    """Return the links of every simple path that begins with ``path`` and leads to ``goal``."""
    if path[-1] == goal:
        return [set(pairwise(path))]
    onward = [to for node, to in links if node == path[-1] and to not in path]
    return [way for to in onward for way in ways(links, [*path, to], goal)]


@pytest.mark.parametrize("topology", TINY)
def test_hops_against_a_search(topology: Topology) -> None:
    """The search makes one send at a time, over one link, with all blocks of its source."""
    nodes, links = topology.nodes, links_of(topology)
    whole = frozenset(range(nodes))
    start: Known = tuple(frozenset([node]) for node in range(nodes))
    goals = {
        "broadcast": lambda known: all(0 in has for has in known),
        "scatter": lambda known: all(0 in has for has in known),
        "gather": lambda known: known[0] == whole,
        "all-gather": lambda known: all(has == whole for has in known),
        "all-to-all": lambda known: all(has == whole for has in known),
    }
    for collective, done in goals.items():
        reached, hops = {start}, 0
        while not any(map(done, reached)):
            hops += 1
            reached = {after(known, (link,)) for known in reached for link in links}
        root = 0 if collective in ROOTED else None
        assert lower_bounds(collective, topology, root, 3, "full-duplex").hops.value == hops


@pytest.mark.parametrize("topology", [*TINY, ring(5), line(5)])
def test_words_of_links_against_every_choice_of_routes(topology: Topology) -> None:
    """Search for scatter, gather and, on rings and lines of up to 4 nodes, all-to-all."""
    links, everyone = links_of(topology), range(topology.nodes)
    asked = [("scatter", root, [(root, d) for d in everyone if d != root]) for root in everyone]
    asked += [("gather", root, [(s, root) for s in everyone if s != root]) for root in everyone]
    if topology.nodes < 5:
        asked.append(("all-to-all", None, list(permutations(everyone, 2))))
    for collective, root, pairs in asked:
        routes = [ways(links, [begin], end) for begin, end in pairs]
        loads = [busiest_and_all(choice) for choice in product(*routes)]
        # Blocks of one word cannot be cut, so the search moves whole blocks.
        bounds = lower_bounds(collective, topology, root, 1, "full-duplex")
        assert bounds.link_words.value == min(load for load, _ in loads)
        longer = lower_bounds(collective, topology, root, 7, "full-duplex")
        assert longer.word_hops.value == 7 * min(total for _, total in loads)


@pytest.mark.parametrize("topology", TINY)
def test_words_of_links_of_all_gathers(topology: Topology) -> None:
    """The search tries every choice of a tree from each node to all others."""
    links = links_of(topology)
    trees: list[list[set[tuple[int, int]]]] = [[] for _ in range(topology.nodes)]
    for chosen in combinations(links, topology.nodes - 1):
        for root in range(topology.nodes):
            below = {
                node: {to for begin, to in chosen if begin == node}
                for node in range(topology.nodes)
            }
            if len(distances(below, root)) == topology.nodes:
                trees[root].append(set(chosen))
    loads = [busiest_and_all(choice) for choice in product(*trees)]
    bounds = lower_bounds("all-gather", topology, None, 1, "exchange")
    assert bounds.link_words.value == min(load for load, _ in loads)
    assert {total for _, total in loads} == {bounds.word_hops.value}


def busiest_and_all(choice: tuple[set[tuple[int, int]], ...]) -> tuple[int, int]:
    """Return the blocks on the busiest link, and all hops, for a set of links for each block."""
    loads: dict[tuple[int, int], int] = {}
    for links in choice:
        for link in links:
            loads[link] = loads.get(link, 0) + 1
    return max(loads.values()), sum(loads.values())


@pytest.mark.parametrize(
    "topology", [mesh((4, 3)), torus((5, 4)), torus((2, 3, 4)), mesh((2, 1, 5)), torus((2, 2))]
)
def test_distances_and_cuts_against_a_search(topology: Topology) -> None:
    """No cut across an axis gives a larger bound."""
    everyone = range(topology.nodes)
    apart = {node: distances(neighbors(topology), node) for node in everyone}
    assert lower_bounds("all-to-all", topology, None, 3, "exchange").word_hops.value == 3 * sum(
        apart[a][b] for a in everyone for b in everyone
    )
    for root in everyone:
        for collective in ("scatter", "gather"):
            bound = lower_bounds(collective, topology, root, 3, "exchange")
            assert bound.word_hops.value == 3 * sum(apart[root].values())
            bound = lower_bounds(collective, topology, root, 1, "exchange")
            assert bound.link_words.value == most_by_cuts(topology, collective, root)
    for collective in ("all-gather", "all-to-all"):
        bound = lower_bounds(collective, topology, None, 1, "exchange")
        assert bound.link_words.value == most_by_cuts(topology, collective, None)


def test_blocks_of_several_words_are_cut() -> None:
    """15 blocks of 3 words enter a corner by 2 links: 23 words by one, not 8 whole blocks."""
    assert lower_bounds("all-gather", mesh((4, 4)), None, 3, "all-port").link_words.value == 23


def most_by_cuts(topology: Topology, collective: str, root: int | None) -> int:
    """Return the least blocks on the busiest link, by cuts at nodes and axes, and by all links."""
    everyone = set(range(topology.nodes))
    places = {node: topology.coordinates(node).tolist() for node in everyone}
    parts = [{node} for node in everyone if root in (None, node)]
    for axis, side in enumerate(topology.dims):
        for low, high in combinations(range(side + 1), 2):
            if axis in topology.wrapped or low == 0 or high == side:
                parts.append({node for node in everyone if low <= places[node][axis] < high})
    links = [
        (node, to) for node, row in enumerate(topology.neighbor.tolist()) for to in row if to >= 0
    ]
    sources = everyone if root is None or collective == "gather" else {root}
    targets = everyone if root is None or collective == "scatter" else {root}
    pairs = [(s, d) for s in sources for d in targets if s != d]
    hops = sum(distances(neighbors(topology), s)[d] for s, d in pairs)
    if collective == "all-gather":
        hops = topology.nodes * (topology.nodes - 1)
    needs = [-(-hops // len(links))]
    for part in parts:
        for inside in (part, everyone - part):
            crossing = sum(a in inside and b not in inside for a, b in links)
            blocks = {(s, d) for s, d in pairs if s in inside and d not in inside}
            if collective == "all-gather":
                blocks = {s for s, _ in blocks}
            if crossing:
                needs.append(-(-len(blocks) // crossing))
    return max(needs)


def test_costs_are_counted_by_hand() -> None:
    """Node 0 sends 3 + 5 words over two links; then 1 sends 5 words back, and 2 sends 3."""
    blocks = Blocks([0, 0], ((1, 2), (2,)), [3, 5])
    sends = [Send(1, [0, 1, 2], [0, 1]), Send(2, [2, 1], [0]), Send(3, [2, 1, 0], [1])]
    schedule = build((3,), sends, blocks, "custom")
    schedule.check()
    counted = Costs(steps=3, hops=5, word_hops=16 + 3 + 10, node_words=8, link_words=8)
    assert counted_costs(schedule) == counted
    nothing = build((3,), [], Blocks([0], ((0,),), [3]), "multicast")
    assert counted_costs(nothing) == Costs(0, 0, 0, 0, 0)


def test_reasons_say_which_nodes_and_links() -> None:
    bounds = lower_bounds("all-to-all", torus((8, 8)), None, 2, "full-duplex")
    assert (bounds.link_words.value, bounds.link_words.reason) == (
        128,
        "the 16 links between 32 nodes and the others across axis 1 carry 1024 blocks one way",
    )
    assert bounds.steps.reason == "who has something of one node at most double in a step"
    assert bounds.word_hops.reason == "blocks are 16384 hops from their goals together"


# ---- Every algorithm of every collective, beside its lower bounds -------------------------------


# Blocks that can be cut into halves and quarters, blocks that cannot, and single words.
NETWORKS = {16: (mesh((4, 2)),), 3: (binary_tree(6),), 1: (de_bruijn(2, 3),)}
MORE_NETWORKS = {
    16: (
        *(mesh((4, 4)), torus((4, 4)), mesh((3, 2)), hypercube(3), line(4), ring(4)),
        *(binary_tree(6), star_tree(3, 2), diagonal_mesh(3)),
    ),
    3: (mesh((3, 2)), hypercube(3), ring(4), line(4), de_bruijn(2, 3)),
    1: (mesh((3, 2)), hypercube(3), ring(4), line(4), binary_tree(6)),
}


def cases(networks: dict[int, tuple[Topology, ...]], *marks: Any) -> Iterator[Any]:
    for words, topologies in networks.items():
        yield from (pytest.param(topology, words, marks=marks) for topology in topologies)


@pytest.mark.parametrize("collective", list(Collective))
@pytest.mark.parametrize(
    ("topology", "words"), [*cases(NETWORKS), *cases(MORE_NETWORKS, pytest.mark.slow)]
)
def test_no_algorithm_is_below_the_bounds(
    collective: Collective, topology: Topology, words: int
) -> None:
    asked: dict[str, Any] = {"source": 0, "targets": (1, 3)}
    asked["words"] = 1 if collective == Collective.BARRIER else words
    served = 0
    for all_port in (False, True):
        for schedule in every_schedule(topology, collective, **asked, all_port=all_port):
            counted = {"steps": schedule.steps, "tcd": schedule.tcd}
            counted |= word_measures(schedule)
            for name, least in least_counts(schedule).items():
                assert counted[name] >= least, (schedule.algorithm, all_port, name)
            assert schedule_cycles(schedule).value >= schedule_bound(schedule).value
            served += 1
    assert served or (collective == Collective.HALO and not topology.whole_grid)


# ---- Collectives with one port on any network ---------------------------------------------------


LIMITS = (
    ("all-gather", "ring", 64, 1.20),
    ("all-gather", "stream-ring", 64, 1.10),
    ("reduce-scatter", "stream-ring", 64, 1.10),
    ("broadcast", "chain", 1024, 1.20),
    ("multicast", "chain", 1024, 1.20),
    ("reduce", "chain", 1024, 1.20),
    ("all-reduce", "stream-ring", 1024, 1.10),
    ("scatter", "direct", 64, 1.10),
    ("gather", "direct", 64, 1.10),
)


def require_near(topology: Topology, draw: np.random.Generator) -> None:
    """Require of each collective that it is carried out, within its limit of the bound."""
    working = topology.working_nodes
    root, *targets = draw.permutation(working)[: len(working) // 2 + 1].tolist()
    for collective, algorithm, words, most in LIMITS:
        rootless = collective in ("all-gather", "reduce-scatter", "all-reduce")
        request = Request(
            topology=topology,
            words=words,
            source=None if rootless else root,
            targets=tuple(targets) if collective == "multicast" else None,
        )
        made = find_algorithm(collective, algorithm).generate(request)
        cycles = carried_out(made).predicted.cycles
        bound = schedule_bound(made).value
        assert bound <= cycles <= most * bound, (topology.label, collective)


@pytest.mark.parametrize(
    "topology",
    [
        with_faults(mesh((4, 4)), [5, 11], [(0, 1), (1, 0)]),
        pytest.param(fat_tree(4), marks=pytest.mark.slow),
    ],
)
def test_near_the_bound(topology: Topology) -> None:
    require_near(topology, np.random.default_rng(1))


@pytest.mark.slow
def test_drawn_networks() -> None:
    draw = np.random.default_rng(27)
    for topology in drawn_networks(15, seed=27):
        require_near(topology, draw)
