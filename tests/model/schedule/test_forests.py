"""The quick proof of reduced blocks: what it serves, and that it never accepts a wrong schedule."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from helpers.generated import generated
from helpers.schedules import Send, build

from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, mesh, ring, torus
from eyecast.model.schedule import forests, reduction
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.collective import Prefix
from eyecast.model.schedule.forests import proves_whole
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule

SERVED = [
    ("all-reduce", "stream-ring", torus((4, 4))),
    ("all-reduce", "ring", torus((3, 4))),
    ("all-reduce", "rings", torus((4, 4))),
    ("all-reduce", "swing", torus((4, 4))),
    ("all-reduce", "tree", mesh((3, 3))),
    ("reduce-scatter", "stream-ring", torus((4, 4))),
    ("reduce-scatter", "ring", mesh((3, 2))),
]


def made(collective: str, algorithm: str, topology: Topology) -> Schedule:
    ports = algorithm == "rings"
    return generated(collective, algorithm, topology, words=topology.nodes, all_port=ports)


@pytest.mark.parametrize("at_once", [forests.AT_ONCE, 1])
@pytest.mark.parametrize(("collective", "algorithm", "topology"), SERVED)
def test_schedules_that_use_no_value_twice_are_proved(
    collective: str,
    algorithm: str,
    topology: Topology,
    at_once: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forests, "AT_ONCE", at_once)
    assert proves_whole(made(collective, algorithm, topology))


def test_others_are_left_to_the_whole_arrays() -> None:
    # In recursive doubling, both nodes of a pair combine the same two values.
    assert not proves_whole(made("all-reduce", "recursive-doubling", mesh((4, 2))))
    assert not proves_whole(generated("all-gather", "ring", mesh((3, 2)), words=1))


ALL_TO_NEXT = [Send(1, [node, (node + 1) % 3]) for node in range(3)]


@pytest.mark.parametrize(
    ("sends", "marks", "owed", "contributors"),
    [
        ([Send(1, [0, 1]), Send(2, [2, 1])], "++", (1,), None),
        # Node 1 combines a value with itself; node 2 never sends.
        ([Send(1, [0, 1]), Send(2, [0, 1])], "=+", (1,), None),
        ([Send(1, [0, 1]), Send(2, [2, 1])], "++", (1, 2), None),
        # Node 2 contributes nothing.
        ([Send(1, [0, 1]), Send(2, [2, 1])], "++", (1,), (0, 1)),
        # Node 1 forwards the arriving sum, and at the same time its value from before.
        ([Send(1, [0, 1]), Send(1, [1, 2]), Send(1, [1, 0])], "+s=", (2,), None),
        # Streams wait for each other in a circle.
        (ALL_TO_NEXT, "sss", (), None),
    ],
)
def test_wrong_ones_are_not_proved(
    sends: list[Send],
    marks: str,
    owed: tuple[int, ...],
    contributors: tuple[int, ...] | None,
) -> None:
    blocks = replace(Blocks.reduced_to((owed,), 1, "add"), contributors=(contributors,))
    made = replace(build(ring(3), sends, blocks, "custom"), root=None)
    combine, stream = (np.array([mark in kind for mark in marks]) for kind in ("+s", "s"))
    right = marks == "++" and owed == (1,) and contributors is None
    assert proves_whole(replace(made, combine=combine, stream=stream)) == right


def test_faulty_nodes_and_blocks_without_words_are_left_out() -> None:
    topology = with_faults(ring(4), [3])
    blocks = Blocks.reduced_to((None, None), [1, 0], "add")
    into = [Send(1, [0, 1], [0]), Send(2, [2, 1], [0])]
    back = [Send(3, [1, 0], [0]), Send(4, [1, 2], [0])]
    made = replace(build(topology, into + back, blocks, "custom"), root=None)
    made = replace(made, combine=made.step < 3)
    assert proves_whole(made)
    source = np.where(made.step == 2, np.int32(3), made.source)
    assert not proves_whole(replace(made, source=source))


def test_a_scan_is_no_all_reduce() -> None:
    right = made("all-reduce", "tree", mesh((3, 3)))
    prefix = (Prefix.INCLUSIVE,) * len(right.blocks)
    assert not proves_whole(replace(right, blocks=replace(right.blocks, prefix=prefix)))


def test_a_large_schedule_is_proved_by_loops_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "_check_some", lambda *_: pytest.fail("it is proved again"))
    large = made("all-reduce", "stream-ring", torus((32, 32)))
    assert large.block_ids.size > reduction.QUICK
    large.check()


@pytest.mark.parametrize(("collective", "algorithm", "topology"), SERVED)
def test_only_right_schedules_are_proved(
    collective: str, algorithm: str, topology: Topology
) -> None:
    random, right = Random(52), made(collective, algorithm, topology)
    seen = {True: 0, False: 0}
    for _ in range(40):
        changed = _changed(right, random)
        try:
            proved = proves_whole(changed)
        except ScheduleError:
            # Its streams are wrong.
            continue
        seen[proved] += 1
        if proved:
            reduction.check_reductions(changed)
    assert seen[False] > 3


def _changed(schedule: Schedule, random: Random) -> Schedule:
    """Return a schedule with one send that is changed, or two that change places."""
    send, other = random.sample(range(schedule.sends), 2)
    match random.randrange(4):
        case 0:
            kept = np.delete(np.arange(schedule.sends), send)
            counts = np.diff(schedule.block_offsets)
            carried = np.repeat(np.arange(schedule.sends), counts) != send
            offsets = np.append(0, np.cumsum(counts[kept]))
            return schedule.with_sends(
                kept, schedule.step[kept], offsets, schedule.block_ids[carried]
            )
        case 1:
            combine = schedule.combine.copy()
            combine[send] ^= True
            return replace(schedule, combine=combine)
        case 2:
            step = schedule.step.copy()
            step[send] = random.randint(1, schedule.steps + 1)
            return replace(schedule, step=step)
    target = schedule.target.copy()
    target[[send, other]] = target[[other, send]]
    return replace(schedule, target=target)
