"""The collectives of a hypercube: proved, and with the steps of the paper's tables."""

from collections import Counter
from itertools import pairwise
from math import ceil

import numpy as np
import pytest
from helpers.refusals import refusal_of

from eyecast.model.base.errors import one_of
from eyecast.model.collectives.cube.all_to_all import ORDERS
from eyecast.model.collectives.cube.collectives import COLLECTIVES_ON, cube_schedule
from eyecast.model.collectives.cube.link_measures import measures
from eyecast.model.collectives.cube.scatter import gray_code_scatter
from eyecast.model.collectives.cube.spanning_graphs import spanning_graph
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh
from eyecast.model.papers.costs.printed import PRINTED
from eyecast.model.schedule.cost import count_cost
from eyecast.model.schedule.schedule import Schedule

SERVED = [
    (collective, all_port, graph)
    for (collective, all_port), served in COLLECTIVES_ON.items()
    for graph in served.graphs
]
EACH = pytest.mark.parametrize(("collective", "all_port", "graph"), SERVED)
IN_TABLES = [
    (collective, all_port, graph)
    for collective, all_port, graph in SERVED
    if collective != "gather"  # a scatter backwards
    and (collective, graph, "n-port" if all_port else "one-port") in PRINTED
    # The paper gives approximations for these: see test_approximations.
    and (all_port, graph) != (False, "sbnt")
    and (collective, all_port, graph) != ("scatter", False, "tcbt")
]
"""Collectives whose steps are in a table of the paper."""


def make(
    collective: str, all_port: bool, graph: str, n: int, words: int, packet: int | None = None
) -> Schedule:
    source = None if collective.startswith("all") else 5 % (1 << n)
    return cube_schedule(
        collective, hypercube(n), source, words, graph=graph, all_port=all_port, packet=packet
    )


def largest_packets(schedule: Schedule) -> list[int]:
    """Return the words of the largest send of each step."""
    words = schedule.blocks.words[schedule.block_ids]
    sent = np.add.reduceat(words, schedule.block_offsets[:-1])
    return [int(sent[schedule.step == step].max()) for step in range(1, schedule.steps + 1)]


@EACH
@pytest.mark.parametrize(
    "largest", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["small", "largest"]
)
def test_every_schedule_is_proved(
    collective: str, all_port: bool, graph: str, largest: bool
) -> None:
    last = 5 if collective == "all-to-all" else 6
    for n in (4, last) if largest else range(1, 4):
        cases = [(1, None), (2 * n + 1, None), (5, 3), (2 * n, 2)]
        for words, packet in cases if n < 4 else cases[1:3]:
            schedule = make(collective, all_port, graph, n, words, packet)
            schedule.check()
            assert schedule.port_model == ("all-port" if all_port else "exchange")
            assert (schedule.collective, schedule.algorithm) == (collective, graph)
            assert (schedule.distances == 1).all()
            assert min(largest_packets(schedule)) > 0
            if packet:
                assert max(largest_packets(schedule)) <= packet
            check_blocks(schedule, n, words)


def check_blocks(schedule: Schedule, n: int, words: int) -> None:
    """Require that a message's pieces are together, in order, and as long as the message."""
    nodes = 1 << n
    owed = [node for block in schedule.blocks.owed for node in (block or [-1])]
    pairs = list(zip(schedule.blocks.owner.tolist(), owed, strict=True))
    root = 5 % nodes
    expected = {
        "broadcast": [(root, -1)],
        "scatter": [(root, node) for node in range(nodes)],
        "gather": [(node, root) for node in range(nodes)],
        "all-gather": [(node, -1) for node in range(nodes)],
        "all-to-all": [(s, d) for s in range(nodes) for d in range(nodes)],
    }[schedule.collective]
    count, rest = divmod(len(pairs), len(expected))
    assert rest == 0
    assert pairs == [pair for pair in expected for _ in range(count)]
    assert schedule.blocks.words.reshape(-1, count).sum(axis=1).tolist() == [words] * len(expected)
    for send in range(schedule.sends):
        carried = schedule.block_ids[slice(*schedule.block_offsets[send : send + 2])]
        assert (np.diff(carried) > 0).all()


