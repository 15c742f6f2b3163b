"""Schedules: their measures, and that check() names whatever is wrong.

The judge here, :func:`problems`, is a second checker: plain loops over one send after the other,
written from the rules themselves, sharing no code with the first.
"""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from random import Random

import numpy as np
import pytest
from eyecast.model import schedule_checks
from eyecast.model.errors import InvalidInput
from eyecast.model.eye import eye_broadcast
from eyecast.model.schedule import PORT_MODELS, Blocks, Schedule
from eyecast.model.schedule_checks import ScheduleError
from eyecast.model.topology import mesh


@dataclass
class Send:
    """One send as a person writes it."""

    step: int
    path: list[int]
    blocks: list[int] = field(default_factory=lambda: [0])
    vcs: list[int] | None = None
    source: int | None = None
    target: int | None = None


def offsets(lists: list[list[int]]) -> np.ndarray:
    return np.cumsum([0, *map(len, lists)])


def joined(lists: list[list[int]]) -> list[int]:
    return list(chain.from_iterable(lists))


def build(
    dims: tuple[int, ...],
    sends: list[Send],
    blocks: Blocks | None = None,
    collective: str = "broadcast",
    port_model: str = "half-duplex",
) -> Schedule:
    paths = [send.path for send in sends]
    vcs = [[0] * (len(s.path) - 1) if s.vcs is None else s.vcs for s in sends]
    return Schedule(
        topology=mesh(dims),
        collective=collective,
        algorithm="by hand",
        port_model=port_model,
        root=None,
        blocks=blocks or Blocks.of_broadcast(0, 4),
        step=np.array([s.step for s in sends]),
        source=np.array([s.path[0] if s.source is None else s.source for s in sends]),
        target=np.array([s.path[-1] if s.target is None else s.target for s in sends]),
        path_offsets=offsets(paths),
        path_nodes=np.array(joined(paths)),
        vcs=np.array(joined(vcs)),
        block_offsets=offsets([s.blocks for s in sends]),
        block_ids=np.array(joined([s.blocks for s in sends])),
    )


def listed(schedule: Schedule) -> list[Send]:
    """The sends of a schedule, one by one."""
    sends = []
    for i in range(schedule.sends):
        begin, end = (int(offset) for offset in schedule.path_offsets[i : i + 2])
        block_begin, block_end = (int(offset) for offset in schedule.block_offsets[i : i + 2])
        sends.append(
            Send(
                step=int(schedule.step[i]),
                path=schedule.path_nodes[begin:end].tolist(),
                blocks=schedule.block_ids[block_begin:block_end].tolist(),
                vcs=schedule.vcs[begin - i : end - i - 1].tolist(),
                source=int(schedule.source[i]),
                target=int(schedule.target[i]),
            )
        )
    return sends


def problems(schedule: Schedule) -> set[str]:
    """Kinds of rule that a schedule on a mesh breaks; empty for a correct one."""
    dims = schedule.topology.dims
    nodes = int(np.prod(dims))
    sends = listed(schedule)
    for send in sends:
        inside = all(0 <= n < nodes for n in [*send.path, send.source, send.target])
        vcs_exist = all(0 <= vc < 256 for vc in send.vcs)
        blocks_exist = all(0 <= block < len(schedule.blocks) for block in send.blocks)
        if send.step < 1 or not (inside and vcs_exist and blocks_exist):
            return {"range"}

    found = {"path"} if any(not connected(send, dims) for send in sends) else set()
    has = {n: Counter() for n in range(nodes)}
    for block, owner in enumerate(schedule.blocks.owner.tolist()):
        has[owner][block] += 1
    for step in sorted({send.step for send in sends}):
        now = [send for send in sends if send.step == step]
        if any(not has[send.source][block] for send in now for block in send.blocks):
            found.add("early")
        for send in now:
            has[send.target].update(send.blocks)
        found |= step_problems(now, schedule.port_model)
    for block, owed in enumerate(schedule.blocks.owed):
        if any(not has[node][block] for node in (range(nodes) if owed is None else owed)):
            found.add("left out")
    if schedule.collective == "broadcast" and any(n > 1 for c in has.values() for n in c.values()):
        found.add("twice")
    return found


