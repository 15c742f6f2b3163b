"""The router of the cycle model: docs/router.md, section 3, with its words as function names.

::

    request ──► candidate ──► grant ──► move ──► links ──► arrive, take_credit
                (of a VC)     (of an     │                    at the end of a cycle
                               output)   └─► leave

The model visits one output after another, and a flit moves before the next output grants. The order
of outputs and routers has no effect: a buffer requests one output only, the turns, credits and
holds belong to that output, and all else that another output can see changes at the end of the
cycle.

The flags ``overflow`` and ``credit_overflow`` would show a credit miscounted.

The order of turns names a buffer by its first *place*, links before the interface (router.md 3). In
an all-port network all injection ports have places behind the links; each output is requested by
only one of them, so its order is that of router.md.
"""

import numpy as np

from ..base.loops import Int, field, index, inlined, lanes_of, lowest_bit
from ..run.trace import HEAD_MARK, TAIL_MARK
from .header import dropped_first, port_of, vc_of
from .links import give_credit, launch
from .receiver import accepts, receiver
from .state import (
    BAD_ROUTE,
    BLOCK,
    CYCLE,
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


@inlined
def place_of(net: Network, number: Int) -> np.int64:
    """Return the first place of buffer ``number`` in the order of turns: links come first."""
    place = number + net.link_buffers
    return np.int64(place - net.buffers if place >= net.buffers else place)


@inlined
def number_at(net: Network, place: Int) -> np.int64:
    """Return the buffer that has this first place."""
    number = place - net.link_buffers
    return np.int64(number + net.buffers if number < 0 else number)


@inlined
def reached(net: Network, turn: Int, place: Int) -> np.int64:
    """Return the place, first or second, at which the order from ``turn`` on reaches a buffer."""
    second = place + net.buffers if net.vcs > 1 and place < net.link_buffers else place
    return np.int64(second if place < turn <= second else place)


@inlined
def bits_from(word: np.int64, place: Int) -> np.int64:
    """Keep the bits of a word from ``place`` up; ``place`` may lie outside the word."""
    if place >= BLOCK:
        return np.int64(0)
    return np.int64(word & (np.int64(-1) << (place if place > 0 else 0)))


@inlined
def note_front(now: Registers, lists: Lists, channel: Int, there: Int) -> None:
    """List the front flit of a buffer without a route for the next cycle, if ``there`` is 1."""
    entry = now.total[FRONTS]
    lists.fronts[entry] = channel
    now.total[FRONTS] = entry + np.int64(there)


@inlined
def begin_request(net: Network, now: Registers, number: Int, line: Int, wanted: Int) -> None:
    """Record that a buffer's head requests an output VC."""
    place = place_of(net, number)
    now.requests[index(wanted * net.blocks + place // BLOCK)] |= np.int64(1) << (place % BLOCK)
    now.requested[line] += 1
    now.asked[line // BLOCK] |= np.int64(1) << (line % BLOCK)


@inlined
def end_request(net: Network, now: Registers, number: Int, wanted: Int) -> None:
    """Remove the request of a head that has left, and set the output VC's next turn."""
    place = place_of(net, number)
    now.requests[index(wanted * net.blocks + place // BLOCK)] &= ~(np.int64(1) << (place % BLOCK))
    turn = reached(net, np.int64(now.turn[wanted]), place) + 1
    now.turn[wanted] = turn if turn < net.places else 0


@inlined
def end_packet(now: Registers, line: Int) -> None:
    """Record that a packet's tail has left by an output."""
    now.requested[line] -= 1
    if now.requested[line] == 0:
        now.asked[line // BLOCK] &= ~(np.int64(1) << (line % BLOCK))


@inlined
def request(net: Network, now: Registers, lists: Lists, channel: Int) -> None:
    """Request the output of a front flit without a route, or drop the flit if it is used up.

    The request stands until it is granted; the flit is not looked at again.
    """
    node, place = np.int64(net.channel_node[channel]), np.int64(net.channel_place[channel])
    number = channel - node * net.buffers
    slot = index(channel * net.depth + now.first[channel])
    word, kind = np.uint64(now.data[slot]), np.int64(now.kind[slot])
    port, vc = port_of(net, word), vc_of(net, word)
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
def candidate(net: Network, now: Registers, node: Int, wanted: Int) -> np.int64:
    """Find the channel whose flit would leave by an output VC, or ``NOBODY``."""
    holder = np.int64(now.holder[wanted])
    if holder != NOBODY:
        return np.int64(holder if now.buffered[index(holder)] > 0 else NOBODY)
    turn = np.int64(now.turn[wanted])
    second = turn >= net.buffers
    begin = turn - net.buffers if second else turn
    first = first_from_turn = np.int64(NOBODY)
    for block in range(net.blocks - 1, -1, -1):
        requests = now.requests[index(wanted * net.blocks + block)]
        from_turn = bits_from(requests, begin - block * BLOCK)
        first = block * BLOCK + lowest_bit(requests) if requests != 0 else first
        if from_turn != 0:
            first_from_turn = block * BLOCK + lowest_bit(from_turn)
    if first == NOBODY:
        return np.int64(NOBODY)
    # Only links have second places; after those the order starts again at its beginning.
    over = first_from_turn == NOBODY or (second and first_from_turn >= net.link_buffers)
    return np.int64(node * net.buffers + number_at(net, first if over else first_from_turn))


@inlined
def grant(net: Network, now: Registers, line: Int) -> np.int64:
    """Find the channel that an output grants, on its first ready VC, or ``NOBODY``."""
    node = np.int64(net.line_node[line])
    if now.total[CYCLE] < now.free_from[line]:
        return np.int64(NOBODY)
    if net.refuses and net.line_port[line] == 0 and not accepts(net, now, node):
        return np.int64(NOBODY)
    wanted, behind = line * net.vcs + now.next_vc[line], (line + 1) * net.vcs
    for _ in range(net.vcs):
        if now.credits[index(wanted)] > 0:
            channel = candidate(net, now, node, index(wanted))
            if channel != NOBODY:
                return channel
        wanted = wanted + 1 if wanted + 1 < behind else wanted + 1 - net.vcs
    return np.int64(NOBODY)


@inlined
def move(net: Network, now: Registers, lists: Lists, trace: Rows, line: Int, channel: Int) -> None:
    """Send the front flit of the granted buffer through an output."""
    node, port = np.int64(net.line_node[line]), np.int64(net.line_port[line])
    number = channel - node * net.buffers
    wanted = np.int64(now.wanted[channel])
    vc = wanted - line * net.vcs
    slot = index(channel * net.depth + now.first[channel])
    word, kind = np.uint64(now.data[slot]), np.int64(now.kind[slot])
    establishes = not now.passing[channel]
    now.next_vc[line] = vc + 1 if vc + 1 < net.vcs else 0
    sent = dropped_first(net, word) if establishes and port != 0 else word
    if net.record_trace:
        record(now, trace, node, port, vc, kind, sent)
    if port == 0:
        lane = index(line - node * (net.lines - lanes_of(net)))
        receiver(net, now, lists, node, lane, vc, kind, word)
    else:
        now.credits[wanted] -= 1
        launch(net, now, net.downstream[wanted], kind, sent)
        now.free_from[line] = now.total[CYCLE] + net.line_rate[line]
    leave(net, now, node, number)
    if establishes:
        end_request(net, now, number, wanted)
    ends = kind & TAIL_MARK != 0
    now.passing[channel] = not ends
    now.holder[wanted] = NOBODY if ends else channel
    if ends:
        end_packet(now, line)
        note_front(now, lists, channel, now.buffered[channel] > 0)


@inlined
def leave(net: Network, now: Registers, node: Int, number: Int) -> None:
    """Remove the front flit of a buffer and send a credit back."""
    channel = index(node * net.buffers + number)
    now.total[QUIET] = 0
    now.stalled_flits[node] += np.int64(now.total[CYCLE] > now.at_front_since[channel])
    now.at_front_since[channel] = now.total[CYCLE] + 1
    first = now.first[channel] + 1
    now.first[channel] = first if first < net.depth else 0
    now.buffered[channel] -= 1
    give_credit(net, now, channel)


@inlined
def arrive(
    net: Network, now: Registers, lists: Lists, channel: Int, kind: Int, word: np.uint64
) -> None:
    """Append a flit to a buffer at the end of the cycle."""
    count = np.int64(now.buffered[channel])
    since, next_cycle = now.at_front_since[channel], now.total[CYCLE] + 1
    # A slot freed in this same cycle counts as full.
    if count + np.int64(since == next_cycle) >= net.depth:
        set_flag(now, lists, np.int64(net.channel_node[channel]), OVERFLOW)
        return
    place = now.first[channel] + count
    slot = index(channel * net.depth + (place if place < net.depth else place - net.depth))
    now.data[slot] = word
    now.kind[slot] = kind
    now.buffered[channel] = count + 1
    now.at_front_since[channel] = next_cycle if count == 0 else since
    note_front(now, lists, channel, count == 0 and not now.passing[channel])


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
