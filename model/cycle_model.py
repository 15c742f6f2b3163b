"""The cycle model: what the hardware does with a program, flit by flit (docs/router.md).

It is the hardware's specification in a form that runs::

    Program ──► rows and header flits ─┐
    Topology ─► lines up and down ─────┼─► cycle_loop.simulate ──► Run: cycles, memory, trace, flags
    memory before the run ─────────────┘

This module turns a program into arrays and the arrays after the run into a :class:`Run`; what happens
in a cycle is in :mod:`eyecast.model.cycle_loop`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from .config import HEADER_COUNT_BITS, NetworkConfig
from .cycle_loop import (
    AWAKE,
    CONTROL,
    CYCLE,
    FINISHED,
    NEVER,
    NO_ROUTE,
    NODES_PER_BLOCK,
    NOT_OVER,
    ROWS,
    RUNNING,
    UNFINISHED,
    Lists,
    Network,
    Registers,
    Rows,
    simulate,
)
from .errors import InvalidInput, require_range
from .program import Program, Row, encode_header
from .topology import NO_LINK, Topology
from .trace import Trace

TIMINGS = ("barrier", "self-timed")
FLAGS = (
    "overflow",
    "credit_underflow",
    "credit_overflow",
    "bad_route",
    "unexpected_receive",
    "send_and_receive",
    "bad_row",
    "bad_write",
)
"""Names of the bits of ``Run.flags``, bit 0 first (docs/router.md, section 6)."""

_TRACE_CHUNK_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class Run:
    """What a network did with a program.

    finished
        Whether all nodes were finished in or before the cycle limit.
    cycles
        Cycles before the first one in which all nodes were finished (docs/router.md, section 5);
        the cycle limit where there was none.
    memory
        The message memories after the run: shape (nodes, message words).
    trace
        Every flit that left a router, in order; empty where none was to be recorded.
    flags
        Sticky flags of each node, bit i being ``FLAGS[i]``.
    stalled_flits
        Stalls of each node, its router's and its sender's (sections 3 and 4).
    step
        The step register of each node.
    arrived
        Whether a packet of a step has arrived: shape (nodes, 2 ** step_bits).
    step_ends
        Entry s - 1 is for step s of 1 to ``program.steps``: the cycle after the one in which the
        last tail of that step left port 0 of a router; 0 where none did.
    """

    finished: bool
    cycles: int
    memory: npt.NDArray[np.uint64]
    trace: Trace
    flags: npt.NDArray[np.uint8]
    stalled_flits: npt.NDArray[np.int64]
    step: npt.NDArray[np.int64]
    arrived: npt.NDArray[np.bool_]
    step_ends: npt.NDArray[np.int64]


def run(
    program: Program,
    memory: npt.NDArray[np.uint64],
    *,
    timing: str,
    cycle_limit: int | None = None,
    record_trace: bool = True,
) -> Run:
    """Run ``program`` from reset until all nodes are finished.

    ``memory`` is what the message memories hold before the run, shape (nodes, message words); it is
    not changed. ``timing`` is "barrier" or "self-timed" (docs/router.md, section 4). A run that is
    not finished by ``cycle_limit``, :func:`cycle_limit` of the program where it is None, is given up.

    The program may be wrong in any way that its table can express; the flags tell. Raises
    :class:`InvalidInput` for what no table or memory of the network can hold.
    """
    config = program.config
    if timing not in TIMINGS:
        raise InvalidInput.of("timing", " or ".join(TIMINGS), timing)
    _require_memory(config, memory)
    network = _network(program, barrier=timing == "barrier", record_trace=record_trace)
    limit = _limit(program, cycle_limit)
    registers = _registers(network, memory)
    lists = _lists(network)
    # Room for a cycle's rows at the least: one flit may leave by every output.
    rows_per_chunk = max(_TRACE_CHUNK_ROWS, len(network.downstream)) if record_trace else 0
    chunks = []
    ended = RUNNING
    while ended == RUNNING:
        chunk = Trace.empty(rows_per_chunk)
        registers.total[ROWS] = 0
        ended = simulate(network, registers, lists, Rows(*chunk.columns), limit)
        chunks.append(chunk.first_rows(int(registers.total[ROWS])))
    return Run(
        finished=ended == FINISHED,
        cycles=int(registers.total[CYCLE]),
        memory=registers.memory,
        trace=Trace.join(chunks),
        flags=registers.flags,
        stalled_flits=registers.stalled_flits,
        step=registers.step,
        arrived=registers.arrived,
        step_ends=registers.step_end[1 : program.steps + 1],
    )


def cycle_limit(program: Program) -> int:
    """Cycles in which ``program``, if it can finish at all, is finished for certain.

    In every cycle before the last a flit moves, a control word is read, or the steps of some nodes
    rise, because a network in which nothing changes never changes again. So there are no more cycles
    than such events, as if all of them came one after another. After the event that a step waits for
    there are at most two cycles (seen, and the barrier's register).
    """
    config = program.config
    events = 0
    for row in chain.from_iterable(program.rows):
        hops = sum(max(segment.hops, 0) for segment in row.route)
        headers = len(encode_header(config, row.route, row.step, row.target_address))
        events += config.control_words + (headers + row.length) * (hops + 2)
    rises = config.topology.nodes * (program.steps + 1)
    return events + rises + 2 * (program.steps + 1)


def _limit(program: Program, given: int | None) -> int:
    """The cycle limit of a run for which ``given`` was asked."""
    if given is None:
        return cycle_limit(program)
    require_range("cycle limit", given, 0, np.iinfo(np.int64).max)
    return given


def _require_memory(config: NetworkConfig, memory: npt.NDArray[np.uint64]) -> None:
    """Raise :class:`InvalidInput` unless ``memory`` can be the message memories."""
    shape = (config.topology.nodes, config.message_words)
    if memory.shape != shape or memory.dtype != np.uint64:
        raise InvalidInput.of(
            "memory", f"uint64 of shape {shape}", f"{memory.dtype} of shape {memory.shape}"
        )
    largest = int(memory.max(initial=0))
    if largest >> config.flit_width:
        raise InvalidInput.of(
            "a word of memory", f"at most {config.flit_width} bits wide", hex(largest)
        )


def _require_encodable(config: NetworkConfig, node: int, rows: tuple[Row, ...]) -> None:
    """Raise :class:`InvalidInput` for the first field of a row that its bits cannot hold."""
    for place, row in enumerate(rows):
        fields = [
            ("step", row.step, config.step_bits),
            ("source address", row.source_address, config.address_bits),
            ("target address", row.target_address, config.address_bits),
            ("length", row.length, config.length_bits),
        ]
        fields += [("port", segment.port, config.port_bits) for segment in row.route]
        fields += [("vc", segment.vc, config.vc_bits) for segment in row.route]
        for name, value, bits in fields:
            require_range(f"node {node}, row {place}: {name}", value, 0, (1 << bits) - 1)
        header_flits = len(encode_header(config, row.route, row.step, row.target_address))
        most = (1 << HEADER_COUNT_BITS) - 1
        require_range(f"node {node}, row {place}: header flits", header_flits, 1, most)


def _upstream(topology: Topology) -> npt.NDArray[np.int64]:
    """The output line that feeds each input line: ``Network.upstream``, flat."""
    upstream = np.full(topology.neighbor.size, NO_LINK, dtype=np.int64)
    outputs = np.flatnonzero(topology.neighbor.ravel() != NO_LINK)
    upstream[_downstream(topology)[outputs]] = outputs
    upstream[:: topology.ports] = np.arange(0, upstream.size, topology.ports)
    return upstream


def _downstream(topology: Topology) -> npt.NDArray[np.int64]:
    """The input line to which each output line leads: ``Network.downstream``, flat."""
    neighbor, peer = (
        table.ravel().astype(np.int64) for table in (topology.neighbor, topology.peer)
    )
    return np.where(neighbor == NO_LINK, NO_LINK, neighbor * topology.ports + peer)


def _network(program: Program, *, barrier: bool, record_trace: bool) -> Network:
    """Everything that is fixed during a run."""
    config = program.config
    topology = config.topology
    for node, rows in enumerate(program.rows):
        _require_encodable(config, node, rows)
    expected = np.zeros((topology.nodes, 1 << config.step_bits), dtype=np.bool_)
    for node, steps in enumerate(program.receives):
        for step in steps:
            largest = (1 << config.step_bits) - 1
            require_range(f"receives of node {node}", step, 0, largest)
            expected[node, step] = True
    every_row = list(chain.from_iterable(program.rows))
    headers = [encode_header(config, row.route, row.step, row.target_address) for row in every_row]
    return Network(
        ports=topology.ports,
        vcs=config.vcs,
        depth=config.depth,
        port_bits=config.port_bits,
        hop_bits=config.hop_bits,
        vc_bits=config.vc_bits,
        step_bits=config.step_bits,
        address_bits=config.address_bits,
        control_words=config.control_words,
        message_words=config.message_words,
        half_duplex=program.port_model == "half-duplex",
        barrier=barrier,
        record_trace=record_trace,
        downstream=_downstream(topology),
        upstream=_upstream(topology),
        expected=expected,
        first_row=_bounds([len(rows) for rows in program.rows]),
        row_step=np.array([row.step for row in every_row], dtype=np.int64),
        row_source=np.array([row.source_address for row in every_row], dtype=np.int64),
        row_length=np.array([row.length for row in every_row], dtype=np.int64),
        first_header=_bounds([len(header) for header in headers]),
        header=np.array(list(chain.from_iterable(headers)), dtype=np.uint64),
    )


def _bounds(lengths: list[int]) -> npt.NDArray[np.int64]:
    """Where lists of these lengths start, put end to end, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))


