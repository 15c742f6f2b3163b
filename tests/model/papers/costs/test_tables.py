"""The cost tables of Johnsson & Ho: Eyecast's rows against the printed rows and each other."""

from fractions import Fraction
from math import comb, isclose

import numpy as np
import pytest
from helpers.johnsson_ho_tables import drawn
from helpers.refusals import refusal_of

from eyecast.model.collectives.cube.collectives import cube_schedule
from eyecast.model.network.topology import hypercube
from eyecast.model.papers.costs.balanced_tree import balanced_steps
from eyecast.model.papers.costs.formula import Formula
from eyecast.model.papers.costs.printed import PRINTED, SECTION_5_1_5
from eyecast.model.papers.costs.rows import PORTS, Cost, StepCost
from eyecast.model.papers.costs.tables import (
    COLLECTIVES,
    COSTS,
    fastest,
    find_cost,
    find_costs,
    lower_bound,
)
from eyecast.model.schedule.cost import count_cost

PIPELINED = [cost for cost in COSTS if cost.pipelined]
BY_STEP = [cost for cost in COSTS if isinstance(cost, StepCost)]


def label(cost: Cost) -> str:
    return f"{cost.collective}-{cost.graph}-{cost.ports}"


def dimensions(cost: Cost, most: int = 8) -> range:
    return range(cost.least_dimension, most + 1)


# ---- Against the paper ------------------------------------------------------------------------


def test_every_printed_row_has_ours() -> None:
    ours = {(cost.collective, cost.graph, cost.ports) for cost in COSTS}
    assert len(ours) == len(COSTS)
    assert PRINTED.keys() <= ours
    assert {row for row in ours - PRINTED.keys() if row[2] in ("one-port", "n-port")} == {
        ("broadcast", "brg", "n-port")
    }


@pytest.mark.parametrize(
    ("source", "text", "value"),
    [
        ("2*ceil(M/B) + N - 3", "2⌈M/B⌉ + N - 3", 13),
        ("n - (M - B)", "n - (M - B)", -8),
        ("S(i, 1, n - 1, ceil(2**i*M/(n*B)))", "Σ[i=1..n - 1] ⌈2^i·M/(nB)⌉", 8),
        ("C(n, 2)*2**(n - 1) + C(1, n)", "C(n, 2)·2^(n - 1) + C(1, n)", 12),
        ("M/n*(N - 1)", "M/n·(N - 1)", Fraction(112, 3)),
        ("sqrt(M)*log(N)*max(n, floor(M/B))", "√(M)log(N)max(n, ⌊M/B⌋)", 36),
    ],
)
def test_formulas(source: str, text: str, value: Fraction) -> None:
    """Here n is 3, N 8, M 16 and B 5."""
    formula = Formula(source)
    assert (str(formula), formula(n=3, M=16, B=5)) == (text, value)


def differing() -> set[str]:
    """Return the rows that differ from the printed rows, and their printed entries."""
    found = set()
    for key, printed in PRINTED.items():
        ours = find_cost(*key)
        for n in (3, 4, 7):
            for m, b, tau, tc in (*drawn(8), (50, 51, 1, 1)):
                for name, arguments in (
                    ("start_ups", (n, m, b)),
                    ("transferred", (n, m, b)),
                    ("best_packet", (n, m, tau, tc)),
                    ("least_time", (n, m, tau, tc)),
                ):
                    value = getattr(printed, name)(*arguments)
                    if value is not None and not isclose(value, getattr(ours, name)(*arguments)):
                        found.add(f"{label(ours)} {name}")
    return found


def test_where_the_page_differs() -> None:
    """``docs/errata.md`` lists exactly the differences."""
    assert differing() == {
        "scatter-brg-one-port start_ups",
        "scatter-tcbt-one-port start_ups",
        "scatter-sbnt-one-port start_ups",
        "scatter-sbnt-one-port transferred",
        "scatter-sbnt-one-port best_packet",
        "scatter-sbnt-one-port least_time",
        "scatter-sbt-n-port best_packet",
        "scatter-nrsbt-n-port best_packet",
        "scatter-sbnt-n-port best_packet",
        "all-gather-sbnt-one-port start_ups",
        "all-gather-sbt-n-port best_packet",
        "all-gather-nrsbt-n-port best_packet",
        "all-gather-nesbt-n-port best_packet",
        "all-gather-sbnt-n-port best_packet",
        "all-to-all-sbnt-one-port start_ups",
        "all-to-all-nesbt-one-port transferred",
        "all-to-all-nesbt-one-port best_packet",
    }


