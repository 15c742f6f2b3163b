"""The loops of the cycle model: docs/router.md, sections 2 to 4, compiled by Numba.

Everything is plain integers in flat arrays. A *line* is a port of a router, a *channel* a VC of it::

    line = node * ports + port          channel = line * vcs + vc

Input and output ports share the numbering: ``count[channel]`` is the input buffer there and
``held[channel]`` the output VC. Every cycle first decides everything from the registers, and changes
the routers' registers only when all is decided; so one array per register is enough.

All compiled functions are in this one file, because Numba's cache forgets to look for changes in
others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from numba import njit

from .trace import HEAD_MARK, TAIL_MARK

Function = TypeVar("Function", bound=Callable[..., Any])
Int: TypeAlias = int | np.integer[Any]
Bools: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.integer[Any]]
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

CYCLE, ADVANCE, NOT_OVER, UNFINISHED, AWAKE, ENTERING, MOVES, DROPS, ROWS = range(9)
"""Places in ``Registers.total``; the last four count entries in the lists of :class:`Lists`."""

RUNNING, FINISHED, LIMIT = range(3)
"""Why :func:`simulate` returned: its trace is full, all nodes are finished, the cycles are up."""


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
    kind: Ints
    first: Ints
    count: Ints
    at_front_since: Ints
    route_port: Ints
    route_vc: Ints
    held: Bools
    credits: Ints
    vc_turn: Ints
    input_turn: Ints
    router_flits: Ints
    block_routers: Ints
    sender: Ints
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
    flags: Ints
    stalled_flits: Ints
    step_end: Ints
    awake: Bools
    total: Ints


class Lists(NamedTuple):
    """What a cycle decides; how many entries hold is in ``total``.

    A row of ``moves`` is (node, input port, VC, output port, VC), of ``drops`` (node, input port, VC)
    and of ``entering`` (node, VC, kind). ``choice`` and ``winner`` are one router's, by port.
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
    """The trace's columns, to be filled; ``total[ROWS]`` rows are in use."""

    cycle: Ints
    node: Ints
    port: Ints
    vc: Ints
    kind: Ints
    data: Words


def compiled(function: Function) -> Function:
    """Compile ``function``, and keep the result for the next process."""
    result: Function = njit(cache=True)(function)
    return result


def inlined(function: Function) -> Function:
    """Compile ``function`` into its callers: the tuples of arrays are dear to hand over."""
    result: Function = njit(forceinline=True)(function)
    return result


@inlined
def field(word: np.uint64, low: Int, width: Int) -> np.int64:
    """The ``width`` bits of ``word`` from bit ``low`` upwards."""
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


# ---- Section 3, the router: request, choose, grant, move ------------------------------------


@inlined
def request(
    net: Network, now: Registers, node: Int, port: Int, vc: Int
) -> tuple[np.int64, np.int64, bool]:
    """Output port and VC that the front flit of (port, vc) requests, and whether it is bad.

    Output port -1 where it requests none: it is bad, or is to be dropped.
    """
    channel = (node * net.ports + port) * net.vcs + vc
    if now.route_port[channel] != NO_ROUTE:
        return np.int64(now.route_port[channel]), np.int64(now.route_vc[channel]), False
    nothing = np.int64(NO_REQUEST)
    kind = now.kind[channel, now.first[channel]]
    word = now.data[channel, now.first[channel]]
    output = field(word, 0, net.port_bits)
    output_vc = field(word, net.port_bits + net.hop_bits, net.vc_bits)
    if not kind & HEAD_MARK:
        return nothing, nothing, True
    if output == 0:
        return nothing, nothing, (kind & TAIL_MARK) != 0
    if output == net.ports:
        return np.int64(0), np.int64(vc), port == 0
    if output > net.ports or output == port or output_vc >= net.vcs:
        return nothing, nothing, True
    return output, output_vc, net.downstream[node * net.ports + output] < 0


@inlined
def choose(net: Network, now: Registers, lists: Lists, node: Int, port: Int) -> None:
    """Choose the VC of an input port that may send; note what is dropped and what is bad."""
    line = node * net.ports + port
    lists.choice_port[port] = NO_REQUEST
    vc = np.int64(now.vc_turn[line])
    for _ in range(net.vcs):
        channel = line * net.vcs + vc
        if now.count[channel] > 0:
            output, output_vc, bad = request(net, now, node, port, vc)
            if bad:
                set_flag(now, lists, node, BAD_ROUTE)
            elif output == NO_REQUEST:
                note(lists.drops, now.total, DROPS, node, port, vc)
            elif lists.choice_port[port] == NO_REQUEST:
                wanted = (node * net.ports + output) * net.vcs + output_vc
                passing = now.route_port[channel] != NO_ROUTE
                free = passing or not now.held[wanted]
                if free and (output == 0 or now.credits[wanted] > 0):
                    lists.choice_port[port] = output
                    lists.choice_vc[port] = vc
                    lists.choice_output_vc[port] = output_vc
        vc = vc + 1 if vc + 1 < net.vcs else np.int64(0)


