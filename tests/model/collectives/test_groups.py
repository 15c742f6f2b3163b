"""Groups: several collectives at the same time, each equal to its run alone; refusals."""

from contextlib import suppress
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from helpers.carried_out import carried_out
from helpers.generated import generated
from helpers.refusals import refusal_of
from helpers.schedules import Send, build

import eyecast
from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request, words_of
from eyecast.model.collectives.group_choice import Grouping
from eyecast.model.collectives.group_file import Group, groups_of
from eyecast.model.collectives.groups import side_by_side
from eyecast.model.collectives.registry import algorithms_for, find_algorithm
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.collectives.streaming.chain import chain_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.network.boxes import boxes_of, part_of
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, line, mesh, ring, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.deadlock import DeadlockError
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.collective import COLLECTIVES, ROOTLESS, Collective
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule


def rows_of_broadcasts(width: int, height: int) -> Schedule:
    network = mesh((width, height))
    parts = [part_of(network, nodes) for nodes in boxes_of(network, (width, 1), "rows")]
    return side_by_side(network, [(part, chain_broadcast(part.topology, 0, 9)) for part in parts])


def test_rows_do_what_one_row_does() -> None:
    made = rows_of_broadcasts(4, 3)
    assert made.groups == ((0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11))
    alone = chain_broadcast(mesh((4, 1)), 0, 9)
    assert carried_out(made).predicted.cycles == carried_out(alone).predicted.cycles
    assert schedule_bound(made).value == schedule_bound(alone).value


def runs_of(schedules: tuple[Schedule, ...], *, circuits: bool) -> list[Case]:
    """Return the predicted runs of schedules; none if gossip on circuits is refused.

    Nodes of circuits cannot get a block from two sides while they send it.
    """
    try:
        return [carried_out(each, circuits=circuits) for each in schedules]
    except InvalidInput as error:
        assert "send each word before another one changes it" in str(error)
        assert (schedules[0].algorithm, circuits) == ("gossip", True)
        return []


@pytest.mark.parametrize(
    "circuits", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["packets", "circuits"]
)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_rows_need_the_memory_of_one_row(collective: str, circuits: bool) -> None:
    """Each node reserves memory for its own group's blocks only, whatever the algorithm."""
    network, served = mesh((4, 2)), 0
    rows = [part_of(network, nodes) for nodes in boxes_of(network, (4, 1), "rows")]
    root, targets = None if collective in ROOTLESS else 0, (1, 3)
    for algorithm, all_port in product(algorithms_for(collective, circuits=circuits), (0, 1)):
        request = Request(
            topology=rows[0].topology,
            words=words_of(collective, 96),
            source=root,
            targets=targets if collective == Collective.MULTICAST else None,
            all_port=bool(all_port),
        )
        try:
            alone = algorithm.generate(request)
        except InvalidInput:
            continue
        made = side_by_side(network, [(row, alone) for row in rows])
        cases = runs_of((alone, made), circuits=circuits)
        if not cases:
            continue
        one, all_rows = (case.payload.layout.size for case in cases)
        assert all_rows == one, algorithm.name
        served += 1
    assert served


@pytest.mark.parametrize(
    "circuits", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["packets", "circuits"]
)
@pytest.mark.parametrize("collective", COLLECTIVES)
def test_rows_and_columns_at_once(collective: str, circuits: bool) -> None:
    """Whatever the algorithms, each node gets both results, and has both groups' blocks."""
    network, served = mesh((2, 3)), 0
    for name, ports in product(algorithms_for(collective, circuits=circuits), ("one", "all")):
        asked = {
            "collective": collective,
            "source": None if collective in ROOTLESS else 3,
            "targets": (2, 5) if collective == Collective.MULTICAST else None,
            "words": None if collective == Collective.BARRIER else 24,
            "ports": ports,
        }
        try:
            rows, columns = (
                eyecast.schedule(network, name.name, groups=groups, **asked)
                for groups in ("rows", "columns")
            )
        except InvalidInput:
            continue
        both = eyecast.schedule(network, name.name, groups="rows+columns", **asked)
        assert both.groups == rows.groups + columns.groups
        assert both.sends == rows.sends + columns.sends
        cases = runs_of((rows, columns, both), circuits=circuits)
        if not cases:
            continue
        one, other, sizes = (case.payload.layout.size for case in cases)
        # Gossip passes blocks on at other nodes in each group; few of them share an address.
        assert sizes <= one + other or name.name == "gossip", name.name
        bounds = [schedule_bound(each).value for each in (rows, columns, both)]
        assert cases[2].predicted.cycles >= bounds[2] >= max(bounds[:2])
        served += 1
    assert served


