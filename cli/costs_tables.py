"""``eyecast costs --table``: the tables of Johnsson & Ho that have other columns than times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..model.base.errors import require_range
from ..model.collectives.cube.link_measures import measures
from ..model.collectives.cube.spanning_graphs import spanning_graph
from ..model.papers.costs.rows import PORTS, Number
from ..model.papers.costs.tables import (
    LEAST_ALL_GATHER_START_UPS,
    PROPAGATION,
    RATIOS,
    STEPS_PER_PACKET,
    SUMMARY,
    OfDimension,
    fastest,
    find_cost,
    lower_bound,
)

COST_TABLES: dict[int, tuple[str, tuple[str, ...]]] = {
    4: ("broadcast", PORTS[:1]),
    5: ("broadcast", PORTS[1:2]),
    7: ("scatter", PORTS[:2]),
    8: ("scatter", PORTS[:1]),
    9: ("scatter", PORTS[1:2]),
    **dict.fromkeys((11, 12), ("all-gather", PORTS[:1])),
    **dict.fromkeys((13, 14), ("all-gather", PORTS[1:2])),
    **dict.fromkeys((15, 16), ("all-to-all", PORTS[:1])),
    **dict.fromkeys((17, 18), ("all-to-all", PORTS[1:2])),
}
"""Tables 4 to 18 except 6 and 10: the collective and the ports of each."""

_LARGEST_COUNTED = 10
_COUNTED = ("brg", "nrbrg", "sbt", "nrsbt", "nesbt", "sbnt")


@dataclass(frozen=True)
class CostTable:
    """A table of the paper for one dimension, and a note on it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""


def cost_table(number: int, n: int, words: int, tau: float, tc: float) -> CostTable:
    """Return Table 1, 2, 3, 6, 10 or (for any other ``number``) 19 for dimension ``n``.

    Raises :class:`.InvalidInput` if the table has no row for the dimension or counting (Table 1)
    would take too long.
    """
    require_range("--dimension", n, 2, _LARGEST_COUNTED if number == 1 else None)
    title = f"{n}-cube, Table {number} of Johnsson & Ho: "
    if number == 1:
        columns = ["graph", "level l", "dimension d", "Ew_d", "ew_ld", "sw_ld", "rw_ld"]
        return CostTable(title + "what links carry, counted", columns, list(_loads(n)))
    if number == 2:
        what = "steps of a broadcast of one packet"
        return CostTable(title + what, ["graph", "ports", "steps"], _steps(PROPAGATION, n))
    if number == 3:
        what = "steps of a broadcast for each packet more"
        return CostTable(title + what, ["graph", "ports", "steps"], _steps(STEPS_PER_PACKET, n))
    if number == 6:
        columns = ["graph", "ports", "one packet", "M/B >> n", "nτ >> M t_c", "nτ << M t_c"]
        note = "nRSBT, one-port, is as printed: what is counted is in docs/errata.md"
        return CostTable(title + "T of a broadcast / T of nESBT", columns, _ratios(n), note)
    if number == 10:
        what, note = "least start-ups of an all-gather, one-port", "of tcbt it is a lower bound"
        start_ups = [(graph, _text(of(n))) for graph, of in LEAST_ALL_GATHER_START_UPS.items()]
        return CostTable(title + what, ["graph", "start-ups"], start_ups, note)
    columns = ["collective", "ports", "M", "graph", "B_opt", "T_min", "lower bound", "fastest", "T"]
    what = f"its least times for {words} words, and the fastest by Tables 4 to 18"
    note = "nESBT is the fastest in a broadcast of many words alone: docs/errata.md"
    return CostTable(title + what, columns, list(_best(n, words, tau, tc)), note)


def _loads(n: int) -> Iterator[tuple[object, ...]]:
    for graph in _COUNTED:
        counted = measures(spanning_graph(graph, n))
        by_level = (counted.weighted_level_links, counted.subtree_nodes, counted.nodes_below)
        for level in range(len(counted.level_links)):
            for dimension in range(n):
                values = (
                    counted.weighted_links[dimension],
                    *(each[level, dimension] for each in by_level),
                )
                shares = (_text(Fraction(int(value), counted.trees)) for value in values)
                yield graph, level, dimension, *shares


def _steps(table: dict[tuple[str, str], OfDimension], n: int) -> list[tuple[object, ...]]:
    return [
        (graph, ports, _text(steps(n)))
        for (graph, ports), steps in table.items()
        if n >= find_cost("broadcast", graph, ports).least_dimension
    ]


def _ratios(n: int) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for ratio in RATIOS:
        limits = ratio.one_packet, ratio.many_packets, ratio.by_start_ups, ratio.by_words
        rows += [(graph, ratio.ports, *(_text(of(n)) for of in limits)) for graph in ratio.graphs]
    return rows


def _best(n: int, words: int, tau: float, tc: float) -> Iterator[tuple[object, ...]]:
    for row in SUMMARY:
        if not row.holds(n, words):
            continue
        bound = _text(lower_bound(row.collective, row.ports, n, words).time(tau, tc))
        graphs, least = fastest(row, n, words, tau, tc)
        named = ", ".join(graphs), _text(least)
        for graph in row.graphs:
            best = map(_text, row.best(graph, n, words, tau, tc))
            yield row.collective, row.ports, row.condition, graph, *best, bound, *named


def _text(value: Number) -> str:
    """Return an integer or a fraction unchanged, a float with four significant digits, as text."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
