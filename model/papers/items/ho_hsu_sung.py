"""Ho, Hsu & Sung 1996: plans of a host on seven kinds of networks, Table I and Theorem 5.

Counted values are of plans (:mod:`..transmit.plan`): the paper's own, and the best that is known.
"""

import csv
from collections.abc import Callable, Sequence
from math import ceil, isqrt
from pathlib import Path

from ...network.named_graphs import binary_tree, de_bruijn, diagonal_mesh, star_tree
from ...network.topology import Topology, hypercube, line, ring
from ..transmit.covering import cover_plan
from ..transmit.diagonal_mesh import Row as TableRow
from ..transmit.diagonal_mesh import ta_plan, ta_squares, ta_time, table_1_row
from ..transmit.plan import NOT_REACHED, Plan
from ..transmit.schedule import transmit_schedule
from ..transmit.schemes import transmit
from ..transmit.trees import odd_partition, theorem_3_lines_plan
from .item import Item, Lines, Maps, Paper, Picture, Row, Sends, Setting

TABLE_1 = Path(__file__).with_name("ho_hsu_sung_1996_table_1.csv")
"""Table I as printed: n, t, m, and the inner square's n and t."""

_ERRATA_1 = {
    **dict.fromkeys((27, 31), "Table I, n = 27, 31"),
    **dict.fromkeys((36, 41), "Table I, n = 36, 41"),
    **dict.fromkeys((8, 11, 147, 156), "Table I, n = 8 and 11, 147, 156"),
}


def cost_text(cost: Sequence[int | None]) -> str:
    """Return (t, s) as text; "?" for an unknown number."""
    return "({})".format(", ".join("?" if part is None else str(part) for part in cost))


def plan_rows(
    networks: Sequence[Topology], erratum: str, claims: Callable[[Topology], tuple[int, int | None]]
) -> list[Row]:
    """Return the cost that the paper claims beside that of the best plan; and of its own plan."""
    rows = []
    for topology in networks:
        findings = transmit(topology)
        own = next((plan for plan in findings.plans if plan.claim is not None), None)
        made = None if own is None else cost_text(own.cost)
        bound = cost_text(findings.bound)
        labels = (topology.label, topology.nodes, made, bound)
        claim, best = claims(topology), findings.best.cost
        ours = best if claim[1] is not None else (best[0], None)
        rows.append(Row(labels, cost_text(claim), cost_text(ours), erratum))
    return rows


def plans_item(title: str, rows: Sequence[Row], pictures: dict[str, Plan]) -> Item:
    """Return an item of plans, with pictures of some."""
    drawn = {name: plan_picture(plan) for name, plan in pictures.items()}
    labels = ("network", "nodes", "the paper's plan", "no less than")
    note = (
        "(t, s): steps, and sends of the host; printed: claimed as optimal; ours: the best found, "
        "by the same search as transmit"
    )
    return Item(title, labels, rows, note, drawn)


def claimed(topology: Topology) -> tuple[int, int | None]:
    """Return the claim of the paper's plan for a network."""
    plans = transmit(topology).plans
    return next(plan.claim for plan in plans if plan.claim is not None)


def root_of(topology: Topology) -> tuple[int, int]:
    """Return the claim of Theorem 1 and Corollary 1."""
    root = isqrt(topology.nodes - 1) + 1
    return root, root


def lines(_setting: Setting) -> Item:
    """Return Theorem 1 and Corollary 1."""
    networks = [make(nodes) for make in (line, ring) for nodes in (2, 3, 4, 8, 9, 15, 16, 100, 110)]
    rows = plan_rows(networks, "Theorem 1, Corollary 1", root_of)
    best = transmit(line(9)).best
    return plans_item("Lines and rings (Theorem 1, Corollary 1)", rows, {"": best})


def trees(_setting: Setting) -> Item:
    """Return Theorem 2, Corollary 2 and Fig. 1."""
    networks = [binary_tree(nodes) for nodes in (3, 7, 12, 14, 15, 20, 31, 45, 63)]
    rows = plan_rows(networks, "", claimed)
    pictures = {str(nodes): transmit(binary_tree(nodes)).best for nodes in (15, 12)}
    return plans_item("Binary trees (Theorem 2, Corollary 2, Fig. 1)", rows, pictures)


