"""The cost tables of Johnsson & Ho as functions: times, optimal packets and lower bounds.

1986 is S. L. Johnsson and C.-T. Ho, "Spanning Graphs for Optimum Broadcasting and Personalized
Communication in Hypercubes"; :mod:`.rows` explains its terms and symbols. This module has the rows
of Tables 4 to 18 by name, the lower bounds, and the tables derived from the rows: 2, 3, 6, 10, 19.

>>> cost = find_cost("all-gather", "sbt", "one-port")
>>> cost.start_ups(7, 16, 64), cost.transferred(7, 16, 64)
(33, Fraction(2032, 1))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from ...base.errors import InvalidInput, require_range
from . import all_to_all, one_to_all
from .rows import PORTS, Cost, Number

COLLECTIVES = ("broadcast", "scatter", "all-gather", "all-to-all")

COSTS: tuple[Cost, ...] = (*one_to_all.ROWS, *all_to_all.ROWS)
"""Our counted rows, in the order of the tables."""

PRINTED: tuple[Cost, ...] = (*one_to_all.PRINTED, *all_to_all.PRINTED)
"""The rows that the paper prints differently, as printed."""


def find_costs(collective: str, ports: str) -> tuple[Cost, ...]:
    """Return the rows of a collective and port model; :class:`.InvalidInput` if there are none."""
    if collective not in COLLECTIVES:
        raise InvalidInput.of("collective", ", ".join(COLLECTIVES), collective)
    if ports not in PORTS:
        raise InvalidInput.of("ports", ", ".join(PORTS), ports)
    return tuple(cost for cost in COSTS if (cost.collective, cost.ports) == (collective, ports))


def find_cost(collective: str, graph: str, ports: str, *, printed: bool = False) -> Cost:
    """Return one row, counted or as ``printed``; :class:`.InvalidInput` if there is none."""
    rows = {cost.graph: cost for cost in find_costs(collective, ports)}
    if graph not in rows:
        raise InvalidInput.of(f"graph for {collective}, {ports}", ", ".join(rows), graph)
    for cost in PRINTED if printed else ():
        if (cost.collective, cost.graph, cost.ports) == (collective, graph, ports):
            return cost
    return rows[graph]


# ---- Lower bounds (sections 4, 5, 6 and 7) ----------------------------------------------------


@dataclass(frozen=True)
class LowerBound:
    """The least ``start_ups`` and the least words ``transferred``, by any graph."""

    start_ups: int
    transferred: Fraction

    def time(self, tau: Number, tc: Number) -> Number:
        """Return the least T, in the unit of ``tau`` and ``tc``."""
        return self.start_ups * tau + self.transferred * tc


def lower_bound(collective: str, ports: str, n: int, words: int) -> LowerBound:
    """Return the bound for any algorithm, one-port or n-port (sections 4, 5, Theorems 6.1 to 7.2).

    The farthest node is n links away. The words are those that one node must send or get, in an
    all-to-all those of all links, divided by the links in use at the same time. In a broadcast the
    first word takes n steps to the farthest node; n - 1 of them bring that node nothing else. (If n
    does not divide the words, an n-port scatter and all-gather need the next whole number; the
    paper rounds only in the broadcast.) Raises :class:`.InvalidInput` for other arguments.
    """
    require_range("dimension", n, 1)
    require_range("words", words, 1)
    if ports not in PORTS[:2]:
        raise InvalidInput.of("ports of a lower bound", ", ".join(PORTS[:2]), ports)
    at_once = 1 if ports == "one-port" else n
    transferred = {
        "broadcast": Fraction(-(-words // at_once) + n - 1),
        "scatter": Fraction((2**n - 1) * words, at_once),
        "all-gather": Fraction((2**n - 1) * words, at_once),
        "all-to-all": Fraction(n * 2 ** (n - 1) * words, at_once),
    }
    if collective not in transferred:
        raise InvalidInput.of("collective", ", ".join(COLLECTIVES), collective)
    return LowerBound(n, transferred[collective])


# ---- Tables 2, 3, 6, 10 and 19 ----------------------------------------------------------------

OfDimension = Callable[[int], Number]

PROPAGATION: dict[tuple[str, str], OfDimension] = {
    ("brg", "one-port"): lambda n: 2**n - 1,
    ("brg", "n-port"): lambda n: 2**n - 1,
    ("sbt", "one-port"): lambda n: n,
    ("sbt", "n-port"): lambda n: n,
    ("nrsbt", "one-port"): lambda n: n,
    ("nrsbt", "n-port"): lambda n: n,
    ("tcbt", "one-port"): lambda n: 2 * n - 2,
    ("tcbt", "n-port"): lambda n: n,
    ("nesbt", "one-port"): lambda n: n + 1,
    ("nesbt", "n-port"): lambda n: n + 1,
}
"""Table 2: steps of a broadcast of one packet, by graph and ports."""

STEPS_PER_PACKET: dict[tuple[str, str], OfDimension] = {
    ("brg", "one-port"): lambda n: 2,
    ("brg", "n-port"): lambda n: 1,
    ("sbt", "one-port"): lambda n: n,
    ("sbt", "n-port"): lambda n: 1,
    ("nrsbt", "one-port"): lambda n: n,
    ("nrsbt", "n-port"): lambda n: 1,
    ("tcbt", "one-port"): lambda n: 3,
    ("tcbt", "n-port"): lambda n: 1,
    ("nesbt", "one-port"): lambda n: 1,
    ("nesbt", "n-port"): lambda n: Fraction(1, n),
}
"""Table 3: further steps of a broadcast for each further packet, by graph and ports."""

LEAST_ALL_GATHER_START_UPS: dict[str, OfDimension] = {
    "brg": lambda n: 2**n - 1,
    "sbt": lambda n: n,
    "nesbt": lambda n: 2 * n,
    "nrsbt": lambda n: 2 * n - 1,
    "sbnt": lambda n: 2 * n - 1,
    "tcbt": lambda n: 2 * n - 2,
}
"""Table 10: least start-ups, one-port, also of all-to-all; for the TCBT a lower bound."""


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A row of Table 6: T of a broadcast by ``graphs`` divided by T by nESBT, functions of n.

    ``one_packet`` is for B = M, ``many_packets`` for M/B far above n. At B_opt, ``by_start_ups`` is
    for nτ far above M t_c, and ``by_words`` for nτ (n-port: n²τ) far below it. The last two are
    limits for large n.
    """

    ports: str
    graphs: tuple[str, ...]
    one_packet: OfDimension
    many_packets: OfDimension
    by_start_ups: OfDimension
    by_words: OfDimension


