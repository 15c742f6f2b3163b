"""The senders and the steps of the cycle model: docs/router.md, sections 4, 16 and 20.

::

    sender ──► inject ──► port 0 of the router ──► receiver
       ▲                                              │
       └── observe: step over? finished? ◄── arrived ─┘

In an all-port network a node has a sender and a receiver for each of its lanes (``state``).
"""

import numpy as np

from ..base.loops import Int, index, inlined, lanes_of
from ..run.trace import HEAD_MARK, TAIL_MARK
from .links import launch, put_flit
from .state import (
    BAD_ROW,
    CONTROL,
    CYCLE,
    ENDED,
    EXPECT,
    FAILED,
    HOURS,
    NEVER,
    NOBODY,
    NONE,
    NOT_OVER,
    PARITY,
    READY,
    SEND_AND_RECEIVE,
    SENDING,
    UNFINISHED,
    Lists,
    Network,
    Registers,
    Row,
    set_flag,
    wake,
)


@inlined
def fetched(net: Network, now: Registers, node: Int, address: Int) -> np.uint64:
    """Return the payload word to inject now: fetched a cycle ago, so before that cycle's write.

    If several receivers wrote to the address, the first one saved the word that was fetched.
    """
    for place in range(lanes_of(net)):
        lane = index(node * lanes_of(net) + place)
        receiver = now.receivers[lane]
        fresh = receiver.written_cycle == now.total[CYCLE] - 1
        if fresh and receiver.written_address == address:
            return np.uint64(receiver.written_over)
    return np.uint64(now.memory[node, address])


@inlined
def source_address(row: Row, place: Int) -> np.int64:
    """Return the address of payload word ``place`` of a row; it wraps around in a window."""
    address = np.int64(row.source) + place
    if row.window > 0:
        inside = (np.int64(1) << row.window) - 1
        address = (np.int64(row.source) & ~inside) | (address & inside)
    return index(address)


@inlined
def may_stream(now: Registers, row: Row, place: Int) -> bool:
    """Tell whether the feeder's word for payload word ``place`` had arrived a cycle ago."""
    awaited = place - row.lead
    if row.stream == NONE or awaited < 0:
        return True
    feeder = now.receivers[row.stream]
    changed = feeder.come_cycle == now.total[CYCLE] - 1
    return bool(awaited < (feeder.come_before if changed else feeder.come))


@inlined
def arrives_now(now: Registers, row: Row, place: Int) -> bool:
    """Tell whether that word has arrived by now, so that it may be sent in the next cycle."""
    return bool(place - row.lead < now.receivers[row.stream].come)


@inlined
def receives_besides(net: Network, node: Int, row: Row) -> bool:
    """Tell whether a node receives in the step of a row that does not stream."""
    result = False
    for place in range(lanes_of(net)):
        lane = index(node * lanes_of(net) + place)
        result = result or net.expected[lane, index(row.step)]
    return bool(result and row.stream == NONE)


@inlined
def inject(net: Network, now: Registers, lists: Lists, node: Int, lane: Int) -> bool:
    """Try to inject the next flit of a sender's row; return whether to try in the next cycle too.

    Otherwise the sender sleeps until a credit or the word that it waits for wakes it.
    """
    sender = now.senders[lane]
    row, gone = net.rows[sender.row], np.int64(sender.place)
    headers = np.int64(row.headers)
    if net.streams and gone >= headers and not may_stream(now, row, gone - headers):
        return arrives_now(now, row, gone - headers)
    output = now.outputs[row.channel]
    if output.credits == 0:
        sender.waiting = True
        return False
    if sender.waiting:
        now.interfaces[node].stalled += 1
        sender.waiting = False
    if gone == 0 and net.half_duplex and receives_besides(net, node, row):
        set_flag(now, lists, node, SEND_AND_RECEIVE)
    last = gone + 1 == headers + row.length
    kind = HEAD_MARK if gone < headers else 0
    if gone < headers:
        word = net.header[index(row.first_header + gone)]
    else:
        word = fetched(net, now, node, source_address(row, gone - headers))
        if net.damages and word == net.damaged_word:
            set_flag(now, lists, node, PARITY)
    put_flit(net, now, output, kind | (TAIL_MARK if last else 0), word)
    launch(net, now, output)
    sender.state = CONTROL if last else SENDING
    sender.place = 0 if last else gone + 1
    sender.row += np.int64(last)
    return True


@inlined
def senders(net: Network, now: Registers, lists: Lists, node: Int) -> bool:
    """Run one cycle of a node's senders; return whether any of them was active."""
    # No sender sees a flag that another one sets in this cycle.
    may_begin = now.interfaces[node].flags == 0
    if held(net, now, node):
        sleep_until(now, lists, node, net.held_until[node])
        may_begin = False
    busy = False
    for place in range(lanes_of(net)):
        lane = index(node * lanes_of(net) + place)
        busy = run_sender(net, now, lists, node, lane, may_begin) or busy
    return busy


@inlined
def held(net: Network, now: Registers, node: Int) -> bool:
    """Tell whether a node's tile holds it back in this cycle."""
    return bool(now.total[CYCLE] < net.held_until[node])


@inlined
def read_word(net: Network, now: Registers, lists: Lists, node: Int, lane: Int) -> bool:
    """Read an ``expected`` or control word; fail if it lies outside the program's slot."""
    sender, first = now.senders[lane], index(net.first_row[lane])
    word = np.int64(sender.place)
    if sender.state == CONTROL:
        headers = np.int64(net.rows[sender.row].first_header) - net.rows[first].first_header
        word += net.leading_words + net.control_words * (sender.row - first) + headers
    if word >= net.slot_words:
        sender.state = FAILED
        set_flag(now, lists, node, BAD_ROW)
        return False
    sender.place += 1
    return True


