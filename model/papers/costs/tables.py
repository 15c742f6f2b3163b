"""The cost tables of Johnsson & Ho as functions: times, optimal packets and lower bounds.

1986 is S. L. Johnsson and C.-T. Ho, "Spanning Graphs for Optimum Broadcasting and Personalized
Communication in Hypercubes"; :mod:`.rows` explains its terms and symbols. This module has our
rows for Tables 4 to 18 by name, and the lower bounds; :mod:`.printed` has the printed formulas.

>>> cost = find_cost("all-gather", "sbt", "one-port")
>>> cost.start_ups(7, 16, 64), cost.transferred(7, 16, 64)
(33, Fraction(2032, 1))
"""

from dataclasses import dataclass
from fractions import Fraction

from ...base.errors import InvalidInput, require_range
from . import all_to_all, one_to_all
from .rows import PORTS, Cost, Number

COLLECTIVES = ("broadcast", "scatter", "all-gather", "all-to-all")

COSTS: tuple[Cost, ...] = (*one_to_all.ROWS, *all_to_all.ROWS)
"""Our counted rows, in the order of the tables."""


def find_costs(collective: str, ports: str) -> tuple[Cost, ...]:
    """Return the rows of a collective and port model; :class:`.InvalidInput` if there are none."""
    if collective not in COLLECTIVES:
        raise InvalidInput.of("collective", ", ".join(COLLECTIVES), collective)
    if ports not in PORTS:
        raise InvalidInput.of("ports", ", ".join(PORTS), ports)
    return tuple(cost for cost in COSTS if (cost.collective, cost.ports) == (collective, ports))


def find_cost(collective: str, graph: str, ports: str) -> Cost:
    """Return one row; :class:`.InvalidInput` if there is none."""
    rows = {cost.graph: cost for cost in find_costs(collective, ports)}
    if graph not in rows:
        raise InvalidInput.of(f"graph for {collective}, {ports}", ", ".join(rows), graph)
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


_ROUNDING = 1e-9


def fastest(
    collective: str, ports: str, n: int, words: int, tau: Number, tc: Number
) -> tuple[tuple[str, ...], Number]:
    """Return the graphs with the least T_min, and that time.

    One word, or up to n words with n ports, go down trees of their own: n (τ + t_c). Times below
    the lower bound are left out: they arise if n trees share fewer than n words.
    """
    least = lower_bound(collective, ports, n, words).time(tau, tc) * (1 - _ROUNDING)
    times = {
        cost.graph: cost.best_possible(n, words, tau, tc)[1]
        for cost in find_costs(collective, ports)
        if n >= cost.least_dimension
    }
    if collective == "broadcast" and words <= (1 if ports == "one-port" else n):
        times["sbt" if ports == "one-port" else "nrsbt"] = n * (tau + tc)
    best = min(time for time in times.values() if time >= least)
    near = best * (1 + _ROUNDING)
    return tuple(sorted(graph for graph, time in times.items() if least <= time <= near)), best
