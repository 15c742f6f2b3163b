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
from .links import launch
from .state import (
    BAD,
    BAD_ROW,
    CONTROL,
    CYCLE,
    ENDED,
    EXPECT,
    FAILED,
    HOURS,
    NEVER,
    NOBODY,
    NOT_OVER,
    PARITY,
    READY,
    SEND_AND_RECEIVE,
    SENDING,
    UNFINISHED,
    Lists,
    Network,
    Registers,
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
        fresh = now.written_cycle[lane] == now.total[CYCLE] - 1
        if fresh and now.written_address[lane] == address:
            return np.uint64(now.written_over[lane])
    return np.uint64(now.memory[node, address])


@inlined
def source_address(net: Network, row: Int, place: Int) -> np.int64:
    """Return the address of payload word ``place`` of a row; it wraps around in a window."""
    address = net.row_source[row] + place
    if net.streams and net.row_window[row] > 0:
        inside = (np.int64(1) << net.row_window[row]) - 1
        address = (net.row_source[row] & ~inside) | (address & inside)
    return index(address)


@inlined
def may_stream(net: Network, now: Registers, row: Int, place: Int) -> bool:
    """Tell whether the feeder's word for payload word ``place`` had arrived a cycle ago."""
    lane, awaited = net.row_stream[row], place - net.row_lead[row]
    if lane == NOBODY or awaited < 0:
        return True
    changed = now.come_cycle[index(lane)] == now.total[CYCLE] - 1
    return bool(awaited < (now.come_before[index(lane)] if changed else now.come[index(lane)]))


@inlined
def arrives_now(net: Network, now: Registers, row: Int, place: Int) -> bool:
    """Tell whether that word has arrived by now, so that it may be sent in the next cycle."""
    return bool(place - net.row_lead[row] < now.come[index(net.row_stream[row])])


@inlined
def receives_besides(net: Network, node: Int, row: Int) -> bool:
    """Tell whether a node receives in the step of a row that does not stream."""
    result = False
    for place in range(lanes_of(net)):
        lane = index(node * lanes_of(net) + place)
        result = result or net.expected[lane, net.row_step[row]]
    return bool(result and not (net.streams and net.row_stream[row] != NOBODY))


@inlined
def inject(net: Network, now: Registers, lists: Lists, node: Int, lane: Int) -> bool:
    """Try to inject the next flit of a sender's row; return whether to try in the next cycle too.

    Otherwise the sender sleeps until a credit or the word that it waits for wakes it.
    """
    row, gone = index(now.row[lane]), now.place[lane]
    first_header = net.first_header[row]
    headers = net.first_header[index(row + 1)] - first_header
    if net.streams and gone >= headers and not may_stream(net, now, row, gone - headers):
        return arrives_now(net, now, row, gone - headers)
    channel = np.int64(net.row_channel[row])
    counter = index(net.upstream[channel])
    if now.credits[counter] == 0:
        now.waiting[lane] = True
        return False
    now.credits[counter] -= 1
    if now.waiting[lane]:
        now.stalled_flits[node] += 1
        now.waiting[lane] = False
    if gone == 0 and net.half_duplex and receives_besides(net, node, row):
        set_flag(now, lists, node, SEND_AND_RECEIVE)
    last = gone + 1 == headers + net.row_length[row]
    kind = HEAD_MARK if gone < headers else 0
    if gone < headers:
        word = net.header[index(first_header + gone)]
    else:
        word = fetched(net, now, node, source_address(net, row, gone - headers))
        if net.damages and word == net.damaged_word:
            set_flag(now, lists, node, PARITY)
    launch(net, now, channel, kind | (TAIL_MARK if last else 0), word)
    now.sender[lane] = CONTROL if last else SENDING
    now.place[lane] = 0 if last else gone + 1
    now.row[lane] = row + 1 if last else row
    return True


@inlined
def senders(net: Network, now: Registers, lists: Lists, node: Int) -> bool:
    """Run one cycle of a node's senders; return whether any of them was active."""
    # No sender sees a flag that another one sets in this cycle.
    may_begin = now.flags[node] == 0
    if held(net, now, node):
        sleep_until(now, lists, node, net.held_until[node])
        may_begin = False
    busy = False
    for place in range(lanes_of(net)):
        lane = index(node * lanes_of(net) + place)
        busy = sender(net, now, lists, node, lane, may_begin) or busy
    return busy


@inlined
def held(net: Network, now: Registers, node: Int) -> bool:
    """Tell whether a node's tile holds it back in this cycle."""
    return bool(now.total[CYCLE] < net.held_until[node])


@inlined
def read_word(net: Network, now: Registers, lists: Lists, node: Int, lane: Int) -> bool:
    """Read an ``expected`` or control word; fail if it lies outside the program's slot."""
    row, first = index(now.row[lane]), index(net.first_row[lane])
    word = now.place[lane]
    if now.sender[lane] == CONTROL:
        rows_before = net.control_words * (row - first)
        word += net.leading_words + rows_before + net.first_header[row] - net.first_header[first]
    if word >= net.slot_words:
        now.sender[lane] = FAILED
        set_flag(now, lists, node, BAD_ROW)
        return False
    now.place[lane] += 1
    return True


@inlined
def sender(
    net: Network, now: Registers, lists: Lists, node: Int, lane: Int, may_begin: bool
) -> bool:
    """Run one cycle of a sender; return whether it was active."""
    state, row = now.sender[lane], index(now.row[lane])
    if state in (CONTROL, EXPECT):
        if not read_word(net, now, lists, node, lane):
            return True
        if state == EXPECT:
            if now.place[lane] == net.leading_words:
                now.place[lane] = 0
                now.sender[lane] = CONTROL
        elif row == net.first_row[index(lane + 1)] or net.row_step[row] == 0:
            now.sender[lane] = ENDED
        elif now.place[lane] == net.control_words:
            now.place[lane] = 0
            now.sender[lane] = READY
        return True
    if state == READY and may_begin:
        if net.row_channel[row] == BAD or now.step[node] > net.row_step[row]:
            now.sender[lane] = FAILED
            set_flag(now, lists, node, BAD_ROW)
            return True
        begins = now.step[node] == net.row_step[row]
        if begins and net.row_start[row] > now.total[CYCLE]:
            sleep_until(now, lists, node, net.row_start[row])
            begins = False
    else:
        begins = False
    return (begins or state == SENDING) and inject(net, now, lists, node, lane)


@inlined
def sleep_until(now: Registers, lists: Lists, node: Int, cycle: Int) -> None:
    """Wake the interface of ``node`` in a later cycle."""
    if now.alarm[node] == NEVER:
        now.alarm[node] = cycle
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
        alarm = now.alarm[node]
        now.alarm[node] = NEVER
        if alarm == now.total[CYCLE]:
            wake(now, lists, node)
        else:
            sleep_until(now, lists, node, alarm)
        node = after


@inlined
def next_alarm(now: Registers) -> np.int64:
    """Find the earliest alarm; ``NEVER`` if no alarm is set."""
    earliest = np.int64(NEVER)
    for node in range(len(now.alarm)):
        alarm = now.alarm[node]
        if alarm != NEVER and (earliest == NEVER or alarm < earliest):
            earliest = alarm
    return earliest


@inlined
def observe(net: Network, now: Registers, node: Int) -> None:
    """Update from the registers whether the node's step is over and the node is finished."""
    end_coasting(net, now, node)
    step = now.step[node]
    unflagged = now.flags[node] == 0
    ended, over = True, unflagged and not held(net, now, node)
    for place in range(lanes_of(net)):
        lane = index(node * lanes_of(net) + place)
        state = now.sender[lane]
        if state in (CONTROL, SENDING, EXPECT):
            return  # Neither changes from the end of one row to the end of the next.
        sent = state == ENDED or (state == READY and net.row_step[now.row[lane]] > step)
        over = over and sent and (not net.expected[lane, step] or now.arrived[lane, step])
        ended = ended and state == ENDED
    served = ended and now.missing[node] == 0 and now.received[node] >= net.awaited[node]
    finished = served and unflagged
    now.total[NOT_OVER] += np.int64(now.over[node]) - np.int64(over)
    now.total[UNFINISHED] += np.int64(now.finished[node]) - np.int64(finished)
    now.over[node] = over
    now.finished[node] = finished


@inlined
def next_step(net: Network, now: Registers, node: Int) -> None:
    """Raise ``step`` of a node by one, modulo ``2 ** step_bits``, at the end of this cycle."""
    now.step[node] = (now.step[node] + 1) & ((1 << net.step_bits) - 1)
    if net.streams:
        for place in range(lanes_of(net)):
            lane = index(node * lanes_of(net) + place)
            if now.come_cycle[lane] != now.total[CYCLE]:
                now.come_before[lane] = now.come[lane]
            now.come_cycle[lane] = now.total[CYCLE]
            now.come[lane] = 0


@inlined
def rise(net: Network, now: Registers, node: Int) -> bool:
    """Raise the step of a self-timed node; return whether to look at the node again next cycle.

    A node that has sent and received every step, and only awaits packets of timed rows, *coasts*:
    it sleeps, and :func:`end_coasting` adds the missed rises of its step when it wakes. (In a
    network with timed rows a node has one sender.)
    """
    if net.timed_rows and now.sender[node] == ENDED and now.missing[node] == 0:
        now.coasting_since[node] = now.total[CYCLE]
        return False
    next_step(net, now, node)
    return True


@inlined
def end_coasting(net: Network, now: Registers, node: Int) -> None:
    """Add the rises of the step that a coasting node has missed."""
    if now.coasting_since[node] != NEVER:
        passed = now.total[CYCLE] - now.coasting_since[node]
        now.step[node] = (now.step[node] + passed) & ((1 << net.step_bits) - 1)
        now.coasting_since[node] = NEVER
