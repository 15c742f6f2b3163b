"""Counted costs of schedules on hypercubes, against the cost tables of Johnsson & Ho.

If n trees share the data, the tables hold for M divisible by n. Counts and formulas are equal for
every graph, port model and collective that has a row.
"""

from fractions import Fraction

import numpy as np
import pytest

from eyecast.model.collectives.cube.collectives import cube_schedule
from eyecast.model.collectives.cube.spanning_graphs import spanning_graph
from eyecast.model.network.topology import hypercube
from eyecast.model.papers.costs.printed import PRINTED, SECTION_5_1_5, Printed
from eyecast.model.papers.costs.rows import Cost, StepCost
from eyecast.model.papers.costs.tables import COSTS, find_cost, lower_bound
from eyecast.model.schedule.cost import ScheduleCost, count_cost

ROWS = [cost for cost in COSTS if cost.ports in ("one-port", "n-port")]
LARGEST = {"broadcast": 6, "scatter": 5, "all-gather": 5, "all-to-all": 4}
"""Largest dimensions for default tests. Slow tests go up to 8, without all-to-all by paths."""


def label(cost: Cost) -> str:
    return f"{cost.collective}-{cost.graph}-{cost.ports}"


def trees(cost: Cost, n: int) -> int:
    return len(spanning_graph(cost.graph, n).trees)


def counted(cost: Cost, n: int, words: int, packet: int | None) -> ScheduleCost:
    """Return the counts of a schedule; a rooted one starts at the last node."""
    schedule = cube_schedule(
        cost.collective,
        hypercube(n),
        None if cost.collective.startswith("all") else 2**n - 1,
        words,
        graph=cost.graph,
        all_port=cost.ports == "n-port",
        packet=packet,
    )
    return count_cost(schedule)


def assert_counted(cost: Cost, n: int, words: int, packet: int) -> None:
    """Require the row's start-ups, steps and words."""
    found = counted(cost, n, words, packet)
    start_ups = cost.start_ups(n, words, packet)
    assert (found.steps, found.start_ups(packet)) == (start_ups, start_ups)
    assert found.transferred == cost.transferred(n, words, even_packet(cost, n, words, packet))
    assert found.time(9, 2, packet) <= cost.time(n, words, packet, 9, 2)