def lemma_1(_setting: Setting) -> Item:
    """Return Lemma 1: the odd numbers to 2n - 1 in p sets of the same sum."""
    rows = []
    for parts, n in ((2, 4), (2, 6), (3, 6), (3, 9), (4, 12), (5, 15), (3, 15)):
        sets = odd_partition(parts, n)
        text = "  ".join("+".join(map(str, sorted(numbers))) for numbers in sets)
        sums = " ".join(str(sum(numbers)) for numbers in sets)
        rows.append(Row((parts, n, text), " ".join([str(n * n // parts)] * parts), sums))
    labels = ("p", "n", "sets D_1, D_2, ...")
    return Item("Lemma 1: sums of odd numbers", labels, rows, "printed: n²/p")


def stars(_setting: Setting) -> Item:
    """Return Theorems 3 and 4."""
    rows = [
        Row(
            (plan.topology.label, plan.topology.nodes - 1, None, None),
            f"({n}, {n})",
            cost_text(plan.cost),
        )
        for parts, n in ((2, 4), (3, 6), (2, 6), (4, 8))
        for plan in [theorem_3_lines_plan(parts, n)]
    ]
    sizes = ((3, 3), (4, 3), (3, 6), (3, 4), (2, 12), (3, 18), (4, 24))
    for arms, length in sizes:
        n = next(n for n in range(1, 100) if n * n + arms * n >= arms * length)
        exact = n * n + arms * n == arms * length
        rows += plan_rows(
            [star_tree(arms, length)],
            "Theorem 4, equality" if exact else "Theorem 4",
            lambda _, n=n: (n + 1, n + 1),  # type: ignore[misc]
        )
    pictures = {"": transmit(star_tree(3, 18)).best}
    return plans_item("Separate lines and star trees (Theorems 3 and 4)", rows, pictures)


def is_covering(topology: Topology) -> bool:
    """Return whether a plan for the network is drawn as a square covered by squares."""
    return topology.kind == "diagonal-mesh" and topology.without_faults is None


def plan_picture(plan: Plan) -> Picture:
    """Return the step in which each node has the message, and where the host sends.

    On a diagonal mesh each send covers a square.
    """
    if not is_covering(plan.topology):
        return Sends(transmit_schedule(plan, 1))
    side = plan.topology.dims[0]
    squares = []
    for step, node in plan.sends:
        x, y = plan.topology.coordinates(node).tolist()
        reach = plan.time - step
        squares.append((f"send-{step}", x - reach, y - reach, 2 * reach + 1))
    title = f"{plan.topology.label}, {plan.scheme}: t = {plan.time}, s = {plan.work}"
    return Maps(title, {"step of arrival": plan.arrival.reshape(side, side)}, squares=squares)


def figure_2(_setting: Setting) -> Item:
    """Return the links of the diagonal mesh of side 5 (Fig. 2)."""
    topology = diagonal_mesh(5)
    neighbors = (topology.neighbor != NOT_REACHED).sum(axis=1).reshape(5, 5)
    rows = []
    for where, node, printed in (
        ("a corner", (0, 0), 3),
        ("an edge", (2, 0), 5),
        ("inside", (2, 2), 8),
    ):
        rows.append(
            Row((where, f"({node[0]},{node[1]})"), printed, int(neighbors[node[1], node[0]]))
        )
    note = "printed: by the definition of M_n"
    maps = Maps("Fig. 2: neighbours of each node", {"M_5": neighbors}, columns=1)
    return Item("Fig. 2: neighbours in the diagonal mesh M_5", ("node", ""), rows, note, {"": maps})


def figure_3(_setting: Setting) -> Item:
    """Return Lemma 2: how far m squares reach along the four sides, as laid by TA (Fig. 3)."""
    rows = []
    for side in (60, 100, 150, 200, 400, 700):
        time = ta_time(side)
        m = table_1_row(side).m or 1
        squares = ta_squares(side)[: 4 * m - 4]
        sums = {
            "top": sum(square.side for square in squares if square.y == 0),
            "left": sum(square.side for square in squares if square.x == 0),
            "right": sum(square.side for square in squares if square.x + square.side == side),
            "bottom": sum(square.side for square in squares if square.y + square.side == side),
        }
        less = (6, 8, 8, 10) if m % 2 == 0 else (9, 9, 7, 7)
        base = 2 * time * m - 4 * m * m + 8 * m
        printed = " ".join(str(base - each) for each in less)
        rows.append(Row((side, time, m), printed, " ".join(map(str, sums.values()))))
    picture = plan_picture(ta_plan(diagonal_mesh(150)))
    labels = ("n", "t", "m")
    note = "sums of the sides of the squares on the top, left, right and bottom (Lemma 2)"
    return Item("Fig. 3: the mesh arrangement", labels, rows, note, {"": picture})


def figure_4(_setting: Setting) -> Item:
    """Return the covering of M_45, which the paper found by hand."""
    topology = diagonal_mesh(45)
    rows, pictures = [], {}
    for name, plan in (("paper", ta_plan(topology)), ("best", cover_plan(topology))):
        by = plan.scheme
        rows.append(
            Row((topology.label, by, plan.work), 13 if name == "paper" else None, plan.time)
        )
        pictures[name] = plan_picture(plan)
    note = "printed and ours: t; the scan has lost the paper's drawing, so these squares are ours"
    return Item("Fig. 4: covering M_45", ("network", "by", "s"), rows, note, pictures)


def table_1_text(row: TableRow) -> str:
    """Return a row of Table I as text: t, m, and the inner square's n and t."""
    more = f"+{row.more}" if row.more else ""
    inner = ["-", "-"] if row.inner is None else [f"{row.inner}", f"{row.inner_time}{more}"]
    return "  ".join((f"{row.time}{more}", str(row.m or "-"), *inner))


def table_1(_setting: Setting) -> Item:
    """Return Table I as printed beside the rules of the paper's text."""
    rows = []
    with TABLE_1.open(newline="") as file:
        for cells in list(csv.reader(file))[1:]:
            side = int(cells[0])
            printed = "  ".join(cell or "-" for cell in cells[1:])
            # A printed dash for m = 2 stands where the text has no inner square.
            ours = table_1_text(table_1_row(side))
            rows.append(Row((side,), printed, ours, _ERRATA_1.get(side, "Table I, m")))
    note = "t, m, and n and t of the square that is left"
    return Item("Table I: Algorithm TA", ("n",), rows, note)


def theorem_5(_setting: Setting) -> Item:
    """Return the ratio of Algorithm TA's steps to the least that counting allows, and its limit."""
    sides = [round(10 ** (power / 4)) for power in range(4, 25)]
    rows, ratios = [], []
    for side in sides:
        least = least_time(side)
        ratio = ta_time(side) / least
        rows.append(Row((side, ta_time(side), least), None, f"{ratio:.4f}"))
        ratios.append(ratio)
    limit = (4 / 3) ** (1 / 3)
    rows.append(Row(("n → ∞", None, None), "1.1", f"{ratios[-1]:.1f}"))
    shown = {"Algorithm TA / least": ratios, "(4/3)^(1/3)": [limit] * len(sides)}
    picture = Lines("Theorem 5", "side n", "ratio", sides, shown, log=10)
    labels = ("n", "t of TA", "least t with\n(4t³ - t)/3 ≥ n²")
    note = f"the limit is (4/3)^(1/3) = {limit:.4f}"
    return Item("The ratio of Theorem 5", labels, rows, note, {"": picture})


def least_time(side: int) -> int:
    """Return the least t with 4 t³ / 3 - t / 3 >= n²: the squares' area."""
    time: int = ceil((0.75 * side * side) ** (1 / 3)) - 1
    while 4 * time**3 - time < 3 * side**2:
        time += 1
    return time


def strings(_setting: Setting) -> Item:
    """Return Theorem 6 on de Bruijn graphs, and Alon's result on hypercubes."""
    graphs = [de_bruijn(*size) for size in ((1, 3), (3, 1), (2, 3), (2, 5), (2, 8), (3, 3), (4, 3))]
    rows = plan_rows(graphs, "", claimed)
    cubes = [hypercube(n) for n in range(1, 9)]
    rows += plan_rows(
        cubes, "Alon's result, as quoted", lambda cube: (ceil(len(cube.dims) / 2) + 1, 2)
    )
    pictures = {
        "de-bruijn": transmit(de_bruijn(2, 4)).best,
        "4-cube": transmit(hypercube(4)).best,
    }
    return plans_item("De Bruijn graphs (Theorem 6) and hypercubes (Alon)", rows, pictures)


def searched(_setting: Setting) -> Item:
    """Return how many sides Algorithm TA covers, up to 732, and where it ends without an answer."""
    covered = 0
    missed = []
    for side in range(46, 733):
        try:
            ta_squares(side)
        except ValueError:
            missed.append(side)
        else:
            covered += 1
    rows = [
        Row(("46 to 732", " ".join(map(str, missed))), 687, covered, "section 5, step (5) of TA")
    ]
    return Item("Sides that Algorithm TA covers", ("n", "without an answer"), rows)


HO_HSU_SUNG = Paper(
    "T.-Y. Ho, L.-H. Hsu and T.-Y. Sung, Transmitting on Various Network Topologies, "
    "Networks, 1996",
    "Ho, Hsu & Sung 1996",
    {
        "theorem-1": lines,
        "figure-1": trees,
        "lemma-1": lemma_1,
        "theorems-3-4": stars,
        "figure-2": figure_2,
        "figure-3": figure_3,
        "figure-4": figure_4,
        "table-1": table_1,
        "algorithm-ta": searched,
        "theorem-5": theorem_5,
        "theorem-6": strings,
    },
)