def packets(n: int, words: int) -> list[int]:
    return [1, 3, 5, words + 1, words << n]


@pytest.mark.parametrize(("collective", "all_port", "graph"), IN_TABLES)
def test_steps_are_the_start_ups_of_the_tables(collective: str, all_port: bool, graph: str) -> None:
    row = PRINTED[collective, graph, "n-port" if all_port else "one-port"]
    for n in (3, 4):
        for words in (n, 2 * n)[n - 3 :]:
            for packet in packets(n, words):
                if (collective, graph) == ("scatter", "brg") and packet > words:
                    continue  # the formula is for B <= M: see test_counts.py
                steps = make(collective, all_port, graph, n, words, packet).steps
                assert steps == row.start_ups(n, words, packet)


def test_approximations_of_the_tables() -> None:
    for n in (3, 4, 5, 6):
        nodes = 1 << n
        for collective in ("all-gather", "all-to-all"):
            assert make(collective, False, "sbnt", n, n).steps == 2 * n - 1  # Table 10
        assert make("scatter", False, "sbnt", n, n).steps == 2 * n - 2  # Table 8
        assert make("scatter", False, "tcbt", n, n).steps == 2 * n - 2
        for packet in (1, n, n * nodes):
            printed = PRINTED["scatter", "tcbt", "one-port"].start_ups(n, n, packet)
            steps = make("scatter", False, "tcbt", n, n, packet).steps
            assert 0 <= steps - printed <= ceil(n / packet)
    # Section 6.1: cycle n - 1 has the most words; cycles i and i + n together have as many.
    loads = largest_packets(make("all-gather", False, "sbnt", 6, 6))
    assert loads[5] == max(loads) == 63
    assert {loads[i] + loads[i + 6] for i in range(5)} == {63}


@pytest.mark.parametrize("n", [1, 2, 5])
def test_gray_code_scatter(n: int) -> None:
    nodes = 1 << n
    for source, words, packet in ((0, 3, None), (nodes - 1, 4, 2), (1, 5, 3)):
        schedule = gray_code_scatter(hypercube(n), source, words, packet=packet)
        schedule.check()
        count = ceil(words / (packet or words))
        assert schedule.steps == (nodes - 1) * count
        if words % count == 0:
            usual = cube_schedule(
                *("scatter", hypercube(n), source, words),
                **{"graph": "sbt", "all_port": False, "packet": packet or words},
            )
            assert usual.steps == schedule.steps
        assert max(largest_packets(schedule)) <= (packet or words)
        code = [place ^ place >> 1 for place in range(nodes)]
        crossed = [a ^ b for a, b in pairwise(code) for _ in range(count)]
        sends = sorted((s, a ^ b) for s, a, b, _ in carried(schedule) if a == source)
        assert sends == list(enumerate(crossed, start=1))


@pytest.mark.parametrize(("collective", "all_port", "graph"), SERVED)
def test_all_sources_are_alike(collective: str, all_port: bool, graph: str) -> None:
    if collective.startswith("all"):
        return
    counts = set()
    for source in (0, 3, 5, 7):
        schedule = cube_schedule(
            collective, hypercube(3), source, 3, graph=graph, all_port=all_port
        )
        schedule.check()
        counts.add((schedule.steps, schedule.sends, schedule.tcd))
    assert len(counts) == 1


@pytest.mark.parametrize("all_port", [False, True])
def test_a_gather_is_a_scatter_backwards(all_port: bool) -> None:
    for graph in COLLECTIVES_ON["gather", all_port].graphs:
        for packet in (None, 2):
            there = make("scatter", all_port, graph, 4, 4, packet)
            back = make("gather", all_port, graph, 4, 4, packet)
            assert carried(there) == {
                (there.steps + 1 - step, target, source, blocks)
                for step, source, target, blocks in carried(back)
            }


def carried(schedule: Schedule) -> set[tuple[int, int, int, tuple[int, ...]]]:
    return {
        (
            int(schedule.step[i]),
            int(schedule.source[i]),
            int(schedule.target[i]),
            tuple(schedule.block_ids[slice(*schedule.block_offsets[i : i + 2])].tolist()),
        )
        for i in range(schedule.sends)
    }