def test_smallest_counterexamples() -> None:
    """The smallest counterexamples are those that ``docs/errata.md`` gives."""
    tcbt = PRINTED["scatter", "tcbt", "one-port"]
    assert (tcbt.start_ups(2, 1, 1), tcbt.transferred(2, 1, 1)) == (2, 3)
    path = PRINTED["scatter", "brg", "one-port"]
    ours = find_cost("scatter", "brg", "one-port")
    assert [each.start_ups(2, 3, 4) for each in (path, ours)] == [6, 5]
    disjoint = PRINTED["all-to-all", "nesbt", "one-port"]
    ours = find_cost("all-to-all", "nesbt", "one-port")
    assert [each.best_packet(2, 2, 1, 1) for each in (disjoint, ours)] == [1, 5]
    assert [each.start_ups(2, 2, 1) for each in (disjoint, ours)] == [12, 12]
    assert [each.transferred(2, 2, 1) for each in (disjoint, ours)] == [6, 12]
    balanced = find_cost("scatter", "sbnt", "n-port")
    assert (SECTION_5_1_5(n=2, M=2, B=3), balanced.start_ups(2, 2, 3)) == (1, 2)


def test_printed_packets_suffice_where_they_are_approximations() -> None:
    """A printed B_opt by Stirling's formula is above the largest step, so its T is T_min."""
    rows = [key for key, row in PRINTED.items() if "pi" in row.packet_formula.source]
    assert len(rows) == 7
    for key in rows:
        ours, row = find_cost(*key), PRINTED[key]
        for n in range(2, 13):
            packet = row.best_packet(n, 60 * n, 1, 1)
            assert ours.best_packet(n, 60 * n, 1, 1) <= packet
            assert ours.time(n, 60 * n, packet, 7, 2) == ours.least_time(n, 60 * n, 7, 2)


# ---- Against each other -----------------------------------------------------------------------


