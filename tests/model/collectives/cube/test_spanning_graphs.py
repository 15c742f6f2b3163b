"""Spanning graphs of a hypercube: the paper's definitions read bit by bit, and all its lemmas."""

from collections import Counter
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from eyecast.model.collectives.cube.link_measures import Measures, measures
from eyecast.model.collectives.cube.spanning_graphs import (
    GRAPHS,
    SpanningGraph,
    SpanningTree,
    bases,
    spanning_graph,
)

BINOMIAL = ("sbt", "nrsbt", "nesbt", "sbnt")


def rotated(address: int, by: int, n: int) -> int:
    """Return ``address`` rotated by ``by`` bits to the right, by its digits as text."""
    bits = f"{address:0{n}b}"
    by %= n
    return int(bits[n - by :] + bits[: n - by], 2)


def next_one(c: int, j: int, n: int) -> int:
    """Return the index of the first 1 cyclically to the right of bit j."""
    return next(m % n for m in range(j - 1, j - n - 1, -1) if c >> (m % n) & 1)


def paper_base(c: int, r: int, n: int) -> int:
    least = min(rotated(c, u, n) for u in range(n))
    return min((j for j in range(n) if rotated(c, j, n) == least), key=lambda j: (j + r) % n)


def paper_parent(name: str, c: int, tree: int, n: int) -> int:
    """Return the dimension to the parent of a relative address other than 0, bit by bit."""
    if name == "sbt":
        return c.bit_length() - 1
    if name == "nrsbt":
        return (rotated(c, tree, n).bit_length() - 1 + tree) % n
    if name == "nesbt":
        return next_one(c, tree, n) if c >> tree & 1 else tree
    return next_one(c, paper_base(c, tree, n), n)


def links_of(tree: SpanningTree) -> set[tuple[int, int]]:
    parents = tree.parent.tolist()
    return {(parent, node) for node, parent in enumerate(parents) if parent >= 0}


def below(links: set[tuple[int, int]], top: int) -> dict[int, int]:
    """Return the nodes that ``links`` reach from ``top``, itself included, with their distances."""
    after: dict[int, list[int]] = {}
    for parent, node in links:
        after.setdefault(parent, []).append(node)
    distances = {top: 0}
    waiting = [top]
    for node in waiting:  # grows as it goes
        for child in after.get(node, []):
            assert child not in distances
            distances[child] = distances[node] + 1
            waiting.append(child)
    return distances


def shape(links: set[tuple[int, int]], top: int) -> tuple:
    """Return a shape that is equal for two trees if and only if they are isomorphic."""
    return tuple(sorted(shape(links, child) for parent, child in links if parent == top))


def sources(n: int) -> list[int]:
    return sorted({0, 5 % (1 << n), (1 << n) - 1})


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("name", BINOMIAL)
def test_parents_are_the_definition_read_bit_by_bit(name: str, n: int) -> None:
    for source in sources(n):
        for number, tree in enumerate(spanning_graph(name, n, source).trees):
            for node in range(1 << n):
                c = node ^ source
                expected = -1 if c == 0 else node ^ (1 << paper_parent(name, c, number, n))
                assert tree.parent[node] == expected


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 10])
@pytest.mark.parametrize("name", GRAPHS)
def test_children_and_parents_agree_and_trees_span(name: str, n: int) -> None:
    for source in sources(n) if n < 8 else [1]:
        for tree in spanning_graph(name, n, source).trees:
            links = links_of(tree)
            by_children = {
                (node, node ^ (1 << m))
                for node, mask in enumerate(tree.children.tolist())
                for m in range(n)
                if mask >> m & 1
            }
            assert links == by_children
            assert len(links) == (1 << n) - 1
            distances = below(links, source)
            assert [distances[node] for node in range(1 << n)] == tree.level.tolist()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("name", GRAPHS)
def test_heights_and_greediness(name: str, n: int) -> None:
    graph = spanning_graph(name, n, 3 % (1 << n))
    heights = {"brg": (1 << n) - 1, "nrbrg": (1 << n) - 1, "nesbt": n + (n > 1)}
    assert graph.height == heights.get(name, n)
    assert graph.greedy == (name in ("sbt", "nrsbt", "sbnt") or n == 1 or (name, n) == ("tcbt", 2))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 10])
