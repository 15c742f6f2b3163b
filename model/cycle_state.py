"""The registers of the cycle model, and what both halves of a node do with them.

Everything is plain integers in flat arrays. A *line* is a port of a router, a *channel* a VC of
it::

    line = node * ports + port          channel = line * vcs + vc

Input and output ports share the numbering: ``buffered[channel]`` belongs to the input buffer there
and ``held[channel]`` to the output VC. The names are those of docs/router.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])
Int: TypeAlias = int | np.integer[Any]
Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.int8]
Ints: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]

OVERFLOW, CREDIT_UNDERFLOW, CREDIT_OVERFLOW, BAD_ROUTE = 1, 2, 4, 8
UNEXPECTED_RECEIVE, SEND_AND_RECEIVE, BAD_ROW, BAD_WRITE = 16, 32, 64, 128

CONTROL, READY, SENDING, ENDED, FAILED = range(5)
"""States of a sender. ``SENDING`` is the page's header and payload: the flits gone tell which."""

NO_ROUTE, NO_REQUEST = -1, -1
NEVER = -2
"""A cycle that no cycle follows."""
NODES_PER_BLOCK = 64
"""Routers are looked through in blocks, so that an idle network costs next to nothing."""

CYCLE, ADVANCE, NOT_OVER, UNFINISHED, AWAKE, ENTERING, MOVES, DROPS, ROWS, SOURCES = range(10)
"""Places in ``Registers.total``. ``AWAKE`` to ``ROWS`` count entries in lists; ``SOURCES`` holds a
checksum of the source files that the loop was compiled from."""


class Network(NamedTuple):
    """What is fixed while a program runs: the network, and the rows of its tables.

    ``downstream[line]`` is the input line to which an output line leads and ``upstream[line]`` the
    output line that feeds an input line, -1 where there is none. The interface feeds port 0, and
    the credit counters for that link stand where port 0, which needs none, would have its own:
    ``upstream`` of a line of port 0 is that line. Node n has the rows ``first_row[n]`` up to
    ``first_row[n + 1]``, row r the header flits ``first_header[r]`` up to ``first_header[r + 1]``.
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
    half_duplex: bool
    barrier: bool
    record_trace: bool
    downstream: Ints
    upstream: Ints
    expected: Bools
    first_row: Ints
    row_step: Ints
    row_source: Ints
    row_length: Ints
    first_header: Ints
    header: Words


class Registers(NamedTuple):
    """The state of the network, by line or channel (routers) and by node (interfaces)."""

    data: Words
    kind: Bytes
    first: Bytes
    buffered: Bytes
    at_front_since: Ints
    route_port: Bytes
    route_vc: Bytes
    held: Bools
    credits: Bytes
    vc_turn: Bytes
    input_turn: Bytes
    router_flits: Ints
    block_routers: Ints
    sender: Bytes
    row: Ints
    place: Ints
    waiting: Bools
    step: Ints
    over: Bools
    finished: Bools
    arrived: Bools
    missing: Ints
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
    """What a cycle decides; how many entries hold is in ``total``.

    A row of ``moves`` is (node, input port, VC, output port, VC), of ``drops`` (node, input port,
    VC) and of ``entering`` (node, VC, kind). ``choice`` and ``winner`` are one router's, by port.
    """

    awake_nodes: Ints
    entering: Ints
    entering_data: Words
    moves: Ints
    drops: Ints
    choice_port: Ints
    choice_vc: Ints
    choice_output_vc: Ints
    winner: Ints


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
    total = np.zeros(SOURCES + 1, dtype=np.int64)
    total[[NOT_OVER, UNFINISHED, AWAKE]] = nodes
    return Registers(
        data=np.zeros((channels, network.depth), dtype=np.uint64),
        kind=np.zeros((channels, network.depth), dtype=np.int8),
        first=np.zeros(channels, dtype=np.int8),
        buffered=np.zeros(channels, dtype=np.int8),
        at_front_since=np.zeros(channels, dtype=np.int64),
        route_port=np.full(channels, NO_ROUTE, dtype=np.int8),
        route_vc=np.full(channels, NO_ROUTE, dtype=np.int8),
        held=np.zeros(channels, dtype=np.bool_),
        credits=np.full(channels, network.depth, dtype=np.int8),
        vc_turn=np.zeros(lines, dtype=np.int8),
        input_turn=np.zeros(lines, dtype=np.int8),
        router_flits=np.zeros(nodes, dtype=np.int64),
        block_routers=np.zeros(-(-nodes // NODES_PER_BLOCK), dtype=np.int64),
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


def empty_lists(network: Network) -> Lists:
    """Make lists as long as a cycle can fill them; every node is awake."""
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


def compiled(function: Function) -> Function:
    """Compile ``function``, and keep the result for the next process.

    Nothing compiled here makes an array, so Numba's counting of references to arrays is left out
    (``_nrt``): with dozens of arrays it would take forty times as long as the work.
    """
    result: Function = njit(cache=True, _nrt=False)(function)
    return result


def inlined(function: Function) -> Function:
    """Compile ``function`` into its callers: the tuples of arrays are dear to hand over."""
    result: Function = njit(forceinline=True, _nrt=False)(function)
    return result


@inlined
def field(word: np.uint64, low: Int, width: Int) -> np.int64:
    """Extract the ``width`` bits of ``word`` from bit ``low`` upwards."""
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    return np.int64((word >> np.uint64(low)) & mask)


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


@inlined
def note(entries: Ints, total: Ints, which: Int, node: Int, second: Int, third: Int) -> None:
    """Add a row to one of the :class:`Lists`, and count it."""
    entry = total[which]
    entries[entry, 0] = node
    entries[entry, 1] = second
    entries[entry, 2] = third
    total[which] = entry + 1