def even_packet(cost: Cost, n: int, words: int, packet: int) -> int:
    """Return the longest packet when a message is cut as evenly as possible."""
    side_by_side = n if (cost.graph, cost.ports) == ("nesbt", "n-port") else 1
    return -(-words // (side_by_side * -(-words // (side_by_side * packet))))


def drawn(cost: Cost, n: int, count: int) -> list[tuple[int, int]]:
    """Draw M and B; M is a multiple of the number of trees."""
    random = np.random.default_rng([n, len(cost.graph), len(cost.collective)])
    words = random.integers(1, 13, count) * trees(cost, n)
    return [(int(m), int(random.integers(1, 2 * m + 2))) for m in words]


@pytest.mark.parametrize("cost", ROWS, ids=label)
def test_schedules_cost_what_the_rows_say(cost: Cost) -> None:
    for n in range(cost.least_dimension, LARGEST[cost.collective] + 1):
        for words, packet in drawn(cost, n, 2):
            assert_counted(cost, n, words, packet)


@pytest.mark.slow
@pytest.mark.parametrize("cost", ROWS, ids=label)
def test_schedules_of_256_nodes_cost_what_the_rows_say(cost: Cost) -> None:
    largest = 6 if cost.collective == "all-to-all" and cost.graph in ("brg", "nrbrg") else 8
    for n in (LARGEST[cost.collective] + 1, largest):
        for words, packet in drawn(cost, n, 1):
            assert_counted(cost, n, words, packet)


@pytest.mark.parametrize("cost", [row for row in ROWS if isinstance(row, StepCost)], ids=label)
def test_words_of_every_step(cost: StepCost) -> None:
    """Without a packet limit, each step is one of the paper's routing cycles."""
    for n in range(cost.least_dimension, 6):
        words = 3 * n
        found = counted(cost, n, words, None)
        assert found.words_per_step.tolist() == list(cost.steps(n).words(words))
        assert found.time(7, 2) == cost.least_time(n, words, 7, 2)
        packet = -(-cost.best_packet(n, words, 7, 2) // 1)
        assert found.start_ups(packet) == found.steps
        assert found.start_ups(packet - 1) > found.steps or packet == 1


@pytest.mark.parametrize("cost", ROWS, ids=label)
def test_words_that_the_trees_cannot_share_equally(cost: Cost) -> None:
    """The count lies between the row's values for M rounded down and up to a multiple of n."""
    for n in range(max(3, cost.least_dimension), 5):
        for words in (n + 1, 2 * n - 1):
            for packet in (3, 100):
                found = counted(cost, n, words, packet).start_ups(packet)
                below, above = (words // n * n, -(-words // n) * n)
                assert cost.start_ups(n, below, packet) <= found
                assert found <= cost.start_ups(n, above, packet)


@pytest.mark.parametrize("cost", ROWS, ids=label)
def test_no_schedule_beats_a_lower_bound(cost: Cost) -> None:
    for n in (max(2, cost.least_dimension), 4):
        for words in (1, 4 * n):
            bound = lower_bound(cost.collective, cost.ports, n, words)
            for packet in (3, None):
                found = counted(cost, n, words, packet)
                assert found.start_ups(packet) >= bound.start_ups
                assert found.transferred >= bound.transferred


def test_edge_loads() -> None:
    """Compare with section 5 (scatter), Table 1 (all-gather), Lemma 3.5 (all-to-all)."""
    for n in range(2, 6):
        nodes, words = 2**n, 2 * n
        share = Fraction((nodes - 1) * words, n)
        for collective, graph, ports, load in (
            ("broadcast", "nesbt", "n-port", words // n),
            ("broadcast", "nrsbt", "n-port", words),
            ("scatter", "sbt", "one-port", nodes * words // 2),
            ("scatter", "sbt", "n-port", nodes * words // 2),
            ("scatter", "tcbt", "n-port", nodes * words // 2),
            ("scatter", "nrsbt", "n-port", share),
            ("scatter", "sbnt", "n-port", share),
            ("all-gather", "brg", "one-port", nodes // 2 * words),
            ("all-gather", "sbt", "n-port", nodes // 2 * words),
            ("all-gather", "nrsbt", "n-port", share),
            ("all-gather", "nesbt", "one-port", share),
            ("all-gather", "sbnt", "n-port", share),
            ("all-to-all", "sbt", "n-port", nodes // 2 * words),
            ("all-to-all", "sbnt", "n-port", nodes // 2 * words),
        ):
            cost = find_cost(collective, graph, ports)
            assert counted(cost, n, words, None).busiest_link == load, cost


def test_tcbt_all_to_all() -> None:
    """Compare with section 7.1, which has no row: start-ups, and one root's words on all links."""
    for n in range(2, 6):
        schedule = cube_schedule(
            "all-to-all", hypercube(n), None, 3, graph="tcbt", all_port=True, packet=None
        )
        assert count_cost(schedule).steps == n
        words = int(schedule.send_words.sum())
        assert words == 2**n * ((2 * n - 3) * 2 ** (n - 1) + 2) * 3


# ---- Where the paper errs ---------------------------------------------------------------------


@pytest.mark.parametrize("n", range(3, 7))
def test_what_is_counted_is_not_what_is_printed(n: int) -> None:
    """Counts differ from the printed start-ups and words in the rows of ``docs/errata.md``."""

    def both(collective: str, graph: str, ports: str = "one-port") -> tuple[Cost, Printed]:
        return find_cost(collective, graph, ports), PRINTED[collective, graph, ports]

    cost, printed = both("scatter", "tcbt")
    packet = 2 ** (n - 1) - 1
    assert counted(cost, n, 1, packet).start_ups(packet) == printed.start_ups(n, 1, packet) + 1
    cost, printed = both("scatter", "brg")
    assert counted(cost, n, 64, 65).start_ups(65) == printed.start_ups(n, 64, 65) - 1
    cost, printed = both("all-to-all", "nesbt")
    found = counted(cost, n, n, None)
    assert found.transferred > printed.transferred(n, n, 1)
    assert found.start_ups(int(printed.best_packet(n, n, 1, 1))) > 2 * n
    assert SECTION_5_1_5(n=n, M=n, B=10**6) == 1
    assert counted(find_cost("scatter", "sbnt", "n-port"), n, n, None).steps == n


def test_one_word_by_nrsbt_is_in_one_tree() -> None:
    """Table 2 has the counted n steps; Table 4 has 2n - 1 for any large packet."""
    row = find_cost("broadcast", "nrsbt", "one-port")
    for n in range(1, 8):
        assert counted(row, n, 1, 1).steps == n
        assert row.start_ups(n, 1, 1) == 2 * n - 1


def test_two_packets_of_a_tcbt_and_a_path_that_are_too_small() -> None:
    """Table 4 is wrong for a 2-cube by TCBT, and Table 7 for a 1-cube by BRG."""
    tcbt, path = (
        find_cost(collective, graph, "one-port")
        for collective, graph in (("broadcast", "tcbt"), ("scatter", "brg"))
    )
    assert [counted(tcbt, 2, packets, 1).steps for packets in (1, 2, 3)] == [2, 4, 6]
    assert [tcbt.start_ups(2, packets, 1) for packets in (1, 2, 3)] == [2, 5, 8]
    assert counted(path, 1, 3, 2).steps == 2
    assert path.start_ups(1, 3, 2) == 3
