"""The receivers of the cycle model: docs/router.md, sections 4, 19 and 20.

::

    port 0 of the router ──► receiver ──► written, combined ──► come ──► senders that stream
                                 │        (at once, or after D + 1 cycles
                                 └──────► end of packet     where there are operators)

In a network with operators of latency D, a flit that leaves in cycle t waits in one of D + 1
stages, which take turns. The model empties stage t mod (D + 1) in cycle t + D + 1, in the order in
which its flits left, and then puts the flits of that cycle into it. So each combination sees the
result of every flit that left earlier, and of lower lanes in the same cycle.
"""

import numpy as np

from ..base.loops import Int, index, inlined, lanes_of
from ..network.exclusions import REFUSAL_CYCLES
from ..run.trace import HEAD_MARK, TAIL_MARK
from .combine import combined
from .header import address_of, operator_of, step_of, window_of
from .state import (
    BAD_WRITE,
    CYCLE,
    UNEXPECTED_RECEIVE,
    UNWRITTEN,
    Lists,
    Network,
    Registers,
    set_flag,
    wake,
)


@inlined
def receive(
    net: Network,
    now: Registers,
    lists: Lists,
    node: Int,
    lane: Int,
    vc: Int,
    kind: Int,
    word: np.uint64,
) -> None:
    """Take a flit that leaves the router by a lane's ejection port in this cycle."""
    packet = now.packets[index(lane << net.vc_bits | vc)]
    address = np.int64(packet.address)
    if kind & HEAD_MARK:
        packet.step = step_of(net, word)
        packet.address = address_of(net, word)
        packet.operator = operator_of(net, word)
        packet.window = window_of(net, word)
    else:
        packet.address = address_after(address, np.int64(packet.window))
    step, operator = index(packet.step), np.int64(packet.operator)
    if net.operator_count > 0:
        delay(net, now, node, lane, address, kind, step, operator, word)
        if kind & TAIL_MARK:
            packet.operator = 0
        return
    if not kind & HEAD_MARK:
        write(net, now, lists, node, lane, address, step, operator, word)
    if kind & TAIL_MARK:
        end_packet(net, now, lists, node, lane, step)


@inlined
def address_after(address: Int, window: Int) -> np.int64:
    """Return the next address; it wraps around in a window of 2 ** ``window`` words, unless 0."""
    after = address + 1
    size = np.int64(1) << window
    return np.int64(after - size if window > 0 and after & (size - 1) == 0 else after)


@inlined
def delay(
    net: Network,
    now: Registers,
    node: Int,
    lane: Int,
    address: Int,
    kind: Int,
    step: Int,
    operator: Int,
    word: np.uint64,
) -> None:
    """Delay the write of a flit, and the end of its packet, by D + 1 cycles."""
    stage = now.total[CYCLE] % (net.operator_latency + 1)
    flit = now.delayed_flits[index(stage * len(now.senders) + now.delayed[stage])]
    flit.lane, flit.kind, flit.word = lane, kind, word
    flit.step, flit.address, flit.operator = step, address, operator
    now.delayed[stage] += 1
    now.total[UNWRITTEN] += 1
    if net.operator_latency > 0 and not kind & HEAD_MARK:
        place = index(node * net.operator_latency + now.total[CYCLE] % net.operator_latency)
        now.ejected_cycle[place] = now.total[CYCLE]
        now.ejected_address[place] = address


