"""The cycle model: what the hardware does with a program, flit by flit (docs/router.md).

It is the hardware's specification in a form that runs::

    Program ──► rows and header flits ─┐
    Topology ─► lines up and down ─────┼─► cycle_loop.simulate ──► Run: cycles, memory, trace, flags
    memory before the run ─────────────┘

This module turns a program into arrays, and the arrays after the run into a :class:`Run`. What
happens in a cycle is in ``cycle_loop``, with ``cycle_router`` and ``cycle_interface``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from .config import HEADER_COUNT_BITS, NetworkConfig
from .cycle_loop import FINISHED, TRACE_FULL, simulate
from .cycle_state import CYCLE, ROWS, Network, Rows, empty_lists, reset_registers
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

    ``memory`` is what the message memories hold before the run, shape (nodes, message words); it
    is not changed. ``timing`` is "barrier" or "self-timed" (docs/router.md, section 4). A run that
    is not finished by ``cycle_limit`` is given up; None means :func:`cycle_limit` of the program.
    ``record_trace`` False saves the time and room that a trace takes.

    The program may be wrong in any way that its table can express; the flags tell. Raises
    :class:`InvalidInput` for what no table or memory of the network can hold.
    """
    config = program.config
    if timing not in TIMINGS:
        raise InvalidInput.of("timing", " or ".join(TIMINGS), timing)
    _require_memory(config, memory)
    network = _network(program, barrier=timing == "barrier", record_trace=record_trace)
    limit = _limit(program, cycle_limit)
    registers = reset_registers(network, memory)
    lists = empty_lists(network)
    # Room for a cycle's rows at the least: one flit may leave by every output.
    rows_per_chunk = max(_TRACE_CHUNK_ROWS, len(network.downstream)) if record_trace else 0
    chunks = []
    ended = TRACE_FULL
    while ended == TRACE_FULL:
        chunk = Trace.empty(rows_per_chunk)
        registers.total[ROWS] = 0
        ended = simulate(network, registers, lists, _rows(chunk), limit)
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

    In every cycle before the last a flit moves, a control word is read or the step of some node
    rises, because a network in which nothing changes never changes again. So the cycles are no
    more than these events, as if all came one after another, and, for each step, one cycle in
    which it is seen to be over and one for the barrier's register.
    """
    config = program.config
    reach = 1 << config.hop_bits
    events = 0
    for row in chain.from_iterable(program.rows):
        hops = sum(segment.hops for segment in row.route)
        most_header_flits = 1 + sum(-(-segment.hops // reach) for segment in row.route)
        # A flit is injected, crosses the links, and is delivered.
        events += config.control_words + (most_header_flits + row.length) * (hops + 2)
    steps = program.steps + 1
    return events + config.topology.nodes * steps + 2 * steps


def _limit(program: Program, given: int | None) -> int:
    """Resolve the cycle limit that a run was given."""
    if given is None:
        return cycle_limit(program)
    require_range("cycle limit", given, 0, int(np.iinfo(np.int64).max))
    return given


def _rows(trace: Trace) -> Rows:
    """Name the columns of ``trace`` as the compiled loop does."""
    return Rows(trace.cycle, trace.node, trace.port, trace.vc, trace.kind, trace.data)


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


def _encode(config: NetworkConfig, where: str, row: Row) -> list[int]:
    """Header flits of ``row``; :class:`InvalidInput` for a field that its bits cannot hold."""
    fields = [
        ("step", row.step, config.step_bits),
        ("source address", row.source_address, config.address_bits),
        ("target address", row.target_address, config.address_bits),
        ("length", row.length, config.length_bits),
    ]
    for segment in row.route:
        fields.append(("port", segment.port, config.port_bits))
        fields.append(("vc", segment.vc, config.vc_bits))
        require_range(f"{where}: hops", segment.hops, 0)
    for name, value, bits in fields:
        require_range(f"{where}: {name}", value, 0, (1 << bits) - 1)
    header = encode_header(config, row.route, row.step, row.target_address)
    require_range(f"{where}: header flits", len(header), 1, (1 << HEADER_COUNT_BITS) - 1)
    return header


def _upstream(topology: Topology) -> npt.NDArray[np.int64]:
    """``Network.upstream``: the output line that feeds each input line."""
    upstream = np.full(topology.neighbor.size, NO_LINK, dtype=np.int64)
    outputs = np.flatnonzero(topology.neighbor.ravel() != NO_LINK)
    upstream[_downstream(topology)[outputs]] = outputs
    upstream[:: topology.ports] = np.arange(0, upstream.size, topology.ports)
    return upstream


def _downstream(topology: Topology) -> npt.NDArray[np.int64]:
    """``Network.downstream``: the input line to which each output line leads."""
    neighbor, peer = (
        table.ravel().astype(np.int64) for table in (topology.neighbor, topology.peer)
    )
    return np.where(neighbor == NO_LINK, NO_LINK, neighbor * topology.ports + peer)


def _network(program: Program, *, barrier: bool, record_trace: bool) -> Network:
    """Everything that is fixed during a run."""
    config = program.config
    topology = config.topology
    headers = [
        _encode(config, f"node {node}, row {place}", row)
        for node, rows in enumerate(program.rows)
        for place, row in enumerate(rows)
    ]
    expected = np.zeros((topology.nodes, 1 << config.step_bits), dtype=np.bool_)
    for node, steps in enumerate(program.receives):
        for step in steps:
            largest = (1 << config.step_bits) - 1
            require_range(f"receives of node {node}", step, 0, largest)
            expected[node, step] = True
    every_row = list(chain.from_iterable(program.rows))
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