@pytest.mark.parametrize("cost", BY_STEP, ids=label)
def test_least_time_is_that_of_the_best_packet(cost: StepCost) -> None:
    for n in dimensions(cost, 6):
        m = 4 * n
        best = cost.best_packet(n, m, 5, 3)
        assert cost.time(n, m, best, 5, 3) == cost.least_time(n, m, 5, 3)
        assert cost.time(n, m, best - Fraction(1, 10**6), 5, 3) > cost.least_time(n, m, 5, 3)
        assert cost.time(n, m, best + 100, 5, 3) == cost.least_time(n, m, 5, 3)
        assert sum(cost.steps(n).words(m)) == cost.transferred(n, m, 1)
        assert max(cost.steps(n).words(m)) == best
        if n < 5:
            packet, least = cost.best_whole_packet(n, m, 5, 3)
            assert (packet, least) == (-(-best // 1), cost.least_time(n, m, 5, 3))


@pytest.mark.parametrize("cost", PIPELINED, ids=label)
def test_least_time_of_a_pipeline_is_where_its_derivative_is_zero(cost: Cost) -> None:
    """With M/B instead of its ceiling, as for large M, T is least where its derivative is 0."""
    for n in dimensions(cost):
        for m, _, tau, tc in drawn(5):
            best, least = cost.best_packet(n, m, tau, tc), cost.least_time(n, m, tau, tc)
            if cost.start_ups(n, 10**9, 1) == cost.start_ups(n, 10**9 + n, 1) - n:
                assert best > 0
            large, whole = m * 10**8, 10**4
            found = cost.least_time(n, large, tau, tc)
            near = cost.best_packet(n, large, tau, tc)
            for packet in (near, near * 0.7, near * 1.5):
                assert cost.time(n, large, packet, tau, tc) >= found * (1 - 1e-12)
            assert isclose(cost.time(n, large, near, tau, tc), found, rel_tol=1e-4)
            assert isclose(best * whole, near) or not isinstance(best, float)
            if best <= m:
                assert cost.best_whole_packet(n, m, tau, tc)[1] >= least * (1 - 1e-12)


def test_least_time_of_a_pipeline_may_be_out_of_reach() -> None:
    """One word cannot be cut, even if the formula's best packet is smaller."""
    cost = find_cost("broadcast", "nesbt", "one-port")
    assert cost.best_packet(4, 1, 100, 1) == 5
    assert cost.least_time(4, 1, 100, 1) == 441
    assert cost.best_whole_packet(4, 1, 100, 1) == (1, 505)


def test_best_whole_packet_is_the_best_of_all() -> None:
    """The best whole packet may exceed B_opt, if B_opt leaves a short last packet."""
    cost = find_cost("broadcast", "nesbt", "one-port")
    larger = 0
    for m in range(1, 20):
        for tau in range(1, 40):
            times = [cost.time(2, m, packet, tau, 1) for packet in range(1, m + 1)]
            packet, least = cost.best_whole_packet(2, m, tau, 1)
            assert least == min(times) == times[packet - 1]
            assert packet == 1 + times.index(least)
            larger += packet > cost.best_packet(2, m, tau, 1) + 1
    assert larger > 0


def test_lower_bounds_as_printed() -> None:
    n, m, nodes = 5, 13, 32
    at_least = {
        ("broadcast", "one-port"): (n, m + n - 1),
        ("broadcast", "n-port"): (n, 3 + n - 1),
        ("scatter", "one-port"): (n, (nodes - 1) * m),
        ("scatter", "n-port"): (n, Fraction((nodes - 1) * m, n)),
        ("all-gather", "one-port"): (n, (nodes - 1) * m),
        ("all-gather", "n-port"): (n, Fraction((nodes - 1) * m, n)),
        ("all-to-all", "one-port"): (n, n * nodes * m // 2),
        ("all-to-all", "n-port"): (n, nodes * m // 2),
    }
    for key, expected in at_least.items():
        bound = lower_bound(*key, n, m)
        assert (bound.start_ups, bound.transferred) == expected
        assert bound.time(10, 3) == 10 * expected[0] + 3 * expected[1]


# ---- Refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: find_cost("gather", "sbt", "one-port"),
            f"collective must be {', '.join(COLLECTIVES)}, not gather",
        ),
        (
            lambda: find_costs("scatter", "two-port"),
            "ports must be one-port, n-port, half-duplex, full-duplex, not two-port",
        ),
        (
            lambda: find_cost("all-gather", "tcbt", "one-port"),
            "graph for all-gather, one-port must be brg, sbt, nrsbt, nesbt, sbnt, not tcbt",
        ),
        (
            lambda: find_cost("broadcast", "tcbt", "one-port").time(2, 1, 1, 1, 1),
            "dimension for tcbt, one-port must be at least 3, not 2",
        ),
        (
            lambda: find_cost("broadcast", "sbt", "one-port").time(2, 0, 1, 1, 1),
            "words must be at least 1, not 0",
        ),
        (
            lambda: find_cost("broadcast", "sbt", "one-port").time(2, 1, 0, 1, 1),
            "packet must be above 0, not 0",
        ),
        (
            lambda: find_cost("broadcast", "sbt", "one-port").best_whole_packet(2, 1, -1, 1),
            "start-up time must be 0 or more, not -1",
        ),
        (
            lambda: lower_bound("scatter", "half-duplex", 3, 1),
            "ports of a lower bound must be one-port, n-port, not half-duplex",
        ),
        (
            lambda: lower_bound("gather", "n-port", 3, 1),
            f"collective must be {', '.join(COLLECTIVES)}, not gather",
        ),
        (
            lambda: find_cost("scatter", "sbnt", "one-port").time(17, 1, 1, 1, 1),
            "dimension for sbnt, one-port must be 1 to 16, not 17",
        ),
    ],
)
def test_one_line(call, message: str) -> None:
    assert refusal_of(call) == message


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_no_time_at_a_possible_packet_is_below_the_bound(collective: str) -> None:
    """Try arbitrary times, 0 included. The exception is n trees that share fewer than n words."""
    draw = np.random.default_rng(len(collective))
    for _ in range(100):
        n, words = int(draw.integers(1, 11)), int(2 ** draw.uniform(0, 20))
        tau, tc = (draw.choice([0, 10 ** draw.uniform(-6, 6)]) for _ in range(2))
        for ports in PORTS[:2]:
            bound = float(lower_bound(collective, ports, n, words).time(tau, tc))
            for cost in find_costs(collective, ports):
                if n >= cost.least_dimension and (ports == "one-port" or words >= n):
                    packet, least = cost.best_possible(n, words, tau, tc)
                    assert least >= bound * (1 - 1e-9), (cost.graph, ports, n, words, tau, tc)
                    if cost.pipelined:
                        assert 1 <= packet <= words
                        assert least <= cost.time(n, words, packet, tau, tc) * (1 + 1e-9)


# ---- Table 19 and the end of section 4 of Johnsson & Ho -----------------------------------------


def best_times(ports: str, n: int, words: int, tau: int, tc: int) -> dict[str, float]:
    """Return each graph's least T over whole packets."""
    rows = find_costs("broadcast", ports)
    return {row.graph: row.best_whole_packet(n, words, tau, tc)[1] for row in rows}


def test_broadcasts_of_few_and_of_many_words() -> None:
    """SBT is best for one word, nRSBT with n ports for up to n words, nESBT for very many."""
    for n in (3, 4):
        for tau, tc in ((40, 1), (1, 40)):
            for ports, few, best in (("one-port", 1, "sbt"), ("n-port", n, "nrsbt")):
                times = best_times(ports, n, few, tau, tc)
                assert times[best] == min(times.values()) == n * (tau + tc)
                graphs, least = fastest("broadcast", ports, n, few, tau, tc)
                assert (best in graphs, least) == (True, n * (tau + tc))
                times = best_times(ports, n, 240 * n, tau, tc)
                assert times["nesbt"] == min(times.values())


@pytest.mark.parametrize("collective", ["scatter", "all-gather", "all-to-all"])
def test_the_lower_bound_is_reached(collective: str) -> None:
    """By SBT with one port, by nRSBT and SBnT with n ports: Table 19."""
    for n in range(3, 8):
        for ports, graphs in (("one-port", ("sbt",)), ("n-port", ("nrsbt", "sbnt"))):
            bound = lower_bound(collective, ports, n, n * n).time(40, 3)
            assert fastest(collective, ports, n, n * n, 40, 3) == (graphs, bound)
            for graph in graphs:
                assert PRINTED[collective, graph, ports].least_time(n, n * n, 40, 3) == bound


def test_table_19_is_wrong_for_few_words() -> None:
    """nESBT is not the best graph for all M > 1 (one-port), nor for all M > n (n-port)."""
    for ports, words, better in (("one-port", 2, "sbt"), ("n-port", 4, "nrsbt")):
        rows = [find_cost("broadcast", graph, ports) for graph in (better, "nesbt")]
        assert [row.best_whole_packet(2, words, 1, 1)[1] for row in rows] == [6, 8]
        assert fastest("broadcast", ports, 2, words, 1, 1) == ((better,), 6)


def test_table_6_is_wrong_for_nrsbt() -> None:
    """With large start-up times and B_opt, the ratio is (2n - 1) / n by Table 4, 1 by Table 6."""
    cost, other = (find_cost("broadcast", graph, "one-port") for graph in ("nrsbt", "nesbt"))
    for n in range(2, 9):
        ratio = cost.least_time(n, n, 10**15, 1) / other.least_time(n, n, 10**15, 1)
        assert ratio == pytest.approx(2 - 1 / n, rel=1e-3)


# ---- Derivations ---------------------------------------------------------------------------------


def test_central_binomials_are_the_best_packets_of_balanced_graphs() -> None:
    for n in range(2, 13):
        for collective in ("scatter", "all-gather"):
            row = find_cost(collective, "sbnt", "n-port")
            assert row.best_packet(n, n, 1, 1) == comb(n, n // 2)
            row = find_cost(collective, "sbt", "n-port")
            assert row.best_packet(n, 1, 1, 1) == comb(n - 1, (n - 1) // 2)


@pytest.mark.parametrize("n", range(1, 11))
def test_steps_of_the_balanced_tree(n: int) -> None:
    """Sections 5 and 6: steps i and i + n of SBnTc move (N - 1)M / n words, which is the most."""
    found = balanced_steps(n)
    gather = found.all_gather.numerators
    assert len(gather) == len(found.all_to_all.numerators) == 2 * n - 1
    assert [a + b for a, b in zip(gather, gather[n:], strict=False)] == [2**n - 1] * (n - 1)
    assert sorted(gather[:n]) == gather[:n]
    assert sorted(gather[n - 1 :], reverse=True) == gather[n - 1 :]
    assert gather[n - 1] == 2**n - 1
    assert found.all_to_all.largest(1) == 2 ** (n - 1)
    assert found.all_to_all.transferred(1) == n * 2 ** (n - 1)
    assert len(found.scatter.numerators) == max(1, 2 * n - 2)
    assert 2**n - 1 <= found.scatter.transferred(1)


def test_approximations_are_near() -> None:
    """The printed rows of SBnT, one-port, are near for packets up to its largest step."""
    for n in range(3, 9):
        for m, b, _, _ in drawn(8):
            for collective in ("all-gather", "all-to-all"):
                printed = PRINTED[collective, "sbnt", "one-port"].start_ups(n, m, b)
                ours = find_cost(collective, "sbnt", "one-port").start_ups(n, m, b)
                assert printed <= ours < printed + 2 * n
            printed = PRINTED["scatter", "sbnt", "one-port"]
            ours = find_cost("scatter", "sbnt", "one-port")
            assert ours.transferred(n, m, b) <= printed.transferred(n, m, b)
            assert ours.start_ups(n, m, b) <= printed.start_ups(n, m, b)
            assert ours.best_packet(n, m, 1, 1) > printed.best_packet(n, m, 1, 1)


def path_scatter(n: int, m: int, b: int) -> int:
    """Return the one-port steps of a scatter by packets of b words along a path of 2^n nodes.

    The words for the farthest node come first. A node sends a packet on as soon as it can.
    """
    owed = [node for node in range(2**n - 1, 0, -1) for _ in range(m)]
    packets = [max(owed[i : i + b]) for i in range(0, len(owed), b)]
    waiting: list[list[int]] = [packets, *([] for _ in range(2**n - 1))]
    steps = 0
    while any(waiting):
        busy, moves = set(), []
        for node in range(2**n - 2, -1, -1):
            if waiting[node] and not busy & {node, node + 1}:
                busy |= {node, node + 1}
                moves.append((node, waiting[node].pop(0)))
        for node, last in moves:
            if last > node + 1:
                waiting[node + 1].append(last)
        steps += 1
    return steps


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_path_scatters_in_as_many_steps_as_counted(n: int) -> None:
    row = find_cost("scatter", "brg", "one-port")
    for m in range(1, 7):
        for b in (b for b in range(1, m + 1) if m % b == 0):
            assert path_scatter(n, m, b) == row.start_ups(n, m, b)
        assert path_scatter(n, m, m) == row.start_ups(n, m, m + 1)


def half_duplex_steps(n: int, packets: int) -> int:
    """Return the half-duplex steps of nESBT by the labels of Theorem 4.1.

    A step in which two nodes exchange counts twice.
    """
    sends: dict[int, set[tuple[int, int]]] = {}
    for packet in range(packets):
        turn, j = divmod(packet, n)
        for node in range(1, 2**n):
            k = next(k for k in [(j - i) % n for i in range(1, n + 1)] if node >> k & 1)
            inner = node >> j & 1
            label = (k if k >= j else k + n) if inner else j + n
            if inner or node != 1 << j:
                parent = node ^ 1 << (k if inner else j)
                sends.setdefault(label + turn * n, set()).add((parent, node))
    return sum(
        2 if any((target, source) in step for source, target in step) else 1
        for step in sends.values()
    )


@pytest.mark.parametrize("n", range(2, 7))
def test_theorem_4_3(n: int) -> None:
    row = find_cost("broadcast", "nesbt", "half-duplex")
    for packets in range(1, 3 * n + 1):
        assert half_duplex_steps(n, packets) == row.start_ups(n, packets, 1)


def test_a_path_is_not_as_fast_as_the_binomial_tree() -> None:
    """Sections 5.1.2 and 5.2 claim the same steps for all these graphs if B <= M."""
    n, words, packet = 4, 8, 2
    rows = [("scatter", graph, "one-port") for graph in ("brg", "sbt", "nrsbt", "tcbt", "sbnt")]
    counted = [find_cost(*row).start_ups(n, words, packet) for row in rows]
    printed = [PRINTED[row].start_ups(n, words, packet) for row in rows]
    assert counted == [116, 60, 60, 92, 72]
    assert printed == [116, 60, 60, 88, 128]
    # Schedules agree with the counts. With full-duplex ports the path is as fast as the tree.
    for graph, start_ups in (("brg", 116), ("sbt", 60), ("tcbt", 92)):
        schedule = cube_schedule(
            "scatter", hypercube(n), 0, words, graph=graph, all_port=False, packet=packet
        )
        assert count_cost(schedule).start_ups(packet) == start_ups
    assert find_cost("scatter", "brg", "full-duplex").start_ups(n, words, packet) == 60
