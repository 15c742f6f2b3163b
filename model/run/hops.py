"""Packets of all rows, hop by hop, and the row of each packet of a trace.

A packet's header gives its output at every hop, so a program tells the form of each row's packet on
every link. If several packets look the same on a channel, the first belongs to the first row: one
sender sends them in table order, and none overtakes another. A packet that looks like no row's
packet has no row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers, Words
from ..base.ragged import ranges
from ..network.topology import NO_LINK, Topology
from ..program.program import Program
from .packets import Packets

NO_ROW = -1
NEVER = np.int64(1) << 60


@dataclass(frozen=True, eq=False)
class Hops:
    """Packets of all rows as they leave each router on their way; the last hop is the delivery.

    ``row``, ``hop`` from 0, ``channel`` (the number of node, port and VC), ``flits`` (of the packet
    from this hop on), ``first`` and ``last`` (its first and last header flit as they leave).
    ``target`` is the last node of each row's path, -1 if it leaves the network: shape (rows,).
    """

    row: Numbers
    hop: Numbers
    channel: Numbers
    flits: Numbers
    first: Words
    last: Words
    target: Numbers


def expected_hops(program: Program) -> Hops:
    """Follow the headers of all rows' packets through the network, one hop at a time."""
    config, header, count = program.config, program.config.header, program.header_flits
    words = np.zeros((len(count), int(count.max(initial=1))), dtype=np.uint64)
    words[np.repeat(np.arange(len(count)), count), ranges(0, count)] = program.header
    target = np.full(len(count), NO_LINK, dtype=np.int64)
    row, node = np.arange(len(count)), program.row_node
    at, vc = np.zeros_like(row), header.vc(words[:, 0])
    numbers: list[list[Numbers]] = [[np.zeros(0, dtype=np.int64)] * 4]
    heads = [np.zeros((2, 0), dtype=np.uint64)]
    while len(row):
        # Drop header flits that are used up.
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
    """Return the neighbors behind ports, ``NO_LINK`` for a port without a link."""
    inside = port < topology.ports
    found = topology.neighbor[node, np.where(inside, port, 0)].astype(np.int64)
    return np.where(inside, found, NO_LINK)


def matched(hops: Hops, packets: Packets) -> Numbers:
    """Return the index in ``hops`` of each packet, or ``NO_ROW``: the n-th packet of equal form.

    The last header flit has the address, by which packets with the same path differ.
    """
    data, count = packets.flits.header_data, len(hops.row)
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


def told_apart(program: Program, hops: Hops) -> npt.NDArray[np.bool_]:
    """Tell which rows have packets that look like no other sender's or route's on any channel.

    Shape (rows,). One sender's packets of one route stay in order, so they may look alike.
    """
    looks = (hops.first, hops.last, hops.channel)
    order = np.lexsort(looks)
    new = _changes([column[order] for column in looks])
    look, row = np.cumsum(new) - 1, hops.row[order]
    way = (program.row_node * np.int64(len(program.routes)) + program.route)[row]
    mixed = np.bincount(look, way != way[np.flatnonzero(new)][look]) > 0
    result = np.ones(len(hops.target), dtype=np.bool_)
    result[row[mixed[look]]] = False
    return result


@dataclass(frozen=True, eq=False)
class Passages:
    """The row of each flit of packets, and the links that it crosses before and after.

    ``row`` is :data:`NO_ROW` for none; ``hop`` counts from 0. ``source`` is the index of the same
    flit as it left the router before, or -1. ``left`` is the cycle in which it leaves the next
    router, ``NEVER`` if the trace does not say; ``dropped`` tells whether that router drops it.
    """

    row: Numbers
    hop: Numbers
    source: Numbers
    left: Numbers
    dropped: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, hops: Hops, packets: Packets, hop_of: Numbers) -> Passages:
        """Find them from ``hop_of``, the index in ``hops`` of each packet's flits."""
        # The last entry is for NO_ROW. Count flits from the tail: packets lose their first flits.
        row, hop = np.append(hops.row, NO_ROW)[hop_of], np.append(hops.hop, 0)[hop_of]
        nth = ranges(0, packets.end - packets.begin)
        behind = np.append(hops.flits, 0)[hop_of] - 1 - nth
        order = np.lexsort((hop, behind, row))
        here, after = order[:-1], order[1:]
        same = (row[here] == row[after]) & (behind[here] == behind[after])
        same &= hop[here] + 1 == hop[after]
        source, left = np.full(len(row), -1), np.full(len(row), NEVER)
        source[after[same]] = here[same]
        left[here[same]] = packets.flits.cycle[after[same]]
        return cls(row, hop, source, left, (row != NO_ROW) & (behind >= _flits_after(hops)[hop_of]))


def _flits_after(hops: Hops) -> Numbers:
    """Return the flits of each packet at its next hop (0: none), and a last 0 for no packet."""
    flits = np.zeros(len(hops.row) + 1, dtype=np.int64)
    order = np.lexsort((hops.hop, hops.row))
    here, after = order[:-1], order[1:]
    same = hops.row[here] == hops.row[after]
    flits[here[same]] = hops.flits[after[same]]
    return flits


def _changes(columns: Sequence[npt.NDArray[np.generic]]) -> npt.NDArray[np.bool_]:
    """Tell which entries differ from the one before in any column; the first one does."""
    changed = np.ones(len(columns[0]), dtype=np.bool_)
    changed[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return changed
