"""Handwritten programs for tests of the cycle model, and checks of their runs."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from eyecast.model.cycle import model
from eyecast.model.cycle.loop import TRACE_FULL, simulate
from eyecast.model.cycle.state import Registers
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import Topology, mesh, ring
from eyecast.model.program.memory_words import expected_words, table_words
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.run import FLAGS, Run
from eyecast.model.run.trace import Trace

BODY, HEAD, TAIL, SINGLE = range(4)
UP, DOWN, NORTH = 1, 2, 3
LINE = mesh((4,))
C = 1  # Control words of all networks here except those with 16-bit flits.


def program(
    rows: dict[int, list[Row]],
    receives: dict[int, list[int]],
    topology: Topology = LINE,
    port_model: str = "full-duplex",
    *,
    receive_ports: dict[int, list[int]] | None = None,
    awaited: dict[int, int] | None = None,
    **limits: Any,
) -> Program:
    nodes = range(topology.nodes)
    return Program.from_rows(
        NetworkConfig(topology=topology, **limits),
        port_model,
        [rows.get(node, []) for node in nodes],
        [receives.get(node, []) for node in nodes],
        receive_ports=[(receive_ports or {}).get(node, []) for node in nodes],
        awaited=[(awaited or {}).get(node, 0) for node in nodes],
    )


def changed(program: Program, **changes: Any) -> Program:
    """Return the program with other ``rows``, ``receives``, ``receive_ports`` or ``awaited``."""
    return Program.from_rows(
        program.config,
        program.port_model,
        changes.get("rows", program.rows),
        changes.get("receives", program.receives),
        receive_ports=changes.get("receive_ports", program.receive_ports),
        awaited=changes.get("awaited", program.awaited.tolist()),
    )


def encoded(
    config: NetworkConfig, rows: Sequence[Row], receives: Sequence[int] = ()
) -> tuple[list[int], list[int]]:
    """Encode the first node's table, and the steps in which this node receives."""
    others = [()] * (config.topology.nodes - 1)
    made = Program.from_rows(config, "full-duplex", [rows, *others], [receives, *others])
    first, table = table_words(made)
    return table[: first[1]].tolist(), expected_words(made)[0].tolist()


def put(
    step: int, *route: tuple[int, int] | tuple[int, int, int], length: int = 1, **fields: int
) -> Row:
    """Make a row; ``fields`` are "source", "target" and a row's optional fields."""
    segments = tuple(Segment(*(*segment, 0)[:3]) for segment in route)
    addresses = fields.pop("source", 0), fields.pop("target", 0)
    return Row(step, segments, *addresses, length, **fields)  # type: ignore[arg-type]


def ring_of_packets(nodes: int, hops: int, length: int = 9) -> Program:
    """Return a program for a ring with one VC: every node sends a packet over ``hops`` links."""
    config = NetworkConfig(topology=ring(nodes), steps=1, timed_rows=True)
    rows = [[Row(1, (Segment(1, hops, 0),), 0, 0, length, start=0)] for _ in range(nodes)]
    return Program.from_rows(config, "full-duplex", rows, [()] * nodes, awaited=[1] * nodes)


def words(program: Program) -> npt.NDArray[np.uint64]:
    """Return message memories without two equal words; a switch has none."""
    config = program.config
    shape = config.words_shape(config.topology.nodes, config.message_words)
    memory = np.arange(1, 1 + np.prod(shape), dtype=np.uint64).reshape(shape)
    memory[list(config.topology.switches)] = 0
    return memory


def simulated(program: Program, timing: str = "self-timed", **options: Any) -> Run:
    return model.run(program, words(program), timing=timing, **options)


def registers_after(
    made: Program, change: Callable[[Any, Registers], None], *, barrier: bool = False
) -> Registers:
    """Change the network or the registers of a program; return the registers 50 cycles later."""
    moved = model.MovedWords(made.config, words(made), 0)
    network = model._network(
        made, model.Control(), moved, barrier=barrier, record_trace=True, refusal=None
    )
    registers = model.reset_registers(network, model.wired(made.config), moved.memory)
    change(network, registers)
    rows = model._columns(Trace.empty(1000))
    assert simulate(network, registers, model.empty_lists(network), rows, 50) != TRACE_FULL
    return registers


def departures(result: Run, node: int, port: int) -> list[tuple[int, int, int]]:
    """Return (cycle, VC, kind) of the flits that leave by an output."""
    return [(f.cycle, f.vc, f.kind) for f in result.trace if (f.node, f.port) == (node, port)]


def flags(result: Run) -> dict[int, set[str]]:
    return {
        node: {name for bit, name in FLAGS.items() if value >> bit & 1}
        for node, value in enumerate(result.flags.tolist())
        if value
    }


def pack(*fields: tuple[int, int]) -> int:
    """Pack (value, width) fields from bit 0 upwards."""
    word = low = 0
    for value, width in fields:
        word |= value << low
        low += width
    return word
