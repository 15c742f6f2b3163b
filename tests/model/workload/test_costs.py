"""Costs of calls: equal for groups that run in one program, wherever a group lies."""

import pytest

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.group_choice import Grouping
from eyecast.model.collectives.group_file import Group
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.exact.arithmetic import predict
from eyecast.model.network.config import Timing
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.program.certified import Room
from eyecast.model.program.payload import empty_memory
from eyecast.model.schedule.schedule import Schedule
from eyecast.model.workload.costs import LAUNCH, PACKED, Costs
from eyecast.model.workload.workload import MESSAGE, Call


@pytest.mark.parametrize("circuits", [False, True])
@pytest.mark.parametrize("network", [mesh((4, 3)), torus((4, 3))], ids=["mesh", "torus"])
@pytest.mark.parametrize("kind", ["all-reduce", "all-gather", "broadcast"])
def test_groups_that_share_a_program_take_the_cycles_of_one(
    network: Topology, kind: str, circuits: bool
) -> None:
    rooted = kind == "broadcast"
    rows = [tuple(range(begin, begin + 4)) for begin in (0, 4, 8)]
    costs = Costs(network, circuits=circuits)
    found = [costs.of(Call(kind, row, 40, "x", row[1] if rooted else None), row) for row in rows]
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


@pytest.mark.parametrize("network", [mesh((4, 4)), torus((4, 4)), hypercube(4)], ids=str)
def test_a_group_with_nodes_between_its_members_uses_their_routers(network: Topology) -> None:
    costs = Costs(network)
    for kind in ("all-reduce", "all-to-all", "reduce-scatter", "barrier"):
        first, second = (
            costs.of(Call(kind, nodes, 8, kind), nodes) for nodes in ((0, 2, 8, 10), (1, 3, 9, 11))
        )
        assert first.cycles >= first.bound
        assert first.flits.sum() > 0
        if network.kind == "mesh":
            # Both groups need the links in the middle of the row.
            assert (first.shape == second.shape) and (first.resources & second.resources)


def test_a_message_is_one_send_and_pieces_take_as_long_as_their_programs() -> None:
    costs = Costs(mesh((4, 1)), memory_words=64)
    one, two, three = (
        costs.of(Call(MESSAGE, (0, 3), words, "x"), (0, 3)) for words in (32, 31, 63 + 31)
    )
    assert one.algorithm == PACKED
    assert (one.pieces, two.pieces, three.pieces) == (1, 1, 3)
    assert three.cycles == one.cycles + 2 * two.cycles
    back = costs.of(Call(MESSAGE, (3, 0), 32, "x"), (3, 0))
    assert not one.resources & back.resources
