"""The router of the cycle model: docs/router.md, section 3, one function per word of it.

::

    request ──► eligible ──► grant ──► move ──► cycle_links ──► arrive, take_credit
                                        │                          at the end of a cycle
                                        └─► leave

Outputs are gone through one after another, and a flit moves before the next output grants. Of what
another output can see nothing changes before the end of the cycle: a buffer requests one output,
whose turn, credits and hold are its own. So no order of outputs or routers can be observed.

The flag ``credit_underflow`` is never set here: only what has a credit is granted. ``overflow`` and
``credit_overflow`` would show that the credits had been miscounted.
"""

from __future__ import annotations

import numpy as np

from .cycle_compiler import Int, field, index, inlined, lanes_of, lowest_bit
from .cycle_interface import accepts, receiver
from .cycle_links import give_credit, launch
from .cycle_state import (
    BAD_ROUTE,
    BLOCK,
    CYCLE,
    FILLED,
    FRONTS,
    NOBODY,
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
def block_of(net: Network, owner: Int, number: Int) -> np.int64:
    """Place of the word with buffer ``number`` in the mask of a node or channel."""
    return index(owner * net.blocks + number // BLOCK)


@inlined
def bit_of(number: Int) -> np.int64:
    """Bit of buffer ``number`` in its word."""
    return np.int64(1) << (number % BLOCK)


@inlined
def bits_from(word: np.int64, place: Int) -> np.int64:
    """Keep the bits of a word from ``place`` up, which may lie outside of the word."""
    if place >= BLOCK:
        return np.int64(0)
    return np.int64(word & (np.int64(-1) << (place if place > 0 else 0)))


@inlined
def note_front(now: Registers, lists: Lists, channel: Int, there: Int) -> None:
    """Have the front flit of a buffer without a route, if one is there, looked at next cycle."""
    entry = now.total[FRONTS]
    lists.fronts[entry] = channel
    now.total[FRONTS] = entry + np.int64(there)


@inlined
def begin_request(net: Network, now: Registers, number: Int, line: Int, wanted: Int) -> None:
    """Note that a buffer's packet requests an output, as long as a flit of it is there."""
    now.requests[block_of(net, wanted, number)] |= bit_of(number)
    now.requested[line] += 1
    now.asked[line // BLOCK] |= np.int64(1) << (line % BLOCK)


@inlined
def end_request(net: Network, now: Registers, number: Int, line: Int, wanted: Int) -> None:
    """Note that the packet has left the buffer."""
    now.requests[block_of(net, wanted, number)] &= ~bit_of(number)
    now.requested[line] -= 1
    if now.requested[line] == 0:
        now.asked[line // BLOCK] &= ~(np.int64(1) << (line % BLOCK))


@inlined
def request(net: Network, now: Registers, lists: Lists, channel: Int) -> None:
    """See what a front flit without a route requests; drop it if it is used up.

    The request stands, and is not looked at again, until the packet's tail has left.
    """
    node, place = np.int64(net.channel_node[channel]), np.int64(net.channel_place[channel])
    number = channel - node * net.buffers
    slot = index(channel * net.depth + now.first[channel])
    word, kind = np.uint64(now.data[slot]), np.int64(now.kind[slot])
    port = field(word, 0, net.port_bits)
    vc = field(word, net.port_bits + net.hop_bits, net.vc_bits)
    if port == 0 and kind == HEAD_MARK:
        leave(net, now, node, number)
        note_front(now, lists, channel, now.buffered[channel] > 0)
        return
    exits = net.exits[index(node * net.lines + place)]
    exit_place = port + lanes_of(net) - 1
    if port == net.ports:
        exit_place = place - lanes_of(net) if lanes_of(net) > 1 else np.int64(0)
        vc = number - place * net.vcs
    if not kind & HEAD_MARK or field(exits, port, 1) == 0 or vc >= net.vcs:
        set_flag(now, lists, node, BAD_ROUTE)
        return
    line = index(node * net.lines + exit_place)
    wanted = index(line * net.vcs + vc)
    now.wanted[channel] = wanted
    begin_request(net, now, number, line, wanted)


@inlined
def eligible(net: Network, now: Registers, node: Int, line: Int, block: Int) -> np.int64:
    """Find a block of the buffers that request an output and may be granted it."""
    place = index(node * net.blocks + block)
    passing, candidates = now.passing[place], np.int64(0)
    for vc in range(net.vcs):
        wanted = index(line * net.vcs + vc)
        may_use = passing if now.held[wanted] else np.int64(-1)
        have_credit = np.int64(-1 if now.credits[wanted] > 0 else 0)
        candidates |= now.requests[index(wanted * net.blocks + block)] & may_use & have_credit
    return np.int64(candidates & now.filled[place])


@inlined
def grant(net: Network, now: Registers, line: Int) -> np.int64:
    """Find the buffer that an output grants, the first one from its turn on; or ``NOBODY``."""
    node = np.int64(net.line_node[line])
    if net.refuses and net.line_port[line] == 0 and not accepts(net, now, node):
        return np.int64(NOBODY)
    turn = np.int64(now.turn[line])
    first = first_from_turn = np.int64(NOBODY)
    for block in range(net.blocks - 1, -1, -1):
        candidates = eligible(net, now, node, line, block)
        from_turn = bits_from(candidates, turn - block * BLOCK)
        first = block * BLOCK + lowest_bit(candidates) if candidates != 0 else first
        if from_turn != 0:
            first_from_turn = block * BLOCK + lowest_bit(from_turn)
    return first if first_from_turn == NOBODY else first_from_turn


@inlined
def rewritten(net: Network, word: np.uint64) -> np.uint64:
    """Take one hop off the header flit that establishes a route."""
    shifted = word >> np.uint64(net.port_bits + net.hop_bits + net.vc_bits)
    one_less = word - (np.uint64(1) << np.uint64(net.port_bits))
    return shifted if field(word, net.port_bits, net.hop_bits) == 0 else one_less


@inlined
def move(net: Network, now: Registers, lists: Lists, trace: Rows, line: Int, number: Int) -> None:
    """Send the front flit of the granted buffer on its way."""
    node, port = np.int64(net.line_node[line]), np.int64(net.line_port[line])
    channel = index(node * net.buffers + number)
    wanted = np.int64(now.wanted[channel])
    vc = wanted - line * net.vcs
    slot = index(channel * net.depth + now.first[channel])
    word, kind = np.uint64(now.data[slot]), np.int64(now.kind[slot])
    place, bit = block_of(net, node, number), bit_of(number)
    establishes = now.passing[place] & bit == 0
    now.turn[line] = number + 1 if number + 1 < net.buffers else 0
    sent = rewritten(net, word) if establishes and port != 0 else word
    if net.record_trace:
        record(now, trace, node, port, vc, kind, sent)
    if port == 0:
        lane = index(line - node * (net.lines - lanes_of(net)))
        receiver(net, now, lists, node, lane, vc, kind, word)
    else:
        now.credits[wanted] -= 1
        launch(now, index(now.total[FILLED]), net.downstream[wanted], kind, sent)
    leave(net, now, node, number)
    ends = kind & TAIL_MARK != 0
    now.passing[place] = now.passing[place] & ~bit | (np.int64(0) if ends else bit)
    now.held[wanted] = not ends
    if ends:
        end_request(net, now, number, line, wanted)
        note_front(now, lists, channel, now.buffered[channel] > 0)


@inlined
def leave(net: Network, now: Registers, node: Int, number: Int) -> None:
    """Take the front flit out of a buffer, and send a credit back."""
    channel = index(node * net.buffers + number)
    now.total[QUIET] = 0
    now.stalled_flits[node] += np.int64(now.total[CYCLE] > now.at_front_since[channel])
    now.at_front_since[channel] = now.total[CYCLE] + 1
    first = now.first[channel] + 1
    now.first[channel] = first if first < net.depth else 0
    remain = np.int64(now.buffered[channel]) - 1
    now.buffered[channel] = remain
    emptied = bit_of(number) if remain == 0 else np.int64(0)
    now.filled[block_of(net, node, number)] &= ~emptied
    give_credit(net, now, number, channel)


@inlined
def arrive(
    net: Network, now: Registers, lists: Lists, channel: Int, kind: Int, word: np.uint64
) -> None:
    """Put a flit into a buffer at the end of the cycle."""
    node = np.int64(net.channel_node[channel])
    number = channel - node * net.buffers
    count = np.int64(now.buffered[channel])
    since, next_cycle = now.at_front_since[channel], now.total[CYCLE] + 1
    # A place that has become free in this very cycle does not count as one.
    if count + np.int64(since == next_cycle) >= net.depth:
        set_flag(now, lists, node, OVERFLOW)
        return
    place = now.first[channel] + count
    slot = index(channel * net.depth + (place if place < net.depth else place - net.depth))
    now.data[slot] = word
    now.kind[slot] = kind
    now.buffered[channel] = count + 1
    now.at_front_since[channel] = next_cycle if count == 0 else since
    block, bit = block_of(net, node, number), bit_of(number)
    now.filled[block] |= bit
    note_front(now, lists, channel, count == 0 and now.passing[block] & bit == 0)


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
