"""Johnsson & Ho: Tables 1 to 19, the spanning graphs, and the figures of the iPSC.

A printed value is that of the printed formula (:mod:`..costs.printed`) for the chosen n, M, B, τ
and t_c. Ours is that of our row (:mod:`..costs.tables`), or counted in trees and schedules.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain, combinations

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import require_range
from ...collectives.cube.collectives import cube_schedule
from ...collectives.cube.link_measures import ancestors_of_nodes, measures
from ...collectives.cube.routing_cycles import dimension_cycles, one_port_cycles
from ...collectives.cube.spanning_graphs import SpanningGraph, SpanningTree, spanning_graph
from ...network.topology import hypercube
from ...schedule.cost import count_cost
from ..costs.formula import Formula
from ..costs.printed import (
    LEAST_ALL_GATHER_START_UPS,
    LINK_LOADS,
    PRINTED,
    PROPAGATION,
    RATIOS,
    REFLECTED_LOAD,
    ROTATED_LOAD,
    SECTION_5_1_5,
    STEPS_PER_PACKET,
    SUMMARY,
    TABLES,
)
from ..costs.rows import PORTS, Cost, Number
from ..costs.tables import fastest, find_cost, find_costs, lower_bound
from .item import Item, Lines, Maps, Paper, Row, Setting, Trees

LARGEST_DIMENSION = 16
"""Largest dimension of the tables."""

LARGEST_COUNTED = 5
"""Largest dimension of a cube whose schedules are counted for Tables 4 to 18."""

MOST_COUNTED = 1 << 14
"""Most words of an all-to-all for which schedules are counted."""

LARGEST_LISTED = 10
"""Largest dimension of Table 1, and of the choices of trees."""

START_UP, BYTE = 8e-3, 0.8e-6
"""τ and t_c of the iPSC in seconds: a start-up, and a byte at 10 Mbit/s (section 8.1)."""

PACKET, MESSAGE, EACH = 1 << 10, 1 << 14, 1 << 10
"""Bytes of a packet that the iPSC does not cut, of a broadcast, and for or of each node. The scan
has lost the messages of Figs. 15 to 19: the last two numbers are ours."""

DIMENSIONS = range(2, 7)
"""Dimensions of the cubes in Figs. 15 to 19."""


def text(value: Number | None) -> str | None:
    """Return an integer or a fraction as it is, a float with four digits; None for None."""
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# ---- Tables 4, 5, 7 to 9, and 11 to 18 --------------------------------------------------------

_SQUARE_ROOTS = "B_opt and T_min with square roots (sections 1 and 4, Tables 4, 5, 19)"
_STIRLING = "B_opt of the SBT, nRSBT, nESBT, SBnT rows with binomials (Tables 9, 14)"
_BALANCED = "SBnT, one-port: Tables 7, 8 (upper bounds), 11, 15 (≈)"
_ERRATA = {
    ("scatter", "brg", "one-port"): "Table 7, BRG, one-port",
    ("scatter", "tcbt", "one-port"): "Table 7, TCBT, one-port",
    ("scatter", "sbnt", "one-port"): _BALANCED,
    ("all-gather", "sbnt", "one-port"): _BALANCED,
    ("all-to-all", "sbnt", "one-port"): _BALANCED,
    ("all-to-all", "nesbt", "one-port"): "Table 15, nESBT",
}
_BEST_ERRATA = {
    ("scatter", "sbnt", "one-port"): "Table 8, SBnT",
    ("all-to-all", "nesbt", "one-port"): "Table 16, nESBT, one-port",
}


def cost_text(start_ups: Number, words: Number) -> str:
    """Return T as text: "33 τ + 64 t_c"."""
    return f"{text(start_ups)} τ + {text(words)} t_c"


def time_rows(collective: str, ports: str, setting: Setting) -> list[Row]:
    """Return T of each graph: the printed formula, our row, and the count of a schedule."""
    n, words, packet = setting.dimension, setting.words, setting.packet
    bound = lower_bound(collective, ports, n, words)
    rows = [
        Row(
            ("lower bound", ports, "T", "", ""), None, cost_text(bound.start_ups, bound.transferred)
        )
    ]
    for cost in rows_of(collective, ports, n):
        key = collective, cost.graph, ports
        possible = cost.possible(n, words, packet)
        ours = cost_text(cost.start_ups(n, words, possible), cost.transferred(n, words, possible))
        counted = counted_cost(cost, n, words, packet)
        printed, formula = None, "-"
        if key in PRINTED:
            row = PRINTED[key]
            start_ups = row.start_ups(n, words, possible)
            printed = cost_text(start_ups, row.transferred(n, words, possible))
            formula = f"({row.start_up_formula}) τ + ({row.word_formula}) t_c"
        rows.append(
            Row((cost.graph, ports, "T", formula, counted), printed, ours, _ERRATA.get(key, ""))
        )
        if key == ("scatter", "sbnt", "n-port"):
            text_value = SECTION_5_1_5(n=n, M=words, B=possible)
            labels = ("sbnt", ports, "start-ups, 5.1.5", str(SECTION_5_1_5), counted)
            start_ups = cost.start_ups(n, words, possible)
            rows.append(
                Row(labels, text(text_value), text(start_ups), "section 5.1.5, SBnT, n-port")
            )
    return rows


def best_rows(collective: str, ports: str, setting: Setting) -> list[Row]:
    """Return B_opt and T_min of each graph: the printed formulas, and the best possible packet."""
    n, words, times = setting.dimension, setting.words, (setting.tau, setting.tc)
    least = lower_bound(collective, ports, n, words).time(*times)
    rows = [Row(("lower bound", ports, "T_min", "", ""), None, text(least))]
    for cost in rows_of(collective, ports, n):
        key = collective, cost.graph, ports
        ours = cost.best_possible(n, words, *times)
        if key not in PRINTED:
            formulas: Sequence[object] = ("-", "-")
            printed: Sequence[Number | None] = (None, None)
        else:
            row = PRINTED[key]
            formulas = row.packet_formula, row.time_formula or "O(√n)NMt_c + nτ"
            printed = printed_best(key, cost, setting)
        usual = _SQUARE_ROOTS if cost.pipelined else _STIRLING
        erratum = _BEST_ERRATA.get(key, _ERRATA.get(key, usual))
        for what, formula, value, own in zip(
            ("B_opt", "T_min"), formulas, printed, ours, strict=True
        ):
            labels = (cost.graph, ports, what, str(formula), "")
            rows.append(Row(labels, text(value), text(own), erratum))
    return rows


def printed_best(
    key: tuple[str, str, str], cost: Cost, setting: Setting
) -> tuple[Number | None, Number | None]:
    """Return the printed B_opt and T_min; none of a pipeline if its square roots have no value."""
    row, n, words = PRINTED[key], setting.dimension, setting.words
    times = setting.tau, setting.tc
    if cost.pipelined and not setting.tc:
        return None, row.least_time(n, words, *times)
    return row.best_packet(n, words, *times), row.least_time(n, words, *times)


def rows_of(collective: str, ports: str, n: int) -> list[Cost]:
    """Return our rows of a collective and port model that hold for dimension n."""
    return [cost for cost in find_costs(collective, ports) if n >= cost.least_dimension]


def counted_cost(cost: Cost, n: int, words: int, packet: int) -> str | None:
    """Return T as counted in our schedule on a small cube; None on a large one."""
    if n > LARGEST_COUNTED or words << 2 * n > MOST_COUNTED:
        return None
    schedule = cube_schedule(
        cost.collective,
        hypercube(n),
        None if cost.collective.startswith("all") else 0,
        words,
        graph=cost.graph,
        all_port=cost.ports == "n-port",
        packet=packet,
    )
    counted = count_cost(schedule)
    return cost_text(counted.start_ups(packet), counted.transferred)


def cost_table(number: int, setting: Setting) -> Item:
    """Return one of Tables 4, 5, 7 to 9 and 11 to 18."""
    rows: list[Row] = []
    titles = []
    for (collective, ports), (of_time, of_best) in TABLES.items():
        if of_time == number:
            rows += time_rows(collective, ports, setting)
        if of_best == number:
            rows += best_rows(collective, ports, setting)
        if number in (of_time, of_best):
            titles.append(f"{collective}, {ports}")
    title = f"{setting.dimension}-cube: {' and '.join(titles)}, M = {setting.words}"
    labels = ("graph", "ports", "", "printed formula", "counted in\na schedule")
    note = "ours: our row; for B_opt, the nearest packet that the message can have, and its T"
    if setting.words % setting.dimension:
        note += "; n does not divide M, so n trees cannot share it evenly"
    return Item(f"{title}, B = {setting.packet}", labels, rows, note)


def other_ports(setting: Setting) -> Item:
    """Return the rows of half-duplex and full-duplex ports, and of BRG (sections 4.1 and 5.1)."""
    n, words, packet = setting.dimension, setting.words, setting.packet
    rows = []
    for collective in ("broadcast", "scatter"):
        for cost in (cost for ports in PORTS[1:] for cost in rows_of(collective, ports, n)):
            if (collective, cost.graph, cost.ports) not in PRINTED:
                possible = cost.possible(n, words, packet)
                start_ups = cost.start_ups(n, words, possible)
                best = cost.best_possible(n, words, setting.tau, setting.tc)
                labels = (collective, cost.graph, cost.ports, cost.place, *map(text, best))
                ours = cost_text(start_ups, cost.transferred(n, words, possible))
                rows.append(Row(labels, None, ours))
    labels = ("collective", "graph", "ports", "section", "B_opt", "T_min")
    return Item(f"{n}-cube: other ports, M = {words}, B = {packet}", labels, rows, "ours: T")


# ---- Tables 1 to 3, 6, 10 and 19 --------------------------------------------------------------


def table_1(setting: Setting) -> Item:
    """Return what links carry by level and dimension (Table 1), counted link by link."""
    n = setting.dimension
    require_range("dimension", n, 2, LARGEST_LISTED)
    rows = []
    for graph, formulas in LINK_LOADS.items():
        counted = measures(spanning_graph(graph, n))
        by_level = (counted.weighted_level_links, counted.subtree_nodes, counted.nodes_below)
        values = (counted.weighted_links[np.newaxis], *by_level)
        for name, source, found in zip(
            ("Ew_d", "ew_ld", "sw_ld", "rw_ld"), formulas, values, strict=True
        ):
            for level, loads in enumerate(found):
                ours = shares(Fraction(int(load), counted.trees) for load in loads)
                formula = Formula(source) if source else None
                holds = graph != "nesbt" or level > 1 or name == "Ew_d"
                at = [{"n": n, "l": level, "d": d} for d in range(n)]
                printed = shares(formula(**each) for each in at) if formula and holds else None
                shown = "" if name == "Ew_d" else str(level)
                rows.append(Row((graph, name, shown, str(formula or "-")), printed, ours))
    labels = ("graph", "", "level l", "formula")
    note = "values for d = 0, 1, ... n - 1"
    return Item(f"{n}-cube: what links carry, by dimension d", labels, rows, note)


def shares(values: Iterable[Number]) -> str:
    """Return values as text in one line."""
    return "  ".join(str(value) for value in values)


def step_rows(
    formulas: Mapping[str, tuple[str, str]], n: int, count: Callable[[str, str], Number]
) -> list[Row]:
    """Return rows of formulas for one port and n ports beside counts."""
    return [
        Row(
            (graph, ports, str(Formula(source))),
            text(Formula(source)(n=n)),
            text(count(graph, ports)),
        )
        for graph, both in formulas.items()
        for ports, source in zip(PORTS, both, strict=False)
        if n >= find_cost("broadcast", graph, ports).least_dimension
    ]


def table_2(setting: Setting) -> Item:
    """Return the steps of a broadcast of one packet, counted in schedules."""
    n = setting.dimension
    require_range("dimension", n, 2, LARGEST_LISTED)

    def counted(graph: str, ports: str) -> int:
        cube = hypercube(n)
        all_port = ports == "n-port"
        broadcast = partial(cube_schedule, "broadcast", cube, 0, 1, graph=graph, packet=1)
        return int(count_cost(broadcast(all_port=all_port)).steps)

    rows = step_rows(PROPAGATION, n, counted)
    return Item(
        f"{n}-cube: steps of a broadcast of one packet", ("graph", "ports", "formula"), rows
    )


def table_3(setting: Setting) -> Item:
    """Return the steps for each further packet: how our rows grow from 100 n to 200 n packets."""
    n = setting.dimension

    def counted(graph: str, ports: str) -> Fraction:
        cost = find_cost("broadcast", graph, ports)
        few, many = (cost.start_ups(n, packets * n, 1) for packets in (100, 200))
        return Fraction(many - few) / (100 * n)

    rows = step_rows(STEPS_PER_PACKET, n, counted)
    return Item(f"{n}-cube: steps for each further packet", ("graph", "ports", "formula"), rows)


_FAR = 10**4
"""A dimension for which Table 6's limits hold to two decimals."""


