"""Table 19 and the end of section 4 of Johnsson & Ho: the fastest graphs."""

import pytest

from eyecast.model.papers.costs.printed import PRINTED
from eyecast.model.papers.costs.tables import fastest, find_cost, find_costs, lower_bound


def best_times(ports: str, n: int, words: int, tau: int, tc: int) -> dict[str, float]:
    """Return each graph's least T over whole packets."""
    rows = find_costs("broadcast", ports)
    return {row.graph: row.best_whole_packet(n, words, tau, tc)[1] for row in rows}


def test_broadcasts_of_few_and_of_many_words() -> None:
    """SBT is best for one word, nRSBT with n ports for up to n words, nESBT for very many."""
    for n in range(3, 7):
        for tau, tc in ((1, 1), (40, 1), (1, 40)):
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
