"""The registers of the cycle model, and what both halves of a node do with them.

Everything is plain integers in flat arrays. A *line* is a port of a router, a *channel* a VC of
it::

    line = node * ports + port          channel = line * vcs + vc

Input and output ports share the numbering: ``buffered[channel]`` belongs to the input buffer there
and ``held[channel]`` to the output VC. The names are those of docs/router.md.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .cycle_compiler import Int, inlined

Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Indices: TypeAlias = npt.NDArray[np.uint32]
Ints: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]

OVERFLOW, CREDIT_UNDERFLOW, CREDIT_OVERFLOW, BAD_ROUTE = 1, 2, 4, 8
UNEXPECTED_RECEIVE, SEND_AND_RECEIVE, BAD_ROW, BAD_WRITE = 16, 32, 64, 128

CONTROL, READY, SENDING, ENDED, FAILED = range(5)
"""States of a sender. ``SENDING`` is the page's header and payload: the flits gone tell which."""

NO_REQUEST = -1
REFUSAL_CYCLES = 16
"""A pattern of refusal repeats after so many cycles."""
NEVER = -2
"""A cycle that no cycle follows."""
NOBODY = -1
HOURS = 1024
"""Sleeping interfaces are listed by the lowest bits of their alarm, like alarms on a clock."""
NODES_PER_BLOCK = 32
"""Routers are looked through in blocks, so that an idle network costs next to nothing."""

(
    CYCLE, ADVANCE, NOT_OVER, UNFINISHED, AWAKE,
    ENTERING, FRONTS, QUIET, STAGE, ROWS, SOURCES,
) = range(11)  # fmt: skip
"""Places in ``Registers.total``.

``AWAKE``, ``ENTERING``, ``FRONTS`` and ``ROWS`` count entries in lists. ``QUIET`` is for how many
cycles nothing has changed, ``STAGE`` the place in the links' registers of what leaves in this
cycle, and ``SOURCES`` a checksum of the source files that the loop was compiled from."""


class Network(NamedTuple):
    """What is fixed while a program runs: the network, and the rows of its tables.

    ``downstream[line]`` is the input line to which an output line leads and ``upstream[line]`` the
    output line that feeds an input line, -1 where there is none. The interface feeds port 0, and
    the credit counters for that link stand where port 0, which needs none, would have its own:
    ``upstream`` of a line of port 0 is that line. Node n has the rows ``first_row[n]`` up to
    ``first_row[n + 1]``, row r the header flits ``first_header[r]`` up to ``first_header[r + 1]``.
    ``largest_word`` is a word of ones.
    """

    ports: int
    vcs: int
    depth: int
    port_bits: int
    hop_bits: int
    vc_bits: int
    step_bits: int
    address_bits: int
    control_words: int
    message_words: int
    link_registers: int
    largest_word: int
    timed_rows: bool
    half_duplex: bool
    barrier: bool
    record_trace: bool
    channel_line: Indices
    line_node: Indices
    line_port: Bytes
    downstream: Ints
    upstream: Ints
    expected: Bools
    awaited: Ints
    refusal: npt.NDArray[np.uint16]
    first_row: Ints
    row_step: Ints
    row_start: Ints
    row_source: Ints
    row_length: Ints
    first_header: Ints
    header: Words


class Registers(NamedTuple):
    """The state of the network, by line or channel (routers) and by node (interfaces).

    Flit f of a channel's buffer is at ``channel * depth + f`` in ``data`` and ``kind``.
    ``wanted[channel]`` is the output channel that its packet requests and, when its first flit has
    left (``passing``), holds; ``wanted_port`` is the port of it. Bits tell where such packets are:
    bit a of ``requests[line]`` a VC, bit i of ``asking_ports[node]`` a port, and bits of
    ``asking_nodes`` the nodes of a block. What is on the links has R + 1 stages, one for each cycle
    in which it may have left; ``flights`` and ``returns`` count the flits and credits in each.
    """

    data: Words
    kind: Bytes
    first: Bytes
    buffered: Bytes
    at_front_since: Ints
    wanted: Indices
    wanted_port: Bytes
    passing: Bools
    held: Bools
    credits: Bytes
    vc_turn: Bytes
    input_turn: Bytes
    requests: Bytes
    asking_ports: Ints
    asking_nodes: Ints
    flights: Ints
    flight_channel: Indices
    flight_kind: Bytes
    flight_data: Words
    returns: Ints
    return_channel: Indices
    sender: Bytes
    row: Ints
    place: Ints
    waiting: Bools
    alarm: Ints
    step: Ints
    coasting_since: Ints
    over: Bools
    finished: Bools
    arrived: Bools
    missing: Ints
    received: Ints
    receive_address: Ints
    receive_step: Ints
    memory: Words
    written_cycle: Ints
    written_address: Ints
    written_over: Words
    flags: npt.NDArray[np.uint8]
    stalled_flits: Ints
    step_end: Ints
    awake: Bools
    total: Ints