def connected(send: Send, dims: tuple[int, ...]) -> bool:
    """Whether the path leads from neighbour to neighbour, from the source to another node."""

    def place(node: int) -> list[int]:
        digits = []
        for side in dims:
            node, digit = divmod(node, side)
            digits.append(digit)
        return digits

    hops = [
        sum(abs(p - q) for p, q in zip(place(a), place(b), strict=True))
        for a, b in pairwise(send.path)
    ]
    ends = (send.path[0], send.path[-1]) == (send.source, send.target)
    return ends and send.source != send.target and set(hops) == {1}


def step_problems(sends: list[Send], port_model: str) -> set[str]:
    """Kinds of rule that the sends of one step break among themselves."""
    found = set()
    crossed = [
        (a, b, vc)
        for send in sends
        for a, b, vc in zip(send.path, send.path[1:], send.vcs, strict=False)
    ]
    if len(set(crossed)) < len(crossed):
        found.add("link")
    for i, one in enumerate(sends):
        for other in sends[:i]:
            same_source, same_target = one.source == other.source, one.target == other.target
            meet = {one.source, one.target} & {other.source, other.target}
            swap = (one.source, one.target) == (other.target, other.source)
            chained = one.source == other.target or one.target == other.source
            same_out = same_source and one.path[1] == other.path[1]
            same_in = same_target and one.path[-2] == other.path[-2]
            forbidden = {
                "half-duplex": bool(meet),
                "full-duplex": same_source or same_target,
                "exchange": same_source or same_target or (chained and not swap),
                "all-port": same_out or same_in,
            }
            if forbidden[port_model]:
                found.add("ports")
    return found


KINDS = {
    "range": "must be",
    "path": "path (begins|ends) at|path has a gap|sends to itself",
    "early": "never gets block|only by send",
    "left out": "is left out",
    "twice": "is reached twice",
    "ports": "forbids",
    "link": "shares link|crosses link",
}


def named(schedule: Schedule) -> str | None:
    """The kind of rule that check() says is broken, None if it finds nothing."""
    try:
        schedule.check()
    except ScheduleError as error:
        kinds = [kind for kind, words in KINDS.items() if re.search(words, str(error))]
        assert len(kinds) == 1, str(error)
        assert "\n" not in str(error)
        return kinds[0]
    return None


def sabotaged(schedule: Schedule, random: Random) -> Schedule:
    """A schedule with one to three things changed at random."""
    sends = listed(schedule)
    for _ in range(random.randint(1, 3)):
        if not sends:
            break
        i = random.randrange(len(sends))
        send = sends[i]
        match random.randrange(10):
            case 0:
                del sends[i]
            case 1:
                sends.insert(random.randrange(len(sends)), deepcopy(send))
            case 2:
                send.step = random.randint(0, schedule.steps + 1)
            case 3:
                send.path[random.randrange(len(send.path))] = random.randrange(-1, 17)
            case 4:
                send.vcs = [random.choice([0, 0, 1, 1, -1, 256]) for _ in send.vcs]
            case 5:
                send.blocks = [random.randint(-1, len(schedule.blocks))]
            case 6:
                other = random.choice(sends)
                send.step, other.step = other.step, send.step
            case 7:
                send.path, send.source, send.target = send.path[::-1], send.target, send.source
            case 8:
                send.target = random.randrange(16)
            case 9:
                at, step = random.randrange(len(send.path)), random.choice([-4, -1, 1, 4])
                here = send.path[at]
                detour = [here + step, here] * random.randint(1, 2)
                send.path[at + 1 : at + 1] = detour
                send.vcs = [*send.vcs, *(random.randrange(2) for _ in detour)]
    return replace(
        build((4, 4), sends, schedule.blocks, schedule.collective),
        port_model=random.choice(PORT_MODELS),
    )


