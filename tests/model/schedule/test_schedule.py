"""Schedules: their measures and costs, and the errors that check() names."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers.refusals import refusal_of
from helpers.schedule_judge import problems
from helpers.schedules import Send, build, listed

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.network.port_model import PORT_MODELS
from eyecast.model.network.topology import mesh
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.cost import count_cost
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule

# A 3x3 mesh      0 1 2
#                 3 4 5
#                 6 7 8
GOOD = [
    Send(1, [0, 1, 4]),
    Send(2, [0, 1]),
    Send(2, [4, 7]),
    Send(3, [0, 3]),
    Send(3, [1, 2]),
    Send(3, [4, 5]),
    Send(3, [7, 6]),
    Send(4, [5, 8]),
]


def changed(place: int, **changes: object) -> Schedule:
    return build((3, 3), [replace(s, **changes) if i == place else s for i, s in enumerate(GOOD)])


def added(*sends: Send, port_model: str = "half-duplex") -> Schedule:
    return build((3, 3), [*GOOD, *sends], port_model=port_model)


SABOTAGE = {
    "left out": (build((3, 3), GOOD[:-1]), "node 8 is left out: no send brings it block 0"),
    "reached twice": (
        added(Send(5, [7, 8])),
        "send 8 (step 5, 7 -> 8): node 8 is reached twice with block 0, first by "
        "send 7 (step 4, 5 -> 8)",
    ),
    "source reached": (
        added(Send(5, [1, 0])),
        "send 8 (step 5, 1 -> 0): node 0 is reached twice: it has block 0 from the start",
    ),
    "before receipt": (
        changed(7, step=3),
        "send 7 (step 3, 5 -> 8): node 5 gets block 0 only by send 5 (step 3, 4 -> 5)",
    ),
    "without receipt": (
        build((3, 3), GOOD[:5] + GOOD[6:]),
        "send 6 (step 4, 5 -> 8): node 5 never gets block 0",
    ),
    "gap": (
        changed(0, path=[0, 4]),
        "send 0 (step 1, 0 -> 4): its path has a gap: there is no link 0 -> 4",
    ),
    "wrong start": (
        changed(0, path=[3, 4], source=0),
        "send 0 (step 1, 0 -> 4): its path begins at 3",
    ),
    "wrong end": (changed(0, path=[0, 1], target=4), "send 0 (step 1, 0 -> 4): its path ends at 1"),
    "to itself": (added(Send(5, [0, 1, 0])), "send 8 (step 5, 0 -> 0): a node sends to itself"),
    "two sends of a node": (
        changed(3, step=2),
        "send 3 (step 2, 0 -> 3): node 0 is in two sends in one step, which half-duplex forbids: "
        "the other is send 1 (step 2, 0 -> 1)",
    ),
    "link": (
        changed(6, path=[7, 4, 5, 8, 7, 6]),
        "send 6 (step 3, 7 -> 6): it shares link 4 -> 5, VC 0 with send 5 (step 3, 4 -> 5)",
    ),
    "link, other VC": (changed(6, path=[7, 4, 5, 8, 7, 6], vcs=[0, 1, 0, 0, 0]), None),
    "link twice": (
        changed(7, path=[5, 4, 7, 8, 5, 4, 7, 8]),
        "send 7 (step 4, 5 -> 8): its path crosses link 5 -> 4, VC 0 twice",
    ),
    "turn": (
        changed(7, path=[5, 4, 5, 8]),
        "send 7 (step 4, 5 -> 8): its path turns back at node 4, to 5 where it came from",
    ),
    "VC": (changed(0, vcs=[0, -1]), "send 0 (step 1, 0 -> 4): VC must be 0 to 255, not -1"),
    "step": (changed(0, step=0), "send 0 (step 0, 0 -> 4): step must be 1 to 1048576, not 0"),
    "node": (
        changed(7, path=[5, 9], target=8),
        "send 7 (step 4, 5 -> 8): node of the path must be 0 to 8, not 9",
    ),
    "source": (changed(7, source=-1), "send 7 (step 4, -1 -> 8): source must be 0 to 8, not -1"),
    "target": (changed(7, target=9), "send 7 (step 4, 5 -> 9): target must be 0 to 8, not 9"),
    "block": (changed(7, blocks=[1]), "send 7 (step 4, 5 -> 8): block must be 0 to 0, not 1"),
    "block twice": (changed(3, blocks=[0, 0]), "send 3 (step 3, 0 -> 3): it carries block 0 twice"),
    "owner": (
        replace(build((3, 3), GOOD, Blocks.of_broadcast(9, 1)), root=0),
        "owner must be 0 to 8, not 9",
    ),
    "owed": (
        build((3, 3), GOOD, Blocks(np.array([0]), ((9,),), np.array([1]))),
        "node that is owed a block must be 0 to 8, not 9",
    ),
}


@pytest.mark.parametrize(("schedule", "message"), SABOTAGE.values(), ids=SABOTAGE)
def test_check_names_what_is_wrong(schedule: Schedule, message: str | None) -> None:
    if message is None:
        schedule.check()
        return
    with pytest.raises(ScheduleError) as caught:
        schedule.check()
    assert str(caught.value) == message
    place = re.match(r"send (\d+) ", message)
    assert caught.value.send == (int(place[1]) if place else None)


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (9, "root must be 0 to 8, not 9"),
        (1, "collective must be custom, not broadcast: block 0 is owned by node 0, not 1"),
    ],
)
def test_check_names_a_wrong_root(root: int, message: str) -> None:
    with pytest.raises(ScheduleError, match=f"^{message}$"):
        replace(build((3, 3), GOOD), root=root).check()
    replace(build((3, 3), GOOD), root=0).check()


def test_order_in_the_table_does_not_matter() -> None:
    build((3, 3), GOOD[::-1]).check()
    twice = [Send(5, [7, 8]), *GOOD[::-1]]
    assert refusal_of(build((3, 3), twice).check, kind=ScheduleError) == (
        "send 0 (step 5, 7 -> 8): node 8 is reached twice with block 0, first by "
        "send 1 (step 4, 5 -> 8)"
    )


def test_the_first_send_is_of_the_lowest_step() -> None:
    sends = [replace(GOOD[7], path=[5, 4, 8]), replace(GOOD[0], path=[0, 4]), *GOOD[1:7]]
    with pytest.raises(ScheduleError, match=re.escape("send 1 (step 1, 0 -> 4)")):
        build((3, 3), sends).check()


def own_blocks(*owed: tuple[int, ...] | None) -> Blocks:
    """Return blocks: block i belongs to node i and is owed to ``owed[i]``."""
    return Blocks(np.arange(len(owed)), owed, np.ones(len(owed)))


ALL_GATHER_2X2 = [
    *(Send(1, [a, b], [a]) for a, b in [(0, 1), (1, 0), (2, 3), (3, 2)]),
    *(Send(2, [a, a ^ 2], [a & 2, a & 2 | 1]) for a in range(4)),
]


@pytest.mark.parametrize("port_model", PORT_MODELS)
def test_all_gather_by_exchange(port_model: str) -> None:
    blocks = own_blocks(None, None, None, None)
    schedule = build((2, 2), ALL_GATHER_2X2, blocks, "all-gather", port_model)
    if port_model == "half-duplex":
        with pytest.raises(ScheduleError, match=r"node 1 is in two sends in one step"):
            schedule.check()
    else:
        schedule.check()
        assert problems(schedule) == set()
    short = replace(ALL_GATHER_2X2[4], blocks=[0])
    missing = build(
        (2, 2), [*ALL_GATHER_2X2[:4], short, *ALL_GATHER_2X2[5:]], blocks, "all-gather", "exchange"
    )
    with pytest.raises(ScheduleError, match=r"^node 2 is left out: no send brings it block 1$"):
        missing.check()


@pytest.mark.usefixtures("_pair_table")
def test_scatter_owes_each_node_its_own() -> None:
    blocks = Blocks(np.zeros(4), ((0,), (1,), (2,), (3,)), np.full(4, 8))
    sends = [Send(1, [0, 2], [2, 3]), Send(2, [0, 1], [1]), Send(2, [2, 3], [3])]
    build((2, 2), sends, blocks, "scatter").check()
    with pytest.raises(ScheduleError, match=r"^node 3 is left out: no send brings it block 3$"):
        build((2, 2), sends[:2], blocks, "scatter").check()
    stolen = [*sends[:2], Send(2, [2, 3], [1])]
    with pytest.raises(ScheduleError, match=r"node 2 never gets block 1$"):
        build((2, 2), stolen, blocks, "scatter").check()


def test_exchange_allows_one_partner() -> None:
    blocks = own_blocks((1,), (2,), ())
    sends = [Send(1, [0, 1], [0]), Send(1, [1, 2], [1])]
    build((3, 1), sends, blocks, "custom", "full-duplex").check()
    message = (
        "send 0 (step 1, 0 -> 1): node 1 is with two partners in one step, which exchange "
        "forbids: the other is send 1 (step 1, 1 -> 2)"
    )
    assert (
        refusal_of(build((3, 1), sends, blocks, "custom", "exchange").check, kind=ScheduleError)
        == message
    )


def test_full_duplex_allows_one_target() -> None:
    blocks = own_blocks((1,), (), (1,))
    sends = [Send(1, [0, 1], [0]), Send(1, [2, 1], [2])]
    build((3, 1), sends, blocks, "custom", "all-port").check()
    with pytest.raises(ScheduleError, match=r"node 1 is the target of two sends in one step"):
        build((3, 1), sends, blocks, "custom", "full-duplex").check()


def test_all_port_allows_one_send_by_a_port() -> None:
    star = [Send(1, [4, n]) for n in (1, 3, 5, 7)]
    blocks = Blocks(np.array([4]), ((1, 3, 5, 7),), np.array([1]))
    build((3, 3), star, blocks, "custom", "all-port").check()
    twice = [*star, Send(1, [4, 1, 0], vcs=[1, 0])]
    with pytest.raises(ScheduleError, match=r"node 4 is the source of two sends by one port"):
        build((3, 3), twice, blocks, "custom", "all-port").check()
    into = [Send(1, [0, 1, 2], [0]), Send(1, [1, 2], [1], vcs=[1])]
    with pytest.raises(ScheduleError, match=r"node 2 is the target of two sends by one port"):
        build((3, 1), into, own_blocks((2,), (2,), ()), "custom", "all-port").check()


def test_measures() -> None:
    schedule = changed(6, path=[7, 4, 5, 4, 3, 6], vcs=[0, 1, 0, 0, 0])
    assert (schedule.sends, schedule.steps, schedule.tcd) == (8, 4, 13)
    assert schedule.distances.tolist() == [2, 1, 1, 1, 1, 1, 5, 1]
    assert schedule.longest_per_step.tolist() == [2, 1, 5, 1]
    assert schedule.largest_link_load == 2
    assert schedule.pairs_sharing_links == 1
    assert build((3, 3), GOOD).pairs_sharing_links == 0
    # Two sends cross 0->1, and two cross 4->5.
    assert schedule.links_used == 11


def test_no_sends() -> None:
    schedule = build((1, 1), [])
    schedule.check()
    assert (schedule.steps, schedule.tcd) == (0, 0)
    assert (schedule.links_used, schedule.largest_link_load) == (0, 0)
    assert schedule.longest_per_step.size == 0
    with pytest.raises(ScheduleError, match=r"^node 1 is left out"):
        build((2, 1), []).check()


@pytest.mark.parametrize("port_model", PORT_MODELS)
def test_no_sends_in_any_port_model(port_model: str) -> None:
    build((1, 1), [], port_model=port_model).check()


def test_a_schedule_cannot_be_changed() -> None:
    schedule = build((3, 3), GOOD)
    with pytest.raises(AttributeError):
        schedule.root = 1  # type: ignore[misc]
    for array in (schedule.step, schedule.path_nodes, schedule.vcs, schedule.blocks.owner):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"port_model": "duplex"},
            "port model must be half-duplex, exchange, full-duplex, all-port, not duplex",
        ),
        ({"vcs": np.zeros(8)}, "vcs must be 9 long, not 8"),
        ({"target": np.zeros(7)}, "target must be 8 long, not 7"),
        ({"path_offsets": np.arange(8)}, "path_offsets must be 9 long, not 8"),
        (
            {"path_offsets": np.array([0, 1, *range(3, 16, 2), 17])[:9]},
            "path_offsets must be ascending from 0 to 17 by at least 2, "
            "not from 0 to 15 by 1 or more",
        ),
        ({"step": np.zeros((2, 4))}, "step must be an array with one axis, not with 2"),
    ],
)
def test_shapes_must_fit(changes: dict[str, object], message: str) -> None:
    assert refusal_of(replace, build((3, 3), GOOD), **changes) == message


def test_blocks_must_fit() -> None:
    message = "owner, owed and words of the blocks must be equally long, not 1, 2 and 1 long"
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        Blocks(np.array([0]), (None, None), np.array([1]))


# ---- Costs ---------------------------------------------------------------------------------------


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
