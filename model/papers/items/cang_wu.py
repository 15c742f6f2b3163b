"""Cang & Wu 1998, and their 3-D paper: examples, maps of TCDs, regions and closed forms.

Counted values are of schedules: the eye broadcast (:mod:`...collectives.halving.eye`), and the
least TCD of all broadcasts by cuts (:mod:`...collectives.halving.minimum`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np

from ...base.errors import InvalidInput, with_article
from ...collectives.halving.eye import (
    corner_tcd,
    corner_tcd_recursive,
    eye_broadcast,
    eye_line,
    eye_square_side,
    eye_square_side_recursive,
    eye_tcd,
    eye_tcd_recursive,
    eyes,
    source_excess,
    source_tcd,
)
from ...collectives.halving.eye_tcd import (
    SOURCE_REGIONS,
    cube_eye_tcd,
    cube_source_excess,
    cube_source_tcd,
    grid_eye_tcd,
    grid_eye_tcd_recursive,
    source_offsets,
    source_region,
)
from ...collectives.halving.minimum import best_sources, minimum_tcds, tcds_by_eye
from ...network.topology import Topology, mesh
from ...schedule.schedule import Schedule
from .item import Grid, Item, Maps, Node, Paper, Row, Sends, Setting, named

Formula = tuple[str, Callable[[int], int]]
"""The name of a formula of k, and the formula."""


def square(k: int, axes: int = 2) -> Topology:
    """Return the mesh of ``axes`` sides of 2^k nodes."""
    return mesh((1 << k,) * axes)


def from_node(topology: Topology, place: Node) -> Schedule:
    """Return the eye broadcast of a word from the node at ``place``."""
    return eye_broadcast(topology, topology.node_at(place), 1)


def beside(
    what: str,
    formulas: Sequence[Formula],
    printed: Mapping[int, int],
    counted: Callable[[int], int],
    most: int,
) -> list[Row]:
    """Return a row for k = 1 to ``most``: formulas, the paper's numbers by k, the counted ones."""
    return [
        Row(
            (what, k, "  ".join(f"{name}: {formula(k)}" for name, formula in formulas)),
            printed.get(k),
            counted(k),
        )
        for k in range(1, most + 1)
    ]


def eye_distance(k: int) -> int:
    """Return the links between eye 1 and eye 2 of a 2^k x 2^k mesh, where Definition 2 has them."""
    (low, _), (high, _) = square(k).coordinates(np.array(eyes(square(k))[:2])).tolist()
    return int(high - low)


def counted_tcd(k: int, axes: int = 2, corner: bool = False) -> int:
    """Return the TCD of the schedule from an eye, or from the corner at the origin."""
    return from_node(square(k, axes), (0 if corner else eye_line(k)[0],) * axes).tcd


def eyes_item(axes: int, printed: Mapping[int, Sequence[Node]], erratum: str = "") -> Item:
    """Return the eyes of 2^k meshes, by k, beside the printed coordinates (none: empty)."""
    rows, pictures = [], {}
    for k, places in printed.items():
        topology = square(k, axes)
        ours = eyes(topology)
        listed = named(topology, [topology.node_at(place) for place in places])
        rows.append(Row((topology.label,), listed or None, named(topology, ours), erratum))
        pictures["x".join(map(str, topology.dims))] = Sends(
            eye_broadcast(topology, ours[0], 1), ours
        )
    return Item("Eyes", ("mesh",), rows, pictures=pictures)


def broadcasts_item(axes: int, examples: Mapping[tuple[int, Node], int]) -> Item:
    """Return broadcasts of 2^k meshes beside their printed TCDs, by k and source."""
    rows, pictures = [], {}
    for (k, place), tcd in examples.items():
        topology = square(k, axes)
        schedule = from_node(topology, place)
        source = named(topology, [topology.node_at(place)])
        rows.append(Row((topology.label, source, schedule.steps), tcd, schedule.tcd))
        name = "x".join(map(str, topology.dims)) + "-from-" + "-".join(map(str, place))
        pictures[name] = Sends(schedule, eyes(topology))
    return Item("TCD of broadcasts", ("mesh", "source", "steps"), rows, pictures=pictures)


