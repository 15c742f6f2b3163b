"""Unicasts between regions: the examples of Jiang & Wu's section 4, and its claims about all."""

from itertools import pairwise, permutations

import numpy as np
from helpers.fault_meshes import drawn_meshes, faulty_mesh

from eyecast.model.collectives.fault_blocks.blocks import Node
from eyecast.model.collectives.fault_blocks.regions import FaultRegions
from eyecast.model.collectives.fault_blocks.unicasts import (
    VCS,
    Walk,
    region_path,
    unicast,
)
from eyecast.model.papers.items.jiang_wu import FIGURE_8, written

CUT = FaultRegions.of(FIGURE_8)


def links(nodes: list[Node]) -> int:
    return sum(abs(a - c) + abs(b - d) for (a, b), (c, d) in pairwise(nodes))


def test_blocks_whose_virtual_channel_paths_they_use() -> None:
    blocks = {ends: region_path(CUT, *ends).block for ends in [(3, 1), (5, 7), (5, 6), (7, 1)]}
    assert blocks == {(3, 1): 0, (5, 7): 1, (5, 6): 2, (7, 1): 1}


def test_nodes_of_two_paths_of_the_paper() -> None:
    """From 4,6 to region-2, over a channel path from 4,5; from 7,4 to region-8, over one from 8,4.

    Region-2 has two closest eyes, 3,1 and 5,1. The paper takes the one nearer to the path's end.
    """
    assert {links([(4, 6), eye]) for eye in [(3, 1), (5, 1)]} == {6}
    walk = unicast(CUT, (4, 6), 3, 1)
    channel = [(4, 5), (5, 5), (6, 5), (7, 5), (7, 4), (7, 3), (7, 2), (7, 1)]
    assert walk.nodes == [(4, 6), *channel, (6, 1), (5, 1)]
    assert walk.vcs == [0, *[1] * 7, 0, 0]
    walk = unicast(CUT, (7, 4), 5, 7)
    channel = [(8, 4), (8, 5), (8, 6), (8, 7), (8, 8), (7, 8), (7, 9), (7, 10), (7, 11), (6, 11)]
    assert walk.nodes == [(7, 4), *channel, (5, 11)]
    assert walk.vcs == [0, *[1] * 10]


def test_least_region_number_leads_nowhere() -> None:
    """From region-8 to region-2 of Fig. 8, the least eligible is 3, but west of 3 is only 1."""
    assert [region + 1 for region in CUT.west(7)] == [3]
    assert [region + 1 for region in CUT.west(2)] == [1]


def test_least_region_number_after_the_channel_path_leads_nowhere() -> None:
    """In the smallest such mesh, the channel path from region-5 to region-2 passes 3 and then 4."""
    cut = FaultRegions.of(faulty_mesh(4, 7, [(1, 1), (1, 5), (2, 3)]))
    assert [str(region) for region in cut.regions[:5]] == [
        "[0:0, 0:6]",
        "[1:1, 0:0]",
        "[1:1, 2:4]",
        "[2:2, 0:2]",
        "[1:1, 6:6]",
    ]
    assert cut.boundaries.channel_path(1)[:7] == [
        (1, 6),
        (2, 6),
        (2, 5),
        (2, 4),
        (3, 4),
        (3, 3),
        (3, 2),
    ]
    assert cut.west(2) == [0]
    assert written(cut, 5, 2) == "5⇒4→2"


def judge(cut: FaultRegions, walk: Walk, start: int, end: int) -> None:
    """Require the conditions on a path of regions, and the claims about its end."""
    path = region_path(cut, start, end)
    low, high = min(start, end), max(start, end)
    order = path.regions if start < end else path.regions[::-1]
    assert (order[0], order[-1]) == (low, high)
    assert sorted(set(order)) == list(order)
    touching = [b in cut.east(a) for a, b in pairwise(order)]
    assert touching[:-1] == [True] * (len(touching) - 1)
    assert touching[-1] == (path.block is None)

    regions = [int(cut.region_numbers[node]) for node in walk.nodes]
    assert min(regions) >= 0
    assert len(set(walk.nodes)) == len(walk.nodes) == links(walk.nodes) + 1
    inside = [low <= region <= high for region in regions]
    channel = [] if path.block is None else cut.boundaries.channel_path(path.block)
    channel_links = {*pairwise(channel), *pairwise(channel[::-1])}
    for vc, ends, at in zip(walk.vcs, pairwise(walk.nodes), pairwise(inside), strict=True):
        if vc == 1:
            assert ends in channel_links
        else:
            assert all(at) or at[ends.index(min(ends))]
    assert set(walk.vcs) <= set(range(VCS))


def test_all_pairs_of_regions() -> None:
    """Paths stay in the range's regions, except on the virtual channel path; Lemma 3 holds."""
    pairs = with_channel = 0
    for topology in drawn_meshes(200, seed=7, longest=13):
        cut = FaultRegions.of(topology)
        for start, end in permutations(range(len(cut.regions)), 2):
            eyes = cut.eyes(start)
            walk = unicast(cut, eyes[(start + end) % len(eyes)], start, end)
            judge(cut, walk, start, end)
            distances = [links([walk.nodes[0], eye]) for eye in cut.eyes(end)]
            assert links([walk.nodes[0], walk.at]) == min(distances)
            assert walk.at in cut.eyes(end)
            assert len(walk.vcs) <= 2 * sum(topology.dims)
            pairs += 1
            with_channel += max(walk.vcs)
    assert pairs > 10_000
    assert with_channel > 1_000


def test_all_fault_sets_of_small_meshes() -> None:
    for width, height in [(3, 3), (4, 3), (3, 4), (5, 3), (3, 5), (4, 4), (5, 5)]:
        inner = [(x, y) for x in range(1, width - 1) for y in range(1, height - 1)]
        seen = set()
        for chosen in range(1 << len(inner)):
            faults = [node for place, node in enumerate(inner) if chosen >> place & 1]
            cut = FaultRegions.of(faulty_mesh(width, height, faults))
            if cut.boundaries.blocks in seen:
                continue
            seen.add(cut.boundaries.blocks)
            for start, end in permutations(range(len(cut.regions)), 2):
                judge(cut, unicast(cut, cut.eyes(start)[0], start, end), start, end)


def test_many_regions() -> None:
    draw = np.random.default_rng(8)
    for topology in drawn_meshes(5, seed=9, longest=60):
        cut = FaultRegions.of(topology)
        for start, end in draw.integers(0, len(cut.regions), (200, 2)).tolist():
            if start != end:
                judge(cut, unicast(cut, cut.eyes(start)[0], start, end), start, end)
