"""The network interface of the cycle model: docs/router.md, section 4.

::

    sender ──► inject ──► port 0 of the router ──► receiver
       ▲                                              │
       └── observe: step over? finished? ◄── arrived ─┘
"""

from __future__ import annotations

import numpy as np

from .cycle_compiler import Int, field, index, inlined
from .cycle_links import launch
from .cycle_state import (
    BAD,
    BAD_ROW,
    BAD_WRITE,
    CONTROL,
    CYCLE,
    EMPTIED,
    ENDED,
    FAILED,
    HOURS,
    NEVER,
    NOBODY,
    NOT_OVER,
    READY,
    REFUSAL_CYCLES,
    SEND_AND_RECEIVE,
    SENDING,
    UNEXPECTED_RECEIVE,
    UNFINISHED,
    Lists,
    Network,
    Registers,
    set_flag,
    wake,
)
from .trace import HEAD_MARK, TAIL_MARK


@inlined
def receiver(
    net: Network, now: Registers, lists: Lists, node: Int, vc: Int, kind: Int, word: np.uint64
) -> None:
    """Take a flit that leaves port 0 of the router in this cycle."""
    packet = index(node * net.vcs + vc)
    if kind & HEAD_MARK:
        now.receive_step[packet] = field(word, net.port_bits, net.step_bits)
        address_place = net.port_bits + net.step_bits
        now.receive_address[packet] = field(word, address_place, net.address_bits)
    else:
        address = index(now.receive_address[packet])
        now.receive_address[packet] = address + 1
        if address >= net.message_words:
            set_flag(now, lists, node, BAD_WRITE)
        else:
            now.written_cycle[node] = now.total[CYCLE]
            now.written_address[node] = address
            now.written_over[node] = now.memory[node, address]
            now.memory[node, address] = word
    if kind & TAIL_MARK:
        end_packet(net, now, lists, node, np.int64(now.receive_step[packet]))


@inlined
def end_packet(net: Network, now: Registers, lists: Lists, node: Int, step: Int) -> None:
    """Note the arrival of a packet whose tail leaves port 0 in this cycle."""
    if step == 0 and net.timed_rows:
        if now.received[node] == net.awaited[node]:
            set_flag(now, lists, node, UNEXPECTED_RECEIVE)
        now.received[node] = (now.received[node] + 1) & net.largest_word
        if now.received[node] == net.awaited[node]:
            wake(now, lists, node)
    else:
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
    """Read the word injected in this cycle: it was fetched in the last, before its write."""
    fresh = now.written_cycle[node] == now.total[CYCLE] - 1
    if fresh and now.written_address[node] == address:
        return np.uint64(now.written_over[node])
    return np.uint64(now.memory[node, address])


@inlined
def inject(net: Network, now: Registers, lists: Lists, node: Int) -> bool:
    """Try to inject the next flit of the sender's row; whether there was a credit for it."""
    row = index(now.row[node])
    channel = np.int64(net.row_channel[row])
    counter = index(net.upstream[channel])
    if now.credits[counter] == 0:
        now.waiting[node] = True
        return False
    now.credits[counter] -= 1
    if now.waiting[node]:
        now.stalled_flits[node] += 1
        now.waiting[node] = False
    first_header = net.first_header[row]
    headers = net.first_header[index(row + 1)] - first_header
    gone = now.place[node]
    if gone == 0 and net.half_duplex and net.expected[node, net.row_step[row]]:
        set_flag(now, lists, node, SEND_AND_RECEIVE)
    last = gone + 1 == headers + net.row_length[row]
    kind = HEAD_MARK if gone < headers else 0
    if gone < headers:
        word = net.header[index(first_header + gone)]
    else:
        word = fetched(now, node, index(net.row_source[row] + gone - headers))
    launch(now, now.total[EMPTIED], channel, kind | (TAIL_MARK if last else 0), word)
    now.sender[node] = CONTROL if last else SENDING
    now.place[node] = 0 if last else gone + 1
    now.row[node] = row + 1 if last else row
    return True


