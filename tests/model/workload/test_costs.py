"""Costs of calls, timelines beside a second simulator, and mappings of ranks to nodes."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from helpers.workload_simulator import Simulator, drawn_workload

from eyecast.model.base.errors import InvalidInput
from eyecast.model.bounds.hops import hops_from
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
from eyecast.model.workload.mapping import mapped
from eyecast.model.workload.run import MachineRun, least_cycles, run_workload
from eyecast.model.workload.timeline import Machine, Policy, timeline
from eyecast.model.workload.window import cases
from eyecast.model.workload.workload import KINDS, MESSAGE, Call, Rows, Workload


@pytest.mark.parametrize(
    ("network", "kind", "circuits"),
    [
        (mesh((4, 3)), "all-reduce", False),
        (mesh((4, 3)), "broadcast", True),
        (torus((4, 3)), "all-gather", False),
        (torus((4, 3)), "all-reduce", True),
    ],
)
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


@pytest.mark.parametrize(
    ("network", "kinds"),
    [
        (mesh((4, 3)), [each for each in KINDS if each not in (MESSAGE, *LINKED)]),
        (torus((4, 4)), ["all-reduce"]),
        (hypercube(4), ["all-gather"]),
    ],
    ids=["mesh", "torus", "cube"],
)
def test_a_group_with_nodes_between_its_members_uses_their_routers(
    network: Topology, kinds: list[str]
) -> None:
    costs = Costs(network)
    groups = (0, 2, 8, 10), (1, 3, 9, 11)
    for kind in kinds:
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


# ---- Timelines beside a second simulator, and their own laws -------------------------------------


@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize("machine", list(Machine))
def test_drawn_workloads_run_as_a_second_simulator_says(machine: Machine, policy: Policy) -> None:
    for seed in range(60):
        workload, costs = drawn_workload(Random(seed))
        found = timeline(workload, costs, machine, policy)
        other = Simulator(workload, costs, machine is Machine.ENGINE, policy is Policy.URGENT).run()
        columns = tuple(each.tolist() for each in (found.able, found.start, found.end))
        assert columns == other, seed
        _require_laws(MachineRun(workload, found), [cost.bound for cost in costs])


def _require_laws(run: MachineRun, bounds: list[int]) -> None:
    """Require that the critical path has no gap, and that nothing ends before its bound."""
    reached = 0
    for _, begin, end in run.path:
        assert begin == reached
        reached = end
    assert reached == run.cycles >= least_cycles(run.workload, bounds)
    for rank in run.ranks:
        assert rank.exposed <= rank.communication
        assert rank.compute + rank.exposed <= run.cycles


# ---- Mappings ------------------------------------------------------------------------------------


def shuffled_ring(topology: Topology, ranks: int) -> Workload:
    """Return messages around a ring of ranks, which are drawn in another order than the nodes."""
    rows, order = Rows(), np.random.default_rng(1).permutation(ranks).tolist()
    for number, (one, other) in enumerate(zip(order, order[1:] + order[:1], strict=True)):
        rows.take_part(one, number, Call(MESSAGE, (one, other), 10, f"m{number}"))
    return rows.workload("ring", topology, range(ranks))


def cost(workload: Workload, nodes: np.ndarray) -> int:
    """Return the words x hops of all messages."""
    hops = hops_from(workload.topology, np.arange(workload.topology.nodes))
    return sum(int(hops[tuple(nodes[list(call.ranks)])]) * call.words for call in workload.calls)


@pytest.mark.parametrize("topology", [mesh((4, 4)), torus((4, 4))], ids=["mesh", "torus"])
@pytest.mark.parametrize("ranks", [16, 11])
def test_no_exchange_improves_the_best_mapping(topology: Topology, ranks: int) -> None:
    before = shuffled_ring(topology, ranks)
    after = mapped(before, "best")
    least = cost(after, after.nodes)
    assert least < cost(before, before.nodes)
    for one, other in combinations(range(ranks), 2):
        nodes = after.nodes.copy()
        nodes[[one, other]] = nodes[[other, one]]
        assert cost(after, nodes) >= least
    assert mapped(before, "rows") is before


def test_a_file_lists_the_node_of_each_rank(tmp_path: Path) -> None:
    workload, path = shuffled_ring(mesh((2, 2)), 4), tmp_path / "nodes"
    path.write_text("3 2\n1 0\n")
    assert mapped(workload, str(path)).nodes.tolist() == [3, 2, 1, 0]
    for text, words in {
        "3 2 1": "must be 4, one for each rank, not 3",
        "3 2 1 x": "node must be a number, not 'x'",
        "3 2 1 4": "node of rank 3 must be a working node of the 2x2 mesh, not 4",
        "3 2 1 1": "node of rank 3 must be another than that of rank 2, not 1",
    }.items():
        path.write_text(text)
        with pytest.raises(InvalidInput, match=words):
            mapped(workload, str(path))
