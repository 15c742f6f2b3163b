"""Fault blocks, polygons and regions against section 4 of Jiang & Wu, written with sets."""

from collections.abc import Callable
from itertools import pairwise, permutations

import numpy as np
from helpers.fault_meshes import drawn_meshes, faults_of, faulty_mesh

from eyecast.model.collectives.fault_blocks.blocks import Boundaries, Node, Rectangle, fault_blocks
from eyecast.model.collectives.fault_blocks.regions import FaultRegions
from eyecast.model.collectives.fault_blocks.unicasts import VCS, Walk, region_path, unicast
from eyecast.model.network.topology import Topology
from eyecast.model.papers.items.jiang_wu import FIGURE_6, FIGURE_8, written

Nodes = set[Node]


# ---- The paper's definitions, by sets of nodes ------------------------------------------------


def around(node: Node) -> list[Node]:
    x, y = node
    return [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]


def flood(start: Node, allowed: Nodes, ways: Callable[[Node], list[Node]] = around) -> Nodes:
    found, border = {start}, [start]
    while border:
        border = [n for node in border for n in ways(node) if n in allowed and n not in found]
        found |= set(border)
    return found


def blocks_by_definition(topology: Topology) -> list[Nodes]:
    """Return the fault blocks by Definition 1, one node at a time."""
    width, height = topology.dims
    inside = faults_of(topology)
    everywhere = {(x, y) for x in range(width) for y in range(height)}
    while found := next(
        (
            (x, y)
            for x, y in sorted(everywhere - inside)
            if inside & {(x - 1, y), (x + 1, y)} and inside & {(x, y - 1), (x, y + 1)}
        ),
        None,
    ):
        inside.add(found)
    blocks = []
    while inside:
        block = flood(min(inside), inside)
        blocks.append(block)
        inside -= block
    return blocks


def polygons_by_algorithm_3(polygon: Nodes, blocks: list[Nodes]) -> list[Nodes]:
    """Return the polygons of ``get_polygon``: ``polygon`` cut at its ``blocks``, left to right."""
    if not blocks:
        return [polygon]
    leftmost = min(blocks, key=min)
    left, right = two_polygon_partition(polygon, leftmost, blocks)
    found = []
    for part in (left, right):
        within = [block for block in blocks if block is not leftmost and south_of(block) in part]
        found += polygons_by_algorithm_3(part, within) if part else []
    return found


def south_of(block: Nodes) -> Node:
    """Return a node that is in the same polygon as the block."""
    x, y = min(block)
    return x, y - 1


def two_polygon_partition(polygon: Nodes, block: Nodes, blocks: list[Nodes]) -> tuple[Nodes, Nodes]:
    """Cut a polygon up the line L3 to its end and down L4, around the blocks on the way."""
    (left, bottom), (right, top) = min(block), max(block)
    cut = set()
    row = top + 1
    while (left - 1, row) in polygon:
        cut.add(((left - 1, row), (left, row)))
        row += 1
    column = right + 1
    for row in range(top, -1, -1):
        for met in [other for other in blocks if (column, row) in other]:
            cut |= {((x, row + 1), (x, row)) for x in range(column, max(met)[0] + 1)}
            column = max(met)[0] + 1
        cut.add(((column - 1, row), (column, row)))
    cut |= {(b, a) for a, b in cut}

    def ways(node: Node) -> list[Node]:
        return [other for other in around(node) if (node, other) not in cut]

    allowed = polygon.union(*blocks) - block
    left_polygon = polygon & flood((left, bottom - 1), allowed, ways)
    return left_polygon, polygon - left_polygon


def regions_by_extraction(polygon: Nodes) -> list[Rectangle]:
    """Return the regions of ``get_region``: the left-most rectangle again and again."""
    found = []
    while polygon:
        rows = sorted(y for x, y in polygon if x == min(polygon)[0])
        left = right = min(polygon)[0]
        while sorted(y for x, y in polygon if x == right + 1) == rows:
            right += 1
        found.append(Rectangle(left, right, rows[0], rows[-1]))
        polygon = {(x, y) for x, y in polygon if x > right}
    return found


def polygons_of(topology: Topology) -> list[Nodes]:
    """Return the sets of nodes that the code numbers as polygons, in order; some may be empty."""
    grid = FaultRegions.of(topology).boundaries.polygons
    numbers = np.unique(grid[grid >= 0]).tolist()
    return [set(map(tuple, np.argwhere(grid == number).tolist())) for number in numbers]


def nodes_in(rectangle: Rectangle) -> Nodes:
    columns, rows = rectangle.slices
    return {
        (x, y) for x in range(columns.start, columns.stop) for y in range(rows.start, rows.stop)
    }


# ---- The paper's figures ----------------------------------------------------------------------


