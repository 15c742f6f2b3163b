"""The router of the cycle model: docs/router.md, section 3, one function per word of it.

::

    request ──► choose ──► grant ──► move ──► cycle_links ──► arrive, take_credit
                                      │                          at the end of a cycle
                                      └─► leave

Routers are gone through one after another, and a router's flits move before the next one looks. Of
what another router can see, its buffers' places and its neighbours' credits, nothing changes before
the end of the cycle; so no order of routers can be observed.

The flag ``credit_underflow`` is never set here: only what has a credit is granted. ``overflow`` and
``credit_overflow`` would show that the credits had been miscounted.
"""

from __future__ import annotations

import numpy as np

from .cycle_compiler import Int, field, index, inlined, lowest_bit
from .cycle_interface import accepts, receiver
from .cycle_links import give_credit, send
from .cycle_state import (
    BAD_ROUTE,
    CYCLE,
    FRONTS,
    NO_REQUEST,
    NODES_PER_BLOCK,
    OVERFLOW,
    QUIET,
    ROWS,
    Lists,
    Network,
    Registers,
    Rows,
    set_flag,
)
from .trace import HEAD_MARK, TAIL_MARK


@inlined
def note_request(net: Network, now: Registers, line: Int, vc: Int) -> None:
    """Note that a buffer's packet requests an output, as long as a flit of it is there."""
    node = np.int64(net.line_node[line])
    now.requests[line] |= 1 << vc
    now.asking_ports[node] |= 1 << np.int64(net.line_port[line])
    now.asking_nodes[node // NODES_PER_BLOCK] |= 1 << (node % NODES_PER_BLOCK)


@inlined
def end_request(net: Network, now: Registers, node: Int, port: Int, vc: Int) -> None:
    """Note that the packet has left the buffer."""
    line = index(node * net.ports + port)
    now.requests[line] &= ~(1 << vc)
    if now.requests[line] == 0:
        now.asking_ports[node] &= ~(1 << port)
        if now.asking_ports[node] == 0:
            now.asking_nodes[node // NODES_PER_BLOCK] &= ~(1 << (node % NODES_PER_BLOCK))


@inlined
def note_front(now: Registers, lists: Lists, channel: Int) -> None:
    """Have the front flit of a buffer that holds no route looked at in the next cycle."""
    entry = now.total[FRONTS]
    lists.fronts[entry] = channel
    now.total[FRONTS] = entry + 1


@inlined
def request(net: Network, now: Registers, lists: Lists, channel: Int) -> None:
    """See what a front flit without a route requests; drop it if it is used up.

    The request stands, and is not looked at again, until the packet's tail has left.
    """
    line = np.int64(net.channel_line[channel])
    node, port = np.int64(net.line_node[line]), np.int64(net.line_port[line])
    vc = channel - line * net.vcs
    slot = index(channel * net.depth + now.first[channel])
    word, kind = np.uint64(now.data[slot]), np.int64(now.kind[slot])
    output = field(word, 0, net.port_bits)
    output_vc = field(word, net.port_bits + net.hop_bits, net.vc_bits)
    if not kind & HEAD_MARK or output > net.ports:
        set_flag(now, lists, node, BAD_ROUTE)
        return
    if output == 0:
        if kind & TAIL_MARK:
            set_flag(now, lists, node, BAD_ROUTE)
        else:
            leave(net, now, lists, node, port, vc)
        return
    if output == net.ports:
        output, output_vc = np.int64(0), np.int64(vc)
    output_line = index(node * net.ports + output)
    no_link = output > 0 and net.downstream[output_line] < 0
    if output == port or output_vc >= net.vcs or no_link:
        set_flag(now, lists, node, BAD_ROUTE)
        return
    now.wanted_port[channel] = output
    now.wanted[channel] = output_line * net.vcs + output_vc
    note_request(net, now, line, vc)


@inlined
def eligible(net: Network, now: Registers, node: Int, channel: Int) -> bool:
    """Whether there is a front flit, and its request may be granted in this cycle."""
    wanted = now.wanted[channel]
    if now.buffered[channel] == 0 or (not now.passing[channel] and now.held[wanted]):
        return False
    if now.wanted_port[channel] == 0:
        return accepts(net, now, node)
    return bool(now.credits[wanted] > 0)


@inlined
def choose(net: Network, now: Registers, node: Int, port: Int) -> np.int64:
    """Choose the VC of an input port that may send: the first eligible one from its turn on."""
    line = index(node * net.ports + port)
    turn = np.int64(now.vc_turn[line])
    asking = np.int64(now.requests[line])
    # Bit 0 is the VC that has the turn, and so on in cyclic order.
    in_turn = ((asking | asking << net.vcs) >> turn) & ((1 << net.vcs) - 1)
    while in_turn != 0:
        vc = turn + lowest_bit(in_turn)
        if vc >= net.vcs:
            vc -= net.vcs
        if eligible(net, now, node, index(line * net.vcs + vc)):
            return np.int64(vc)
        in_turn &= in_turn - 1
    return np.int64(NO_REQUEST)


@inlined
def route(net: Network, now: Registers, lists: Lists, trace: Rows, node: Int) -> None:
    """Choose, grant and move in one router.

    Every output port is granted to the first input port that chose it, from its turn on.
    """
    asked = np.int64(0)
    ports = now.asking_ports[node]
    while ports != 0:
        port = lowest_bit(ports)
        ports &= ports - 1
        vc = choose(net, now, node, port)
        if vc != NO_REQUEST:
            lists.chosen_vc[port] = vc
            output = np.int64(now.wanted_port[index((node * net.ports + port) * net.vcs + vc)])
            turn = now.input_turn[index(node * net.ports + output)]
            # Cyclic order from the turn: the ports from it on come before those below it.
            if not asked >> output & 1 or (lists.winner[output] < turn <= port):
                lists.winner[output] = port
            asked |= 1 << output
    while asked != 0:
        output = lowest_bit(asked)
        asked &= asked - 1
        port = np.int64(lists.winner[output])
        move(net, now, lists, trace, node, port, np.int64(lists.chosen_vc[port]))


@inlined
def move(
    net: Network, now: Registers, lists: Lists, trace: Rows, node: Int, port: Int, vc: Int
) -> None:
    """Send a granted front flit on its way, rewritten if it establishes a route."""
    line = index(node * net.ports + port)
    channel = index(line * net.vcs + vc)
    wanted, output = np.int64(now.wanted[channel]), np.int64(now.wanted_port[channel])
    output_line = index(node * net.ports + output)
    output_vc = wanted - output_line * net.vcs
    slot = index(channel * net.depth + now.first[channel])
    word, kind = np.uint64(now.data[slot]), np.int64(now.kind[slot])
    if not now.passing[channel]:
        if output != 0:
            if field(word, net.port_bits, net.hop_bits) == 0:
                word = word >> np.uint64(net.port_bits + net.hop_bits + net.vc_bits)
            else:
                word = word - (np.uint64(1) << np.uint64(net.port_bits))
        if not kind & TAIL_MARK:
            now.passing[channel] = True
            now.held[wanted] = True
    elif kind & TAIL_MARK:
        now.passing[channel] = False
        now.held[wanted] = False
    now.input_turn[output_line] = port + 1 if port + 1 < net.ports else 0
    now.vc_turn[line] = vc + 1 if vc + 1 < net.vcs else 0
    if net.record_trace:
        record(now, trace, node, output, output_vc, kind, word)
    if output == 0:
        receiver(net, now, lists, node, output_vc, kind, word)
    else:
        now.credits[wanted] -= 1
        send(net, now, output_line, output_vc, kind, word)
    leave(net, now, lists, node, port, vc)


@inlined
def leave(net: Network, now: Registers, lists: Lists, node: Int, port: Int, vc: Int) -> None:
    """Take the front flit out of a buffer, and send a credit back."""
    cycle = now.total[CYCLE]
    line = index(node * net.ports + port)
    channel = index(line * net.vcs + vc)
    now.total[QUIET] = 0
    now.stalled_flits[node] += np.int64(cycle > now.at_front_since[channel])
    now.at_front_since[channel] = cycle + 1
    first = now.first[channel] + 1
    now.first[channel] = first if first < net.depth else 0
    remain = now.buffered[channel] - 1
    now.buffered[channel] = remain
    if not now.passing[channel]:
        end_request(net, now, node, port, vc)
        if remain > 0:
            note_front(now, lists, channel)
    give_credit(net, now, lists, node, port, vc)


@inlined
def arrive(
    net: Network, now: Registers, lists: Lists, channel: Int, kind: Int, word: np.uint64
) -> None:
    """Put a flit into a buffer at the end of the cycle."""
    count = np.int64(now.buffered[channel])
    # A place that has become free in this very cycle does not count as one.
    left_now = now.at_front_since[channel] == now.total[CYCLE] + 1
    if count + np.int64(left_now) >= net.depth:
        set_flag(now, lists, np.int64(net.line_node[net.channel_line[channel]]), OVERFLOW)
        return
    place = now.first[channel] + count
    if place >= net.depth:
        place -= net.depth
    slot = index(channel * net.depth + place)
    now.data[slot] = word
    now.kind[slot] = kind
    now.buffered[channel] = count + 1
    if count == 0:
        now.at_front_since[channel] = now.total[CYCLE] + 1
        if not now.passing[channel]:
            note_front(now, lists, channel)


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