class Lists(NamedTuple):
    """What a cycle decides or finds; how many entries most hold is in ``total``.

    Sleeping nodes are linked: ``first_asleep`` by the lowest bits of the alarm, then
    ``next_asleep`` by node. ``fronts`` are input channels whose front flit is the first of a packet
    and has not yet been looked at. ``chosen_vc`` (by input port) and ``winner`` (by output port)
    are one router's.
    """

    awake_nodes: Indices
    first_asleep: Ints
    next_asleep: Ints
    entering_channel: Indices
    entering_kind: Bytes
    entering_data: Words
    fronts: Indices
    chosen_vc: Bytes
    winner: Bytes


class Rows(NamedTuple):
    """The columns of a :class:`~eyecast.model.trace.Trace`; ``total[ROWS]`` rows are in use."""

    cycle: npt.NDArray[np.int64]
    node: npt.NDArray[np.int32]
    port: npt.NDArray[np.int16]
    vc: npt.NDArray[np.int16]
    kind: npt.NDArray[np.int8]
    data: Words


def reset_registers(network: Network, memory: Words) -> Registers:
    """Make the registers as they are after reset; ``memory`` is copied."""
    nodes, steps = network.expected.shape
    lines = nodes * network.ports
    channels = lines * network.vcs
    stages = network.link_registers + 1
    total = np.zeros(SOURCES + 1, dtype=np.int64)
    total[[NOT_OVER, UNFINISHED, AWAKE]] = nodes
    return Registers(
        data=np.zeros(channels * network.depth, dtype=np.uint64),
        kind=np.zeros(channels * network.depth, dtype=np.uint8),
        first=np.zeros(channels, dtype=np.uint8),
        buffered=np.zeros(channels, dtype=np.uint8),
        at_front_since=np.zeros(channels, dtype=np.int64),
        wanted=np.zeros(channels, dtype=np.uint32),
        wanted_port=np.zeros(channels, dtype=np.uint8),
        passing=np.zeros(channels, dtype=np.bool_),
        held=np.zeros(channels, dtype=np.bool_),
        credits=np.full(channels, network.depth, dtype=np.uint8),
        vc_turn=np.zeros(lines, dtype=np.uint8),
        input_turn=np.zeros(lines, dtype=np.uint8),
        requests=np.zeros(lines, dtype=np.uint8),
        asking_ports=np.zeros(nodes, dtype=np.int64),
        asking_nodes=np.zeros(-(-nodes // NODES_PER_BLOCK), dtype=np.int64),
        flights=np.zeros(stages, dtype=np.int64),
        flight_channel=np.zeros(stages * lines, dtype=np.uint32),
        flight_kind=np.zeros(stages * lines, dtype=np.uint8),
        flight_data=np.zeros(stages * lines, dtype=np.uint64),
        returns=np.zeros(stages, dtype=np.int64),
        return_channel=np.zeros(stages * channels, dtype=np.uint32),
        sender=np.full(nodes, CONTROL, dtype=np.uint8),
        row=network.first_row[:-1].copy(),
        place=np.zeros(nodes, dtype=np.int64),
        waiting=np.zeros(nodes, dtype=np.bool_),
        alarm=np.full(nodes, NEVER, dtype=np.int64),
        step=np.ones(nodes, dtype=np.int64),
        coasting_since=np.full(nodes, NEVER, dtype=np.int64),
        over=np.zeros(nodes, dtype=np.bool_),
        finished=np.zeros(nodes, dtype=np.bool_),
        arrived=np.zeros((nodes, steps), dtype=np.bool_),
        missing=network.expected.sum(axis=1, dtype=np.int64),
        received=np.zeros(nodes, dtype=np.int64),
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


def empty_lists(network: Network) -> Lists:
    """Make lists as long as a cycle can fill them; every node is awake."""
    nodes = len(network.expected)
    channels = nodes * network.ports * network.vcs
    return Lists(
        awake_nodes=np.arange(nodes, dtype=np.uint32),
        first_asleep=np.full(HOURS, NOBODY, dtype=np.int64),
        next_asleep=np.zeros(nodes, dtype=np.int64),
        entering_channel=np.zeros(nodes, dtype=np.uint32),
        entering_kind=np.zeros(nodes, dtype=np.uint8),
        entering_data=np.zeros(nodes, dtype=np.uint64),
        fronts=np.zeros(channels, dtype=np.uint32),
        chosen_vc=np.zeros(network.ports, dtype=np.uint8),
        winner=np.zeros(network.ports, dtype=np.uint8),
    )


@inlined
def wake(now: Registers, lists: Lists, node: Int) -> None:
    """Have the interface of ``node`` looked at in the next cycle."""
    if not now.awake[node]:
        now.awake[node] = True
        lists.awake_nodes[now.total[AWAKE]] = node
        now.total[AWAKE] += 1


@inlined
def set_flag(now: Registers, lists: Lists, node: Int, flag: Int) -> None:
    """Set a sticky flag of ``node``."""
    if not now.flags[node] & flag:
        now.flags[node] |= flag
        wake(now, lists, node)
