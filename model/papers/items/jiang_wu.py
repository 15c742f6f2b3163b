"""Jiang & Wu: eyes of rectangles, fault blocks and their regions, and the broadcast round them.

Counted values are of :mod:`...collectives.halving.rectangle` and
:mod:`...collectives.fault_blocks.broadcast`.
"""

from collections.abc import Iterable
from itertools import pairwise, product

import numpy as np

from ...collectives.fault_blocks.blocks import Rectangle
from ...collectives.fault_blocks.broadcast import (
    jiang_wu_broadcast,
    region_eyes,
    region_sends,
    theorem_6_bounds,
)
from ...collectives.fault_blocks.regions import FaultRegions
from ...collectives.fault_blocks.unicasts import region_path
from ...collectives.halving.eye import eye_line, eye_square_side, eye_tcd
from ...collectives.halving.rectangle import (
    eye_distance,
    eye_link,
    rectangle_broadcast,
    rectangle_eyes,
    rectangle_tcd,
)
from ...network.faults import with_faults
from ...network.topology import Topology, mesh
from .cang_wu import beside, contention_item, counted_tcd, eyes_item
from .item import Item, Maps, Node, Paper, Row, Sends, Setting, named


def with_blocks(width: int, height: int, blocks: Iterable[Rectangle]) -> Topology:
    """Return a mesh in which all nodes of ``blocks`` are faulty."""
    nodes = [
        x + width * y
        for block in blocks
        for x in range(block.left, block.right + 1)
        for y in range(block.bottom, block.top + 1)
    ]
    return with_faults(mesh((width, height)), nodes)


_FAULTS_1 = ((2, 5), (2, 8), (3, 6), (4, 6), (5, 4), (5, 3), (6, 8), (6, 9), (7, 8))
FIGURE_1 = with_faults(mesh((10, 11)), [x + 10 * y for x, y in _FAULTS_1])
"""The mesh of Fig. 1; the scan has lost its size."""

BLOCK_1 = Rectangle(2, 6, 2, 4)
FIGURE_6 = with_blocks(10, 13, (BLOCK_1,))
FIGURE_7A = with_blocks(10, 13, (Rectangle(4, 6, 9, 10), Rectangle(5, 7, 6, 7)))
FIGURE_7B = with_blocks(13, 13, (Rectangle(2, 4, 7, 9), Rectangle(8, 10, 3, 5)))
"""Two fault blocks whose virtual channel paths meet, and two whose paths do not, as in Fig. 7; the
scan has lost the paper's places."""

FIGURE_8 = with_blocks(10, 13, (BLOCK_1, Rectangle(4, 6, 9, 10), Rectangle(5, 7, 6, 7)))
SOURCE = (4, 5)
"""The source of the example of section 4."""

SMALLEST_SLOW = with_faults(mesh((5, 3)), [6, 8])
"""The smallest mesh in which two sends of a step share a link; see ``docs/errata.md``."""


def blocks_map(topology: Topology, title: str) -> Maps:
    """Return maps of the fault blocks, polygons and regions, and of the virtual channel paths."""
    cut = FaultRegions.of(topology)
    boundaries = cut.boundaries
    channels = np.zeros(topology.dims, int)
    for number in range(len(boundaries.blocks)):
        for node in boundaries.channel_path(number):
            channels[node] += 1
    maps = {
        "fault blocks": boundaries.block_numbers + 1,
        "polygons": boundaries.polygons + 1,
        "regions": cut.region_numbers + 1,
        "virtual channel paths": channels,
    }
    eyes = [eye for region in range(len(cut.regions)) for eye in cut.eyes(region)]
    return Maps(title, {name: grid.T for name, grid in maps.items()}, {"regions": eyes}, columns=4)


def figure_1(_setting: Setting) -> Item:
    """Return the fault blocks of Fig. 1."""
    found = FaultRegions.of(FIGURE_1).boundaries.blocks
    printed = ("[2:5, 3:6]", "[2:2, 8:8]", "[6:7, 8:9]")
    rows = [
        Row((number, len(found)), text, str(block))
        for number, (text, block) in enumerate(zip(printed, found, strict=True), start=1)
    ]
    maps = blocks_map(FIGURE_1, "Fig. 1: nine faults")
    return Item("Fault blocks by Definition 1", ("block", "of"), rows, pictures={"": maps})