def table_6(setting: Setting) -> Item:
    """Return T divided by the T of nESBT; the last two columns are limits for large n."""
    n = setting.dimension
    rows = []
    for (ports, graph), formulas in RATIOS.items():
        if n < find_cost("broadcast", graph, ports).least_dimension:
            continue
        both = find_cost("broadcast", graph, ports), find_cost("broadcast", "nesbt", ports)
        one_packet = Fraction(steps_of_one_word(graph, ports, n), n + 1)
        many = [cost.start_ups(n, 10**6 * n * n, 1) for cost in both]
        by_start_ups = [float(cost.least_time(_FAR, _FAR, 1e30, 1)) for cost in both]
        by_words = [float(cost.least_time(_FAR, _FAR, 1, 1e40)) for cost in both]
        counted = (
            text(one_packet),
            *(f"{a / b:.2f}" for a, b in (many, by_start_ups, by_words)),
        )
        limits = n, n, _FAR, _FAR
        cases = ("one packet", "M/B >> n", "nτ >> M t_c", "nτ << M t_c")
        for case, source, at, ours in zip(cases, formulas, limits, counted, strict=True):
            value = Formula(source)(n=at)
            printed = text(value) if case == "one packet" else f"{float(value):.2f}"
            facts = (graph, ports, case, str(Formula(source)), at)
            erratum = "Table 6, nRSBT, one-port, B_opt, τn ≫ Mt_c"
            rows.append(Row(facts, printed, ours, erratum))
    labels = ("graph", "ports", "case", "formula", "n")
    return Item("T of a broadcast / T of nESBT", labels, rows)