def least_tcds_item(
    meshes: Sequence[Topology],
    by_source: Mapping[tuple[str, Node], int],
    theorem: str,
    many_eyes: str,
) -> Item:
    """Return the TCD from every source by the paper's algorithm, beside the least.

    ``by_source`` has the printed TCDs by the label of a mesh and the source; ``theorem`` and
    ``many_eyes`` name the errata on cheaper broadcasts and on further best sources.
    """
    rows, pictures = [], {}
    for topology in meshes:
        if len(topology.dims) not in (2, 3):
            allowed = "of 2 or 3 dimensions"
            raise InvalidInput.of("mesh of a map", allowed, with_article(topology.label))
        by_eye, least = tcds_by_eye(topology), minimum_tcds(topology)
        best, saved = best_sources(topology), by_eye - least
        for (label, place), tcd in by_source.items():
            if label == topology.label:
                node = topology.node_at(place)
                where = f"TCD from {named(topology, [node])}"
                rows.append(Row((label, where, int(by_eye[node])), tcd, int(least[node]), theorem))
        four = 1 << len(topology.dims)
        for what, eye, printed, own, erratum in (
            ("TCD from the best source", by_eye.min(), None, least.min(), ""),
            ("TCD from the worst source", by_eye.max(), None, least.max(), ""),
            ("TCD from all sources together", by_eye.sum(), None, least.sum(), ""),
            ("best sources", np.sum(by_eye == by_eye.min()), four, len(best), many_eyes),
            ("sources with a cheaper broadcast", None, 0, np.sum(saved > 0), theorem),
            ("most links saved from a source", None, 0, saved.max(), theorem),
        ):
            by_algorithm = None if eye is None else int(eye)
            rows.append(Row((topology.label, what, by_algorithm), printed, int(own), erratum))
        shown = (
            ("the paper's algorithm", by_eye, eyes(topology)),
            ("least", least, best),
            ("saved", saved, ()),
        )
        maps: dict[str, Grid] = {}
        marks: dict[str, dict[str, list[Node]]] = {"least": {}, "saved": {}, shown[0][0]: {}}
        for name, values, nodes in shown:
            for z, plane in enumerate(planes(topology, values)):
                panel = name if len(topology.dims) == 2 else f"{name}, z = {z}"
                maps[panel] = plane
                places = (topology.coordinates(node).tolist() for node in nodes)
                marks[name][panel] = [(x, y) for x, y, *far in places if far in ([], [z])]
        title = f"{topology.label}, TCD by source: the least saves from {np.sum(saved > 0)} sources"
        columns = 3 if len(topology.dims) == 2 else topology.dims[2]
        pictures["x".join(map(str, topology.dims))] = Maps(
            title, maps, marks[shown[0][0]], marks["least"], columns=columns
        )
    labels = ("mesh", "", "by the paper's\nalgorithm")
    return Item("Least TCD from every source", labels, rows, pictures=pictures)


def planes(topology: Topology, values: Grid) -> list[Grid]:
    """Return a number for each node of a 2-D or 3-D mesh as planes z = 0, 1, ..."""
    width, height = topology.dims[:2]
    return list(values.reshape(-1, height, width))


def contention_item(schedules: Mapping[str, Schedule], erratum: str = "") -> Item:
    """Return the links that sends of one step share, and those that sends of several steps use."""
    rows = []
    for name, schedule in schedules.items():
        uses = np.unique(np.stack((schedule.links, schedule.step[schedule.hop_sends])), axis=1)[0]
        steps_on_link = np.unique(uses, return_counts=True)[1]
        own = int((schedule.source == schedule.root).sum())
        ports = int((schedule.topology.neighbor[schedule.root] >= 0).sum())
        several, most = int((steps_on_link > 1).sum()), int(steps_on_link.max())
        facts = (name, schedule.steps, own, ports, several, most)
        rows.append(Row(facts, 0, schedule.pairs_sharing_links, erratum))
    labels = ("broadcast", "steps", "sends of\nthe source", "its links")
    more = ("links used in\nseveral steps", "most steps\non a link")
    note = "printed and ours: pairs of sends of one step that share a link (step contention)"
    return Item("Step contention and depth contention", labels + more, rows, note)


# ---- The regions of a source ------------------------------------------------------------------


def lengths_by_step(schedule: Schedule, steps: int) -> list[int]:
    """Return the links that the sends of each of the first steps cross together."""
    lengths = np.diff(schedule.path_offsets) - 1
    return [int(lengths[schedule.step == step].sum()) for step in range(1, steps + 1)]


