"""Waits of packets, found from a trace: for which outputs, and why."""

import numpy as np
import pytest

from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.network.topology import Topology, line, mesh
from eyecast.model.run.following import follow
from eyecast.model.run.hops import expected_hops
from eyecast.model.run.trace import HEAD_MARK
from eyecast.model.run.waits import Waits, waits
from eyecast.model.traffic.traffic import Traffic, draw_traffic


def waits_of(topology: Topology, traffic: Traffic, **network: int) -> tuple[TrafficCase, Waits]:
    case = TrafficCase.on_network(topology, traffic, network, seed=1)
    return case, waits(case.program, case.predicted.trace)


def test_a_packet_waits_until_the_one_before_has_left() -> None:
    """Both want the link 1 -> 2; at first each node reads the row of its packet, in 2 cycles."""
    columns = np.array([[0, 0], [0, 1], [2, 2], [9, 9]], dtype=np.int64)
    _, found = waits_of(line(3), Traffic(*columns))
    assert (int(found.cycles.sum()), found.held, found.at_source.tolist()) == (8, 8, [2, 2])
    assert found.lines() == [
        "A packet waits 2.0 cycles at its source, behind earlier packets of its node or for its"
        " first link, and 4.0 cycles on its way.",
        "On their way packets wait for 1 output, most for 1 -> 2 (100% of the time that they"
        " wait).",
        "In 100% of that time another packet holds the output.",
        "The busiest output, 1 -> 2, is in use 82% of the time.",
    ]


@pytest.mark.parametrize(
    ("pattern", "network"),
    [("uniform", {}), ("transpose", {"vcs": 2}), ("hotspot", {"link_registers": 1, "depth": 4})],
)
def test_heads_wait_where_flits_stall(pattern: str, network: dict[str, int]) -> None:
    drawn = draw_traffic(mesh((5, 5)), pattern, rate=0.4, flits=6, cycles=300, seed=3)
    case, found = waits_of(mesh((5, 5)), drawn, **network)
    trace = case.predicted.trace
    stalled = follow(case.program, trace, expected_hops(case.program)).stalled
    assert found.cycles.sum() == stalled[trace.kind & HEAD_MARK != 0].sum() > 0
    assert 0 < found.held < found.cycles.sum()
    assert found.at_source.min() == 0
