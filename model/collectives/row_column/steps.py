"""Steps for messages along lines, so that no two messages of a step share a link or port.

With all ports only links are shared, and each line in each direction is independent. A walk along
the line fills a step: it takes the longest message that begins where the last one ended, or farther
on, once along the line or once round the ring::

    step 1    |0 -------> 3|3 ----> 5|5 -> 7|
    step 2    |0 ----> 2|2 ----> 4|  |5 ------> 8

On a line this takes as many steps as the busiest link has messages, the fewest possible. Round a
ring a walk begins where the longest message begins, and the best of several tries is taken. Round a
ring of 8, in both directions, every link has a message in every step.

With one port the messages are packed greedily, first those whose ports and links have the most left
to carry. Of several random tries the one with the fewest steps is kept.
"""

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np

from ...base.ragged import offsets_of, ranges
from .messages import Message, Passage, Place

WALKS = 12
"""Tries of walks round a ring."""
TRIES = 2
LOAD_POWER = 12
"""Exponent: a port or link's weight is the messages it has left to carry, to this power."""


def walked_steps(messages: Sequence[Message], passages: Sequence[Passage]) -> list[int]:
    """Return the step of each message; all messages that wait for others come last."""
    steps = [0] * len(messages)
    before = 0
    for second in (False, True):
        lines: dict[object, list[int]] = {}
        for number, (message, passage) in enumerate(zip(messages, passages, strict=True)):
            if bool(message.after) == second:
                lines.setdefault((passage.line, passage.way), []).append(number)
        most = 0
        for numbers in lines.values():
            found = _line_steps([passages[number] for number in numbers])
            most = max(most, *found)
            for number, step in zip(numbers, found, strict=True):
                steps[number] = before + step
        before += most
    return steps


def _line_steps(passages: Sequence[Passage]) -> list[int]:
    """Return the steps of messages of one line in one direction; on a ring the best try's."""
    if not passages[0].wrapped:
        return _walked(passages, None)
    least = -(-sum(passage.hops for passage in passages) // passages[0].side)
    best: list[int] = []
    for seed in range(WALKS):
        found = _walked(passages, np.random.default_rng(seed))
        best = found if not best or max(found) < max(best) else best
        if max(best) == least:
            break
    return best


def _walked(passages: Sequence[Passage], draw: np.random.Generator | None) -> list[int]:
    """Return the steps by walks from the end of a line, or from a longest message of a ring.

    ``draw`` is only for rings, and decides between several longest messages.
    """
    side, way = passages[0].side, passages[0].way
    here: list[list[int]] = [[] for _ in range(side)]
    for number in sorted(range(len(passages)), key=lambda each: passages[each].hops):
        # Down a ring is up its mirror image.
        begin = passages[number].begin
        here[begin if draw is None else begin * way % side].append(number)
    steps = [0] * len(passages)
    step, start = 0, 0
    while not all(steps):
        step += 1
        if draw is not None:
            longest = np.array([passages[some[-1]].hops if some else 0 for some in here])
            start = int(draw.choice(np.flatnonzero(longest == longest.max())))
        at = 0
        while at < side:
            waiting = here[(start + at) % side]
            fitting = [number for number in waiting if at + passages[number].hops <= side]
            at += passages[fitting[-1]].hops if fitting else 1
            if fitting:
                waiting.remove(fitting[-1])
                steps[fitting[-1]] = step
    return steps


def packed_steps(messages: Sequence[Message], ways: Sequence[Sequence[Place]]) -> list[int]:
    """Return the step of each message, so that no two share a port or link; the best try's."""
    tries = (_packed(messages, ways, np.random.default_rng(seed)) for seed in range(TRIES))
    return min(tries, key=max)


def _packed(
    messages: Sequence[Message], ways: Sequence[Sequence[Place]], draw: np.random.Generator
) -> list[int]:
    """Return the step of each message by one try."""
    numbers: dict[object, int] = {}
    used = []
    for way in ways:
        keys: list[object] = [("out", way[0]), ("in", way[-1]), *pairwise(way)]
        used.append(np.array([numbers.setdefault(key, len(numbers)) for key in keys]))
    every, lengths = np.concatenate(used), np.array([len(each) for each in used])
    begins = offsets_of(lengths)[:-1]
    load = np.bincount(every, minlength=len(numbers)).astype(float)
    taken = [frozenset(each.tolist()) for each in used]
    followers: list[list[int]] = [[] for _ in messages]
    for number, message in enumerate(messages):
        for before in message.after:
            followers[before].append(number)
    missing = [len(message.after) for message in messages]
    steps = [0] * len(messages)
    ready = [number for number, count in enumerate(missing) if not count]
    step = 0
    while ready:
        step += 1
        weight = load**LOAD_POWER
        flat = every[ranges(begins[ready], lengths[ready])]
        starts = offsets_of(lengths[ready])[:-1]
        scores = np.add.reduceat(weight[flat], starts) * draw.uniform(0.5, 1, len(ready))
        busy: set[int] = set()
        sent = []
        for place in np.argsort(scores)[::-1].tolist():
            each = ready[place]
            if busy.isdisjoint(taken[each]):
                busy |= taken[each]
                sent.append(each)
                steps[each] = step
        load[list(busy)] -= 1
        ready = [each for each in ready if not steps[each]]
        for following in chain.from_iterable(followers[each] for each in sent):
            missing[following] -= 1
            if not missing[following]:
                ready.append(following)
        ready.sort()
    return steps