def region_rows(sums: Mapping[int, Grid]) -> list[Row]:
    """Return a row for each region: its nodes, sums by formulas, and the counted sum."""
    return [
        Row((f"({SOURCE_REGIONS[number]})", *labels), None, counted)
        for number, (*labels, counted) in sorted(
            (number, each.tolist()) for number, each in sums.items()
        )
    ]


def regions_1998(_setting: Setting) -> Item:
    """Return the six regions of Fig. 6: f_k by Eq. 5 beside the links counted in two steps."""
    k = 4
    topology, eye, half = square(k), eye_line(k)[0], 1 << k - 1
    region, excess = np.zeros((half, half), int), np.zeros((half, half), int)
    sums = {number: np.zeros(3, int) for number in range(6)}
    for x, y in product(range(half), repeat=2):
        u, v = source_offsets(k, (x, y))
        number = source_region(k, (x, y))
        counted = sum(lengths_by_step(from_node(topology, (x, y)), 2)) - 3 * eye_square_side(k)
        region[y, x], excess[y, x] = number + 1, counted
        sums[number] += (1, source_excess(k, u, v), counted)
    maps = {"region, Fig. 6": region, "f_4": excess}
    marks = {name: [(eye, eye)] for name in maps}
    picture = Maps("The upper left quarter of a 16x16 mesh", maps, marks, columns=2)
    note = "ours: links of the first two steps beyond 3 a_k, counted in schedules"
    labels = ("region", "nodes", "sum of f_k\nby Eq. 5")
    return Item("Regions of the source, 16x16", labels, region_rows(sums), note, {"": picture})


def regions_3d(_setting: Setting) -> Item:
    """Return the nine regions of Fig. 7, in the four of Fig. 4: formulas beside counts."""
    k = 4
    topology, inner, eye, half = square(k, 3), eye_square_side(k - 1), eye_line(k)[0], 1 << k - 1
    nine, four = np.zeros((half, half), int), np.zeros((half, half), int)
    sums = {number: np.zeros(4, int) for number in range(9)}
    for place in product(range(half), repeat=3):
        u, v, _ = source_offsets(k, place)
        number = source_region(k, place)
        x, y, _ = place
        nine[y, x], four[y, x] = number + 1, 1 + (2 * v > inner) + 2 * (2 * u > inner)
        offsets = (source_offsets(i, [c % (1 << i) for c in place]) for i in range(2, k + 1))
        excess = (cube_source_excess(i, *each) for i, each in enumerate(offsets, start=2))
        by_lemma = cube_eye_tcd(k) + sum(excess)
        counted = from_node(topology, place).tcd
        sums[number] += (1, cube_source_tcd(k, place), by_lemma, counted)
    maps = {"regions (I) to (IV), Fig. 4": four, "regions (i) to (ix), Fig. 7": nine}
    marks = {name: [(eye, eye)] for name in maps}
    picture = Maps("The first submesh of a 16x16x16 mesh, for any z", maps, marks, columns=2)
    labels = ("region", "nodes", "sum of D_k\nby Theorem 1", "by Eqs. 7\nand 11")
    note = "ours: the TCDs of schedules from all nodes of the region"
    return Item("Regions of the source, 16x16x16", labels, region_rows(sums), note, {"": picture})


def first_steps(_setting: Setting) -> Item:
    """Return FD, SD and TD of Appendix A for a source in each region, beside the links counted."""
    k = 4
    topology, a, inner = square(k, 3), eye_square_side(k), eye_square_side(k - 1)
    rows: dict[int, Row] = {}
    pictures = {}
    for place in product(range(1 << k - 1), range(1 << k - 1), (2,)):
        u, v, w = source_offsets(k, place)
        number = source_region(k, place)
        if number in rows:
            continue
        near_u, near_v = (min(abs(c), abs(c - inner)) for c in (u, v))
        fd, sd = a + u + abs(v) + abs(w), 2 * a + near_u + v + abs(w)
        by_formula = f"{fd} + {sd} + {4 * a + near_u + near_v + w}"
        schedule = from_node(topology, place)
        counted = " + ".join(map(str, lengths_by_step(schedule, 3)))
        source = named(topology, [topology.node_at(place)])
        rows[number] = Row((f"({SOURCE_REGIONS[number]})", source, by_formula), None, counted)
    for figure, place in (("8", (3, 0, 2)), ("9", (0, 1, 2))):
        small = square(3, 3)
        whole = from_node(small, place)
        first = np.flatnonzero(whole.step <= 3)
        one_block = np.arange(first.size + 1), np.zeros(first.size, np.int32)
        cut = whole.with_sends(first, whole.step[first], *one_block)
        pictures[figure] = Sends(cut, eyes(small))
    labels = ("region", "source", "FD + SD + TD\nby Appendix A")
    note = "16x16x16; Fig. 8 is region (iii), Fig. 9 region (viii), drawn for 8x8x8"
    ordered = [rows[number] for number in sorted(rows)]
    return Item("The first three steps of Algorithm 2", labels, ordered, note, pictures)


