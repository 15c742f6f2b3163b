"""Schedules on networks with switches: refusals of check(), the judge, the bounds."""

import re
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from helpers.schedule_judge import KINDS, problems
from helpers.schedules import Send, build, complaint, listed
from helpers.switch_networks import fat_tree, switch_mesh, switch_star, switch_tree
from helpers.tree_networks import graph_of

from eyecast.model.collectives.shown_bounds import least_counts
from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, line
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.broadcast_bounds import least_tcd
from eyecast.model.schedule.cost import message_words
from eyecast.model.schedule.file import read_schedule, write_schedule
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule

STAR = switch_star(4)
ONE_TO_FOUR = [Send(1, [1, 0, 2]), Send(2, [1, 0, 3]), Send(2, [2, 0, 4])]


def blocks(owner: int, owed: tuple[int, ...] | None) -> Blocks:
    return Blocks(np.array([owner]), (owed,), np.array([3]))


def test_paths_cross_switches_and_null_owes_them_nothing(tmp_path: Path) -> None:
    schedule = build(STAR, ONE_TO_FOUR, blocks(1, None))
    schedule.check()
    assert problems(schedule) == set()
    assert schedule.blocks.served(STAR) == {1, 2, 3, 4}
    write_schedule(schedule, tmp_path / "schedule.json")
    back = read_schedule(tmp_path / "schedule.json")
    back.check()
    assert back.topology.switches == (0,)
    # Without its switch, the network owes the block to the node in the middle too.
    whole = build(replace(STAR, switches=()), ONE_TO_FOUR, blocks(1, None))
    assert "node 0 is left out" in complaint(whole)
    assert problems(whole) == {"left out"}


@pytest.mark.parametrize(
    ("sends", "owed_by", "collective", "message"),
    [
        (
            [Send(1, [1, 0]), *ONE_TO_FOUR[1:]],
            blocks(1, None),
            "broadcast",
            "send 0 (step 1, 1 -> 0): its target 0 is a switch, which has no network interface",
        ),
        (
            [*ONE_TO_FOUR[:2], Send(2, [0, 4])],
            blocks(1, None),
            "broadcast",
            "send 2 (step 2, 0 -> 4): its source 0 is a switch, which has no network interface",
        ),
        (
            ONE_TO_FOUR,
            blocks(1, (0, 2, 3, 4)),
            "broadcast",
            "node that is owed a block must be a node with a network interface, not switch 0",
        ),
        (
            [],
            blocks(0, (1,)),
            "custom",
            "root must be a node with a network interface, not switch 0",
        ),
    ],
)
def test_what_a_switch_cannot_do(
    sends: list[Send], owed_by: Blocks, collective: str, message: str
) -> None:
    schedule = build(STAR, sends, owed_by, collective)
    assert complaint(schedule) == message
    assert "switch" in problems(schedule)


def sabotaged(schedule: Schedule, random: Random) -> Schedule:
    """Return a schedule with one random change that concerns switches, or without a change."""
    sends, topology = listed(schedule), schedule.topology
    send = random.choice(sends)
    at = random.randrange(len(send.path))
    owed = schedule.blocks.owed[0]
    match random.randrange(7):
        case 0:
            send.path, send.target = send.path[: at + 1], send.path[at]
            send.vcs = send.vcs[:at]
        case 1:
            send.path, send.source = send.path[at:], send.path[at]
            send.vcs = send.vcs[at:]
        case 2:
            send.target = random.randrange(topology.nodes)
        case 3:
            owed = tuple(range(topology.nodes))
        case 4:
            owed = tuple(topology.working_nodes.tolist())
        case 5:
            sends.append(deepcopy(send))
        case 6:
            send.path[at] = random.randrange(topology.nodes)
    # Every path in a schedule has at least two nodes.
    sends = [send for send in sends if len(send.path) > 1]
    return build(topology, sends, replace(schedule.blocks, owed=(owed,)))


def test_check_agrees_with_the_judge() -> None:
    random = Random(18)
    kinds = {"switch": "is a switch|not switch", **KINDS}
    seen = set()
    networks = [STAR, switch_tree(), switch_mesh(2, 2, 2), fat_tree(4)]
    whole = [tree_broadcast(network, int(network.working_nodes[1]), 3) for network in networks]
    for trial in range(300):
        schedule = sabotaged(whole[trial % len(whole)], random)
        try:
            schedule.check()
            found = None
        except ScheduleError as error:
            found = next(kind for kind, words in kinds.items() if re.search(words, str(error)))
        wrong = problems(schedule)
        assert found in wrong if wrong else found is None, (wrong, found)
        seen.add(found)
    assert {None, "switch", "path", "left out", "twice"} <= seen


@pytest.mark.parametrize(
    ("topology", "least"),
    [
        (STAR, 6),  # each send crosses two links
        (switch_tree(), 2 + 2 + 4),
        (switch_mesh(3, 2), 5 * 3),
        (fat_tree(4), 8 * 2 + 4 * 4 + 3 * 6),  # within an edge switch, a pod, and between pods
        (graph_of(4, [(0, 1), (1, 2), (2, 3)], [1]), 3),  # 0 - switch - 2 - 3
        (with_faults(line(5), [4]), 3),
    ],
    ids=lambda value: getattr(value, "label", ""),
)
def test_the_least_tcd_counts_the_links_over_switches(topology: Topology, least: int) -> None:
    source = int(topology.working_nodes[0])
    schedule = tree_broadcast(topology, source, 3)
    found = least_counts(schedule)
    assert found["tcd"] == least <= schedule.tcd
    assert 2 ** found["steps"] >= len(topology.working_nodes) > 2 ** (found["steps"] - 1)


def test_the_least_tcd_looks_at_the_way_that_links_lead() -> None:
    """0 -> switch 1 -> 2 works one way only, so 2 sends to 0 by the longer path."""
    ring = graph_of(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)], [1, 3, 4, 5])
    one_way = with_faults(ring, [], [(1, 0), (2, 1)])
    assert least_tcd(one_way, [2]) == 2
    assert least_tcd(one_way, [0]) == 4


def test_switches_have_no_message_of_their_own() -> None:
    """In an all-gather around a star, each of four leaves has one block of three words."""
    leaves = [1, 2, 3, 4]
    sends = [
        Send(step, [leaf, 0, leaf % 4 + 1], [(leaf - step) % 4])
        for step in (1, 2, 3)
        for leaf in leaves
    ]
    gathered = Blocks(np.array(leaves), (None,) * 4, np.full(4, 3))
    schedule = build(STAR, sends, gathered, "all-gather", "full-duplex")
    schedule.check()
    assert problems(schedule) == set()
    assert message_words(schedule) == 3