def test_theorem_3_1_the_trees_of_nesbt_share_no_link(n: int) -> None:
    graph = spanning_graph("nesbt", n, 1)
    used = [link for tree in graph.trees for link in links_of(tree)]
    assert len(used) == len(set(used)) == n * ((1 << n) - 1)
    assert graph.edge_disjoint
    # Corollary 3.4: every directed link except those into the source.
    cube = {(a, a ^ (1 << d)) for a in range(1 << n) for d in range(n)}
    assert set(used) == {(a, b) for a, b in cube if b != 1}
    for name in ("nrbrg", "nrsbt", "sbnt"):
        assert spanning_graph(name, n).edge_disjoint == (n == 1 or (name, n) == ("nrbrg", 2))


def test_theorem_3_2_no_lower_height_in_the_2_cube() -> None:
    links = [(a, a ^ (1 << d)) for a in range(4) for d in range(2)]
    trees = []
    for chosen in combinations(links, 3):
        parents = {node: parent for parent, node in chosen}
        if set(parents) == {1, 2, 3}:
            ways = [way_to_0(node, parents) for node in parents]
            if None not in ways:
                trees.append((set(chosen), max(ways)))
    heights = [max(h, k) for (s, h), (t, k) in combinations(trees, 2) if not s & t]
    assert len(trees) == 4
    assert min(heights) == 3 == spanning_graph("nesbt", 2).height


def way_to_0(node: int, parents: dict[int, int]) -> int | None:
    """Return the number of links from node 0; None if the parents form a circle."""
    for links in range(len(parents) + 1):
        if node == 0:
            return links
        node = parents[node]
    return None


@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_theorem_3_4_subtrees_of_the_sbnt_are_alike_for_a_prime_n(n: int) -> None:
    links = sbnt_without_the_cyclic_node(n)
    for i, j in product(range(n), repeat=2):
        first, second = (set(below(links, 1 << top)) for top in (i, j))
        turned = {
            tuple(rotated(c, i - j, n) for c in link) for link in links if first.issuperset(link)
        }
        assert turned == {link for link in links if second.issuperset(link)}
    assert len({shape(links, 1 << top) for top in range(n)}) == 1


@pytest.mark.parametrize("n", [4, 6])
def test_theorem_3_4_needs_a_prime_n(n: int) -> None:
    links = sbnt_without_the_cyclic_node(n)
    assert len({shape(links, 1 << top) for top in range(n)}) > 1


def sbnt_without_the_cyclic_node(n: int) -> set[tuple[int, int]]:
    links = links_of(spanning_graph("sbnt", n).trees[0])
    return {link for link in links if (1 << n) - 1 not in link}


@pytest.mark.parametrize("n", [2, 3, 4, 6, 9])
def test_lemmas_3_12_to_3_14_of_rotated_paths(n: int) -> None:
    nodes = 1 << n
    graph = spanning_graph("nrbrg", n)
    links = [links_of(tree) for tree in graph.trees]
    for i, j in combinations(range(n), 2):
        alpha, beta = (i - j) % n, (j - i) % n
        assert len(links[i] & links[j]) == 2 ** (n - alpha - 1) + 2 ** (n - beta - 1) - 2
    union = links[0]
    for j in range(1, n):
        assert len(links[j] & union) == nodes // 4 - 1 + int(2 ** (j - 2))
        union = union | links[j]
    assert 4 * len(union) == 3 * n * nodes
    if n > 2:
        shared = Counter(link for tree in links for link in tree)
        most = {link for link, trees in shared.items() if trees == n - 1}
        steps = [(1 << j, 1 << (j + 1) % n) for j in range(n)]
        assert most == {(here, here | there) for here, there in steps}
    for level in range(1, nodes):  # Lemma 3.13
        at = [int(np.flatnonzero(tree.level == level)[0]) for tree in graph.trees]
        ends = zip(graph.trees, at, strict=True)
        assert len({int(tree.dimension[node]) for tree, node in ends}) == n