@inlined
def run_sender(
    net: Network, now: Registers, lists: Lists, node: Int, lane: Int, may_begin: bool
) -> bool:
    """Run one cycle of a sender; return whether it was active."""
    sender, interface = now.senders[lane], now.interfaces[node]
    state, row = np.int64(sender.state), net.rows[sender.row]
    if state in (CONTROL, EXPECT):
        if not read_word(net, now, lists, node, lane):
            return True
        if state == EXPECT:
            if sender.place == net.leading_words:
                sender.place = 0
                sender.state = CONTROL
        elif sender.row == net.first_row[index(lane + 1)] or row.step == 0:
            sender.state = ENDED
        elif sender.place == net.control_words:
            sender.place = 0
            sender.state = READY
        return True
    if state == READY and may_begin:
        if row.channel == NONE or interface.step > row.step:
            sender.state = FAILED
            set_flag(now, lists, node, BAD_ROW)
            return True
        begins = interface.step == row.step
        if begins and row.start > now.total[CYCLE]:
            sleep_until(now, lists, node, row.start)
            begins = False
    else:
        begins = False
    return (begins or state == SENDING) and inject(net, now, lists, node, lane)


@inlined
def sleep_until(now: Registers, lists: Lists, node: Int, cycle: Int) -> None:
    """Wake the interface of ``node`` in a later cycle."""
    if now.interfaces[node].alarm == NEVER:
        now.interfaces[node].alarm = cycle
        hour = cycle & (HOURS - 1)
        lists.next_asleep[node] = lists.first_asleep[hour]
        lists.first_asleep[hour] = node


@inlined
def wake_sleepers(now: Registers, lists: Lists) -> None:
    """Wake the interfaces whose alarm is for this cycle."""
    hour = now.total[CYCLE] & (HOURS - 1)
    node = lists.first_asleep[hour]
    lists.first_asleep[hour] = NOBODY
    while node != NOBODY:
        after = lists.next_asleep[node]
        alarm = now.interfaces[index(node)].alarm
        now.interfaces[index(node)].alarm = NEVER
        if alarm == now.total[CYCLE]:
            wake(now, lists, node)
        else:
            sleep_until(now, lists, node, alarm)
        node = after


@inlined
def next_alarm(now: Registers) -> np.int64:
    """Find the earliest alarm; ``NEVER`` if no alarm is set."""
    earliest = np.int64(NEVER)
    for node in range(len(now.interfaces)):
        alarm = np.int64(now.interfaces[node].alarm)
        if alarm != NEVER and (earliest == NEVER or alarm < earliest):
            earliest = alarm
    return earliest


@inlined
def observe(net: Network, now: Registers, node: Int) -> None:
    """Update from the registers whether the node's step is over and the node is finished."""
    end_coasting(net, now, node)
    interface = now.interfaces[node]
    step, unflagged = index(interface.step), interface.flags == 0
    ended, over = True, unflagged and not held(net, now, node)
    for place in range(lanes_of(net)):
        lane = index(node * lanes_of(net) + place)
        sender = now.senders[lane]
        state = np.int64(sender.state)
        if state in (CONTROL, SENDING, EXPECT):
            return  # Neither changes from the end of one row to the end of the next.
        sent = state == ENDED or (state == READY and net.rows[sender.row].step > step)
        over = over and sent and (not net.expected[lane, step] or now.arrived[lane, step])
        ended = ended and state == ENDED
    served = ended and interface.missing == 0 and interface.received >= net.awaited[node]
    finished = served and unflagged
    now.total[NOT_OVER] += np.int64(interface.over) - np.int64(over)
    now.total[UNFINISHED] += np.int64(interface.finished) - np.int64(finished)
    interface.over = over
    interface.finished = finished


@inlined
def next_step(net: Network, now: Registers, node: Int) -> None:
    """Raise ``step`` of a node by one, modulo ``2 ** step_bits``, at the end of this cycle."""
    interface = now.interfaces[node]
    interface.step = (interface.step + 1) & ((1 << net.step_bits) - 1)
    if net.streams:
        for place in range(lanes_of(net)):
            lane = index(node * lanes_of(net) + place)
            receiver = now.receivers[lane]
            if receiver.come_cycle != now.total[CYCLE]:
                receiver.come_before = receiver.come
            receiver.come_cycle = now.total[CYCLE]
            receiver.come = 0


@inlined
def rise(net: Network, now: Registers, node: Int) -> bool:
    """Raise the step of a self-timed node; return whether to look at the node again next cycle.

    A node that has sent and received every step, and only awaits packets of timed rows, *coasts*:
    it sleeps, and :func:`end_coasting` adds the missed rises of its step when it wakes. (In a
    network with timed rows a node has one sender.)
    """
    interface = now.interfaces[node]
    if net.timed_rows and now.senders[node].state == ENDED and interface.missing == 0:
        interface.coasting_since = now.total[CYCLE]
        return False
    next_step(net, now, node)
    return True


@inlined
def end_coasting(net: Network, now: Registers, node: Int) -> None:
    """Add the rises of the step that a coasting node has missed."""
    interface = now.interfaces[node]
    if interface.coasting_since != NEVER:
        passed = now.total[CYCLE] - interface.coasting_since
        interface.step = (interface.step + passed) & ((1 << net.step_bits) - 1)
        interface.coasting_since = NEVER
