"""check() against the judge, a second checker, on thousands of schedules with random faults."""

from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from itertools import cycle
from random import Random

import numpy as np
import pytest
from helpers.generated import generated
from helpers.schedule_judge import KINDS, REDUCED_KINDS, named, problems
from helpers.schedules import Send, build, listed

from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.network.port_model import PORT_MODELS
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.schedule import Schedule


def agreement(schedules: Iterable[Schedule], kinds: dict[str, str]) -> Counter[str | None]:
    """Require that check() names a rule that the judge finds broken; count the rules named."""
    seen: Counter[str | None] = Counter()
    for schedule in schedules:
        found, kind = problems(schedule), named(schedule, kinds)
        assert kind in found if found else kind is None, (found, kind)
        seen[kind] += 1
    return seen


def sabotaged(schedule: Schedule, random: Random) -> Schedule:
    """Return a schedule with one to three random changes."""
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
                some = range(-1, len(schedule.blocks) + 1)
                send.blocks = random.choices(some, k=random.randint(1, 2))
            case 6:
                other = random.choice(sends)
                send.step, other.step = other.step, send.step
            case 7:
                send.path, send.source, send.target = send.path[::-1], send.target, send.source
            case 8:
                send.target = random.randrange(16)
            case 9:
                at, x, y = random.randrange(len(send.path)), *random.choice([(1, 4), (-4, -1)])
                here = send.path[at]
                # One turns back; the other goes round, the second time by the same links.
                detours = [here + x, here], [here + x, here + x + y, here + y, here]
                detour = random.choice(detours) * random.randint(1, 2)
                send.path[at + 1 : at + 1] = detour
                send.vcs = [*send.vcs, *(random.randrange(2) for _ in detour)]
    return replace(
        build((4, 4), sends, schedule.blocks, schedule.collective),
        port_model=random.choice(PORT_MODELS),
    )


def scatter_along(broadcast: Schedule) -> Schedule:
    """Return a scatter by a broadcast's sends: each carries the blocks of the nodes it leads to."""
    nodes = range(broadcast.topology.nodes)
    sends = listed(broadcast)
    waiting = {node: [node] for node in nodes}
    for send in sorted(sends, key=lambda send: -send.step):
        send.blocks = waiting[send.target]
        waiting[send.source] = waiting[send.source] + send.blocks
    owner = np.full(len(nodes), broadcast.root)
    blocks = Blocks(owner, tuple((node,) for node in nodes), np.ones(len(nodes)))
    return build(broadcast.topology.dims, sends, blocks, "scatter")


@pytest.mark.usefixtures("_pair_table")
def test_check_agrees_with_the_judge() -> None:
    random = Random(1998)
    originals = [eye_broadcast(mesh((4, 4)), source, 3) for source in range(16)]
    drawn = (
        sabotaged(scatter_along(original) if trial % 3 == 0 else original, random)
        for trial, original in zip(range(240), cycle(originals))
    )
    assert set(agreement(drawn, KINDS)) == {None, *KINDS}


def test_judge_finds_nothing_in_the_eye_broadcast() -> None:
    for source in range(16):
        assert problems(eye_broadcast(mesh((4, 4)), source, 1)) == set()


def test_judge_follows_wrapped_axes_and_streams() -> None:
    ring = tree_broadcast(torus((6,)), 0, 1)
    assert any({0, 5} <= {*send.path} for send in listed(ring))
    assert problems(replace(ring, port_model="all-port")) == set()

    def on_a_line(*sends: Send) -> set[str]:
        return problems(replace(build((4,), list(sends)), port_model="full-duplex"))

    first, second = Send(1, [0, 1]), Send(1, [1, 2], stream=True)
    third = Send(1, [2, 3], stream=True)
    assert on_a_line(third, second, first) == set()
    assert on_a_line(first, replace(second, stream=False), third) == {"early"}
    assert "early" in on_a_line(first, third, Send(1, [3, 2], stream=True))


# ---- Reductions ---------------------------------------------------------------------------


def made(topology: Topology, collective: str, algorithm: str) -> Schedule:
    root = 0 if collective == "reduce" else None
    return generated(collective, algorithm, topology, words=topology.nodes, source=root)


