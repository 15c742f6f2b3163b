"""One-to-all broadcast on a hypercube: Theorem 4.1 and Tables 2 and 3 of Johnsson & Ho."""

import pytest

from eyecast.model.collectives.cube.broadcast import cube_broadcast
from eyecast.model.collectives.cube.routing_cycles import one_port_cycles
from eyecast.model.collectives.cube.spanning_graphs import spanning_graph
from eyecast.model.network.topology import hypercube


def label(c: int, j: int, n: int) -> int:
    """Return f(i, j) of Theorem 4.1 for the relative address c."""
    if not c >> j & 1:
        return j + n
    k = next(m % n for m in range(j - 1, j - n - 1, -1) if c >> (m % n) & 1)
    return k if k >= j else k + n


@pytest.mark.parametrize("n", range(1, 9))
def test_theorem_4_1(n: int) -> None:
    source = 6 % (1 << n)
    graph = spanning_graph("nesbt", n, source)
    cycles = [cycle.tolist() for cycle in one_port_cycles(graph)]
    into: dict[int, list[tuple[int, int]]] = {node: [] for node in range(1 << n)}
    out: dict[int, list[tuple[int, int]]] = {node: [] for node in range(1 << n)}
    for j, tree in enumerate(graph.trees):
        for node in range(1 << n):
            if node == source:
                continue
            parent = int(tree.parent[node])
            assert cycles[j][node] == label(node ^ source, j, n)
            assert cycles[j][node] > cycles[j][parent]  # property 1; the source has -1
            into[node].append((cycles[j][node] % n, parent))
            out[parent].append((cycles[j][node] % n, node))
    for node in range(1 << n):
        for links in (into[node], out[node]):  # properties 2 and 3
            assert len({cycle for cycle, _ in links}) == len(links)
        partners = dict(into[node])
        for cycle, child in out[node]:  # property 4
            assert partners.get(cycle, child) == child
    assert max(map(max, cycles)) == (2 * n - 1 if n > 1 else 0)


def steps(n: int, all_port: bool, graph: str, packets: int) -> int:
    schedule = cube_broadcast(hypercube(n), 1, packets, graph=graph, all_port=all_port, packet=1)
    return schedule.steps


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_table_2_steps_of_one_packet(n: int) -> None:
    far = (1 << n) - 1
    one_port = {"brg": far, "sbt": n, "nrsbt": n, "tcbt": 2 * n - 2, "nesbt": n + 1}
    all_port = {"brg": far, "sbt": n, "nrsbt": n, "tcbt": n, "nesbt": n + 1}
    for expected, ports in ((one_port, False), (all_port, True)):
        assert {graph: steps(n, ports, graph, 1) for graph in expected} == expected


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_table_3_steps_from_packet_to_packet(n: int) -> None:
    one_port = {"brg": 2, "sbt": n, "nrsbt": n, "tcbt": 3, "nesbt": 1}
    all_port = {"brg": 1, "sbt": 1, "nrsbt": 1, "tcbt": 1, "nesbt": 1 / n}
    more = 4 * n
    for expected, ports in ((one_port, False), (all_port, True)):
        for graph, per_packet in expected.items():
            longer = steps(n, ports, graph, 2 * more) - steps(n, ports, graph, more)
            assert longer == more * per_packet


def test_message_without_packets() -> None:
    """Without a packet size there is one packet for each tree."""
    for graph, all_port, expected in (
        ("sbt", False, [7]),
        ("brg", True, [7]),
        ("nrsbt", False, [3, 2, 2]),
        ("nesbt", False, [3, 2, 2]),
        ("nesbt", True, [3, 2, 2]),
    ):
        schedule = cube_broadcast(hypercube(3), 0, 7, graph=graph, all_port=all_port)
        assert schedule.blocks.words.tolist() == expected