def steps_of_one_word(graph: str, ports: str, n: int) -> int:
    """Return the steps of a broadcast of one word: n down one tree, or our row's."""
    return n if graph == "nrsbt" else int(find_cost("broadcast", graph, ports).start_ups(n, 1, 1))


def table_10(setting: Setting) -> Item:
    """Return the least start-ups of an all-gather and an all-to-all, one-port."""
    n = setting.dimension
    rows = []
    for graph, source in LEAST_ALL_GATHER_START_UPS.items():
        printed = text(Formula(source)(n=n))
        for collective in ("all-gather", "all-to-all"):
            found = {cost.graph: cost for cost in rows_of(collective, "one-port", n)}
            large = 1 << n + 10
            ours = text(found[graph].start_ups(n, n, large)) if graph in found else None
            least = f"at least {printed}" if graph == "tcbt" else printed
            rows.append(Row((graph, collective, str(Formula(source))), least, ours))
    return Item(f"{n}-cube: least start-ups, one-port", ("graph", "", "formula"), rows)


def table_19(setting: Setting) -> Item:
    """Return the paper's fastest graphs beside the fastest by all rows."""
    n, times = setting.dimension, (setting.tau, setting.tc)
    rows = []
    for collective, ports, condition, graphs, packet, source in SUMMARY:
        words = setting.words
        if condition:
            few = 1 if ports == "one-port" else n
            words = few if "=" in condition else max(words, few + 1)
        graph = graphs.split(", ")[0]
        time = Formula(source) if source else PRINTED[collective, graph, ports].time_formula
        assert time is not None
        value = time(n=n, M=words, tau=times[0], tc=times[1])
        names, least = fastest(collective, ports, n, words, *times)
        named = graphs if {*graphs.split(", ")} <= {*names} else ", ".join(names)
        facts = (collective, ports, condition, words, str(Formula(packet)))
        erratum = "Table 19 and section 4" if collective == "broadcast" else "Table 19, last row"
        printed = f"{graphs}: {text(value)}"
        rows.append(Row(facts, printed, f"{named}: {text(least)}", erratum))
    labels = ("collective", "ports", "", "M", "printed B_opt")
    return Item(f"{n}-cube: the least T_min", labels, rows, "T_min with B_opt of Tables 4 to 18")


