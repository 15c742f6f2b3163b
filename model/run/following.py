"""The program's row of each flit of a trace, and the flit's time in a buffer."""

from collections import defaultdict, deque
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..base.arrays import Numbers, as_integers
from ..base.ragged import offsets_of
from ..network.config import NetworkConfig
from ..program.program import Program
from .hops import NEVER, NO_ROW, Hops, Passages, matched
from .packets import packet_order, packets_of
from .trace import HEAD_MARK, Trace


@dataclass(frozen=True, eq=False)
class Followed:
    """Facts of each flit of a trace, in its order: shapes (rows of the trace,).

    ``row``
        The program's row, :data:`NO_ROW` for none.
    ``left``
        The cycle in which the flit leaves the router that it goes to, or is dropped there.
        ``NEVER`` if it does not leave; the cycle after its own if it is delivered or has no row.
    ``stalled``
        Cycles in which it stands at the front of its buffer and cannot go on.
    """

    row: Numbers
    left: Numbers
    stalled: Numbers


def follow(program: Program, trace: Trace, hops: Hops) -> Followed:
    """Return the row of each flit, and when it goes on."""
    order = packet_order(trace)
    packets = packets_of(program.config, trace)
    flits, lengths = packets.flits, packets.end - packets.begin
    hop_of = np.repeat(matched(hops, packets), lengths)
    moving = flits.port != 0
    if program.config.all_port:
        # With several ejection ports, flits of different packets interleave.
        hop_of[~moving] = NO_ROW
    passages = Passages.of(hops, packets, hop_of)
    row, left = passages.row, passages.left
    came, known = flits.cycle + crossed_registers(program.config, flits), moving & (row != NO_ROW)
    if program.config.all_port:
        left = np.where(left == NEVER, came + 1, left)
    left = np.where(known, left, came + 1)
    channel = np.repeat(packets.channel, lengths)
    dropped = moving & passages.dropped
    while True:
        # A trace does not show a flit that the next router drops: it goes when it is in front.
        front = np.maximum(came, before(channel, left)) + 1
        if (left[dropped] == front[dropped]).all():
            break
        left[dropped] = front[dropped]
    stalled = np.where(known, np.maximum(left - front, 0), 0)
    result = np.empty((3, len(trace)), dtype=np.int64)
    result[:, order] = row, left, stalled
    if program.config.all_port:
        _follow_deliveries(program, trace, hops, result[0])
    return Followed(*result)


def follow_words(config: NetworkConfig, trace: Trace) -> Followed:
    """Return when each word of circuits goes on: in the first cycle in which it can."""
    went = trace.cycle + 1 + crossed_registers(config, trace)
    return Followed(np.full(len(trace), NO_ROW), went, np.zeros(len(trace), np.int64))


def crossed_registers(config: NetworkConfig, trace: Trace) -> Numbers:
    """Return the registers of the link that each flit crosses; 0 for a delivered flit."""
    registers = config.topology.registers_of(config.link_registers)
    return np.asarray(registers[trace.node, trace.port], dtype=np.int64)


def moving_cycles(config: NetworkConfig, trace: Trace) -> int:
    """Return the cycles until the last flit of a trace has crossed its link."""
    return int((trace.cycle + crossed_registers(config, trace)).max(initial=-1)) + 1


def before(channel: Numbers, values: Numbers) -> Numbers:
    """Return the value before each one in its channel; -1 for a channel's first one."""
    result = np.full(len(values), -1, dtype=np.int64)
    result[1:] = np.where(channel[1:] == channel[:-1], values[:-1], -1)
    return result


def _follow_deliveries(program: Program, trace: Trace, hops: Hops, row: Numbers) -> None:
    """Fill in the rows of deliveries at an all-port node, whose ejection ports interleave.

    A delivered flit continues a packet that arrived over a link; its words tell which.
    """
    port = hops.channel // program.config.vcs % program.config.topology.ports
    waiting: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    for place in np.flatnonzero(port == 0).tolist():
        each = int(hops.row[place])
        waiting[int(hops.target[each]), int(hops.first[place])].append(each)
    payload = _payloads(trace, row, len(hops.target))
    coming: dict[int, list[tuple[int, deque[int]]]] = defaultdict(list)
    places = np.flatnonzero(trace.port == 0)
    nodes, delivered = trace.node[places].tolist(), as_integers(trace.data[places])
    for place, node, word in zip(places.tolist(), nodes, delivered, strict=True):
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
    """Return the payload of each row's packet on the first link of its route."""
    places = np.flatnonzero((trace.kind & HEAD_MARK == 0) & (row != NO_ROW))
    places = places[np.lexsort((trace.cycle[places], row[places]))]
    starts = offsets_of(np.bincount(row[places], minlength=rows))
    first = np.append(places, 0)[starts[:-1]][row[places]]
    places = places[(trace.node[places] == trace.node[first])]
    starts = offsets_of(np.bincount(row[places], minlength=rows)).tolist()
    words = as_integers(trace.data[places])
    return [words[begin:end] for begin, end in pairwise(starts)]