def test_the_best_for_groups_that_share_nodes_is_the_best_for_all_of_them() -> None:
    """A tree is the best for rows alone, and in the way of the columns."""
    asked = {"collective": "all-reduce", "groups": "rows+columns", "words": 32, "ports": "all"}
    network, cycles = mesh((3, 3)), []
    for each in algorithms_for("all-reduce", circuits=True):
        with suppress(InvalidInput):
            made = eyecast.schedule(network, each.name, **asked)
            cycles.append(eyecast.predict(made, circuits=True).cycles)
    best = eyecast.schedule(network, "best", circuits=True, **asked)
    assert eyecast.predict(best, circuits=True).cycles == min(cycles)


@pytest.mark.parametrize("collective", ["all-gather", "all-reduce"])
@pytest.mark.parametrize("first", [0, 1])
def test_streams_in_windows_beside_a_ring_of_any_nodes(collective: str, first: int) -> None:
    """One group is a box whose rings use windows; the other is seven nodes in any order."""
    network, groups = mesh((4, 6)), [tuple(range(16)), tuple(range(16, 23))]
    parts = [part_of(network, nodes) for nodes in (groups[first], groups[1 - first])]
    ring_of = find_algorithm(collective, "stream-ring").generate
    words = 16 if collective == "all-reduce" else 4
    made = side_by_side(
        network, [(part, ring_of(Request(topology=part.topology, words=words))) for part in parts]
    )
    assert len(made.blocks.served(network)) == 23
    carried_out(made)


def test_parts_are_networks_of_their_own() -> None:
    assert part_of(torus((4, 4)), (4, 5, 6, 7)).topology.wrapped == (0,)
    assert part_of(torus((4, 4)), (4, 5)).topology.wrapped == ()
    broken = with_faults(mesh((4, 4)), [5])
    part = part_of(broken, (0, 1, 4))
    assert part.members == (0, 1, 4)
    assert part.topology.nodes == 16


def groups_that_cross(vc: int, step: int) -> Schedule:
    """Return groups where node 0 sends past 1 and 2, which form a group and send too."""
    sends = [Send(1, [0, 1, 2, 3], [0]), Send(step, [1, 2], [1], vcs=[vc])]
    blocks = Blocks(np.array([0, 1]), ((3,), (2,)), np.array([6, 6]))
    made = build(line(4), sends, blocks, "custom")
    return replace(made, groups=((0, 3), (1, 2)))


def test_a_link_that_two_groups_share_in_a_step() -> None:
    shares = (
        r"send 1 \(step 1, 1 -> 2\): it shares link 1 -> 2, VC 0 with send 0 \(step 1, 0 -> 3\)"
    )
    with pytest.raises(ScheduleError, match=shares):
        groups_that_cross(vc=0, step=1).check()
    for vc, step in ((1, 1), (0, 2)):
        made = groups_that_cross(vc, step)
        carried_out(made)
        assert made.pairs_sharing_links == vc


def test_groups_that_might_wait_for_each_other_are_not_certified() -> None:
    """Two groups send half-way around a ring of four in different steps, and share no link."""
    sends = [Send(step, [a, (a + 1) % 4, (a + 2) % 4], [a]) for a, step in enumerate((1, 2, 1, 2))]
    blocks = Blocks(np.arange(4), tuple(((node + 2) % 4,) for node in range(4)), np.full(4, 6))
    made = build(ring(4), sends, blocks, "custom", "full-duplex")
    made = replace(made, groups=((0, 2), (1, 3)))
    made.check()
    assert made.pairs_sharing_links == 0
    with pytest.raises(DeadlockError):
        compile_certified(made, {})


