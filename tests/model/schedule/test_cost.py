"""Costs of schedules: by hand, and send by send for random schedules."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from helpers.schedules import Send, build, listed

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.network.topology import mesh
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.cost import count_cost
from eyecast.model.schedule.schedule import Schedule


def blocks_of(words: list[int]) -> Blocks:
    return Blocks(np.zeros(len(words)), (None,) * len(words), np.array(words))


def by_hand() -> Schedule:
    """Return a schedule with blocks of 5, 1 and 7 words, and no send in step 3."""
    sends = [
        Send(1, [0, 1], [0, 1]),
        Send(2, [1, 2], [1]),
        Send(2, [0, 1], [2]),
        Send(4, [0, 1, 2], [0, 1, 2]),
        Send(4, [2, 1], [0]),
    ]
    return build((4,), sends, blocks_of([5, 1, 7]), "scatter", "all-port")


def drawn(random: np.random.Generator) -> Schedule:
    """Return sends along a line; their schedule need not be valid."""
    sends = []
    for _ in range(int(random.integers(0, 25))):
        first, last = random.choice(6, 2, replace=False).tolist()
        path = [*range(first, last, 1 if last > first else -1), last]
        carried = random.choice(5, int(random.integers(1, 6)), replace=False).tolist()
        sends.append(Send(int(random.integers(1, 9)), path, carried))
    blocks = blocks_of(random.integers(1, 100, 5).tolist())
    return build((6,), sends, blocks, "scatter", "all-port")


def test_by_hand() -> None:
    cost = count_cost(by_hand())
    assert by_hand().send_words.tolist() == [6, 1, 7, 13, 5]
    assert cost.words_per_step.tolist() == [6, 7, 0, 13]
    assert (cost.steps, cost.transferred) == (4, 26)
    assert cost.busiest_link == 6 + 7 + 13
    assert cost.start_ups() == 3
    assert [cost.start_ups(packet) for packet in (1, 2, 6, 7, 12, 13)] == [26, 14, 6, 4, 4, 3]
    assert cost.time(10, 0.5, 6) == 60 + 13
    assert cost.time(10, 0.5) == 30 + 13


def test_drawn_schedules_send_by_send() -> None:
    random = np.random.default_rng(1986)
    for _ in range(200):
        schedule = drawn(random)
        packet = int(random.integers(1, 60))
        longest: dict[int, int] = {}
        links: Counter[tuple[int, int]] = Counter()
        for send in listed(schedule):
            words = sum(int(schedule.blocks.words[block]) for block in send.blocks)
            longest[send.step] = max(longest.get(send.step, 0), words)
            links.update(dict.fromkeys(pairwise(send.path), words))
        cost = count_cost(schedule)
        assert cost.steps == max(longest, default=0)
        assert cost.transferred == sum(longest.values())
        assert cost.start_ups() == len(longest)
        assert cost.start_ups(packet) == sum(-(-words // packet) for words in longest.values())
        assert cost.busiest_link == max(links.values(), default=0)


def test_a_broadcast_of_one_block_moves_it_in_every_step() -> None:
    for schedule in (eye_broadcast(mesh((8, 8)), 9, 20), tree_broadcast(mesh((5, 7)), 3, 20)):
        cost = count_cost(schedule)
        assert cost.words_per_step.tolist() == [20] * schedule.steps
        assert cost.start_ups(6) == 4 * schedule.steps


def test_a_million_nodes() -> None:
    cost = count_cost(eye_broadcast(mesh((1024, 1024)), 0, 3))
    assert (cost.steps, cost.transferred) == (20, 60)


def test_what_is_refused() -> None:
    cost = count_cost(by_hand())
    with pytest.raises(InvalidInput, match=r"^packet must be at least 1, not 0$"):
        cost.start_ups(0)
    with pytest.raises(InvalidInput, match=r"^start-up time must be 0 or more, not -1$"):
        cost.time(-1, 1)
    with pytest.raises(InvalidInput, match=r"^time of a word must be 0 or more, not -2$"):
        cost.time(1, -2)
