"""check() against the judge, a second checker, on thousands of schedules with random faults."""

from __future__ import annotations

import re
from collections import Counter
from copy import deepcopy
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from helpers.schedule_judge import KINDS, problems
from helpers.schedules import build, listed

from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.network.port_model import PORT_MODELS
from eyecast.model.network.topology import mesh
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule


def named(schedule: Schedule) -> str | None:
    """Return the kind of rule that check() names as broken; None if it finds nothing."""
    try:
        schedule.check()
    except ScheduleError as error:
        kinds = [kind for kind, words in KINDS.items() if re.search(words, str(error))]
        assert len(kinds) == 1, str(error)
        assert "\n" not in str(error)
        return kinds[0]
    return None


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
