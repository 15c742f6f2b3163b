"""Traffic for tests: by hand, with checks of its runs, and networks for drawn traffic."""

from dataclasses import replace
from typing import Any

import numpy as np
from helpers.programs import LINE, C, departures, program, put

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import Topology
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.run import Run
from eyecast.model.traffic.program import message_words_for


def timed(start: int, *route: tuple[int, ...], **options: int) -> Row:
    return replace(put(1, *route, **options), start=start)  # type: ignore[arg-type]


def traffic(
    rows: dict[int, list[Row]],
    awaited: dict[int, int],
    topology: Topology = LINE,
    receives: dict[int, list[int]] | None = None,
    **limits: Any,
) -> Program:
    """Make a program with timed rows; with 64-bit words a row has one control word."""
    limits = {"flit_width": 64, "timed_rows": True} | limits
    made = program(rows, receives or {}, topology, awaited=awaited, **limits)
    assert made.config.table.control_words == C
    return made


def x_first(
    source: int, target: int, vcs: int, draw: np.random.Generator
) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
    """Return the route of a packet in a mesh of width 4, x first on drawn VCs, and its outputs.

    An output is a node, a port and a VC. The last one delivers the packet.
    """
    here, route, way = [source % 4, source // 4], [], []
    for axis in (0, 1):
        hops = (target % 4, target // 4)[axis] - here[axis]
        port, vc = 1 + 2 * axis + (hops < 0), int(draw.integers(vcs))
        route += [(port, abs(hops), vc)] if hops else []
        for _ in range(abs(hops)):
            way.append((here[0] + 4 * here[1], port, vc))
            here[axis] += 1 if hops > 0 else -1
    return route, [*way, (target, 0, way[-1][2])]


def traffic_network(topology: Topology, flits: int, **limits: Any) -> NetworkConfig:
    """Return a network with room for drawn traffic whose packets have up to ``flits`` flits."""
    message_words = message_words_for(topology, flits)
    limits = {"message_words": message_words, "table_words": 1 << 12, "steps": 1} | limits
    return NetworkConfig(topology=topology, timed_rows=True, **limits)


def cycles(result: Run, node: int, port: int) -> list[int]:
    return [cycle for cycle, *_ in departures(result, node, port)]


def refusing(pattern: int, nodes: int = 4) -> np.ndarray[Any, np.dtype[np.uint16]]:
    return np.full(nodes, pattern, dtype=np.uint16)