def test_groups_that_copy_and_groups_that_reduce_have_a_bound() -> None:
    """The bound is that of the slower group: a copy over two hops, or a reduce over one or two."""
    network = mesh((3, 2))
    top, below = (part_of(network, nodes) for nodes in ((0, 1, 2), (3, 4, 5)))
    tree = find_algorithm("reduce", "tree")
    for root, copied in ((0, 4), (1, 1), (1, 9)):
        copying = chain_broadcast(top.topology, 0, copied)
        reducing = tree.generate(Request(topology=below.topology, words=4, source=root))
        made = side_by_side(network, [(top, copying), (below, reducing)])
        made.check()
        expected = max(copied + 2, 4 + (1 if root == 1 else 2))
        assert schedule_bound(made).value == expected, (root, copied)


def grouping(groups: list[dict[str, object]], **more: object) -> Grouping:
    return Grouping(mesh((4, 4)), groups_of(groups, "broadcast"), "broadcast", **more)


def test_groups_have_words_of_their_own() -> None:
    """Words of blocks are in the order of a group's nodes, which need not ascend."""
    asked = grouping(
        [{"nodes": [5, 4, 9, 8], "collective": "gather", "root": 9, "block_words": [1, 2, 3, 4]}]
    )

    def make(topology: Topology, group: Group, _place: int) -> Schedule:
        assert (topology.dims, group.collective, group.root) == ((2, 2), "gather", 3)
        return generated(
            "gather", "ring", topology, words=1, source=3, block_words=group.block_words
        )

    made = asked.schedule(make)
    words = dict(zip(made.blocks.owner.tolist(), made.blocks.words.tolist(), strict=True))
    assert words == {5: 1, 4: 2, 9: 3, 8: 4}


def test_irregular_groups_reduce_all_of_their_words() -> None:
    """Every group's message is whole, although all other nodes of the network count as faulty."""
    groups = [{"nodes": [0, 1, 4]}, {"nodes": [5, 6, 10, 9, 13]}]
    asked = Grouping(mesh((4, 4)), groups_of(groups, "all-reduce"), "all-reduce")

    def make(topology: Topology, _group: Group, _place: int) -> Schedule:
        return generated("all-reduce", "circulant", topology, words=64)

    made = asked.schedule(make)
    owed = np.array([len(nodes or ()) for nodes in made.blocks.owed])
    assert [made.blocks.words[owed == nodes].sum() for nodes in (3, 5)] == [64, 64]


def test_groups_take_the_words_of_their_nodes() -> None:
    groups = [
        {"nodes": [0, 1], "collective": "all-gather"},
        {"nodes": [4, 8], "collective": "all-gather"},
    ]
    table = [0] * 16
    table[0], table[8] = 7, 2
    seen = []

    def make(topology: Topology, group: Group, _place: int) -> Schedule:
        seen.append(group.block_words)
        return generated("all-gather", "ring", topology, words=1, block_words=group.block_words)

    made = grouping(groups, block_words=tuple(table)).schedule(make)
    assert seen == [(7, 0), (0, 2)]
    assert sorted(made.send_words.tolist()) == [2, 7]
    table[5] = 1
    line = "block words of node 5 must be 0, as it takes no part, not 1"
    assert refusal_of(grouping, groups, block_words=tuple(table)) == line


def test_a_group_that_is_not_served_is_named() -> None:
    def make(topology: Topology, group: Group, _place: int) -> Schedule:
        return generated("broadcast", "tree", topology, words=1, source=group.root)

    asked = grouping([{"nodes": [0, 1], "root": 0}, {"nodes": [4, 6], "root": 4}])
    assert refusal_of(asked.schedule, make).startswith(
        "group 1 (all other nodes are faulty to it): "
    )
