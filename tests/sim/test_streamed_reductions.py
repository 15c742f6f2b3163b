"""Reductions that stream, on the hardware: the sums are NumPy's, and every flit is as predicted."""

from __future__ import annotations

import pytest
from helpers.drawn_reductions import together, wrong_nodes

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology, mesh
from eyecast.sim.verify import verify

ONE_PORT = (
    ("reduce", "chain", 100),
    ("reduce-scatter", "stream-ring", 8),
    ("all-reduce", "chain", 40),
    ("all-reduce", "stream-ring", 64),
)
ALL_PORTS = (
    ("reduce", "packed-trees", 200),
    ("reduce-scatter", "hamiltonian", 8),
    ("all-reduce", "packed-trees", 100),
    ("all-reduce", "hamiltonian", 64),
    ("all-reduce", "combs", 300),
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "wanted"),
    [(mesh((4, 4)), ONE_PORT), (mesh((4, 4)), ALL_PORTS), (mesh((4, 2)), ALL_PORTS)],
    ids=["4x4, one port", "4x4, all ports", "4x2, all ports"],
)
@pytest.mark.parametrize("registers", [0, 1])
def test_streamed_reductions(
    topology: Topology, wanted: tuple[tuple[str, str, int], ...], registers: int
) -> None:
    all_port = wanted is ALL_PORTS
    config = NetworkConfig(
        topology=topology,
        all_port=all_port,
        operators="max-signed",
        link_registers=registers,
        depth=1 + registers,
    )
    schedules = [
        find_algorithm(collective, algorithm).generate(
            Request(
                topology=topology,
                words=words,
                source=5 if collective == "reduce" else None,
                all_port=all_port,
                operator="max-signed",
            )
        )
        for collective, algorithm, words in wanted
    ]
    compiled = together(schedules, config)
    cases = [Case.of(each, timing="barrier", seed=seed) for seed, each in enumerate(compiled)]
    for result in verify(cases):
        wrong = [check for check in result.checks if not check.agrees]
        assert not wrong, (result.case, wrong)
        assert wrong_nodes(result.case, result.measured.memory) == [], result.case
        assert result.case.schedule.stream.any()
