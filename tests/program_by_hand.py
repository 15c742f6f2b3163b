"""Programs as a person writes them, for tests of the cycle model, and what came of them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.program.program import Program, Row
from eyecast.model.run.run import FLAGS, Run

BODY, HEAD, TAIL, SINGLE = range(4)
UP, DOWN, NORTH = 1, 2, 3
LINE = mesh((4,))
C = 1  # Control words of all networks here, but for those with 16-bit flits.


def program(
    rows: dict[int, list[Row]],
    receives: dict[int, list[int]],
    topology: Topology = LINE,
    port_model: str = "full-duplex",
    **limits: Any,
) -> Program:
    nodes = range(topology.nodes)
    return Program(
        NetworkConfig(topology=topology, **limits),
        port_model,
        tuple(tuple(rows.get(node, ())) for node in nodes),
        tuple(tuple(receives.get(node, ())) for node in nodes),
    )


def put(
    step: int, *route: tuple[int, int] | tuple[int, int, int], length: int = 1, **addresses: int
) -> Row:
    segments = tuple(Segment(*(*segment, 0)[:3]) for segment in route)
    return Row(step, segments, addresses.get("source", 0), addresses.get("target", 0), length)


def words(program: Program) -> npt.NDArray[np.uint64]:
    """Message memories in which no two words are the same."""
    config = program.config
    shape = (config.topology.nodes, config.message_words)
    return np.arange(1, 1 + shape[0] * shape[1], dtype=np.uint64).reshape(shape)


def simulated(program: Program, timing: str = "self-timed", **options: Any) -> Run:
    return run(program, words(program), timing=timing, **options)


def departures(result: Run, node: int, port: int) -> list[tuple[int, int, int]]:
    """(cycle, VC, kind) of the flits that leave by an output."""
    return [(f.cycle, f.vc, f.kind) for f in result.trace if (f.node, f.port) == (node, port)]


def flags(result: Run) -> dict[int, set[str]]:
    return {
        node: {name for bit, name in FLAGS.items() if value >> bit & 1}
        for node, value in enumerate(result.flags.tolist())
        if value
    }


def pack(*fields: tuple[int, int]) -> int:
    """(value, width) fields from bit 0 upwards."""
    word = low = 0
    for value, width in fields:
        word |= value << low
        low += width
    return word
