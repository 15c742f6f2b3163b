"""The row of the program that each flit of a trace belongs to, and how long it stays in a buffer.

A packet's header says at every hop where it goes on, so what each row's packet looks like on every
link is known before it is sent. Of packets that look the same on one channel the first is that of
the first row: they come from one sender, which sends in the order of its table, and none overtakes
another. What looks like no row's packet has no row.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..model.base.pieces import offsets_of, ranges
from ..model.network.topology import NO_LINK, Topology
from ..model.program.program import Program
from ..model.run.packets import Packets, packet_order, packets_of
from ..model.run.trace import HEAD_MARK, Trace

Numbers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

NO_ROW = -1
NEVER = np.int64(1) << 60


@dataclass(frozen=True, eq=False)
class Hops:
    """Packets of all rows as they leave each router on their way, the last one to the node.

    ``row``, ``hop`` from 0, ``channel`` (the number of node, port and VC), ``flits`` (of the packet
    from there on), ``first`` and ``last`` (of its header flits, as they leave). ``target`` is the
    node at the end of each row's way, -1 where that leads out of the network: shape (rows,).
    """

    row: Numbers
    hop: Numbers
    channel: Numbers
    flits: Numbers
    first: Words
    last: Words
    target: Numbers


def expected_hops(program: Program) -> Hops:
    """Walk all rows' packets through the network, one hop at a time, by what their headers say."""
    config, header, count = program.config, program.config.header, program.header_flits
    words = np.zeros((len(count), int(count.max(initial=1))), dtype=np.uint64)
    words[np.repeat(np.arange(len(count)), count), ranges(0, count)] = program.header
    target = np.full(len(count), NO_LINK, dtype=np.int64)
    row, node = np.arange(len(count)), program.row_node
    at, vc = np.zeros_like(row), header.vc(words[:, 0])
    numbers: list[list[Numbers]] = [[np.zeros(0, dtype=np.int64)] * 4]
    heads = [np.zeros((2, 0), dtype=np.uint64)]
    while len(row):
        # A flit that is used up is dropped.
        while (used := (header.port(words[row, at]) == 0) & (at + 1 < count[row])).any():
            at = at + used
        front = words[row, at]
        port = header.port(front)
        ends = port == header.deliver_code
        port, vc = np.where(ends, 0, port), np.where(ends, vc, header.vc(front))
        words[row, at] = np.where(ends, front, header.drop_first(front))
        target[row[ends]] = node[ends]
        following = _following(config.topology, node, port)
        valid = ends | (following != NO_LINK)
        channel = (node * config.topology.ports + port) * config.vcs + vc
        hop, flits = np.full_like(row, len(numbers) - 1), count[row] - at + program.length[row]
        numbers.append([column[valid] for column in (row, hop, channel, flits)])
        heads.append(np.stack((words[row, at], words[row, count[row] - 1]))[:, valid])
        on = valid & ~ends
        row, at, vc, node = row[on], at[on], vc[on], following[on]
    joined = [np.concatenate(column) for column in zip(*numbers, strict=True)]
    first, last = np.concatenate(heads, axis=1)
    return Hops(joined[0], joined[1], joined[2], joined[3], first, last, target)


def _following(topology: Topology, node: Numbers, port: Numbers) -> Numbers:
    """The nodes that ports lead to, ``NO_LINK`` where a port is none."""
    inside = port < topology.ports
    found = topology.neighbor[node, np.where(inside, port, 0)].astype(np.int64)
    return np.where(inside, found, NO_LINK)


@dataclass(frozen=True, eq=False)
class Followed:
    """Of each flit of a trace, in its order: shapes (rows of the trace,).

    ``row``
        The program's row, :data:`NO_ROW` for none.
    ``left``
        The cycle in which it leaves the router that it goes to, or is dropped there; ``NEVER`` if
        it does not, and the cycle after its own for what is delivered or has no row.
    ``stalled``
        Cycles in which it stands at the front of its buffer and could not go on.
    """

    row: Numbers
    left: Numbers
    stalled: Numbers


def follow(program: Program, trace: Trace, hops: Hops) -> Followed:
    """Find the row of each flit, and when it goes on."""
    order, registers = packet_order(trace), program.config.link_registers
    packets = packets_of(program.config, trace)
    flits, lengths = packets.flits, packets.end - packets.begin
    hop_of = np.repeat(_matched(hops, packets), lengths)
    moving = flits.port != 0
    if program.config.all_port:
        # By several ejection ports, the flits of packets come between each other.
        hop_of[~moving] = NO_ROW
    # The last entry is for NO_ROW. Flits are counted from the tail: packets lose their first ones.
    row, hop = np.append(hops.row, NO_ROW)[hop_of], np.append(hops.hop, 0)[hop_of]
    behind = np.append(hops.flits, 0)[hop_of] - 1 - ranges(0, lengths)
    came, known = flits.cycle + registers, moving & (row != NO_ROW)
    left = _left(row, hop, behind, flits.cycle)
    if program.config.all_port:
        left = np.where(left == NEVER, came + 1, left)
    left = np.where(known, left, came + 1)
    channel = np.repeat(packets.channel, lengths)
    dropped = known & (behind >= _flits_after(hops)[hop_of])
    while True:
        # A flit that the next router drops is in no trace: it goes as soon as it is in front.
        front = np.maximum(came, _before(channel, left)) + 1
        if (left[dropped] == front[dropped]).all():
            break
        left[dropped] = front[dropped]
    stalled = np.where(known, np.maximum(left - front, 0), 0)
    result = np.empty((3, len(trace)), dtype=np.int64)
    result[:, order] = row, left, stalled
    if program.config.all_port:
        _follow_deliveries(program, trace, hops, result[0])
    return Followed(*result)


