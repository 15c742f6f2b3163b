"""Tables 2, 3, 6, 10 and 19 of Johnsson & Ho, derived from the rows of the other tables."""

from __future__ import annotations

from fractions import Fraction
from math import isclose

import pytest
from helpers.johnsson_ho_tables import BEST, drawn

from eyecast.model.papers.costs.rows import Cost
from eyecast.model.papers.costs.tables import (
    LEAST_ALL_GATHER_START_UPS,
    PROPAGATION,
    RATIOS,
    STEPS_PER_PACKET,
    SUMMARY,
    fastest,
    find_cost,
    find_costs,
    lower_bound,
)


def dimensions(cost: Cost) -> range:
    return range(cost.least_dimension, 9)


def test_table_2() -> None:
    """Compare Table 2, for one packet, with the rows; nRSBT's one-port row is for n parts."""
    for (graph, ports), steps in PROPAGATION.items():
        cost = find_cost("broadcast", graph, ports)
        for n in dimensions(cost):
            if (graph, ports) == ("nrsbt", "one-port"):
                assert cost.start_ups(n, 1, 1) == 2 * steps(n) - 1
            else:
                assert cost.start_ups(n, 1, 1) == steps(n)


def test_table_3() -> None:
    for (graph, ports), steps in STEPS_PER_PACKET.items():
        cost = find_cost("broadcast", graph, ports)
        for n in dimensions(cost):
            more = cost.start_ups(n, 7 * n, 1) - cost.start_ups(n, 6 * n, 1)
            assert Fraction(more, n) == steps(n)


def relative(graph: str, ports: str, n: int, m: int, b: float, tau: int, tc: int) -> float:
    """Return the ratio of T to nESBT's T; a ``b`` of 0 stands for B_opt, limited to M."""
    times = []
    for name in (graph, "nesbt"):
        cost = find_cost("broadcast", name, ports)
        best = min(m, cost.best_packet(n, m, tau, tc))
        times.append(float(cost.time(n, m, b or best, tau, tc)))
    return times[0] / times[1]


@pytest.mark.parametrize("n", [4, 7, 40])
def test_table_6(n: int) -> None:
    """Compare Table 6 in the limits that its columns name.

    Its last two columns, and TCBT's 2 and 3, are for large n.
    """
    for ratio in RATIOS:
        for graph in ratio.graphs:
            rotated = (graph, ratio.ports) == ("nrsbt", "one-port")
            many = relative(graph, ratio.ports, n, n * 10**9, 1, 1, 1)
            assert isclose(many, ratio.many_packets(n), rel_tol=1e-3)
            words = relative(graph, ratio.ports, n, n * 10**15, 0, 1, 1)
            assert isclose(words, ratio.by_words(n), rel_tol=1e-3)
            one = relative(graph, ratio.ports, n, 1, 1, 10**6, 0)
            start_ups = relative(graph, ratio.ports, n, n * 10**6, 0, 10**15, 1)
            if rotated:
                assert isclose(one, Fraction(2 * n - 1, n + 1))
                assert isclose(start_ups, Fraction(2 * n - 1, n + 1), rel_tol=1e-3)
            else:
                assert isclose(one, ratio.one_packet(n))
                assert isclose(start_ups, one, rel_tol=1e-3)
                assert abs(ratio.by_start_ups(n) - start_ups) <= 4.001 / (n + 1)


def test_table_6_is_wrong_for_nrsbt() -> None:
    """With large start-up times and B_opt, the ratio is (2n - 1) / n by Table 4, 1 by Table 6."""
    cost, other = (find_cost("broadcast", graph, "one-port") for graph in ("nrsbt", "nesbt"))
    for n in range(2, 9):
        ratio = cost.least_time(n, n, 10**15, 1) / other.least_time(n, n, 10**15, 1)
        assert isclose(ratio, 2 - 1 / n, rel_tol=1e-3)
    assert RATIOS[0].by_start_ups(8) == 1


def test_table_10() -> None:
    for collective in ("all-gather", "all-to-all"):
        for graph, least in LEAST_ALL_GATHER_START_UPS.items():
            if graph != "tcbt":
                cost = find_cost(collective, graph, "one-port")
                for n in dimensions(cost):
                    assert cost.start_ups(n, n, 10**6) == least(n)
    assert LEAST_ALL_GATHER_START_UPS["tcbt"](7) == 12


def test_table_19() -> None:
    """Except for broadcasts, the table's rows attain the lower bound, and no other row beats it."""
    assert {(row.collective, row.ports) for row in SUMMARY} == {*BEST}
    for summary in (row for row in SUMMARY if row.few is None):
        for n in range(3, 9):
            for m, _, tau, tc in drawn(6):
                words = m * n * n
                rows = find_costs(summary.collective, summary.ports)
                times = {row.graph: row.least_time(n, words, tau, tc) for row in rows}
                bound = lower_bound(summary.collective, summary.ports, n, words).time(tau, tc)
                for graph in summary.graphs:
                    assert times[graph] == min(times.values()) == bound
                graphs, least = fastest(summary, n, words, tau, tc)
                assert isclose(least, bound)
                assert {*summary.graphs} <= {*graphs}


def best_times(ports: str, n: int, words: int, tau: int, tc: int) -> dict[str, float]:
    """Return each graph's least T over whole packets."""
    rows = find_costs("broadcast", ports)
    return {row.graph: row.best_whole_packet(n, words, tau, tc)[1] for row in rows}


def test_table_19_for_broadcasts() -> None:
    """SBT is best for one word, nRSBT with n ports for up to n words, nESBT for very many."""
    for n in range(3, 7):
        for tau, tc in ((1, 1), (40, 1), (1, 40)):
            for ports, few, best in (("one-port", 1, "sbt"), ("n-port", n, "nrsbt")):
                times = best_times(ports, n, few, tau, tc)
                assert times[best] == min(times.values()) == n * (tau + tc)
                times = best_times(ports, n, 240 * n, tau, tc)
                assert times["nesbt"] == min(times.values())


def test_rows_of_table_19_for_broadcasts() -> None:
    """One row holds for each M and number of ports; for few words no graph is faster."""
    for n in range(3, 7):
        for words in range(1, 3 * n):
            held = [row for row in SUMMARY if row.few is not None and row.holds(n, words)]
            for row, few, graph in zip(held, (1, n), ("sbt", "nrsbt"), strict=True):
                assert row.graphs == ((graph,) if words <= few else ("nesbt",))
                assert row.few == (words <= few)
                if not row.few:
                    continue
                assert row.best(graph, n, words, 40, 3) == (1, n * 43)
                assert fastest(row, n, words, 40, 3)[1] == n * 43
                assert graph in fastest(row, n, words, 40, 3)[0]


def test_the_fastest_is_told_where_table_19_is_wrong() -> None:
    rows = {row.ports: row for row in SUMMARY if row.few is False}
    assert fastest(rows["one-port"], 2, 2, 1, 1) == (("sbt",), 6)
    assert fastest(rows["n-port"], 2, 4, 1, 1) == (("nrsbt",), 6)
    assert isclose(rows["one-port"].best("nesbt", 2, 2, 1, 1)[1], 8)


def test_table_19_is_wrong_for_few_words() -> None:
    """nESBT is not the best graph for all M > 1 (one-port), nor for all M > n (n-port)."""
    for ports, words, better in (("one-port", 2, "sbt"), ("n-port", 4, "nrsbt")):
        rows = [find_cost("broadcast", graph, ports) for graph in (better, "nesbt")]
        assert [row.best_whole_packet(2, words, 1, 1)[1] for row in rows] == [6, 8]
