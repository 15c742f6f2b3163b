"""The router of the cycle model: docs/router.md, sections 2 and 3, one function per word of it.

::

    request ──► choose ──► grant          from the registers at the start of a cycle
                             │
                             ▼
                  move, push, pop         the registers at its end

The flag ``credit_underflow`` is never set here: only what has a credit is granted. ``overflow`` and
``credit_overflow`` would show that the credits had been miscounted.
"""

from __future__ import annotations

import numpy as np

from .cycle_interface import receiver
from .cycle_state import (
    BAD_ROUTE,
    CREDIT_OVERFLOW,
    CYCLE,
    DROPS,
    MOVES,
    NO_REQUEST,
    NO_ROUTE,
    NODES_PER_BLOCK,
    OVERFLOW,
    ROWS,
    Int,
    Lists,
    Network,
    Registers,
    Rows,
    field,
    inlined,
    note,
    set_flag,
    wake,
)
from .trace import HEAD_MARK, TAIL_MARK


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
        if now.buffered[channel] > 0:
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
def push(
    net: Network, now: Registers, lists: Lists, line: Int, vc: Int, word: np.uint64, kind: Int
) -> None:
    """Put a flit into a buffer at the end of the cycle."""
    channel, node = line * net.vcs + vc, line // net.ports
    count = now.buffered[channel]
    if count == net.depth:
        set_flag(now, lists, node, OVERFLOW)
        return
    place = now.first[channel] + count
    if place >= net.depth:
        place -= net.depth
    now.data[channel, place] = word
    now.kind[channel, place] = kind
    now.buffered[channel] = count + 1
    if count == 0:
        now.at_front_since[channel] = now.total[CYCLE] + 1
    if now.router_flits[node] == 0:
        now.block_routers[node // NODES_PER_BLOCK] += 1
    now.router_flits[node] += 1


@inlined
def pop(net: Network, now: Registers, lists: Lists, node: Int, port: Int, vc: Int) -> None:
    """Take the front flit out of a buffer at the end of the cycle, and send a credit back."""
    cycle = now.total[CYCLE]
    line = node * net.ports + port
    channel = line * net.vcs + vc
    if cycle > now.at_front_since[channel]:
        now.stalled_flits[node] += 1
    now.at_front_since[channel] = cycle + 1
    first = now.first[channel] + 1
    now.first[channel] = first if first < net.depth else 0
    now.buffered[channel] -= 1
    now.router_flits[node] -= 1
    if now.router_flits[node] == 0:
        now.block_routers[node // NODES_PER_BLOCK] -= 1
    feeder = np.int64(net.upstream[line])
    counter = feeder * net.vcs + vc
    if now.credits[counter] == net.depth:
        set_flag(now, lists, feeder // net.ports, CREDIT_OVERFLOW)
    else:
        now.credits[counter] += 1
    if port == 0 and now.waiting[node]:
        wake(now, lists, node)


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
        now.credits[output_channel] -= 1
        push(net, now, lists, net.downstream[output_line], output_vc, word, kind)