@inlined
def sender(net: Network, now: Registers, lists: Lists, node: Int) -> bool:
    """One cycle of a node's sender; whether it did anything."""
    state, row = now.sender[node], index(now.row[node])
    if state == CONTROL:
        now.place[node] += 1
        if row == net.first_row[index(node + 1)] or net.row_step[row] == 0:
            now.sender[node] = ENDED
        elif now.place[node] == net.control_words:
            now.place[node] = 0
            now.sender[node] = READY
        return True
    if state == READY and now.flags[node] == 0:
        if net.row_channel[row] == BAD or now.step[node] > net.row_step[row]:
            now.sender[node] = FAILED
            set_flag(now, lists, node, BAD_ROW)
            return True
        begins = now.step[node] == net.row_step[row]
        if begins and net.row_start[row] > now.total[CYCLE]:
            sleep_until(now, lists, node, net.row_start[row])
            begins = False
    else:
        begins = False
    return (begins or state == SENDING) and inject(net, now, lists, node)


@inlined
def sleep_until(now: Registers, lists: Lists, node: Int, cycle: Int) -> None:
    """Have the interface of ``node`` looked at in a cycle to come."""
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
    """Find the earliest alarm; ``NEVER`` where there is none."""
    earliest = np.int64(NEVER)
    for node in range(len(now.alarm)):
        alarm = now.alarm[node]
        if alarm != NEVER and (earliest == NEVER or alarm < earliest):
            earliest = alarm
    return earliest


@inlined
def accepts(net: Network, now: Registers, node: Int) -> bool:
    """Whether the interface accepts a flit from port 0 of its router in this cycle."""
    return bool((net.refusal[node] >> now.total[CYCLE] % REFUSAL_CYCLES) & 1 == 0)


@inlined
def observe(net: Network, now: Registers, node: Int) -> None:
    """See from the registers whether the node's step is over and whether the node is finished."""
    state = now.sender[node]
    if state in (CONTROL, SENDING):
        return  # It was neither when the row before ended, and is not before this one has.
    end_coasting(net, now, node)
    step = now.step[node]
    ended = state == ENDED
    sent = ended or (state == READY and net.row_step[now.row[node]] > step)
    unflagged = now.flags[node] == 0
    over = sent and unflagged and (not net.expected[node, step] or now.arrived[node, step])
    served = ended and now.missing[node] == 0 and now.received[node] >= net.awaited[node]
    finished = served and unflagged
    now.total[NOT_OVER] += np.int64(now.over[node]) - np.int64(over)
    now.total[UNFINISHED] += np.int64(now.finished[node]) - np.int64(finished)
    now.over[node] = over
    now.finished[node] = finished


@inlined
def next_step(net: Network, now: Registers, node: Int) -> None:
    """Raise ``step`` of a node by one, in a register of ``step_bits``."""
    now.step[node] = (now.step[node] + 1) & ((1 << net.step_bits) - 1)


@inlined
def rise(net: Network, now: Registers, node: Int) -> bool:
    """Raise the step of a self-timed node that is not finished; whether to look again.

    A node that has sent and received every step, and only awaits packets of timed rows, *coasts*:
    its step rises in every cycle until it is woken, and is made up for then.
    """
    if now.sender[node] == ENDED and now.missing[node] == 0:
        now.coasting_since[node] = now.total[CYCLE]
        return False
    next_step(net, now, node)
    return True


@inlined
def end_coasting(net: Network, now: Registers, node: Int) -> None:
    """Make up for the rises of the step of a node that has coasted."""
    if now.coasting_since[node] != NEVER:
        passed = now.total[CYCLE] - now.coasting_since[node]
        now.step[node] = (now.step[node] + passed) & ((1 << net.step_bits) - 1)
        now.coasting_since[node] = NEVER