@inlined
def note(entries: Ints, total: Ints, which: Int, node: Int, second: Int, third: Int) -> None:
    """Add a row to one of the :class:`Lists`, and count it."""
    entry = total[which]
    entries[entry, 0] = node
    entries[entry, 1] = second
    entries[entry, 2] = third
    total[which] = entry + 1


@inlined
def grant(net: Network, now: Registers, lists: Lists, node: Int) -> None:
    """Grant every output port of a router to the first input port from its turn on."""
    for output in range(net.ports):
        lists.winner[output] = -1
    for port in range(net.ports):
        output = lists.choice_port[port]
        if output != NO_REQUEST:
            rival = lists.winner[output]
            turn = now.input_turn[node * net.ports + output]
            # Cyclic order from the turn: the ports from it on come before those below it.
            if rival < 0 or (rival < turn <= port):
                lists.winner[output] = port
    for output in range(net.ports):
        port = lists.winner[output]
        if port >= 0:
            entry = now.total[MOVES]
            note(lists.moves, now.total, MOVES, node, port, lists.choice_vc[port])
            lists.moves[entry, 3] = output
            lists.moves[entry, 4] = lists.choice_output_vc[port]


@inlined
def decide_routers(net: Network, now: Registers, lists: Lists) -> None:
    """Request, choose and grant in every router that has a flit, in order of nodes."""
    now.total[MOVES] = now.total[DROPS] = 0
    nodes = len(now.router_flits)
    for block in range(len(now.block_routers)):
        if now.block_routers[block] > 0:
            first = block * NODES_PER_BLOCK
            for node in range(first, min(first + NODES_PER_BLOCK, nodes)):
                if now.router_flits[node] > 0:
                    for port in range(net.ports):
                        choose(net, now, lists, node, port)
                    grant(net, now, lists, node)