@pytest.mark.parametrize("name", ["sbt", "sbnt"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_lemmas_3_16_and_3_27_no_child_has_more_below_it(name: str, n: int) -> None:
    links = links_of(spanning_graph(name, n).trees[0])
    counts = [Counter(below(links, node).values()) for node in range(1 << n)]
    for parent, child in links:
        assert all(counts[parent][distance] >= count for distance, count in counts[child].items())


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
def test_lemma_3_19_weights_of_the_rotated_trees(n: int) -> None:
    graph = spanning_graph("nrsbt", n)
    weights = Counter(link for tree in graph.trees for link in links_of(tree))
    for node, d in product(range(1 << n), range(n)):
        if node >> d & 1:
            zeros = next(k for k in range(n) if node >> ((d + 1 + k) % n) & 1)
            assert weights[node ^ (1 << d), node] == zeros + 1
        else:
            assert (node ^ (1 << d), node) not in weights


@pytest.mark.parametrize("name", ["nrbrg", "nrsbt", "nesbt", "sbnt"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_lemma_3_22_trees_are_rotations_of_each_other(name: str, n: int) -> None:
    trees = [links_of(tree) for tree in spanning_graph(name, n).trees]
    for j in range(n):
        turned = {tuple(rotated(c, -j, n) for c in link) for link in trees[0]}
        # The base of SBnT r is the first of (base + r) mod n: rotated the other way.
        assert turned == trees[-j % n if name == "sbnt" else j]


@pytest.mark.parametrize("n", [2, 3, 4, 6, 9])
def test_nodes_at_each_level(n: int) -> None:
    def binomial(k: int) -> int:
        return sum(1 for c in range(1 << n) if c.bit_count() == k)

    def levels(name: str) -> list[int]:
        return np.bincount(spanning_graph(name, n).trees[0].level).tolist()

    assert levels("sbt") == levels("sbnt") == [binomial(k) for k in range(n + 1)]
    nesbt = [1, *(binomial(i - 1) for i in range(1, n + 2))]  # Lemma 3.23
    nesbt[2] = n - 1
    assert levels("nesbt") == nesbt
    two_rooted = [1, 2, *(3 << (i - 2) for i in range(2, n)), (1 << n) // 4]  # section 3.3
    assert levels("tcbt") == two_rooted


@pytest.mark.parametrize("n", [3, 4, 5, 8])
def test_tcbt_is_two_complete_binary_trees(n: int) -> None:
    links = links_of(spanning_graph("tcbt", n, 2).trees[0])
    children = {top: [node for parent, node in links if parent == top] for top in range(1 << n)}
    assert len(children[2]) == 2
    other = next(node for node in children[2] if len(children[node]) == 1)
    complete: tuple = ()
    for _ in range(n - 2):
        complete = (complete, complete)
    own = next(node for node in children[2] if node != other)
    assert shape(links, own) == shape(links, children[other][0]) == complete


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
def test_sbntc_has_as_many_paths_to_a_node_as_its_bases(n: int) -> None:
    graph = spanning_graph("sbnt", n)
    nodes = np.arange(1 << n)
    for node in nodes[1:].tolist():
        period = next(p for p in range(1, n + 1) if rotated(node, p, n) == node)
        entered_from = {path_from_root(graph, tree, node) for tree in range(n)}
        assert len(entered_from) == n // period
        assert {int(bases(nodes, tree, n)[node]) for tree in range(n)} == {
            path[0] for path in entered_from
        }


def path_from_root(graph: SpanningGraph, tree: int, node: int) -> tuple[int, ...]:
    """Return the dimensions crossed from the root to ``node``."""
    crossed: list[int] = []
    while node != graph.root:
        crossed.append(int(graph.trees[tree].dimension[node]))
        node = int(graph.trees[tree].parent[node])
    return tuple(crossed[::-1])


# ---- Words of links: the lemmas of section 3 -----------------------------------------------------


CUBES = pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8, 10])
PLAIN = pytest.mark.parametrize("n", [2, 3, 4, 6, 9])
"""Cubes for formulas of the paper that do not hold in the 1-cube, which has one link."""


def of(name: str, n: int) -> Measures:
    return measures(spanning_graph(name, n))


def equal(counted: np.ndarray, formula: list) -> None:
    assert counted.tolist() == formula


def everywhere(n: int, rows: list[int]) -> list[list[int]]:
    """Return the same rows for all n dimensions."""
    return [[row] * n for row in rows]


@CUBES
def test_brg_lemmas_3_10_and_3_11(n: int) -> None:
    nodes = 1 << n
    counted = of("brg", n)
    turn = [(~place & (place + 1)).bit_length() - 1 for place in range(nodes - 1)]
    equal(counted.links, [2 ** (n - d - 1) for d in range(n)])
    equal(counted.level_links, [[int(d == t) for d in range(n)] for t in turn])
    equal(
        counted.subtree_nodes,
        [[(nodes - place - 1) * (d == t) for d in range(n)] for place, t in enumerate(turn)],
    )
    equal(
        counted.nodes_below,
        # floor(-x) is -ceil(x)
        [
            [nodes // 2 ** (d + 1) + (2**d - level - 1) // 2 ** (d + 1) for d in range(n)]
            for level in range(nodes - 1)
        ],
    )


@PLAIN
def test_nrbrg_lemmas_3_14_and_3_15(n: int) -> None:
    nodes = 1 << n
    counted = of("nrbrg", n)
    equal(4 * counted.links, [3 * nodes] * n)
    equal(counted.level_links, everywhere(n, [1] * (nodes - 1)))
    equal(counted.weighted_links, [nodes - 1] * n)
    equal(counted.weighted_level_links, everywhere(n, [1] * (nodes - 1)))
    equal(counted.subtree_nodes, everywhere(n, [nodes - place - 1 for place in range(nodes - 1)]))
    equal(counted.nodes_below, counted.subtree_nodes.tolist())


@CUBES
def test_sbt_lemmas_3_17_and_3_18(n: int) -> None:
    counted = of("sbt", n)
    subtrees = [[comb(d, level) * 2 ** (n - d - 1) for d in range(n)] for level in range(n)]
    equal(counted.links, [2**d for d in range(n)])
    equal(counted.level_links, [[comb(d, level) for d in range(n)] for level in range(n)])
    equal(counted.subtree_nodes, subtrees)
    equal(counted.nodes_below, [[row[n - d - 1] for d in range(n)] for row in subtrees])
    half = (n - 1) // 2
    largest = [comb(2 * level, level) * 2 ** (n - 2 * level - 1) for level in range(half + 1)]
    largest += [comb(n - 1, level) for level in range(half + 1, n)]
    equal(counted.subtree_nodes.max(axis=1), largest)
    at = [min(2 * level, n - 1) for level in range(n)]
    equal(counted.subtree_nodes[np.arange(n), at], largest)


@CUBES
@pytest.mark.parametrize("name", ["nrsbt", "sbnt"])
def test_nrsbt_and_sbntc_lemmas_3_20_3_21_and_3_28(name: str, n: int) -> None:
    nodes = 1 << n
    counted = of(name, n)
    if name == "nrsbt":
        equal(2 * counted.links, [nodes] * n)
    assert counted.trees == n
    equal(counted.weighted_links, [nodes - 1] * n)
    equal(counted.weighted_level_links, everywhere(n, [comb(n, level + 1) for level in range(n)]))
    tails = [sum(comb(n, i) for i in range(level + 1, n + 1)) for level in range(n)]
    equal(counted.subtree_nodes, everywhere(n, tails))
    equal(counted.nodes_below, everywhere(n, tails))


@PLAIN
def test_nesbt_lemmas_3_24_and_3_25(n: int) -> None:
    nodes = 1 << n
    counted = of("nesbt", n)
    equal(counted.links, [nodes - 1] * n)
    by_level = everywhere(n, [1, n - 1, *(comb(n, level) for level in range(2, n + 1))])
    equal(counted.level_links, by_level)
    equal(counted.weighted_level_links, by_level)
    tails = [
        nodes - 1,
        nodes - 2,
        *(sum(comb(n, i) for i in range(level, n + 1)) for level in range(2, n + 1)),
    ]
    equal(counted.subtree_nodes, everywhere(n, tails))
    equal(counted.nodes_below, everywhere(n, tails))


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_counts_are_those_of_plain_loops(name: str, n: int) -> None:
    graph = spanning_graph(name, n, (1 << n) - 2)
    counted = measures(graph)
    links, weighted, subtrees, below = set(), Counter(), Counter(), Counter()
    for tree in graph.trees:
        parents = tree.parent.tolist()
        for node, parent in enumerate(parents):
            if parent < 0:
                continue
            at, d = way(parents, node) - 1, (node ^ parent).bit_length() - 1
            links.add((at, d, parent, node))
            weighted[at, d] += 1
            below_it = [other for other in range(1 << n) if node in line(parents, other)]
            subtrees[at, d] += len(below_it)
            below.update((way(parents, other) - at - 1, d) for other in below_it)
    places = [(level, d) for level in range(graph.height) for d in range(n)]
    distinct = Counter((level, d) for level, d, _, _ in links)
    for table, plain_counts in (
        (counted.level_links, distinct),
        (counted.weighted_level_links, weighted),
        (counted.subtree_nodes, subtrees),
        (counted.nodes_below, below),
    ):
        assert table.ravel().tolist() == [plain_counts[place] for place in places]
    once = Counter(d for d, _, _ in {(d, a, b) for _, d, a, b in links})
    assert counted.links.tolist() == [once[d] for d in range(n)]


def line(parents: list[int], node: int) -> list[int]:
    """Return the nodes from ``node`` to the root."""
    return [node] if parents[node] < 0 else [node, *line(parents, parents[node])]


def way(parents: list[int], node: int) -> int:
    return len(line(parents, node)) - 1