def _matched(hops: Hops, packets: Packets) -> Numbers:
    """The number in ``hops`` of each packet, ``NO_ROW`` for none: the n-th that looks like it.

    The last header flit tells the address, in which packets differ that go the same way.
    """
    data, count = packets.flits.data, len(hops.row)
    # A packet that begins without a header has no flit before its payload.
    last = data[np.maximum(packets.header_end - 1, packets.begin)]
    looks = [
        np.concatenate((hops.channel, packets.channel)),
        np.concatenate((hops.first, data[packets.begin])),
        np.concatenate((hops.last, last)),
    ]
    # Packets of a channel come in the order of their time.
    turn = np.concatenate((hops.row, np.arange(len(packets.channel))))
    seen = np.arange(len(turn)) >= count
    order = np.lexsort((turn, seen, *looks))
    new = _changes([seen[order], *(column[order] for column in looks)])
    nth = np.empty(len(order), dtype=np.int64)
    nth[order] = np.arange(len(order)) - np.maximum.accumulate(
        np.where(new, np.arange(len(new)), 0)
    )
    order = np.lexsort((seen, nth, *looks))
    pairs = ~_changes([nth[order], *(column[order] for column in looks)])
    result = np.full(len(packets.channel), NO_ROW, dtype=np.int64)
    result[order[pairs] - count] = order[np.flatnonzero(pairs) - 1]
    return result


def _changes(columns: Sequence[npt.NDArray[np.generic]]) -> npt.NDArray[np.bool_]:
    """Tell which entries differ from the one before in any column; the first one does."""
    changed = np.ones(len(columns[0]), dtype=np.bool_)
    changed[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return changed


def _left(row: Numbers, hop: Numbers, behind: Numbers, cycle: Numbers) -> Numbers:
    """The cycle in which each flit leaves by its next hop; ``NEVER`` if it is not in the trace."""
    order = np.lexsort((hop, behind, row))
    left = np.full(len(row), NEVER)
    here, after = order[:-1], order[1:]
    same = (row[here] == row[after]) & (behind[here] == behind[after])
    same &= hop[here] + 1 == hop[after]
    left[here[same]] = cycle[after[same]]
    return left


def _before(channel: Numbers, values: Numbers) -> Numbers:
    """The value of the flit before each in its channel, -1 for the first one."""
    before = np.full(len(values), -1, dtype=np.int64)
    before[1:] = np.where(channel[1:] == channel[:-1], values[:-1], -1)
    return before


def _flits_after(hops: Hops) -> Numbers:
    """Flits of each packet at its next hop, 0 where it has none; one more 0 for no packet."""
    flits = np.zeros(len(hops.row) + 1, dtype=np.int64)
    order = np.lexsort((hops.hop, hops.row))
    here, after = order[:-1], order[1:]
    same = hops.row[here] == hops.row[after]
    flits[here[same]] = hops.flits[after[same]]
    return flits


def _follow_deliveries(program: Program, trace: Trace, hops: Hops, row: Numbers) -> None:
    """Fill in the rows of what an all-port node gets, by several ejection ports at once.

    A flit is the next one of a packet that has come in over a link before: its words tell which.
    """
    port = hops.channel // program.config.vcs % program.config.topology.ports
    waiting: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    for place in np.flatnonzero(port == 0).tolist():
        each = int(hops.row[place])
        waiting[int(hops.target[each]), int(hops.first[place])].append(each)
    payload = _payloads(trace, row, len(hops.target))
    coming: dict[int, list[tuple[int, deque[int]]]] = defaultdict(list)
    for place in np.flatnonzero(trace.port == 0).tolist():
        node, word = int(trace.node[place]), int(trace.data[place])
        if trace.kind[place] & HEAD_MARK:
            if queue := waiting[node, word]:
                row[place] = queue.popleft()
                coming[node].append((int(row[place]), deque(payload[row[place]])))
            continue
        for number, words in coming[node]:
            if words and words[0] == word:
                words.popleft()
                row[place] = number
                break


def _payloads(trace: Trace, row: Numbers, rows: int) -> list[list[int]]:
    """The payload of each row's packet, as it crosses the first link on its way."""
    places = np.flatnonzero((trace.kind & HEAD_MARK == 0) & (row != NO_ROW))
    places = places[np.lexsort((trace.cycle[places], row[places]))]
    starts = offsets_of(np.bincount(row[places], minlength=rows))
    first = np.append(places, 0)[starts[:-1]][row[places]]
    places = places[(trace.node[places] == trace.node[first])]
    starts = offsets_of(np.bincount(row[places], minlength=rows)).tolist()
    words = trace.data[places].tolist()
    return [words[begin:end] for begin, end in pairwise(starts)]
