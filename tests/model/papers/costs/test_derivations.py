"""Rows of Johnsson & Ho's cost tables from first principles: trees, labels, packets on a path."""

from math import comb

import pytest
from helpers.johnsson_ho_tables import drawn

from eyecast.model.collectives.cube.collectives import cube_schedule
from eyecast.model.network.topology import hypercube
from eyecast.model.papers.costs.balanced_tree import balanced_steps
from eyecast.model.papers.costs.printed import PRINTED
from eyecast.model.papers.costs.tables import find_cost
from eyecast.model.schedule.cost import count_cost


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