# ---- Trees for M mod n words (section 5.1.4) --------------------------------------------------


def link_loads(tree: SpanningTree) -> Numbers:
    """Return the nodes below each link, by ``parent * N + child``; shape (N²,)."""
    loads = np.zeros(tree.nodes**2, np.int64)
    for ancestors, _ in ancestors_of_nodes(tree):
        np.add.at(loads, tree.parent[ancestors] * tree.nodes + ancestors, 1)
    return loads


def reflected(tree: SpanningTree) -> SpanningTree:
    """Return the tree from node 0 with the bits of all addresses in reverse order."""
    n = tree.nodes.bit_length() - 1
    reverse = np.array([int(f"{node:0{n}b}"[::-1], 2) for node in range(tree.nodes)])
    parent = np.where(tree.parent < 0, tree.parent, reverse[tree.parent])
    return SpanningTree(0, parent[reverse], reverse[tree.children[reverse]])


def trees_for_a_remainder(setting: Setting) -> Item:
    """Return the most words on a link for M = k < n words a node, on k trees (n ports)."""
    n = min(setting.dimension, LARGEST_REMAINDER)
    trees = spanning_graph("nrsbt", n).trees
    rotated = [link_loads(tree) for tree in trees]
    pairs = [one + link_loads(reflected(tree)) for one, tree in zip(rotated, trees, strict=True)]
    rows, pictures = [], {}
    for k in range(1, n):
        made = cube_schedule(
            *("scatter", hypercube(n), 0, k), graph="nrsbt", all_port=True, packet=None
        )
        most, best = least_of(rotated, k)
        rows.append(Row((k, "k rotations of our scatter", ""), None, count_cost(made).busiest_link))
        exact = k % 2 == 0 and n % k == 0
        printed = text(ROTATED_LOAD(n=n, k=k)) if exact else None
        rows.append(Row((k, f"best rotations: {best}", str(ROTATED_LOAD)), printed, str(most)))
        if k % 2 == 0:
            most, best = least_of(pairs, k // 2)
            printed = text(REFLECTED_LOAD(n=n, k=k)) if exact else None
            what = f"rotations and their reflections: {best}"
            rows.append(Row((k, what, str(REFLECTED_LOAD)), printed, str(most)))
            chosen = [trees[at] for at in best]
            both = tuple(chain.from_iterable((tree, reflected(tree)) for tree in chosen))
            graph = SpanningGraph("nrsbt", n, 0, both)
            title = f"{n}-cube, M mod n = {k}: rotations {best} and reflections"
            pictures[f"{k}-words"] = Trees(f"{title}, {most} words on a link", graph)
    labels = ("k = M mod n", "trees", "formula")
    return Item(
        f"{n}-cube: most words on a link in a scatter of k words", labels, rows, "", pictures
    )


LARGEST_REMAINDER = 8


def least_of(loads: Sequence[Numbers], count: int) -> tuple[int, tuple[int, ...]]:
    """Return the least words on the busiest link for any ``count`` trees, and these trees."""
    found = (
        (int(sum(loads[at] for at in chosen).max()), chosen)  # type: ignore[union-attr]
        for chosen in combinations(range(len(loads)), count)
    )
    return min(found)


# ---- Figures ----------------------------------------------------------------------------------


def graph_item(figure: str, name: str, n: int, by_level: str, special: Mapping[int, int]) -> Item:
    """Return a spanning graph: its trees, and nodes by level, by lemma and as counted."""
    graph = spanning_graph(name, n)
    formula = Formula(by_level)
    labels: Sequence[Mapping[int, str]] = ()
    if figure in ("12", "13"):
        cycles = dimension_cycles(graph) if name == "nrsbt" else one_port_cycles(graph)
        labels = [dict(enumerate(map(str, each.tolist()))) for each in cycles]
    elif name == "nrsbt":
        labels = weights(graph)
    rows = []
    for number, tree in enumerate(graph.trees):
        known = {level: formula(n=n, l=level) for level in range(tree.height + 1)}
        known |= special
        ours = np.bincount(tree.level)
        rows.append(Row((number, str(formula)), shares(known.values()), shares(ours.tolist())))
    facts = f"greedy: {graph.greedy}, edge-disjoint: {graph.edge_disjoint}, height {graph.height}"
    title = f"Fig. {figure}: {name} of the {n}-cube"
    picture = Trees(f"{title}, {len(graph.trees)} trees", graph, labels)
    note = f"printed and ours: nodes of level 0, 1, ...; {facts}"
    return Item(title, ("tree", "nodes of level l"), rows, note, {"": picture})


def weights(graph: SpanningGraph) -> list[dict[int, str]]:
    """Return for each tree the weight of the link into each node: the share of trees with it."""
    parents = np.stack([tree.parent for tree in graph.trees])
    alike = (parents[:, np.newaxis] == parents).sum(axis=1)
    count = len(graph.trees)
    return [
        {node: str(Fraction(each, count)) for node, each in enumerate(tree)}
        for tree in alike.tolist()
    ]


def figure_9(_setting: Setting) -> Item:
    """Return the parents and children of a node of the 6-cube in all trees of the nESBT."""
    n, node = 6, 0b011001
    rows = []
    for j, tree in enumerate(spanning_graph("nesbt", n).trees):
        inner = node >> j & 1
        k = next((j - i) % n for i in range(1, n + 1) if node >> (j - i) % n & 1)
        between = [(k + i) % n for i in range(1, (j - k) % n)] if k != j else []
        if inner and k == j:
            between = [(k + i) % n for i in range(1, n)]
        children = sorted(between + [j] * (inner and k != j)) if inner else []
        by_formula = f"across {k if inner else j}; {' '.join(map(str, children)) or '-'}"
        below = [d for d in range(n) if tree.children[node] >> d & 1]
        ours = f"across {tree.dimension[node]}; {' '.join(map(str, below)) or '-'}"
        rows.append(Row((j, f"{int(tree.parent[node]):06b}"), by_formula, ours))
    note = "printed: the functions parent and children of section 3.5 for this node, which is ours"
    labels = ("tree", "parent")
    title = "Fig. 9: node 011001 of the 6-cube: dimensions to its parent; to its children"
    return Item(title, labels, rows, note)


def figure_1(_setting: Setting) -> Item:
    """Return the nodes whose words leave the root in each step: reverse breadth first, SBT."""
    n = 4
    made = cube_schedule("scatter", hypercube(n), 0, 1, graph="sbt", all_port=True, packet=None)
    rows = []
    for send in np.flatnonzero(made.source == made.root):
        carried = made.block_ids[made.block_offsets[send] : made.block_offsets[send + 1]]
        nodes = sorted((made.blocks.owed[block] or (0,))[0] for block in carried)
        level = {node.bit_count() for node in nodes}
        step, port = int(made.step[send]), int(made.target[send]).bit_length() - 1
        listed = " ".join(f"{node:04b}" for node in nodes)
        rows.append(Row((step, port, n - step + 1, listed), None, " ".join(map(str, level))))
    labels = ("step", "port", "level", "nodes whose words leave the root")
    rows.sort(key=lambda row: row.labels[:2])
    return Item(
        "Fig. 1: reverse breadth first on the SBT of the 4-cube", labels, rows, "ours: level"
    )


def figure_14(_setting: Setting) -> Item:
    """Return which node holds each block of an all-to-all on a 3-cube after each step (SBTs)."""
    n = 3
    made = cube_schedule(
        "all-to-all", hypercube(n), None, 1, graph="sbt", all_port=False, packet=None
    )
    nodes = 1 << n
    holder = np.repeat(np.arange(nodes), nodes).reshape(nodes, nodes)
    ends = {block: (owed or (0,))[0] for block, owed in enumerate(made.blocks.owed)}
    rows, maps = [], {"(1) at the start": holder.T.copy()}
    for step in range(1, made.steps + 1):
        for send in np.flatnonzero(made.step == step):
            for block in made.block_ids[made.block_offsets[send] : made.block_offsets[send + 1]]:
                holder[made.blocks.owner[block], ends[int(block)]] = made.target[send]
        maps[f"({step + 1}) after step {step}"] = holder.T.copy()
        at_end = int((holder == np.arange(nodes)).sum())
        half = nodes * nodes >> n - step
        rows.append(Row((step, f"{nodes}^2 / 2^{n - step}"), half, at_end))
    title = "Fig. 14: the node that holds the block from x to y"
    note = "printed and ours: blocks at their ends"
    return Item(title, ("step", "by halving"), rows, note, {"": Maps(title, maps, columns=4)})


def one_port_time(
    collective: str, graph: str, n: int, words: int, packet: int, tau: float, tc: float
) -> float:
    """Return T of one of our rows, with packets of at most ``packet`` words."""
    cost = find_cost(collective, graph, "one-port")
    return float(cost.time(n, words, cost.possible(n, words, packet), tau, tc))


def times_item(figure: str, collective: str, graphs: Sequence[str], words: int) -> Item:
    """Return the times of a collective by dimension: our rows beside the printed formulas."""
    time = partial(one_port_time, collective)
    lines = {
        graph: [time(graph, n, words, PACKET, START_UP, BYTE) for n in DIMENSIONS]
        for graph in graphs
    }
    rows = []
    for graph, seconds in lines.items():
        for n, second in zip(DIMENSIONS, seconds, strict=True):
            row = PRINTED.get((collective, graph, "one-port"))
            cost = find_cost(collective, graph, "one-port")
            packet = cost.possible(n, words, PACKET)
            printed = None
            if row is not None and n >= cost.least_dimension:
                start_ups, moved = (f(n, words, packet) for f in (row.start_ups, row.transferred))
                printed = text(float(start_ups * START_UP + moved * BYTE))
            rows.append(Row((graph, n), printed, text(second), _BALANCED))
    title = f"Fig. {figure}: {collective} on the iPSC, M = {words} bytes, B = {PACKET}"
    note = (
        "seconds; printed: the formulas, as the scan has lost the measured curves and the lengths"
    )
    picture = Lines(title, "dimension n", "seconds", list(DIMENSIONS), lines)
    return Item(title, ("graph", "n"), rows, note, {"": picture})


def figure_15(_setting: Setting) -> Item:
    """Return the time of an SBT broadcast by packet, for each n."""
    packets = [1 << shift for shift in range(5, PACKET.bit_length())]
    lines = {
        f"n = {n}": [
            one_port_time("broadcast", "sbt", n, MESSAGE, packet, START_UP, BYTE)
            for packet in packets
        ]
        for n in DIMENSIONS
    }
    sbt = PRINTED["broadcast", "sbt", "one-port"]
    rows = []
    for n, seconds in zip(DIMENSIONS, lines.values(), strict=True):
        for packet, second in zip(packets, seconds, strict=True):
            start_ups = sbt.start_ups(n, MESSAGE, packet)
            printed = start_ups * START_UP + sbt.transferred(n, MESSAGE, packet) * BYTE
            rows.append(Row((n, packet), text(float(printed)), text(second)))
    title = f"Fig. 15: broadcast by SBT on the iPSC, M = {MESSAGE} bytes"
    picture = Lines(title, "packet, bytes", "seconds", packets, lines, log=2)
    return Item(title, ("n", "packet"), rows, "seconds", {"": picture})


def figure_17(_setting: Setting) -> Item:
    """Return the speed-up of nESBT over SBT by n, for 1 to 256 packets."""
    lines: dict[str, list[float]] = {"n": [float(n) for n in DIMENSIONS]}
    rows = []
    for words in (PACKET << shift for shift in (0, 2, 4, 6, 8)):
        ups = []
        for n in DIMENSIONS:
            sbt, nesbt = (
                one_port_time("broadcast", graph, n, words, PACKET, START_UP, BYTE)
                for graph in ("sbt", "nesbt")
            )
            ups.append(sbt / nesbt)
            rows.append(Row((words, n), None, f"{sbt / nesbt:.3f}"))
        lines[f"M = {words}"] = ups
    title = "Fig. 17: speed-up of nESBT over SBT"
    note = "the paper measured about n; the formulas reach it for many packets (Table 6)"
    picture = Lines(title, "dimension n", "speed-up", list(DIMENSIONS), lines)
    return Item(title, ("M", "n"), rows, note, {"": picture})


def _items() -> dict[str, Callable[[Setting], Item]]:
    """Return the paper's items in its order."""
    binomial, disjoint = "C(n, l)", "C(n, l - 1)"
    graphs: dict[str, tuple[str, int, str, dict[int, Number]]] = {
        "2": ("nrbrg", 3, "1", {}),
        "3": ("sbt", 4, binomial, {}),
        "4": ("tcbt", 4, "3*2**(l - 2)", {0: 1, 1: 2, 4: 4}),
        "5": ("nrsbt", 3, binomial, {}),
        **dict.fromkeys(("6", "7", "13"), ("nesbt", 3, disjoint, {0: 1, 2: 2})),
        "8": ("nesbt", 4, disjoint, {0: 1, 2: 3}),
        "10": ("sbnt", 3, binomial, {}),
        "11": ("sbnt", 5, binomial, {}),
        "12": ("nrsbt", 3, binomial, {}),
    }
    figures: dict[str, Callable[[Setting], Item]] = {
        f"figure-{figure}": lambda _, figure=figure, of=of: graph_item(figure, *of)  # type: ignore[misc]
        for figure, of in graphs.items()
    }
    figures |= {
        "figure-1": figure_1,
        "figure-9": figure_9,
        "figure-14": figure_14,
        "figure-15": figure_15,
        "figure-16": lambda _: times_item("16", "broadcast", ("sbt", "nesbt"), MESSAGE),
        "figure-17": figure_17,
        "figure-18": lambda _: times_item("18", "scatter", ("sbt", "sbnt"), EACH),
        "figure-19": lambda _: times_item("19", "all-gather", ("brg", "sbt", "sbnt"), EACH),
    }
    tables: dict[str, Callable[[Setting], Item]] = {
        f"table-{number}": partial(cost_table, number)
        for number in sorted({*chain.from_iterable(TABLES.values())})
    }
    tables |= {"table-1": table_1, "table-2": table_2, "table-3": table_3, "table-6": table_6}
    tables |= {"table-10": table_10, "table-19": table_19}
    order = lambda name: int(name.split("-")[1])  # noqa: E731
    found = {name: figures[name] for name in sorted(figures, key=order)}
    found |= {name: tables[name] for name in sorted(tables, key=order)}
    return {**found, "section-5-1-4": trees_for_a_remainder, "other-ports": other_ports}


JOHNSSON_HO = Paper(
    "S. L. Johnsson and C.-T. Ho, Spanning Graphs for Optimum Broadcasting and Personalized "
    "Communication in Hypercubes, Yale University, YALEU/DCS/TR-500, 1986",
    "Johnsson & Ho 1986",
    _items(),
)
