"""A collective's promise against its blocks: each kept, and broken in each way."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.every_schedule import every_schedule
from helpers.refusals import refusal_of

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.tree.broadcast import partial_tree_broadcast, tree_broadcast
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh
from eyecast.model.schedule.blocks import CUSTOM, Blocks
from eyecast.model.schedule.collective import COLLECTIVES, ROOTLESS
from eyecast.model.schedule.promises import require_promise
from eyecast.model.schedule.schedule import Schedule

EVERY = None
LINE = mesh((3, 1))


def promising(
    collective: str,
    root: int | None,
    *blocks: tuple[int, tuple[int, ...] | None],
    topology: Topology = LINE,
) -> Schedule:
    """Return a schedule without sends, with each block's owner and the nodes that are owed it."""
    nothing = np.zeros(0, np.int32)
    owner, owed = zip(*blocks, strict=True)
    return Schedule(
        topology=topology,
        collective=collective,
        algorithm="by hand",
        port_model="all-port",
        root=root,
        blocks=Blocks(np.array(owner), owed, np.ones(len(owner), np.int32)),
        **dict.fromkeys(("step", "source", "target", "path_nodes", "vcs", "block_ids"), nothing),
        **dict.fromkeys(("path_offsets", "block_offsets"), np.zeros(1, np.int64)),
    )


WITHOUT_LAST = with_faults(LINE, [2])
PAIRS = [(a, (b,)) for a in range(3) for b in range(3) if a != b]
CENTRE = (1, (0,)), (1, (2,)), (2, (1,))
KEPT = [
    promising("broadcast", 0, (0, EVERY), (0, (1, 2))),
    promising("broadcast", 0, (0, EVERY), topology=WITHOUT_LAST),
    promising("broadcast", 0, (0, (1,)), topology=WITHOUT_LAST),
    promising("multicast", 0, (0, (2,)), (0, (2,))),
    promising("scatter", 1, (1, (0,)), (1, (2,)), (1, (2,))),
    promising("gather", 1, (0, (1,)), (2, (1,))),
    promising("all-gather", None, (0, EVERY), (1, EVERY), (2, (0, 1))),
    promising("all-to-all", None, *PAIRS),
    promising("neighbor", None, (0, (1,)), *CENTRE),
    promising("halo", None, (0, (1,)), (0, (1,)), *CENTRE),
    promising("custom", 0, (0, ()), (2, (1,))),
]
BROKEN = [
    (promising("broadcast", 0, (0, (1,))), "block 0 is not owed to node 2"),
    (promising("broadcast", 0, (0, ())), "block 0 is not owed to node 1"),
    (promising("broadcast", 0, (0, EVERY), (1, EVERY)), "block 1 is owned by node 1, not 0"),
    (promising("multicast", 0, (0, (2,)), (0, (1,))), "block 1 is owed to others than block 0"),
    (promising("scatter", 0, (0, (1,))), "node 2 is owed nothing"),
    (promising("scatter", 0, (0, (1, 2))), "block 0 is owed to 2 nodes"),
    (promising("gather", 0, (1, (0,))), "node 2 has no block"),
    (promising("gather", 0, (1, (0,)), (2, (1,))), "block 1 is owed to others than the root 0"),
    (promising("all-gather", None, (0, EVERY), (1, EVERY)), "node 2 has no block"),
    (promising("all-gather", None, (0, (1,))), "block 0 is not owed to node 2"),
    (promising("all-to-all", None, *PAIRS[:-1]), "node 1 is owed nothing of node 2"),
    (promising("all-to-all", None, (0, (1, 2))), "block 0 is owed to 2 nodes"),
    (promising("neighbor", None, *CENTRE), "node 1 is owed nothing of node 0"),
    (promising("neighbor", None, *PAIRS), "block 1 goes from node 0 to node 2"),
    (promising("halo", None, *PAIRS), "block 1 goes from node 0 to node 2"),
]


@pytest.mark.parametrize("schedule", KEPT, ids=lambda schedule: schedule.collective)
def test_promises_that_are_kept(schedule: Schedule) -> None:
    require_promise(schedule)


@pytest.mark.parametrize(("schedule", "why"), BROKEN)
def test_promises_that_are_broken(schedule: Schedule, why: str) -> None:
    line = f"collective must be custom, not {schedule.collective}: {why}"
    assert refusal_of(schedule.check) == line
    require_promise(replace(schedule, collective=CUSTOM))


def test_a_name_that_there_is_not() -> None:
    line = (
        "collective must be broadcast, multicast, scatter, gather, all-gather, all-to-all, "
        "neighbor, halo, reduce, reduce-scatter, all-reduce, barrier, scan, exscan or custom, not "
        "'Broadcast'"
    )
    assert refusal_of(promising("Broadcast", 0, (0, EVERY)).check) == line


@pytest.mark.parametrize("collective", ["all-reduce", "barrier"])
@pytest.mark.parametrize("missing", range(3))
def test_a_result_that_is_not_owed_to_a_node(collective: str, missing: int) -> None:
    owed = tuple(node for node in range(3) if node != missing)
    schedule = replace(
        promising(collective, None, (0, EVERY)), blocks=Blocks.reduced_to((owed,), 1, "add")
    )
    told = refusal_of(require_promise, schedule)
    line = f"collective must be custom, not {collective}: block 0 is not owed to node {missing}"
    assert told == line


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_root_where_there_is_one(collective: str) -> None:
    root, line = (0, "none, as every node is one, not 0")
    if collective not in ROOTLESS:
        root, line = (None, "a node, not none")
    with pytest.raises(InvalidInput, match=f"^root of {collective} must be {line}$"):
        promising(collective, root, (0, EVERY)).check()


def test_all_that_is_made_keeps_its_promise() -> None:
    """Check every algorithm of every collective; on a sound network none is custom."""
    for topology in (hypercube(2), mesh((2, 3))):
        for collective in COLLECTIVES:
            for schedule in every_schedule(topology, collective, targets=(0, 2), words=2):
                assert schedule.collective == collective
                schedule.check()


def test_null_owes_a_block_to_every_node_that_is_not_faulty() -> None:
    """In files, null and the list of all working nodes mean the same."""
    topology = with_faults(mesh((3, 3)), [4])
    schedule = tree_broadcast(topology, 0, 1)
    assert schedule.blocks.owed == ((0, 1, 2, 3, 5, 6, 7, 8),)
    whole = replace(schedule, blocks=Blocks.of_broadcast(0, 1))
    whole.check()
    assert whole.blocks.served(topology) == {0, 1, 2, 3, 5, 6, 7, 8}


def test_a_broadcast_to_a_part_is_custom() -> None:
    part = partial_tree_broadcast(with_faults(mesh((4, 1)), [2]), 0, 1)
    part.check()
    assert (part.collective, part.unserved) == (CUSTOM, (3,))
    assert tree_broadcast(mesh((4, 1)), 0, 1).unserved == ()
