"""Costs of calls: equal for groups that run in one program, wherever a group lies."""

from dataclasses import replace

import pytest

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.group_choice import Grouping
from eyecast.model.collectives.group_file import Group
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.exact.arithmetic import predict
from eyecast.model.network.config import Timing
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.program.certified import Room
from eyecast.model.program.payload import empty_memory
from eyecast.model.schedule.collective import ROOTLESS, Collective
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.workload.costs import LAUNCH, PACKED, Costs
from eyecast.model.workload.run import run_workload
from eyecast.model.workload.window import cases
from eyecast.model.workload.workload import KINDS, MESSAGE, Call, Rows


@pytest.mark.parametrize("circuits", [False, True])
@pytest.mark.parametrize("network", [mesh((4, 3)), torus((4, 3))], ids=["mesh", "torus"])
@pytest.mark.parametrize("kind", ["all-reduce", "all-gather", "broadcast"])
def test_groups_that_share_a_program_take_the_cycles_of_one(
    network: Topology, kind: str, circuits: bool
) -> None:
    rooted = kind == "broadcast"
    rows = [tuple(range(begin, begin + 4)) for begin in (0, 4, 8)]
    costs = Costs(network, circuits=circuits)
    found = costs.find(
        [(Call(kind, row, 40, "x", row[1] if rooted else None), row) for row in rows]
    )
    assert len({cost.shape for cost in found}) == 1
    assert not found[0].resources & (found[1].resources | found[2].resources)

    def make(small: Topology, group: Group, _number: int) -> Schedule:
        asked = Request(topology=small, words=40, source=group.root)
        return find_algorithm(kind, found[0].algorithm).generate(asked)

    groups = [Group(row, row[1] if rooted else None) for row in rows]
    made = Grouping(network, groups, kind).schedule(make)
    program = Room({"circuits": circuits, "programs": 1}).compile_one(made).program
    run = predict(program, empty_memory(program.config), timing=Timing.BARRIER)
    assert {cost.cycles for cost in found} == {run.cycles + LAUNCH}
    assert (sum(cost.flits for cost in found) == run.link_flits(network)).all()


LINKED = (Collective.NEIGHBOR, Collective.HALO)
"""Collectives in which nodes that are not linked have nothing to send."""


@pytest.mark.parametrize("network", [mesh((4, 4)), torus((4, 4)), hypercube(4)], ids=str)
def test_a_group_with_nodes_between_its_members_uses_their_routers(network: Topology) -> None:
    costs = Costs(network)
    groups = (0, 2, 8, 10), (1, 3, 9, 11)
    for kind in (each for each in KINDS if each not in (MESSAGE, *LINKED)):
        first, second = costs.find(
            [
                (Call(kind, nodes, 8, kind, None if kind in ROOTLESS else nodes[0]), nodes)
                for nodes in groups
            ]
        )
        assert first.cycles >= first.bound
        assert first.flits.sum() > 0
        if network.kind == "mesh":
            # Both groups need the links in the middle of the row.
            assert (first.shape == second.shape) and (first.resources & second.resources)


def test_a_message_is_one_send_and_pieces_take_as_long_as_their_programs() -> None:
    costs = Costs(mesh((4, 1)), memory_words=64)
    there, back = (0, 3), (3, 0)
    asked = [(there, 32), (there, 31), (there, 63 + 31), (back, 32)]
    one, two, three, other = costs.find(
        [(Call(MESSAGE, ends, words, "x"), ends) for ends, words in asked]
    )
    assert one.algorithm == PACKED
    assert (one.pieces, two.pieces, three.pieces) == (1, 1, 3)
    assert three.cycles == one.cycles + 2 * two.cycles
    assert not one.resources & other.resources


@pytest.mark.parametrize("circuits", [False, True])
def test_a_window_has_the_programs_of_the_engine_and_their_cycles(circuits: bool) -> None:
    """A network that sums takes longer for a message, too: all programs run on one network."""
    rows = Rows()
    for number, (kind, groups) in enumerate(
        [
            ("all-reduce", [(0, 1), (2, 3)]),
            (MESSAGE, [(0, 3), (3, 2)]),
            ("all-gather", [(0, 2), (1, 3)]),
        ]
    ):
        for group in groups:
            call = Call(kind, group, 90, f"{kind}{group[0]}")
            for rank in call.callers:
                row = rows.take_part(rank, (number, group), call)
                rows.after[row] += [] if row < 4 else [rank]
    made = rows.workload("w", mesh((2, 2)), range(4))
    found = run_workload(made, circuits=circuits, memory_words=128)
    # Pieces of 45 words; all-gathers in pieces of 30, which both groups share.
    programs = cases(found, None, 6)
    assert [len(case.schedule.blocks) for case in programs] == [2, 2, 4]
    assert [case.predicted.cycles + LAUNCH for case in programs] == [
        found.costs[number].cycles // found.costs[number].pieces for number in (0, 2, 4)
    ]
    assert [case.schedule.blocks.words.sum() for case in cases(found, "message0", 1)] == [45]
    with pytest.raises(InvalidInput, match="first operation must be the name of a collective"):
        cases(found, "sum", 1)
    wide = run_workload(replace(made, word_bytes=64), circuits=circuits, memory_words=128)
    assert wide.config is not None
    assert (wide.config.flit_width, wide.config.operators[0].name) == (512, "add:32")
    for case, narrow in zip(cases(wide, None, 6), programs, strict=True):
        assert case.predicted.cycles == narrow.predicted.cycles
        one, other = (
            each.payload.delivered(each.predicted.memory, made.topology) for each in (case, narrow)
        )
        assert (one == other).all()
