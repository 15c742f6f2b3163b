"""The router of the cycle model: docs/router.md, section 3, with its words as function names.

::

    all heads     all outputs                      all granted flits
    request ──► grant, of a ready VC ──► establish ──► move ──► links: arrive, take_credit
                                         (by turn)      └─► leave

Each of these four is done for the whole network before the next. A VC is ready if it has a
candidate and a credit, so an output need not know which buffer its candidate is: *establish* finds
it, only for a VC that no buffer holds. The order of outputs and routers has no effect: a buffer
requests one output only, and a move changes nothing that another move of the cycle reads.

The flags ``overflow`` and ``credit_overflow`` would show a credit miscounted.

The order of turns names a buffer by its first *place*, links before the interface (router.md 3). In
an all-port network all injection ports have places behind the links; each output is requested by
only one of them, so its order is that of router.md.
"""

import numpy as np

from ..base.loops import Int, field, index, inlined, lanes_of, lowest_bit, prefetch
from ..run.trace import HEAD_MARK, TAIL_MARK
from .header import dropped_first, port_of, vc_of
from .links import arrive, give_credit, launch, note_front, put_flit, set_candidate, take_credit
from .receiver import accepts, receive
from .state import (
    BAD_ROUTE,
    BLOCK,
    CYCLE,
    NOBODY,
    NONE,
    QUIET,
    Buffer,
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
def front_flit(net: Network, channel: Int, buffer: Buffer) -> np.int64:
    """Return the place of a buffer's front flit in ``data`` and ``kind``."""
    return index(channel * net.depth + buffer.first)


@inlined
def request(net: Network, now: Registers, lists: Lists, channel: Int) -> None:
    """Request the output of a front flit without a route, or drop the flit if it is used up.

    The request stands until it is granted; the flit is not looked at again.
    """
    buffer = now.buffers[channel]
    flit = front_flit(net, channel, buffer)
    word, kind = np.uint64(now.data[flit]), np.int64(now.kind[flit])
    port, vc = port_of(net, word), vc_of(net, word)
    if port == 0 and kind == HEAD_MARK:
        leave(net, now, buffer)
        give_credit(net, now, buffer)
        now.total[QUIET] = 0
        note_front(now, lists, channel, np.int64(buffer.count > 0))
        return
    node, line = np.int64(net.channel_node[channel]), channel >> net.vc_bits
    exit_place = port + lanes_of(net) - 1
    if port == net.ports:
        own = line - node * net.lines - lanes_of(net) if lanes_of(net) > 1 else 0
        exit_place, vc = np.int64(own), np.int64(channel - (line << net.vc_bits))
    if not kind & HEAD_MARK or field(net.exits[index(line)], port, 1) == 0 or vc >= net.vcs:
        set_flag(now, lists, node, BAD_ROUTE)
        return
    wanted = index((node * net.lines + exit_place) << net.vc_bits | vc)
    buffer.wanted = wanted
    place = place_of(net, channel - node * net.buffers)
    now.requests[index(wanted * net.blocks + place // BLOCK)] |= np.int64(1) << (place % BLOCK)
    output = now.outputs[wanted]
    output.requests += 1
    set_candidate(net, now, wanted, np.int64(output.holder == NONE))


@inlined
def next_by_turn(net: Network, now: Registers, channel: Int, turn: Int) -> np.int64:
    """Find the place of the buffer that is the next by turn to get a free output VC."""
    second = turn >= net.buffers
    begin = turn - net.buffers if second else turn
    first = first_from_turn = np.int64(NOBODY)
    for block in range(net.blocks - 1, -1, -1):
        requests = now.requests[index(channel * net.blocks + block)]
        from_turn = bits_from(requests, begin - block * BLOCK)
        first = block * BLOCK + lowest_bit(requests) if requests != 0 else first
        if from_turn != 0:
            first_from_turn = block * BLOCK + lowest_bit(from_turn)
    # Only links have second places; after those the order starts again at its beginning.
    over = first_from_turn == NOBODY or (second and first_from_turn >= net.link_buffers)
    return np.int64(first if over else first_from_turn)


@inlined
def waits(net: Network, now: Registers, line: Int) -> bool:
    """Tell whether an output grants nothing in this cycle, even if a VC is ready."""
    if net.rated and now.total[CYCLE] < now.free_from[line]:
        return True
    port_0 = net.refuses and now.lines[line].port == 0
    return bool(port_0 and not accepts(net, now, np.int64(now.lines[line].node)))


@inlined
def grant(net: Network, now: Registers, lists: Lists) -> tuple[np.int64, np.int64]:
    """List the output VCs that are granted, and those of them that are free; return the numbers.

    Of each line that is asked, grant the first ready VC from ``next_vc`` on.
    """
    granted = free = np.int64(0)
    for block in range(len(now.asked)):
        asked = now.asked[block]
        while asked != 0:
            number = index(block * BLOCK + lowest_bit(asked))
            asked &= asked - 1
            if (net.rated or net.refuses) and waits(net, now, number):
                continue
            line = now.lines[number]
            ready, next_vc = np.int64(line.candidates & line.credited), np.int64(line.next_vc)
            vc = (lowest_bit((ready | ready << 8) >> next_vc) + next_vc) & 7
            line.next_vc = vc + 1
            channel = index(number << net.vc_bits | vc)
            lists.granted[granted] = lists.free[free] = channel
            holder = np.int64(now.outputs[channel].holder)
            prefetch(now.buffers, holder)
            granted += 1
            free += np.int64(holder == NONE)
    return granted, free


@inlined
def establish(net: Network, now: Registers, channel: Int) -> None:
    """Establish the route of the buffer that is the next by turn at a free output VC.

    Its head is rewritten in its slot, before it moves.
    """
    output, line = now.outputs[channel], now.lines[index(channel >> net.vc_bits)]
    turn = np.int64(output.turn)
    place = next_by_turn(net, now, channel, turn)
    now.requests[index(channel * net.blocks + place // BLOCK)] &= ~(np.int64(1) << (place % BLOCK))
    output.requests -= 1
    after = reached(net, turn, place) + 1
    output.turn = after if after < net.places else 0
    holder = index(line.node * net.buffers + number_at(net, place))
    output.holder = holder
    flit = front_flit(net, holder, now.buffers[holder])
    if line.port != 0:
        now.data[flit] = dropped_first(net, now.data[flit])


@inlined
def move(net: Network, now: Registers, lists: Lists, channel: Int) -> None:
    """Send the front flit of the buffer that holds an output VC, which is granted."""
    output, number = now.outputs[channel], index(channel >> net.vc_bits)
    holder, line = index(output.holder), now.lines[number]
    buffer, vc = now.buffers[holder], channel - (number << net.vc_bits)
    flit = front_flit(net, holder, buffer)
    word, kind = np.uint64(now.data[flit]), np.int64(now.kind[flit])
    credited = np.int64(line.credited)
    if line.port == 0:
        node = np.int64(line.node)
        lane = index(number - node * (net.lines - lanes_of(net)))
        receive(net, now, lists, node, lane, vc, kind, word)
    else:
        put_flit(net, now, output, kind, word)
        credited = with_bit(credited, vc, output.credits != 0)
        if net.rated:
            now.free_from[number] = now.total[CYCLE] + net.line_rate[number]
    leave(net, now, buffer)
    ends = kind & TAIL_MARK != 0
    buffer.passing = not ends
    output.holder = NONE if ends else holder
    candidate = output.requests != 0 if ends else buffer.count != 0
    line.candidates = with_bit(np.int64(line.candidates), vc, candidate)
    line.credited = credited
    unready = np.int64(line.candidates & credited == 0)
    now.asked[index(number // BLOCK)] ^= unready << (number % BLOCK)
    note_front(now, lists, holder, np.int64(ends and buffer.count != 0))
    # All outputs have granted, so without registers the flit and the credit may arrive at once.
    if net.stages == 1:
        take_credit(net, now, lists, np.int64(buffer.upstream))
        if line.port != 0:
            arrive(net, now, lists, np.int64(output.downstream))
    else:
        give_credit(net, now, buffer)
        if line.port != 0:
            launch(net, now, output)


@inlined
def with_bit(bits: np.int64, place: Int, there: Int) -> np.int64:
    """Set a bit to 1 or 0."""
    return np.int64(bits & ~(np.int64(1) << place) | np.int64(there) << place)


@inlined
def leave(net: Network, now: Registers, buffer: Buffer) -> None:
    """Remove the front flit of a buffer."""
    buffer.stalled += np.int64(now.total[CYCLE] > buffer.at_front_since)
    buffer.at_front_since = now.total[CYCLE] + 1
    buffer.first = buffer.first + 1 if buffer.first + 1 < net.depth else 0
    buffer.count -= 1


@inlined
def record(net: Network, now: Registers, trace: Rows, row: Int, channel: Int) -> None:
    """Write the trace's row for a granted output VC (section 7)."""
    output, number = now.outputs[channel], channel >> net.vc_bits
    holder, line = index(output.holder), now.lines[index(number)]
    flit = front_flit(net, holder, now.buffers[holder])
    trace.cycle[row] = now.total[CYCLE]
    trace.node[row] = line.node
    trace.port[row] = line.port
    trace.vc[row] = channel - (number << net.vc_bits)
    trace.kind[row] = now.kind[flit]
    trace.data[row] = now.data[flit]