def test_one_block() -> None:
    """Compare with Fig. 6: the lines y = 1, y = 5, x = 1, x = 7; polygons and channel path."""
    cut = FaultRegions.of(FIGURE_6)
    assert [str(region) for region in cut.regions] == [
        "[0:1, 0:12]",
        "[2:6, 0:1]",
        "[2:6, 5:12]",
        "[7:9, 0:12]",
    ]
    assert cut.polygons == (0, 0, 1, 1)
    north = [(x, 5) for x in range(2, 8)]
    assert cut.boundaries.channel_path(0) == north + [(7, y) for y in range(4, -1, -1)]


def test_channel_paths_of_figure_8_are_combined() -> None:
    """As in Fig. 7(a), block 2's channel path continues along block 3's where they meet."""
    cut = FaultRegions.of(FIGURE_8)
    assert [str(block) for block in cut.boundaries.blocks] == [
        "[2:6, 2:4]",
        "[4:6, 9:10]",
        "[5:7, 6:7]",
    ]
    second, third = (cut.boundaries.channel_path(block) for block in (1, 2))
    assert second[:8] == [(4, 11), (5, 11), (6, 11), (7, 11), (7, 10), (7, 9), (7, 8), (8, 8)]
    assert third[:4] == [(5, 8), (6, 8), (7, 8), (8, 8)]
    assert second[7:] == third[3:] == [(8, y) for y in range(8, -1, -1)]


def test_corners_of_figure_8_are_none_by_the_definition() -> None:
    """4,5 and 7,5 are corners in the figure, but have neighbors outside their polygon."""
    polygon = polygons_of(FIGURE_8)[1]
    named = [(3, 8), (4, 5), (7, 5)]
    assert [polygon >= set(around(node)) for node in named] == [True, False, False]
    assert (4, 4) not in polygon
    assert (8, 5) not in polygon


# ---- Drawn fault sets -------------------------------------------------------------------------


def test_blocks_are_those_of_definition_1() -> None:
    for topology in drawn_meshes(50, seed=1, longest=12):
        found = fault_blocks(topology)
        by_definition = blocks_by_definition(topology)
        assert sorted(map(sorted, map(nodes_in, found))) == sorted(map(sorted, by_definition))


def test_all_nodes_around_a_block_are_enabled() -> None:
    """So blocks are at least two apart, and not at the edge of the mesh."""
    for topology in drawn_meshes(50, seed=2):
        blocks = fault_blocks(topology)
        numbers = Boundaries((topology.dims[0], topology.dims[1]), blocks).block_numbers
        for number, block in enumerate(blocks):
            assert min(block.left, block.bottom) > 0
            rows = slice(block.bottom - 1, block.top + 2)
            with_ring = numbers[block.left - 1 : block.right + 2, rows]
            assert with_ring.shape == tuple(side + 2 for side in block.sides)
            assert set(with_ring.ravel().tolist()) == {-1, number}
            assert (with_ring == number).sum() == block.sides[0] * block.sides[1]


def test_polygons_and_regions_are_those_of_algorithm_3() -> None:
    for topology in drawn_meshes(25, seed=3, longest=11):
        blocks = blocks_by_definition(topology)
        width, height = topology.dims
        enabled = {(x, y) for x in range(width) for y in range(height)} - set().union(*blocks)
        polygons = polygons_by_algorithm_3(enabled, blocks)
        assert polygons_of(topology) == polygons
        assert all(flood(min(polygon), polygon) == polygon for polygon in polygons)
        regions = [region for polygon in polygons for region in regions_by_extraction(polygon)]
        assert list(FaultRegions.of(topology).regions) == regions


def test_theorem_4() -> None:
    """There are at most 3f + 1 regions, and some sets of faults have that many."""
    full = set()
    for topology in drawn_meshes(300, seed=8, longest=11):
        cut = FaultRegions.of(topology)
        blocks = len(cut.boundaries.blocks)
        assert len(cut.regions) <= 3 * blocks + 1
        if len(cut.regions) == 3 * blocks + 1:
            full.add(blocks)
    assert full >= set(range(5))


def test_regions_touch_in_sequence() -> None:
    """A region east of another comes later: a path eastward goes up in the sequence."""
    for topology in drawn_meshes(50, seed=6):
        cut = FaultRegions.of(topology)
        for region in range(len(cut.regions)):
            assert min(cut.east(region), default=region + 1) > region
            assert max(cut.west(region), default=region - 1) < region


# ---- Unicasts between regions -------------------------------------------------------------------


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
    for topology in drawn_meshes(30, seed=7, longest=13):
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
    assert pairs > 1_000
    assert with_channel > 100


def test_all_fault_sets_of_small_meshes() -> None:
    for width, height in [(3, 3), (4, 3), (3, 4), (5, 3), (3, 5), (4, 4)]:
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
