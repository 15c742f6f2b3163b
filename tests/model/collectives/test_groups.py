"""Groups: several collectives at once, each as it is alone, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from helpers.command import Command

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.groups import boxes_of, part_of, side_by_side
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.collectives.least import schedule_bound
from eyecast.model.collectives.streaming.chain import chain_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import mesh, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.schedule.groups import require_groups
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule


def rows_of_broadcasts(width: int, height: int) -> Schedule:
    network = mesh((width, height))
    parts = [part_of(network, nodes) for nodes in boxes_of(network, (width, 1), "rows")]
    return side_by_side(network, [(part, chain_broadcast(part.topology, 0, 9)) for part in parts])


def test_rows_do_what_one_row_does() -> None:
    made = rows_of_broadcasts(4, 3)
    made.check()
    assert made.groups == ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11))
    case = Case.of(compile_certified(made, {}), timing=Timing.BARRIER, seed=1)
    assert case.payload.delivered(case.predicted.memory, made.topology).all()
    alone = chain_broadcast(mesh((4, 1)), 0, 9)
    one = Case.of(compile_certified(alone, {}), timing=Timing.BARRIER, seed=1)
    assert case.predicted.cycles == one.predicted.cycles
    assert schedule_bound(made).value == schedule_bound(alone).value


def test_parts_are_networks_of_their_own() -> None:
    assert part_of(torus((4, 4)), (4, 5, 6, 7)).topology.wrapped == (0,)
    assert part_of(torus((4, 4)), (4, 5)).topology.wrapped == ()
    broken = with_faults(mesh((4, 4)), [5])
    part = part_of(broken, (0, 1, 4))
    assert part.members == (0, 1, 4)
    assert part.topology.nodes == 16


def test_a_send_that_leaves_its_group_is_refused() -> None:
    made = eye_broadcast(mesh((2, 2)), 0, 4)
    with pytest.raises(ScheduleError, match="leads from one group to another, or to none"):
        replace(made, collective="custom", root=None, groups=((0, 1), (2, 3))).check()


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([(0, 1), (1, 2)], "nodes of group 1 must be in no other group, not node 1, which is in "),
        ([(0, 5)], "node of group 0 must be a working node, not faulty node 5"),
        ([(0, 99)], "node of group 0 must be 0 to 15, not 99"),
        ([(0,)], "nodes of group 0 must be 2 or more, not 1"),
    ],
)
def test_groups_that_cannot_be(groups: list[tuple[int, ...]], words: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        require_groups(with_faults(mesh((4, 4)), [5]), groups)
    assert str(caught.value).startswith(words)


FILE = """{"format": "eyecast-groups", "version": 1, "groups": [
    {"nodes": [0, 1, 2], "collective": "broadcast", "root": 2, "words": 5, "algorithm": "tree"},
    {"nodes": [4, 5, 8, 9], "collective": "all-gather", "algorithm": "ring"}]}"""


def test_groups_of_a_file(eyecast: Command, here: object) -> None:
    with open("groups.json", "w") as file:  # noqa: PTH123
        file.write(FILE)
    answer = eyecast("predict", "--mesh", "4x4", "--group", "groups.json", "--flits", "3", "--json")
    assert answer.status == 0, answer.errors
    for group, words in (("rows", "a source must be given"), ("submesh 3x4", "group must be of ")):
        refused = eyecast("schedule", "--mesh", "4x4", "--group", group, "--source", "0,0")
        refused = (
            eyecast("schedule", "--mesh", "4x4", "--group", group) if group == "rows" else refused
        )
        assert refused.status == 2
        assert refused.errors.startswith(f"eyecast: {words}")