ORIGINALS = [
    made(mesh((4, 4)), "reduce", "eye"),
    made(mesh((3, 3)), "reduce", "tree"),
    made(mesh((4, 2)), "all-reduce", "recursive-doubling"),
    made(mesh((3, 2)), "all-reduce", "tree"),
    made(mesh((3, 2)), "all-reduce", "ring"),
    made(mesh((3, 2)), "reduce-scatter", "circulant"),
    made(mesh((3, 2)), "scan", "hillis-steele"),
    made(mesh((3, 3)), "exscan", "brent-kung"),
]


def rebuilt(schedule: Schedule, sends: list[Send]) -> Schedule:
    """Return the schedule with other sends of the same blocks."""
    again = build(schedule.topology, sends, schedule.blocks, schedule.collective)
    return replace(again, root=schedule.root, port_model=schedule.port_model)


def sabotaged_reduction(schedule: Schedule, random: Random) -> Schedule:
    """Return a schedule with one or two random changes."""
    sends = listed(schedule)
    for _ in range(random.randint(1, 2)):
        send = random.choice(sends)
        match random.randrange(6):
            case 0 if len(sends) > 1:
                sends.remove(send)
            case 1:
                again = deepcopy(send)
                again.step = random.randint(1, schedule.steps + 1)
                sends.append(again)
            case 2:
                send.step = random.randint(1, schedule.steps + 1)
            case 3:
                send.combine = not send.combine
            case 4:
                send.blocks = [random.randrange(len(schedule.blocks))]
            case 5:
                other = random.choice(sends)
                send.step, other.step = other.step, send.step
    return rebuilt(schedule, sends)


@pytest.mark.usefixtures("_both_proofs")
@pytest.mark.parametrize("operator", ["add", "max"])
def test_check_agrees_with_the_judge_of_reductions(operator: str) -> None:
    random = Random(2026)
    drawn = (
        by_operator(sabotaged_reduction(original, random), operator)
        for _, original in zip(range(150), cycle(ORIGINALS))
    )
    seen = agreement(drawn, REDUCED_KINDS)
    assert {None, "left out", "ports"} <= set(seen)
    assert (seen["twice"] > 0) == (operator == "add")


def by_operator(schedule: Schedule, operator: str) -> Schedule:
    """Return a schedule of reduced blocks with another operator."""
    blocks = replace(schedule.blocks, operator=(operator,) * len(schedule.blocks))
    return replace(schedule, blocks=blocks, requests=())


@pytest.mark.parametrize("original", ORIGINALS, ids=repr)
def test_the_judge_finds_nothing_in_reductions(original: Schedule) -> None:
    assert problems(original) == set()


@pytest.mark.usefixtures("_both_proofs")
@pytest.mark.parametrize("original", ORIGINALS, ids=repr)
def test_each_single_sabotage_is_noticed_by_both(original: Schedule) -> None:
    """Change a send in four ways: made twice, left out, made late, or replaced for combined."""
    plain = replace(original, port_model="all-port")
    for place in range(0, original.sends, 5):
        first = listed(plain)[place]
        changes = {
            "twice": lambda sends, first=first: [*sends, replace(first, step=original.steps + 1)],
            "left out": lambda sends, place=place: sends[:place] + sends[place + 1 :],
            "late": lambda sends, place=place: [
                replace(send, step=original.steps + 1 if at == place else send.step)
                for at, send in enumerate(sends)
            ],
            "replaced": lambda sends, place=place: [
                replace(send, combine=send.combine != (at == place))
                for at, send in enumerate(sends)
            ],
        }
        for name, change in changes.items():
            wrong = rebuilt(plain, change(listed(plain)))
            wrong = replace(wrong, port_model="all-port")
            kinds = problems(wrong) & {"early", "left out", "twice", "order"}
            if name == "late" and not kinds:
                continue  # the last sends may be later
            if name == "twice" and not first.combine:
                continue  # a second copy of the result is no error
            assert kinds, name
            assert named(wrong, REDUCED_KINDS) in kinds