@inlined
def write_delayed(net: Network, now: Registers, lists: Lists) -> None:
    """Write the words of the flits that left D + 1 cycles ago, and end their packets."""
    stage = now.total[CYCLE] % (net.operator_latency + 1)
    first = stage * len(now.senders)
    for place in range(first, first + now.delayed[stage]):
        flit = now.delayed_flits[index(place)]
        lane, kind, step = index(flit.lane), np.int64(flit.kind), index(flit.step)
        node = index(lane // lanes_of(net))
        if not kind & HEAD_MARK:
            address, operator = np.int64(flit.address), np.int64(flit.operator)
            write(net, now, lists, node, lane, address, step, operator, np.uint64(flit.word))
        if kind & TAIL_MARK:
            end_packet(net, now, lists, node, lane, step)
    now.total[UNWRITTEN] -= now.delayed[stage]
    now.delayed[stage] = 0


@inlined
def there(net: Network, operator: Int, address: Int) -> np.int64:
    """Return the address of the word that an arriving word for ``address`` is combined with."""
    half = np.int64(1) << (net.address_bits - 1)
    return np.int64(address ^ half if operator % 2 == 0 else address)


@inlined
def write(
    net: Network,
    now: Registers,
    lists: Lists,
    node: Int,
    lane: Int,
    address: Int,
    step: Int,
    operator: Int,
    word: np.uint64,
) -> None:
    """Write a word at the end of this cycle, combined if its packet has an operator."""
    written = word
    bad = address >= net.message_words or operator > 2 * net.operator_count
    if operator > 0 and not bad:
        source = there(net, operator, address)
        bad = source >= net.message_words
        if not bad:
            written = combined(net, (operator - 1) // 2, now.memory[node, index(source)], word)
    if bad:
        set_flag(now, lists, node, BAD_WRITE)
        return
    receiver = now.receivers[lane]
    receiver.written_cycle = now.total[CYCLE]
    receiver.written_address = address
    receiver.written_over = now.memory[node, index(address)]
    now.memory[node, index(address)] = written
    if net.streams:
        count_word(now, lists, node, lane, step)


@inlined
def count_word(now: Registers, lists: Lists, node: Int, lane: Int, step: Int) -> None:
    """Raise ``come`` of a lane at the end of this cycle, if the word belongs to the node's step.

    If the node's step rises in this cycle, ``come`` becomes 0 instead.
    """
    receiver, cycle = now.receivers[lane], now.total[CYCLE]
    if step == now.interfaces[node].step and receiver.come_cycle != cycle:
        receiver.come_before = receiver.come
        receiver.come_cycle = cycle
        receiver.come += 1
        wake(now, lists, node)


@inlined
def end_packet(net: Network, now: Registers, lists: Lists, node: Int, lane: Int, step: Int) -> None:
    """Record the arrival of a packet at the end of this cycle."""
    interface = now.interfaces[node]
    if step == 0 and net.timed_rows:
        if interface.received == net.awaited[node]:
            set_flag(now, lists, node, UNEXPECTED_RECEIVE)
        interface.received = (interface.received + 1) & net.largest_word
        if interface.received == net.awaited[node]:
            wake(now, lists, node)
    elif step != 0:
        expected = net.expected[lane, step] and not now.arrived[lane, step]
        if not expected or (net.barrier and step != interface.step):
            set_flag(now, lists, node, UNEXPECTED_RECEIVE)
        if expected:
            interface.missing -= 1
        now.arrived[lane, step] = True
        now.step_end[step] = now.total[CYCLE] + 1
        wake(now, lists, node)


@inlined
def accepts(net: Network, now: Registers, node: Int) -> bool:
    """Tell whether the interface accepts a flit from port 0 of its router in this cycle."""
    refused = (net.refusal[node] >> now.total[CYCLE] % REFUSAL_CYCLES) & 1
    return bool(refused == 0 and not awaits_result(net, now, node))


@inlined
def awaits_result(net: Network, now: Registers, node: Int) -> bool:
    """Tell whether a packet's next word is combined with a word that is not written yet.

    That word left port 0 in one of the last D cycles. A word that cannot be written waits for none.
    Only networks with one lane have operators with a latency.
    """
    for packet in range(node << net.vc_bits, (node + 1) << net.vc_bits):
        operator = np.int64(now.packets[index(packet)].operator)
        if 0 < operator <= 2 * net.operator_count:
            address = np.int64(now.packets[index(packet)].address)
            source = there(net, operator, address)
            if max(address, source) >= net.message_words:
                continue
            for slot in range(node * net.operator_latency, (node + 1) * net.operator_latency):
                recent = now.ejected_cycle[index(slot)] >= now.total[CYCLE] - net.operator_latency
                if recent and now.ejected_address[index(slot)] == source:
                    return True
    return False
