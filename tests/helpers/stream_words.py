"""Streams word by word: a second reading of docs/router.md, section 20, for one step of a schedule.

Nothing is imported from the checks: sends, leads and delays are walked through cycle by cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product


@dataclass
class Packet:
    """A send of one step: source, target, words, and whether it streams."""

    source: int
    target: int
    words: list[tuple[int, int]]
    stream: bool
    sent: int = 0
    under_way: list[tuple[int, tuple[int, int]]] = field(default_factory=list)


def works(
    packets: Sequence[Packet],
    held: set[tuple[int, tuple[int, int]]],
    leads: Sequence[int],
    delays: Sequence[int],
) -> bool:
    """Tell whether all words leave, each after its arrival at the source.

    ``held`` are pairs of a node and a word that it has at the start. A node gets at most one
    packet, whose words are counted as they arrive.
    """
    for packet in packets:
        packet.sent, packet.under_way = 0, []
    there, come = set(held), dict.fromkeys({packet.source for packet in packets}, 0)
    cycle, last = 0, 0
    while any(packet.sent < len(packet.words) for packet in packets):
        before = dict(come)
        present = set(there)
        if cycle > last:
            return False
        for packet, delay, lead in zip(packets, delays, leads, strict=True):
            if packet.sent < len(packet.words):
                place = packet.sent
                may = not packet.stream or place < lead or place - lead < before[packet.source]
                word = packet.words[place]
                if may and (packet.source, word) not in present:
                    return False
                if may:
                    packet.under_way.append((cycle + delay, word))
                    packet.sent += 1
                    last = max(last, cycle + delay + 1)
        for packet in packets:
            for arrival, word in packet.under_way:
                if arrival == cycle:
                    there.add((packet.target, word))
                    come[packet.target] = come.get(packet.target, 0) + 1
        cycle += 1
    return True


def all_leads(packets: Sequence[Packet]) -> Iterator[tuple[int, ...]]:
    """Return every combination of leads that the packets can have."""
    yield from product(*(range(len(packet.words)) if packet.stream else (0,) for packet in packets))
