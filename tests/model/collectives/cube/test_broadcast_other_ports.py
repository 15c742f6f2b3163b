"""Half-duplex and full-duplex broadcasts, and a path's full-duplex scatter: proved and counted."""

from collections.abc import Callable

import pytest

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.cube.broadcast_other_ports import (
    OTHER_PORTS_BROADCAST,
    full_duplex_broadcast,
    half_duplex_broadcast,
)
from eyecast.model.collectives.cube.scatter import full_duplex_path_scatter
from eyecast.model.network.topology import hypercube
from eyecast.model.papers.costs.tables import find_cost
from eyecast.model.schedule.schedule import Schedule


@pytest.mark.parametrize("graph", OTHER_PORTS_BROADCAST)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("words", [1, 4, 13])
def test_broadcasts(graph: str, n: int, words: int) -> None:
    nodes = 1 << n
    for packet in (1, 3, words):
        count = -(-words // packet)
        half, full = (
            broadcast(hypercube(n), 1, words, graph=graph, packet=packet)
            for broadcast in (half_duplex_broadcast, full_duplex_broadcast)
        )
        for schedule in (half, full):
            schedule.check()
            assert schedule.sends == count * (nodes - 1)
        assert (half.port_model, full.port_model) == ("half-duplex", "full-duplex")
        if n > 2:
            steps = {
                "brg": (2 * count + nodes - 3, count + nodes - 2),
                "sbt": (n * count, n * count),
                "tcbt": (3 * count + 2 * n - 5, 2 * count + 2 * n - 4),
                "nesbt": (2 * count + n - 1, count + n),
            }
            assert (half.steps, full.steps) == steps[graph]


@pytest.mark.parametrize(
    ("graph", "ports", "broadcast"),
    [
        ("brg", "full-duplex", full_duplex_broadcast),
        ("tcbt", "full-duplex", full_duplex_broadcast),
        ("nesbt", "half-duplex", half_duplex_broadcast),
    ],
)
def test_broadcasts_take_the_steps_that_others_count(
    graph: str, ports: str, broadcast: Callable[..., Schedule]
) -> None:
    cost = find_cost("broadcast", graph, ports)
    for n in (2, 3, 4, 6):
        for packet in range(1, 14):
            schedule = broadcast(hypercube(n), 0, 12, graph=graph, packet=packet)
            assert schedule.steps == cost.start_ups(n, 12, packet)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_path_scatter(n: int) -> None:
    cost = find_cost("scatter", "brg", "full-duplex")
    for packet in (1, 2, 4, 5, None):
        schedule = full_duplex_path_scatter(hypercube(n), 1, 4, packet=packet)
        schedule.check()
        assert schedule.port_model == "full-duplex"
        assert schedule.steps == cost.start_ups(n, 4, packet or 4)


def test_graphs_without_such_a_schedule() -> None:
    line = "^spanning graph of one-port broadcast must be brg, sbt, tcbt or nesbt, not nrsbt$"
    for broadcast in (half_duplex_broadcast, full_duplex_broadcast):
        with pytest.raises(InvalidInput, match=line):
            broadcast(hypercube(3), 0, 1, graph="nrsbt")
