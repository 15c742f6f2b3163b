"""One step of a schedule that may combine and stream, word by word, by contributions.

A second reading of docs/router.md, sections 19 and 20, without any import from the checks: every
word waits before it leaves, takes some time on its way, and is a count of contributions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from eyecast.model.schedule.schedule import Schedule

Word = tuple[int, int]
"""A block, and the index of a word in it."""
Held = dict[tuple[int, Word], Counter[int]]
"""Each node's value of each word: how often each node's contribution is in it."""


@dataclass
class Packet:
    """A send: its ends and words; the packet that it streams (None if none), and its lead."""

    source: int
    target: int
    words: list[Word]
    combine: bool
    feeder: int | None
    lead: int


def packets_of(
    schedule: Schedule, feeders: Mapping[int, int], leads: Mapping[int, int]
) -> list[Packet]:
    """Return the sends of a schedule; ``feeders`` and ``leads`` are those of sends that stream."""
    words = schedule.blocks.words.tolist()
    return [
        Packet(
            int(schedule.source[send]),
            int(schedule.target[send]),
            [(b, w) for b in schedule.block_ids[begin:end].tolist() for w in range(words[b])],
            bool(schedule.combine[send]),
            feeders.get(send),
            leads.get(send, 0),
        )
        for send, (begin, end) in enumerate(pairwise(schedule.block_offsets.tolist()))
    ]


def carried_out(
    packets: Sequence[Packet], held: Held, waits: Sequence[int], ways: Sequence[int]
) -> Held | None:
    """Return the values after the step; None if packets wait for ever, or lack a word to send.

    A packet that streams reads the value at the time when a word leaves; any other packet reads the
    value before the step. Delays before a word leaves, and on its way, are given in cycles.
    """
    before = {place: word.copy() for place, word in held.items()}
    now = {place: word.copy() for place, word in held.items()}
    sent, come, may = ([0] * len(packets) for _ in range(3))
    under_way: list[tuple[int, int, Word, Counter[int]]] = []
    cycle = last = 0
    while cycle <= last:
        for at, number, word, value in [each for each in under_way if each[0] == cycle]:
            goal = (packets[number].target, word)
            now[goal] = now[goal] + value if packets[number].combine else value
            come[number] += 1
            under_way.remove((at, number, word, value))
        for number, packet in enumerate(packets):
            place = sent[number]
            awaited = place - packet.lead
            if place == len(packet.words) or (
                packet.feeder is not None and awaited >= 0 and come[packet.feeder] <= awaited
            ):
                continue
            may[number] += 1
            last = max(last, cycle + 1)
            if may[number] > waits[number]:
                there = before if packet.feeder is None else now
                if (packet.source, packet.words[place]) not in there:
                    return None
                value = there[packet.source, packet.words[place]].copy()
                under_way.append((cycle + ways[number], number, packet.words[place], value))
                sent[number], may[number] = place + 1, 0
                last = max(last, cycle + ways[number])
        cycle += 1
    done = all(count == len(packet.words) for count, packet in zip(sent, packets, strict=True))
    return now if done else None
