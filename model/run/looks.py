"""Numbers for packets that look alike, by which packets are compared as fast as integers."""

from typing import NamedTuple

import numpy as np

from ..base.arrays import Numbers, Words
from ..base.loops import Int, compiled_loop, index, inlined
from .packets import Packets

_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose products have well mixed upper bits."""
_UPPER = np.uint64(32)


class Side(NamedTuple):
    """Packets with their headers: those that arrive at routers, or those that leave.

    The header of a packet is its output VC ``channel``, then ``first`` instead of flit ``front``,
    then the header flits after it.
    """

    packets: Packets
    channel: Numbers
    front: Numbers
    first: Words


def looks_of(*sides: Side) -> list[Numbers]:
    """Return two numbers per packet: of header and length, and of all data; -1 if not whole.

    Equal packets have equal numbers, on all sides. Shape of each side: (packets, 2).
    """
    data = np.concatenate([side.packets.flits.data for side in sides])
    lengths = [len(side.packets.begin) for side in sides]
    before = np.cumsum([0, *(len(side.packets.flits) for side in sides[:-1])])
    shift = np.repeat(before, lengths)
    front = np.concatenate([side.front for side in sides]) + shift
    payload = np.concatenate([side.packets.header_end for side in sides]) + shift
    end = np.concatenate([side.packets.end for side in sides]) + shift
    channel = np.concatenate([side.channel for side in sides])
    first = np.concatenate([side.first for side in sides])
    keys = np.stack((channel.astype(np.uint64), first, (end - payload).astype(np.uint64)), axis=1)
    header = _first_alike(keys, data, front + 1, payload)
    content = _first_alike(header.astype(np.uint64)[:, None], data, payload, end)
    looks = np.stack((header, content + len(header)), axis=1)
    looks[~np.concatenate([side.packets.whole for side in sides])] = -1
    return np.split(looks, np.cumsum(lengths)[:-1])


def _first_alike(keys: Words, data: Words, begin: Numbers, end: Numbers) -> Numbers:
    """Return, for each piece of ``data``, the first piece with equal keys and equal words."""
    table = np.full(1 << (2 * len(keys)).bit_length(), -1, dtype=np.int64)
    result = np.empty(len(keys), dtype=np.int64)
    _number(keys, data, begin, end, table, result)
    return result


@compiled_loop
def _number(
    keys: Words, data: Words, begin: Numbers, end: Numbers, table: Numbers, result: Numbers
) -> None:
    """Number the pieces by a hash table, in which full slots are compared word by word."""
    mask = np.uint64(len(table) - 1)
    for piece in range(len(result)):
        mixed = np.uint64(0)
        for key in keys[piece]:
            mixed = (mixed ^ key) * _FACTOR
            mixed ^= mixed >> _UPPER
        for word in range(begin[piece], end[piece]):
            mixed = (mixed ^ data[index(word)]) * _FACTOR
            mixed ^= mixed >> _UPPER
        slot = np.int64(mixed & mask)
        while table[slot] >= 0 and not _alike(keys, data, begin, end, table[slot], piece):
            slot = (slot + 1) % len(table)
        if table[slot] < 0:
            table[slot] = piece
        result[piece] = table[slot]


@inlined
def _alike(keys: Words, data: Words, begin: Numbers, end: Numbers, one: Int, other: Int) -> bool:
    """Tell whether two pieces have equal keys and equal words."""
    for key in range(keys.shape[1]):
        if keys[one, key] != keys[other, key]:
            return False
    words = max(end[one] - begin[one], 0)
    if words != max(end[other] - begin[other], 0):
        return False
    different = 0
    for word in range(words):
        different += data[begin[one] + word] != data[begin[other] + word]
    return different == 0