def proof_of_theorem_2(_setting: Setting) -> Item:
    """Return how many nodes N_3 have f_(k-2) of at least 2 |v_(k-1)|, which the proof needs.

    In its submesh of side 2^(k-1), N_3 is v < 0 links inwards of the eye. So it is abs(v) links
    outwards of an eye of the submesh of the next level, and u_(k-2) = -v_(k-1) (Fig. 8).
    """
    rows = []
    for k in range(4, 9):
        offsets = range(1, (eye_square_side(k - 1) + 1) // 2)
        enough = [source_excess(k - 2, v, 0) >= 2 * v for v in offsets]
        rows.append(Row((k, len(enough)), len(enough), sum(enough), "Theorem 2, proof, Fig. 8"))
    labels = ("k", "values of\nv_(k-1)(3) < 0")
    note = "printed and ours: values for which f_(k-2)(N_3) >= 2 |v_(k-1)(3)|"
    return Item("The proof of Theorem 2", labels, rows, note)


# ---- The papers -------------------------------------------------------------------------------


def quarters(_setting: Setting) -> Item:
    """Return the examples of section 2: sends of (0, 0) of 8x8 to three nodes, then each quarter.

    The quarters cost what Algorithm 1 takes in them, or the least.
    """
    least = minimum_tcds(square(2)).reshape(4, 4)
    rows = []
    for places, printed in (
        (((4, 0), (0, 4), (4, 4)), 84),
        (((5, 0), (0, 5), (5, 4)), 80),
        (((5, 1), (1, 5), (5, 5)), 79),
    ):
        second, third, fourth = places
        links = (
            sum(second) + sum(third) + sum(abs(a - b) for a, b in zip(second, fourth, strict=True))
        )
        starts = [(x % 4, y % 4) for x, y in ((0, 0), *places)]
        nodes = " ".join(f"({x},{y})" for x, y in places)
        for how, costs in (
            ("Algorithm 1", [source_tcd(2, *place) for place in starts]),
            ("the least", [int(least[y, x]) for x, y in starts]),
        ):
            total = links + sum(costs)
            labels = (nodes, how, f"{links} + " + " + ".join(map(str, costs)))
            rows.append(Row(labels, printed, total, "section 2, example of 80"))
    labels = ("first two steps from (0,0) to", "each quarter by", "TCD")
    return Item("Examples of section 2, 8x8", labels, rows)


def equations_1998(_setting: Setting) -> Item:
    """Return Eqs. 1 to 3 and 8 to 10 beside schedules."""
    side = ("Eq. 1", eye_square_side_recursive), ("Eq. 2", eye_square_side)
    eye = ("Eq. 3", eye_tcd_recursive), ("Eq. 10", eye_tcd)
    corner = ("Eq. 8", corner_tcd_recursive), ("Eq. 9", corner_tcd)
    rows = beside("a_k", side, {1: 1}, eye_distance, 6)
    rows += beside("MD_k(E_k)", eye, {1: 3, 2: 15, 3: 69, 4: 291}, counted_tcd, 6)
    rows += beside(
        "MD_k(0,0)", corner, {1: 3, 2: 18, 3: 79, 4: 318}, lambda k: counted_tcd(k, corner=True), 6
    )
    return Item("Closed forms beside schedules on 2^k x 2^k", ("", "k", "by formula"), rows)


def equations_3d(_setting: Setting) -> Item:
    """Return Eqs. 1 to 4, 6, 12, 13, 15 and 16 beside schedules."""
    side = (("Eqs. 1, 4", eye_square_side),)
    plane = ("Eq. 2", eye_tcd_recursive), ("Eq. 3", eye_tcd)
    recursive = ("Eqs. 6, 12", lambda k: grid_eye_tcd_recursive(3, k))
    rows = beside("a_k", side, dict(enumerate((1, 1, 3, 5, 11), start=1)), eye_distance, 6)
    rows += beside(
        "MD_k, 2-D", plane, dict(enumerate((3, 15, 69, 291, 1197), start=1)), counted_tcd, 6
    )
    rows.append(Row(("MD_1 of Eq. 12", 1, "Eq. 14: 7"), 3, counted_tcd(1, 3), "Eq. 12"))
    cube = (recursive, ("Eq. 13", cube_eye_tcd))
    rows += beside(
        "OD_k, 3-D", cube, {1: 7, 2: 63, 3: 525, 4: 4235}, lambda k: counted_tcd(k, 3), 5
    )
    for d, most in ((2, 6), (3, 5), (4, 4), (5, 3)):
        forms = (
            ("Eq. 15", partial(grid_eye_tcd_recursive, d)),
            ("Eq. 16", partial(grid_eye_tcd, d)),
        )
        rows += beside(f"MD_k, {d}-D", forms, {}, partial(counted_tcd, axes=d), most)
    return Item("Closed forms beside schedules", ("", "k", "by formula"), rows)


def contention_of(axes: int) -> Item:
    """Return the contention of broadcasts from an eye and from a corner."""
    schedules = {}
    for k in range(1, 6 if axes == 2 else 5):
        for where, at in (("an eye", eye_line(k)[0]), ("a corner", 0)):
            topology = square(k, axes)
            schedules[f"{topology.label}, from {where}"] = from_node(topology, (at,) * axes)
    return contention_item(schedules)


def one_or(meshes: Sequence[Topology], setting: Setting) -> Sequence[Topology]:
    """Return the chosen mesh, or those of the paper's figure."""
    return meshes if setting.mesh is None else (setting.mesh,)


_SQUARES = {1: list(product((0, 1), repeat=2)), 2: list(product((1, 2), repeat=2))}
_CUBES = {
    1: list(product((0, 1), repeat=3)),
    2: list(product((1, 2), repeat=3)),
    3: [place for place in product((2, 5), repeat=3) if place != (5, 5, 2)],
}
"""Eyes as section 3.1 of 3-D lists them; of 8x8x8 it has seven."""

CANG_WU_1998 = Paper(
    "S. Cang and J. Wu, Minimizing Total Communication Distance of a Time-Step Optimal Broadcast "
    "in Mesh Networks, IPPS/SPDP 1998",
    "Cang & Wu 1998",
    {
        "figure-1": lambda _: broadcasts_item(2, {(1, (0, 0)): 3, (2, (0, 0)): 18}),
        "section-2": quarters,
        "figure-2": lambda setting: least_tcds_item(
            one_or([square(k) for k in (2, 3, 4)], setting),
            {
                ("4x4 mesh", (0, 0)): 18,
                ("4x4 mesh", (0, 1)): 16,
                ("4x4 mesh", (1, 1)): 15,
                ("8x8 mesh", (0, 0)): 79,
            },
            "Theorem 2",
            "section 2",
        ),
        "figure-3": lambda _: eyes_item(2, {**_SQUARES, 3: (), 4: ()}),
        "equations": equations_1998,
        "figure-6": regions_1998,
        "figure-7": lambda _: broadcasts_item(
            3, {(1, (0, 0, 0)): 7, (2, (1, 1, 1)): 63, (3, (2, 2, 2)): 525}
        ),
        "figure-8": proof_of_theorem_2,
        "contention": lambda _: contention_of(2),
    },
)

CANG_WU_3D = Paper(
    "S. Cang and J. Wu, Time-Step Optimal Broadcasting in 3-D Meshes with Minimum Total "
    "Communication Distance, 2000",
    "Cang & Wu, 3-D",
    {
        "figure-1": lambda _: broadcasts_item(
            2,
            {
                **{(1, (0, 0)): 3, (2, (0, 0)): 18, (2, (1, 0)): 17, (2, (0, 1)): 16},
                **{(2, (1, 1)): 15, (3, (0, 0)): 79, (3, (2, 2)): 69},
            },
        ),
        "figure-2": lambda _: eyes_item(2, {**_SQUARES, 3: list(product((2, 5), repeat=2))}),
        "figure-3": lambda _: eyes_item(3, _CUBES, "section 3.1, example"),
        "figure-5": lambda setting: least_tcds_item(
            one_or([square(2, 3)], setting),
            {("4x4x4 mesh", (1, 1, 1)): 63},
            "Theorem 3",
            "Theorem 4, proof",
        ),
        "equations": equations_3d,
        "figure-6": first_steps,
        "figure-7": regions_3d,
        "contention": lambda _: contention_of(3),
    },
)