RATIOS = (
    Ratio(
        ports="one-port",
        graphs=("sbt", "nrsbt"),
        one_packet=lambda n: Fraction(n, n + 1),
        many_packets=lambda n: n,
        by_start_ups=lambda n: 1,
        by_words=lambda n: n,
    ),
    Ratio(
        ports="one-port",
        graphs=("tcbt",),
        one_packet=lambda n: Fraction(2 * n - 2, n + 1),
        many_packets=lambda n: 3,
        by_start_ups=lambda n: 2,
        by_words=lambda n: 3,
    ),
    Ratio(
        ports="n-port",
        graphs=("sbt", "nrsbt", "tcbt"),
        one_packet=lambda n: Fraction(n, n + 1),
        many_packets=lambda n: n,
        by_start_ups=lambda n: 1,
        by_words=lambda n: n,
    ),
)
"""Table 6. For nRSBT, one-port, ``by_start_ups`` of 1 is wrong: by Table 4 it has 2n - 1 start-ups,
and the ratio is 2 - 1/n. Its ``one_packet`` holds for M = 1, where one tree carries the message."""


@dataclass(frozen=True)
class Summary:
    """A row of Table 19: the ``graphs`` with the least T_min of a collective, by the paper.

    ``few`` is None if the row is for all M. A row for few words is for M = 1 (one-port) or M <= n
    (n-port), and one for many words for larger M.
    """

    collective: str
    ports: str
    graphs: tuple[str, ...]
    few: bool | None = None

    @property
    def condition(self) -> str:
        """The values of M for which the row holds, in the paper's words."""
        if self.few is None:
            return "any"
        few, many = ("M <= n", "M > n") if self.ports == "n-port" else ("M = 1", "M > 1")
        return few if self.few else many

    def holds(self, n: int, words: int) -> bool:
        """Return whether the row holds for this many words."""
        return self.few is None or self.few == (words <= (n if self.ports == "n-port" else 1))

    def best(
        self, graph: str, n: int, words: int, tau: Number, tc: Number
    ) -> tuple[Number, Number]:
        """Return B_opt and T_min by one of the ``graphs``."""
        if self.few:
            # Each word goes down its own tree, one link in a step.
            return 1, n * (tau + tc)
        return find_cost(self.collective, graph, self.ports).best_possible(n, words, tau, tc)


SUMMARY = (
    Summary("broadcast", "one-port", ("sbt",), few=True),
    Summary("broadcast", "one-port", ("nesbt",), few=False),
    Summary("broadcast", "n-port", ("nrsbt",), few=True),
    Summary("broadcast", "n-port", ("nesbt",), few=False),
    Summary("scatter", "one-port", ("sbt",)),
    Summary("scatter", "n-port", ("sbnt", "nrsbt")),
    Summary("all-gather", "one-port", ("sbt",)),
    Summary("all-gather", "n-port", ("sbnt", "nrsbt")),
    Summary("all-to-all", "one-port", ("sbt",)),
    Summary("all-to-all", "n-port", ("sbnt", "nrsbt")),
)
"""Table 19. Its last row names nESBT, which is not greedy and cannot reach the bound (Theorem 7.5):
B_opt and T_min are those of nRSBT in Table 18."""

_ROUNDING = 1e-9


def fastest(
    row: Summary, n: int, words: int, tau: Number, tc: Number
) -> tuple[tuple[str, ...], Number]:
    """Return the graphs with the least T_min by Tables 4 to 18 and ``row``, and that time.

    Times below the lower bound are left out: they arise if n trees share fewer than n words.
    """
    least = lower_bound(row.collective, row.ports, n, words).time(tau, tc) * (1 - _ROUNDING)
    times = {
        cost.graph: cost.best_possible(n, words, tau, tc)[1]
        for cost in find_costs(row.collective, row.ports)
        if n >= cost.least_dimension
    }
    times |= {graph: row.best(graph, n, words, tau, tc)[1] for graph in row.graphs}
    best = min(time for time in times.values() if time >= least)
    near = best * (1 + _ROUNDING)
    return tuple(graph for graph, time in times.items() if least <= time <= near), best
