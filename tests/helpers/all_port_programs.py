"""Handwritten all-port programs for tests of the cycle model."""

from typing import Any

from helpers.programs import program

from eyecast.model.network.topology import Topology, hypercube
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row

SQUARE = hypercube(2)


def all_port(
    rows: dict[int, list[Row]],
    receives: dict[int, list[tuple[int, int]]],
    topology: Topology = SQUARE,
    port_model: str = "full-duplex",
    **limits: Any,
) -> Program:
    """Make an all-port program; ``receives`` are (step, port)."""
    steps, ports = ({n: [pair[i] for pair in r] for n, r in receives.items()} for i in (0, 1))
    limits = {"all_port": True, **limits}
    return program(rows, steps, topology, port_model, receive_ports=ports, **limits)