@pytest.mark.parametrize("graph", ["brg", "sbt", "nrsbt", "nesbt", "sbnt"])
@pytest.mark.parametrize("collective", ["all-gather", "all-to-all"])
def test_one_port_cycles_exchange_across_one_dimension(collective: str, graph: str) -> None:
    schedule = make(collective, False, graph, 4, 4)
    crossed: dict[int, set[int]] = {}
    for step, source, target, _ in carried(schedule):
        crossed.setdefault(step, set()).add(source ^ target)
    assert all(len(dimensions) == 1 for dimensions in crossed.values())


@pytest.mark.parametrize("graph", ["nrbrg", "sbt", "nrsbt", "nesbt", "sbnt"])
def test_all_port_links_carry_what_lemma_3_3_says(graph: str) -> None:
    n = 4
    loads: Counter[tuple[int, int, int]] = Counter()
    for step, source, target, blocks in carried(make("all-gather", True, graph, n, n)):
        loads[step, source, target] += len(blocks)
    weights: Counter[tuple[int, int]] = Counter()
    for tree in spanning_graph(graph, n).trees:
        for level, dimension in zip(tree.level.tolist(), tree.dimension.tolist(), strict=True):
            weights[level, dimension] += 1
    for (step, source, target), blocks in loads.items():
        assert blocks == weights[step, (source ^ target).bit_length() - 1]


@pytest.mark.parametrize("graph", COLLECTIVES_ON["all-to-all", True].graphs)
@pytest.mark.parametrize("order", ORDERS)
def test_theorems_7_3_and_7_4_both_orders_of_all_to_all(graph: str, order: str) -> None:
    for n in (2, 3, 4):
        counted = measures(spanning_graph(graph, n))
        rows = counted.subtree_nodes if order == "postorder" else counted.nodes_below
        largest = rows.max(axis=1).tolist()
        for packet in (1, 3, n << n):
            asked = ("all-to-all", hypercube(n), None, n)
            schedule = cube_schedule(*asked, graph=graph, all_port=True, packet=packet, order=order)
            schedule.check()
            share = n // counted.trees  # words
            assert schedule.steps == sum(ceil(share * row / packet) for row in largest)


@EACH
def test_bad_input(collective: str, all_port: bool, graph: str) -> None:
    all_roots = collective.startswith("all")
    ports = "all-port" if all_port else "one-port"
    served = one_of(COLLECTIVES_ON[collective, all_port].graphs)
    faulty = with_faults(hypercube(3), (), [(0, 1)])
    usual = {"topology": hypercube(3), "source": None if all_roots else 0, "words": 1}
    cases: list[tuple[dict, str]] = [
        ({"packet": 0}, "packet must be at least 1, not 0"),
        ({"graph": "xyz"}, f"spanning graph of {ports} {collective} must be {served}, not xyz"),
        (
            {"topology": mesh((2, 2))},
            f"topology for {graph} must be a hypercube without faults, not a 2x2 mesh",
        ),
        (
            {"topology": faulty},
            f"topology for {graph} must be a hypercube without faults, "
            "not a 3-cube with 1 faulty link",
        ),
    ]
    if all_roots:
        line = f"source of {collective} must be none, since all nodes are, not 0"
        cases.append(({"source": 0}, line))
    for change, line in cases:
        assert (
            refusal_of(call, collective, {**usual, "graph": graph, "all_port": all_port, **change})
            == line
        )


def call(collective: str, arguments: dict) -> Schedule:
    topology: Topology = arguments.pop("topology")
    return cube_schedule(collective, topology, **arguments)


@pytest.mark.parametrize(("words", "busiest"), [(1, 8), (2, 10), (3, 14), (6, 25)])
def test_rotations_of_a_remainder_are_spread(words: int, busiest: int) -> None:
    made = make("scatter", True, "nrsbt", 4, words)
    made.check()
    assert made.steps == 4
    assert count_cost(made).busiest_link == busiest
