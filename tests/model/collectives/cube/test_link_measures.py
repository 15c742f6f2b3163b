"""Lemmas 3.10 to 3.28 and Table 1 of Johnsson & Ho, counted, for cubes of up to 1024 nodes."""

from collections import Counter
from math import comb

import numpy as np
import pytest

from eyecast.model.collectives.cube.link_measures import Measures, measures
from eyecast.model.collectives.cube.spanning_graphs import GRAPHS, spanning_graph

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