def equations(_setting: Setting) -> Item:
    """Return Eqs. 1 to 6: a_k, d_k, OD_k, D_k and A_m with the bounds of Theorems 1 and 2."""
    side, distance = (("Eqs. 1, 3", eye_square_side),), (("Eqs. 2, 4", lambda k: eye_line(k)[0]),)
    rows = beside("a_k", side, {1: 1, 3: 3, 4: 5}, lambda k: eye_link(1 << k), 5)
    rows += beside("d_k", distance, {1: 0, 3: 2, 4: 5}, lambda k: eye_distance(1 << k), 5)
    rows += beside("OD_k", (("Eq. 5", eye_tcd),), {1: 3, 3: 69, 4: 291}, counted_tcd, 5)
    return Item("Closed forms of 2^k x 2^k beside schedules", ("", "k", "by formula"), rows)


def bounds(_setting: Setting) -> Item:
    """Return D_k and A_m beside the bounds of Theorems 1 and 2, and the paper's examples."""
    rows = []
    examples = {("D", 2): 0, ("D", 5): 1, ("D", 7): 2, ("A", 22): 9, ("A", 189): 62}
    for (what, side), printed in examples.items():
        ours = eye_distance(side) if what == "D" else eye_link(side)
        rows.append(Row((f"{what}_{side}", "example"), printed, ours))
    within = {
        "Theorem 1": [k for k in range(1, 3000) if (k - 1) // 3 <= eye_distance(k) <= (k + 1) // 3],
        "Theorem 2": [m for m in range(2, 3000) if (m - 1) // 3 <= eye_link(m) <= 1 - -m // 3],
    }
    for theorem, holds in within.items():
        first = next(side for side in range(2, 3000) if side not in holds)
        label = f"sides up to 2999 within the bounds; first outside: {first}"
        total = 2999 if theorem == "Theorem 1" else 2998
        rows.append(Row((theorem, label), total, len(holds), theorem))
    return Item("Distances of eyes (Theorems 1 and 2, Eq. 6)", ("", ""), rows)


def theorem_3(_setting: Setting) -> Item:
    """Return ED of meshes beside the bound OD_k of Theorem 3 and the TCD of a schedule."""
    rows = []
    meshes = ((2, 1), (3, 3), (5, 4), (7, 5), (7, 8), (8, 8), (10, 13), (13, 16), (17, 17))
    for dims in (*meshes, (24, 32), (33, 20)):
        topology = mesh(dims)
        counted = rectangle_broadcast(topology, rectangle_eyes(topology)[0], 1).tcd
        bound = eye_tcd((max(dims) - 1).bit_length())
        facts = (topology.label, bound, rectangle_tcd(dims), f"{counted / bound:.2f}")
        rows.append(Row(facts, 61 if dims == (7, 8) else None, counted))
    up_to = range(1, 65)
    held = [
        rectangle_tcd((m, n)) <= eye_tcd((max(m, n) - 1).bit_length())
        for m, n in product(up_to, up_to)
    ]
    rows.append(Row(("meshes up to 64x64 below the bound", None, None, None), len(held), sum(held)))
    labels = ("mesh", "OD_k\n(Theorem 3)", "ED by the\nrecursion", "share of\nthe bound")
    return Item("The bound of Theorem 3", labels, rows)


def sends_text(topology: Topology, source: Node, told: Iterable[tuple[int, Node, Node]]) -> Item:
    """Return the sends of a broadcast; those of which the paper's text tells are printed."""
    schedule = rectangle_broadcast(topology, topology.node_at(source), 1)
    made = {
        (step, named(topology, [begin])): named(topology, [end])
        for step, begin, end in zip(
            schedule.step.tolist(), schedule.source.tolist(), schedule.target.tolist(), strict=True
        )
    }
    rows = [
        Row(key, named(topology, [topology.node_at(end)]), made[key])
        for step, begin, end in told
        for key in [(step, named(topology, [topology.node_at(begin)]))]
    ]
    title = f"Broadcast in {topology.label} from {source}: TCD {schedule.tcd}"
    picture = Sends(schedule, rectangle_eyes(topology))
    return Item(title, ("step", "from"), rows, pictures={"": picture})


def figure_3(_setting: Setting) -> Item:
    """Return the eyes of a 7x5 mesh (section 3.1), and of its halves as in Fig. 3."""
    rows = []
    for dims, printed in (((7, 5), ((2, 1), (4, 1), (2, 3), (4, 3))), ((4, 5), ()), ((3, 5), ())):
        topology = mesh(dims)
        listed = named(topology, [topology.node_at(place) for place in printed]) or None
        ours = rectangle_eyes(topology)
        links = eye_link(max(dims))
        rows.append(Row((topology.label, links), listed, named(topology, ours)))
    return Item("Eyes of a mesh and of its halves", ("mesh", "A of the\nlonger side"), rows)


def figure_4(_setting: Setting) -> Item:
    """Return the broadcast in 7x1 of Fig. 4."""
    told = ((1, 2, 5), (2, 2, 1), (2, 5, 6), (3, 1, 0), (3, 2, 3), (3, 5, 4))
    return sends_text(mesh((7, 1)), (2, 0), [(step, (a, 0), (b, 0)) for step, a, b in told])


def figure_5(_setting: Setting) -> Item:
    """Return the broadcast in 8x7 of Fig. 5."""
    told = (
        *((1, (2, 2), (5, 2)), (2, (2, 2), (2, 5)), (2, (5, 2), (5, 5))),
        *((3, (2, 2), (1, 2)), (3, (2, 5), (1, 5)), (4, (1, 5), (1, 6))),
    )
    return sends_text(mesh((8, 7)), (2, 2), told)


def regions_item(
    title: str, topology: Topology, printed: Iterable[str | None], suffix: str = ""
) -> Item:
    """Return the regions of a mesh with fault blocks in sequence."""
    cut = FaultRegions.of(topology)
    rows = [
        Row((f"region-{number}", polygon + 1, eyes), text, str(region))
        for number, (text, region, polygon) in enumerate(
            zip(printed, cut.regions, cut.polygons, strict=False), start=1
        )
        for eyes in [" ".join(f"({x},{y})" for x, y in cut.eyes(number - 1))]
    ]
    most = 3 * len(cut.boundaries.blocks) + 1
    rows.append(Row((f"regions, at most {most} (Theorem 4)", None, None), None, len(cut.regions)))
    picture = {suffix: blocks_map(topology, title)}
    return Item(title, ("", "polygon", "eyes"), rows, pictures=picture)


def figure_6(_setting: Setting) -> Item:
    """Return the regions of Fig. 6."""
    printed = ("[0:1, 0:12]", "[2:6, 0:1]", "[2:6, 5:12]", "[7:9, 0:12]")
    return regions_item("Regions of a mesh with one fault block", FIGURE_6, printed)


def figure_7(_setting: Setting) -> Item:
    """Return the virtual channel paths of two fault blocks, as in Fig. 7."""
    rows, pictures = [], {}
    for name, topology in (("a", FIGURE_7A), ("b", FIGURE_7B)):
        boundaries = FaultRegions.of(topology).boundaries
        paths = [boundaries.channel_path(number) for number in range(2)]
        shared = len({*pairwise(paths[0])} & {*pairwise(paths[1])})
        for block, path in zip(boundaries.blocks, paths, strict=True):
            corners = [path[0]]
            corners += [
                b for a, b, c in zip(path, path[1:], path[2:], strict=False) if bent(a, b, c)
            ]
            text = " ".join(f"({x},{y})" for x, y in (*corners, path[-1]))
            rows.append(Row((f"({name})", str(block), shared), None, text))
        pictures[name] = blocks_map(topology, f"Fig. 7({name})")
    note = "the scan has lost the paper's places; these blocks are ours, those of (a) are of Fig. 8"
    labels = ("", "block", "links that\nboth paths have")
    return Item("Virtual channel paths", labels, rows, note, pictures)


def bent(a: Node, b: Node, c: Node) -> bool:
    """Return whether a path turns at ``b``."""
    return a[0] != c[0] and a[1] != c[1]


def figure_8(_setting: Setting) -> Item:
    """Return the ten regions of Fig. 8(d)."""
    printed = (
        *("[0:1, 0:12]", "[2:6, 0:1]", "[2:3, 5:12]", "[4:4, 5:8]", "[5:6, 5:5]"),
        *("[7:7, 0:5]", "[5:6, 8:8]", "[4:6, 11:12]", "[7:7, 8:12]", "[8:9, 0:12]"),
    )
    return regions_item("Regions of a mesh with three fault blocks", FIGURE_8, printed)


def written(cut: FaultRegions, start: int, end: int) -> str:
    """Return a path of regions from 1 as Table 1 writes it; ⇒ for a virtual channel path."""
    path = region_path(cut, start - 1, end - 1)
    virtual = None if path.block is None else (-2 if start < end else 0)
    regions = [region + 1 for region in path.regions]
    at = virtual if virtual is None or virtual >= 0 else len(regions) - 2
    arrows = ["⇒" if number == at else "→" for number in range(len(regions) - 1)]
    return str(regions[0]) + "".join(f"{a}{r}" for a, r in zip(arrows, regions[1:], strict=True))


def figure_9(_setting: Setting) -> Item:
    """Return the paths of regions of the text on Fig. 9, in the mesh of Fig. 8."""
    cut = FaultRegions.of(FIGURE_8)
    rows = [
        Row((f"region-{start} to region-{end}", kind), text, written(cut, start, end))
        for start, end, kind, text in (
            (1, 10, "type 1", "1→3→8→9→10"),
            (2, 8, "type 2", "2→6⇒8"),
            (10, 1, "type 1", "10→6→2→1"),
            (8, 2, "type 2", "8⇒6→2"),
        )
    ]
    return Item("Eye-to-eye unicasts", ("from", "type"), rows)


def table_1(_setting: Setting) -> Item:
    """Return Table 1 (Fig. 10): the sends between regions from (4, 5) in the mesh of Fig. 8."""
    cut = FaultRegions.of(FIGURE_8)
    home = int(cut.region_numbers[SOURCE]) + 1
    printed = {
        **{(1, 4, 4): "4→4", (2, 4, 6): "4→5→6", (3, 4, 2): "4⇒2", (3, 6, 8): "6⇒8"},
        **{(4, 2, 1): "2→1", (4, 4, 3): "4→3", (4, 6, 7): "6⇒7", (4, 8, 9): "8→9"},
        **{(5, 4, 5): "4→5", (5, 9, 10): "9→10"},
    }
    made = {(1, home, home): f"{home}→{home}"}
    for step, begin, end in region_sends(len(cut.regions), home - 1):
        made[step + 1, begin + 1, end + 1] = written(cut, begin + 1, end + 1)
    rows = [Row(key, printed.get(key), made.get(key)) for key in sorted({*printed, *made})]
    topology = FIGURE_8
    schedule = jiang_wu_broadcast(topology, topology.node_at(SOURCE), 1)
    picture = Sends(schedule, region_eyes(topology))
    labels = ("step", "source region", "destination region")
    return Item("Region paths of the broadcast of Fig. 10", labels, rows, pictures={"": picture})


def theorem_6(_setting: Setting) -> Item:
    """Return steps and TCD of broadcasts round faults beside the bounds of Theorem 6."""
    rows = []
    for name, topology, source in (
        ("Fig. 6", FIGURE_6, (0, 0)),
        ("Fig. 8", FIGURE_8, SOURCE),
        ("Fig. 1", FIGURE_1, (0, 0)),
        ("5x3, faults (1,1), (3,1)", SMALLEST_SLOW, (2, 0)),
    ):
        schedule = jiang_wu_broadcast(topology, topology.node_at(source), 1)
        for what, most in theorem_6_bounds(topology).items():
            rows.append(Row((name, what, most), None, int(getattr(schedule, what))))
    return Item("The bounds of Theorem 6", ("mesh", "", "at most"), rows)


def contention(_setting: Setting) -> Item:
    """Return the contention of broadcasts round faults, and of one in a whole mesh."""
    return contention_item(
        {
            "8x7, from (2,2)": rectangle_broadcast(mesh((8, 7)), 18, 1),
            "Fig. 8, from (4,5)": jiang_wu_broadcast(FIGURE_8, FIGURE_8.node_at(SOURCE), 1),
            "5x3, faults (1,1), (3,1), from (2,0)": jiang_wu_broadcast(SMALLEST_SLOW, 2, 1),
        },
        "Theorem 5",
    )


JIANG_WU = Paper(
    "Z. Jiang and J. Wu, Fault-Tolerant Broadcasting in 2-D Wormhole-Routed Meshes, 2003",
    "Jiang & Wu",
    {
        "figure-1": figure_1,
        "figure-2": lambda _: eyes_item(
            2,
            {
                1: list(product((0, 1), repeat=2)),
                2: (),
                3: list(product((2, 5), repeat=2)),
                4: list(product((5, 10), repeat=2)),
            },
        ),
        "equations": equations,
        "theorems-1-2": bounds,
        "figure-3": figure_3,
        "figure-4": figure_4,
        "figure-5": figure_5,
        "theorem-3": theorem_3,
        "figure-6": figure_6,
        "figure-7": figure_7,
        "figure-8": figure_8,
        "figure-9": figure_9,
        "table-1": table_1,
        "theorem-6": theorem_6,
        "contention": contention,
    },
)