def scatter_along(broadcast: Schedule) -> Schedule:
    """Scatter by the sends of a broadcast: each carries the blocks of all who wait behind it."""
    nodes = range(broadcast.topology.nodes)
    sends = listed(broadcast)
    waiting = {node: [node] for node in nodes}
    for send in sorted(sends, key=lambda send: -send.step):
        send.blocks = waiting[send.target]
        waiting[send.source] = waiting[send.source] + send.blocks
    owner = np.full(len(nodes), broadcast.root)
    blocks = Blocks(owner, tuple((node,) for node in nodes), np.ones(len(nodes)))
    return build(broadcast.topology.dims, sends, blocks, "scatter")


@pytest.fixture(params=[schedule_checks.LARGEST_PAIR_TABLE, 0], ids=["whole", "sparse"])
def _pair_table(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways in which check() keeps who has which block."""
    monkeypatch.setattr(schedule_checks, "LARGEST_PAIR_TABLE", request.param)


@pytest.mark.usefixtures("_pair_table")
def test_check_agrees_with_the_judge() -> None:
    random = Random(1998)
    seen = Counter()
    for trial in range(2000):
        original = eye_broadcast(mesh((4, 4)), trial % 16, 3)
        if trial % 3 == 0:
            original = scatter_along(original)
        schedule = sabotaged(original, random)
        kinds, kind = problems(schedule), named(schedule)
        assert kind in kinds if kinds else kind is None, (kinds, kind)
        seen[kind] += 1
    assert set(seen) == {None, *KINDS}


def test_judge_finds_nothing_in_the_eye_broadcast() -> None:
    for source in range(64):
        assert problems(eye_broadcast(mesh((8, 8)), source, 1)) == set()


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
    "left out": (
        build((3, 3), GOOD[:-1]),
        "node 8 is left out: no send brings it block 0",
    ),
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
    "wrong end": (
        changed(0, path=[0, 1], target=4),
        "send 0 (step 1, 0 -> 4): its path ends at 1",
    ),
    "to itself": (
        added(Send(5, [0, 1, 0])),
        "send 8 (step 5, 0 -> 0): a node sends to itself",
    ),
    "two sends of a node": (
        changed(3, step=2),
        "send 3 (step 2, 0 -> 3): node 0 is in two sends in one step, which half-duplex forbids: "
        "the other is send 1 (step 2, 0 -> 1)",
    ),
    "link": (
        changed(6, path=[7, 4, 5, 4, 3, 6]),
        "send 6 (step 3, 7 -> 6): it shares link 4 -> 5, VC 0 with send 5 (step 3, 4 -> 5)",
    ),
    "link, other VC": (
        changed(6, path=[7, 4, 5, 4, 3, 6], vcs=[0, 1, 0, 0, 0]),
        None,
    ),
    "link twice": (
        changed(7, path=[5, 4, 5, 4, 7, 8]),
        "send 7 (step 4, 5 -> 8): its path crosses link 5 -> 4, VC 0 twice",
    ),
    "VC": (
        changed(0, vcs=[0, -1]),
        "send 0 (step 1, 0 -> 4): VC must be 0 to 255, not -1",
    ),
    "step": (
        changed(0, step=0),
        "send 0 (step 0, 0 -> 4): step must be 1 to 1048576, not 0",
    ),
    "node": (
        changed(7, path=[5, 9], target=8),
        "send 7 (step 4, 5 -> 8): node of the path must be 0 to 8, not 9",
    ),
    "source": (
        changed(7, source=-1),
        "send 7 (step 4, -1 -> 8): source must be 0 to 8, not -1",
    ),
    "target": (
        changed(7, target=9),
        "send 7 (step 4, 5 -> 9): target must be 0 to 8, not 9",
    ),
    "block": (
        changed(7, blocks=[1]),
        "send 7 (step 4, 5 -> 8): block must be 0 to 0, not 1",
    ),
    "owner": (
        build((3, 3), GOOD, Blocks.of_broadcast(9, 1)),
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
        (1, "owner must be the root 1 in a broadcast, not 0"),
    ],
)
def test_check_names_a_wrong_root(root: int, message: str) -> None:
    with pytest.raises(ScheduleError, match=f"^{message}$"):
        replace(build((3, 3), GOOD), root=root).check()
    replace(build((3, 3), GOOD), root=0).check()


def test_order_in_the_table_does_not_matter() -> None:
    build((3, 3), GOOD[::-1]).check()
    twice = [Send(5, [7, 8]), *GOOD[::-1]]
    with pytest.raises(ScheduleError) as caught:
        build((3, 3), twice).check()
    assert str(caught.value) == (
        "send 0 (step 5, 7 -> 8): node 8 is reached twice with block 0, first by "
        "send 1 (step 4, 5 -> 8)"
    )


def test_the_first_send_is_of_the_lowest_step() -> None:
    sends = [replace(GOOD[7], path=[5, 4, 8]), replace(GOOD[0], path=[0, 4]), *GOOD[1:7]]
    with pytest.raises(ScheduleError, match=re.escape("send 1 (step 1, 0 -> 4)")):
        build((3, 3), sends).check()


def own_blocks(*owed: tuple[int, ...] | None) -> Blocks:
    """Block i belongs to node i and is owed to the i-th of ``owed``."""
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
        (2, 2),
        [*ALL_GATHER_2X2[:4], short, *ALL_GATHER_2X2[5:]],
        blocks,
        "all-gather",
        "exchange",
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
    build((3, 1), sends, blocks, "shift", "full-duplex").check()
    message = (
        "send 0 (step 1, 0 -> 1): node 1 is with two partners in one step, which exchange "
        "forbids: the other is send 1 (step 1, 1 -> 2)"
    )
    with pytest.raises(ScheduleError, match=f"^{re.escape(message)}$"):
        build((3, 1), sends, blocks, "shift", "exchange").check()


def test_full_duplex_allows_one_target() -> None:
    blocks = own_blocks((1,), (), (1,))
    sends = [Send(1, [0, 1], [0]), Send(1, [2, 1], [2])]
    build((3, 1), sends, blocks, "gather", "all-port").check()
    with pytest.raises(ScheduleError, match=r"node 1 is the target of two sends in one step"):
        build((3, 1), sends, blocks, "gather", "full-duplex").check()


def test_all_port_allows_one_send_by_a_port() -> None:
    star = [Send(1, [4, n]) for n in (1, 3, 5, 7)]
    blocks = Blocks(np.array([4]), ((1, 3, 5, 7),), np.array([1]))
    build((3, 3), star, blocks, port_model="all-port").check()
    twice = [*star, Send(1, [4, 1, 0], vcs=[1, 0])]
    with pytest.raises(ScheduleError, match=r"node 4 is the source of two sends by one port"):
        build((3, 3), twice, blocks, port_model="all-port").check()
    into = [Send(1, [0, 1, 2], [0]), Send(1, [1, 2], [1], vcs=[1])]
    with pytest.raises(ScheduleError, match=r"node 2 is the target of two sends by one port"):
        build((3, 1), into, own_blocks((2,), (2,), ()), "gather", "all-port").check()


def test_measures() -> None:
    schedule = changed(6, path=[7, 4, 5, 4, 3, 6], vcs=[0, 1, 0, 0, 0])
    assert (schedule.sends, schedule.steps, schedule.tcd) == (8, 4, 13)
    assert schedule.distances.tolist() == [2, 1, 1, 1, 1, 1, 5, 1]
    assert schedule.sends_per_step.tolist() == [1, 2, 4, 1]
    assert schedule.distance_per_step.tolist() == [2, 2, 8, 1]
    assert schedule.longest_per_step.tolist() == [2, 1, 5, 1]
    assert schedule.largest_link_load == 2
    # 0->1 and 4->5 are crossed by two sends.
    assert schedule.links_used == 11


def test_no_sends() -> None:
    schedule = build((1, 1), [])
    schedule.check()
    assert (schedule.steps, schedule.tcd) == (0, 0)
    assert (schedule.links_used, schedule.largest_link_load) == (0, 0)
    assert schedule.sends_per_step.size == schedule.longest_per_step.size == 0
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
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        replace(build((3, 3), GOOD), **changes)


def test_blocks_must_fit() -> None:
    message = "owner, owed and words of the blocks must be equally long, not 1, 2 and 1 long"
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        Blocks(np.array([0]), (None, None), np.array([1]))