def _registers(network: Network, memory: npt.NDArray[np.uint64]) -> Registers:
    """The registers after reset."""
    nodes, steps = network.expected.shape
    lines = nodes * network.ports
    channels = lines * network.vcs
    total = np.zeros(ROWS + 1, dtype=np.int64)
    total[[NOT_OVER, UNFINISHED, AWAKE]] = nodes
    return Registers(
        data=np.zeros((channels, network.depth), dtype=np.uint64),
        kind=np.zeros((channels, network.depth), dtype=np.int8),
        first=np.zeros(channels, dtype=np.int8),
        count=np.zeros(channels, dtype=np.int8),
        at_front_since=np.zeros(channels, dtype=np.int64),
        route_port=np.full(channels, NO_ROUTE, dtype=np.int8),
        route_vc=np.full(channels, NO_ROUTE, dtype=np.int8),
        held=np.zeros(channels, dtype=np.bool_),
        credits=np.full(channels, network.depth, dtype=np.int8),
        vc_turn=np.zeros(lines, dtype=np.int8),
        input_turn=np.zeros(lines, dtype=np.int8),
        router_flits=np.zeros(nodes, dtype=np.int32),
        block_routers=np.zeros(-(-nodes // NODES_PER_BLOCK), dtype=np.int32),
        sender=np.full(nodes, CONTROL, dtype=np.int8),
        row=network.first_row[:-1].copy(),
        place=np.zeros(nodes, dtype=np.int64),
        waiting=np.zeros(nodes, dtype=np.bool_),
        step=np.ones(nodes, dtype=np.int64),
        over=np.zeros(nodes, dtype=np.bool_),
        finished=np.zeros(nodes, dtype=np.bool_),
        arrived=np.zeros((nodes, steps), dtype=np.bool_),
        missing=network.expected.sum(axis=1, dtype=np.int64),
        receive_address=np.zeros(nodes * network.vcs, dtype=np.int64),
        receive_step=np.zeros(nodes * network.vcs, dtype=np.int64),
        memory=memory.copy(),
        written_cycle=np.full(nodes, NEVER, dtype=np.int64),
        written_address=np.zeros(nodes, dtype=np.int64),
        written_over=np.zeros(nodes, dtype=np.uint64),
        flags=np.zeros(nodes, dtype=np.uint8),
        stalled_flits=np.zeros(nodes, dtype=np.int64),
        step_end=np.zeros(steps, dtype=np.int64),
        awake=np.ones(nodes, dtype=np.bool_),
        total=total,
    )


def _lists(network: Network) -> Lists:
    """Empty lists, as long as a cycle can make them; every node is awake."""
    nodes = len(network.expected)
    outputs = nodes * network.ports
    return Lists(
        awake_nodes=np.arange(nodes, dtype=np.int64),
        entering=np.zeros((nodes, 3), dtype=np.int64),
        entering_data=np.zeros(nodes, dtype=np.uint64),
        moves=np.zeros((outputs, 5), dtype=np.int64),
        drops=np.zeros((outputs * network.vcs, 3), dtype=np.int64),
        choice_port=np.zeros(network.ports, dtype=np.int64),
        choice_vc=np.zeros(network.ports, dtype=np.int64),
        choice_output_vc=np.zeros(network.ports, dtype=np.int64),
        winner=np.zeros(network.ports, dtype=np.int64),
    )
