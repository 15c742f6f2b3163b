"""Reductions with random changes: the proof and the judge agree on each.

The judge counts contributions one by one, for each node and step (tests/helpers/schedule_judge.py);
the proof never lists them.
"""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from random import Random

import pytest
from helpers.schedule_judge import REDUCED_KINDS, problems
from helpers.schedules import Send, build, listed

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule


def named(schedule: Schedule) -> str | None:
    """Return the kind of rule that check() names as broken; None if it finds nothing."""
    try:
        schedule.check()
    except ScheduleError as error:
        kinds = [kind for kind, words in REDUCED_KINDS.items() if re.search(words, str(error))]
        assert len(kinds) == 1, str(error)
        assert "\n" not in str(error)
        return kinds[0]
    return None


def made(topology: Topology, collective: str, algorithm: str) -> Schedule:
    root = 0 if collective == "reduce" else None
    request = Request(topology=topology, words=topology.nodes, source=root)
    return find_algorithm(collective, algorithm).generate(request)


ORIGINALS = [
    made(mesh((4, 4)), "reduce", "eye"),
    made(mesh((3, 3)), "reduce", "tree"),
    made(mesh((4, 2)), "all-reduce", "recursive-doubling"),
    made(mesh((3, 2)), "all-reduce", "tree"),
    made(mesh((3, 2)), "all-reduce", "ring"),
    made(mesh((3, 2)), "reduce-scatter", "circulant"),
]


def rebuilt(schedule: Schedule, sends: list[Send]) -> Schedule:
    """Return the schedule with other sends of the same blocks."""
    again = build(schedule.topology, sends, schedule.blocks, schedule.collective)
    return replace(again, root=schedule.root, port_model=schedule.port_model)


def sabotaged(schedule: Schedule, random: Random) -> Schedule:
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


def test_check_agrees_with_the_judge() -> None:
    random = Random(2026)
    seen: Counter[str | None] = Counter()
    for trial in range(600):
        schedule = sabotaged(ORIGINALS[trial % len(ORIGINALS)], random)
        kinds, kind = problems(schedule), named(schedule)
        assert kind in kinds if kinds else kind is None, (kinds, kind)
        seen[kind] += 1
    assert {None, "twice", "left out", "ports"} <= set(seen)


@pytest.mark.parametrize("original", ORIGINALS, ids=repr)
def test_the_judge_finds_nothing_in_what_is_made(original: Schedule) -> None:
    assert problems(original) == set()


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
            assert named(wrong) in kinds