@inlined
def push(
    net: Network, now: Registers, lists: Lists, line: Int, vc: Int, word: np.uint64, kind: Int
) -> None:
    """A flit enters a buffer at the end of the cycle."""
    channel, node = line * net.vcs + vc, line // net.ports
    count = now.count[channel]
    if count == net.depth:
        set_flag(now, lists, node, OVERFLOW)
        return
    place = now.first[channel] + count
    if place >= net.depth:
        place -= net.depth
    now.data[channel, place] = word
    now.kind[channel, place] = kind
    now.count[channel] = count + 1
    if count == 0:
        now.at_front_since[channel] = now.total[CYCLE] + 1
    if now.router_flits[node] == 0:
        now.block_routers[node // NODES_PER_BLOCK] += 1
    now.router_flits[node] += 1


@inlined
def pop(net: Network, now: Registers, lists: Lists, node: Int, port: Int, vc: Int) -> None:
    """The front flit leaves a buffer at the end of the cycle, and a credit goes back."""
    cycle = now.total[CYCLE]
    line = node * net.ports + port
    channel = line * net.vcs + vc
    if cycle > now.at_front_since[channel]:
        now.stalled_flits[node] += 1
    now.at_front_since[channel] = cycle + 1
    first = now.first[channel] + 1
    now.first[channel] = first if first < net.depth else 0
    now.count[channel] -= 1
    now.router_flits[node] -= 1
    if now.router_flits[node] == 0:
        now.block_routers[node // NODES_PER_BLOCK] -= 1
    counter = net.upstream[line] * net.vcs + vc
    if now.credits[counter] == net.depth:
        set_flag(now, lists, net.upstream[line] // net.ports, CREDIT_OVERFLOW)
    else:
        now.credits[counter] += 1
    if port == 0 and now.waiting[node]:
        wake(now, lists, node)


@inlined
def take_credit(now: Registers, lists: Lists, node: Int, counter: Int) -> None:
    """A flit of ``node`` leaves for a VC: its credit counter falls."""
    if now.credits[counter] == 0:
        set_flag(now, lists, node, CREDIT_UNDERFLOW)
    else:
        now.credits[counter] -= 1


@inlined
def record(
    now: Registers, trace: Rows, node: Int, port: Int, vc: Int, kind: Int, word: np.uint64
) -> None:
    """Add a row to the trace (section 7)."""
    row = now.total[ROWS]
    trace.cycle[row] = now.total[CYCLE]
    trace.node[row] = node
    trace.port[row] = port
    trace.vc[row] = vc
    trace.kind[row] = kind
    trace.data[row] = word
    now.total[ROWS] = row + 1


@inlined
def move(net: Network, now: Registers, lists: Lists, trace: Rows, entry: Int) -> None:
    """Send the front flit of a granted buffer on its way, rewritten if it establishes a route."""
    node, port, vc = lists.moves[entry, 0], lists.moves[entry, 1], lists.moves[entry, 2]
    output, output_vc = lists.moves[entry, 3], lists.moves[entry, 4]
    line, output_line = node * net.ports + port, node * net.ports + output
    channel, output_channel = line * net.vcs + vc, output_line * net.vcs + output_vc
    kind = now.kind[channel, now.first[channel]]
    word = now.data[channel, now.first[channel]]
    if now.route_port[channel] == NO_ROUTE:
        if output != 0:
            if field(word, net.port_bits, net.hop_bits) == 0:
                word = word >> np.uint64(net.port_bits + net.hop_bits + net.vc_bits)
            else:
                word = word - (np.uint64(1) << np.uint64(net.port_bits))
        if not kind & TAIL_MARK:
            now.route_port[channel] = output
            now.route_vc[channel] = output_vc
            now.held[output_channel] = True
    elif kind & TAIL_MARK:
        now.route_port[channel] = NO_ROUTE
        now.held[output_channel] = False
    now.input_turn[output_line] = port + 1 if port + 1 < net.ports else 0
    now.vc_turn[line] = vc + 1 if vc + 1 < net.vcs else 0
    if net.record_trace:
        record(now, trace, node, output, output_vc, kind, word)
    if output == 0:
        receiver(net, now, lists, node, output_vc, kind, word)
    else:
        take_credit(now, lists, node, output_channel)
        push(net, now, lists, net.downstream[output_line], output_vc, word, kind)


# ---- Section 4, the network interface: receiver, sender, steps ------------------------------


@inlined
def receiver(
    net: Network, now: Registers, lists: Lists, node: Int, vc: Int, kind: Int, word: np.uint64
) -> None:
    """Take a flit that leaves port 0 of the router in this cycle."""
    packet = node * net.vcs + vc
    if kind & HEAD_MARK:
        now.receive_step[packet] = field(word, net.port_bits, net.step_bits)
        address_place = net.port_bits + net.step_bits
        now.receive_address[packet] = field(word, address_place, net.address_bits)
    else:
        address = now.receive_address[packet]
        now.receive_address[packet] = address + 1
        if address >= net.message_words:
            set_flag(now, lists, node, BAD_WRITE)
        else:
            now.written_cycle[node] = now.total[CYCLE]
            now.written_address[node] = address
            now.written_over[node] = now.memory[node, address]
            now.memory[node, address] = word
    if kind & TAIL_MARK:
        step = now.receive_step[packet]
        expected = net.expected[node, step] and not now.arrived[node, step]
        if not expected or (net.barrier and step != now.step[node]):
            set_flag(now, lists, node, UNEXPECTED_RECEIVE)
        if expected:
            now.missing[node] -= 1
        now.arrived[node, step] = True
        now.step_end[step] = now.total[CYCLE] + 1
        wake(now, lists, node)


@inlined
def fetched(now: Registers, node: Int, address: Int) -> np.uint64:
    """The word of memory injected in this cycle: fetched in the last, so without its write."""
    fresh = now.written_cycle[node] == now.total[CYCLE] - 1
    if fresh and now.written_address[node] == address:
        return now.written_over[node]
    return now.memory[node, address]


@inlined
def inject(net: Network, now: Registers, lists: Lists, node: Int) -> bool:
    """Try to inject the next flit of the sender's row; whether there was a credit for it."""
    row = now.row[node]
    first_header = net.first_header[row]
    vc = field(net.header[first_header], net.port_bits + net.hop_bits, net.vc_bits)
    counter = node * net.ports * net.vcs + vc
    if now.credits[counter] == 0:
        now.waiting[node] = True
        return False
    take_credit(now, lists, node, counter)
    if now.waiting[node]:
        now.stalled_flits[node] += 1
        now.waiting[node] = False
    headers = net.first_header[row + 1] - first_header
    gone = now.place[node]
    if gone == 0 and net.half_duplex and net.expected[node, net.row_step[row]]:
        set_flag(now, lists, node, SEND_AND_RECEIVE)
    last = gone + 1 == headers + net.row_length[row]
    kind = HEAD_MARK if gone < headers else 0
    if gone < headers:
        word = net.header[first_header + gone]
    else:
        word = fetched(now, node, net.row_source[row] + gone - headers)
    entry = now.total[ENTERING]
    note(lists.entering, now.total, ENTERING, node, vc, kind | (TAIL_MARK if last else 0))
    lists.entering_data[entry] = word
    now.sender[node] = CONTROL if last else SENDING
    now.place[node] = 0 if last else gone + 1
    now.row[node] = row + 1 if last else row
    return True


@inlined
def row_is_bad(net: Network, row: Int) -> bool:
    """Whether a sender must refuse a row."""
    headers = net.first_header[row + 1] - net.first_header[row]
    if headers == 0 or net.row_source[row] + net.row_length[row] > net.message_words:
        return True
    word = net.header[net.first_header[row]]
    port = field(word, 0, net.port_bits)
    vc = field(word, net.port_bits + net.hop_bits, net.vc_bits)
    return bool(port < 1 or port >= net.ports or vc >= net.vcs)


@inlined
def sender(net: Network, now: Registers, lists: Lists, node: Int) -> bool:
    """One cycle of a node's sender; whether it did anything."""
    state, row = now.sender[node], now.row[node]
    if state == CONTROL:
        now.place[node] += 1
        if row == net.first_row[node + 1] or net.row_step[row] == 0:
            now.sender[node] = ENDED
        elif now.place[node] == net.control_words:
            now.place[node] = 0
            now.sender[node] = READY
        return True
    if state == SENDING:
        return inject(net, now, lists, node)
    if state == READY and now.flags[node] == 0:
        if row_is_bad(net, row) or now.step[node] > net.row_step[row]:
            now.sender[node] = FAILED
            set_flag(now, lists, node, BAD_ROW)
            return True
        if now.step[node] == net.row_step[row]:
            return inject(net, now, lists, node)
    return False


@inlined
def observe(net: Network, now: Registers, node: Int) -> None:
    """See from the registers whether the node's step is over and whether the node is finished."""
    state, step = now.sender[node], now.step[node]
    ended = state == ENDED
    sent = ended or (state == READY and net.row_step[now.row[node]] > step)
    received = not net.expected[node, step] or now.arrived[node, step]
    over = sent and received and now.flags[node] == 0
    finished = ended and now.missing[node] == 0 and now.flags[node] == 0
    now.total[NOT_OVER] += np.int64(now.over[node]) - np.int64(over)
    now.total[UNFINISHED] += np.int64(now.finished[node]) - np.int64(finished)
    now.over[node] = over
    now.finished[node] = finished


@inlined
def next_step(net: Network, now: Registers, node: Int) -> None:
    """``step`` of a node rises by one, in a register of ``step_bits``."""
    now.step[node] = (now.step[node] + 1) & ((1 << net.step_bits) - 1)


@inlined
def decide_interfaces(net: Network, now: Registers, lists: Lists) -> None:
    """Senders, and self-timed steps. An interface that can do nothing sleeps until it is woken."""
    now.total[ENTERING] = 0
    candidates, now.total[AWAKE] = now.total[AWAKE], 0
    for entry in range(candidates):
        node = lists.awake_nodes[entry]
        busy = sender(net, now, lists, node)
        if not net.barrier and now.over[node] and not now.finished[node]:
            next_step(net, now, node)
            busy = True
        now.awake[node] = False
        if busy:
            wake(now, lists, node)


@inlined
def advance(net: Network, now: Registers, lists: Lists) -> None:
    """The barrier's register, at the end of a cycle."""
    was_set = now.total[ADVANCE] == 1
    if was_set:
        for node in range(len(now.step)):
            next_step(net, now, node)
            wake(now, lists, node)
    all_over = now.total[NOT_OVER] == 0
    now.total[ADVANCE] = 1 if net.barrier and all_over and not was_set else 0


@compiled
def simulate(net: Network, now: Registers, lists: Lists, trace: Rows, cycle_limit: int) -> int:
    """Run until all nodes are finished, ``cycle_limit`` cycles are over or the trace is full."""
    while True:
        for entry in range(now.total[AWAKE]):
            observe(net, now, lists.awake_nodes[entry])
        if now.total[UNFINISHED] == 0:
            return FINISHED
        if now.total[CYCLE] >= cycle_limit:
            return LIMIT
        if net.record_trace and now.total[ROWS] + len(lists.moves) > len(trace.cycle):
            return RUNNING
        decide_interfaces(net, now, lists)
        decide_routers(net, now, lists)
        for entry in range(now.total[MOVES]):
            move(net, now, lists, trace, entry)
        for entry in range(now.total[MOVES]):
            moved = lists.moves[entry]
            pop(net, now, lists, moved[0], moved[1], moved[2])
        for entry in range(now.total[DROPS]):
            dropped = lists.drops[entry]
            pop(net, now, lists, dropped[0], dropped[1], dropped[2])
        for entry in range(now.total[ENTERING]):
            node, vc, kind = lists.entering[entry]
            push(net, now, lists, node * net.ports, vc, lists.entering_data[entry], kind)
        advance(net, now, lists)
        done = now.total[ENTERING] + now.total[MOVES] + now.total[DROPS]
        if done + now.total[AWAKE] + now.total[ADVANCE] == 0:
            # Nothing changed, so nothing ever will: the cycles that are left are all like this one.
            now.total[CYCLE] = cycle_limit
        else:
            now.total[CYCLE] += 1
