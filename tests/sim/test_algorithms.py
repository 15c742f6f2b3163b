"""Algorithms by streams, on all ports, around faults and through switches, on the hardware."""

from collections.abc import Iterable, Iterator

import pytest
from helpers.drawn_reductions import together, wrong_nodes
from helpers.every_schedule import every_schedule
from helpers.switch_networks import fat_tree, switch_mesh, switch_tree
from helpers.verified import verified

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, mesh
from eyecast.model.schedule.collective import Collective
from eyecast.model.schedule.schedule import Schedule

pytestmark = pytest.mark.slow

Wanted = tuple[tuple[str, str, int], ...]
"""Collectives, algorithms and words."""
WALKS: Wanted = (
    ("broadcast", "chain", 20),
    ("multicast", "chain", 20),
    ("reduce", "chain", 20),
    ("all-gather", "ring", 5),
    ("all-gather", "stream-ring", 5),
    ("reduce-scatter", "stream-ring", 5),
    ("all-reduce", "stream-ring", 23),
    *(("scan", "hillis-steele", 6), ("scan", "chain", 20)),
    *(("exscan", "brent-kung", 9), ("exscan", "chain", 7)),
)
TIMED: Wanted = (("scatter", "direct", 7), ("gather", "direct", 7))
OVERLAPPING: Wanted = (("all-reduce", "dissemination", 9), ("barrier", "dissemination", 1))
ONE_PORT: Wanted = (
    ("reduce", "chain", 100),
    ("reduce-scatter", "stream-ring", 8),
    ("all-reduce", "chain", 40),
    ("all-reduce", "stream-ring", 64),
)
ALL_PORTS: Wanted = (
    ("reduce", "packed-trees", 200),
    ("reduce-scatter", "hamiltonian", 8),
    ("all-reduce", "packed-trees", 100),
    ("all-reduce", "hamiltonian", 64),
    ("all-reduce", "combs", 300),
)


def made(
    topology: Topology, wanted: Wanted, operator: str, *, all_port: bool
) -> Iterator[Schedule]:
    root, *others = topology.working_nodes.tolist()
    for collective, algorithm, words in wanted:
        kind = Collective(collective)
        request = Request(
            topology=topology,
            words=words,
            source=root if kind.rooted else None,
            targets=tuple(others[1:]) if kind == Collective.MULTICAST else None,
            all_port=all_port,
            **({"operator": operator} if kind.reduces else {}),
        )
        yield find_algorithm(collective, algorithm).generate(request)


def require_as_predicted(schedules: Iterable[Schedule], config: NetworkConfig) -> None:
    """Require every flit to be as predicted, every word delivered, and all sums to be NumPy's."""
    proved = [*schedules]
    for schedule in proved:
        schedule.check()
    compiled = together(proved, config)
    cases = [Case.of(each, timing="barrier", seed=seed) for seed, each in enumerate(compiled)]
    for result in verified(cases):
        case, memory = result.case, result.measured.memory
        if case.schedule.combine.any():
            assert wrong_nodes(case, memory) == [], case
        got = case.payload.delivered(memory, config.topology)
        assert got.sum() == len(case.schedule.blocks.served(config.topology)), case


@pytest.mark.parametrize(
    ("wanted", "operator"),
    [(WALKS, "add"), (TIMED, "add"), (OVERLAPPING, "max")],
    ids=["in steps", "timed", "overlapping"],
)
@pytest.mark.parametrize(
    "topology",
    [with_faults(mesh((3, 3)), [4], [(0, 1), (1, 0)]), switch_tree()],
    ids=lambda topology: topology.label,
)
def test_walks_around_faults_and_through_switches(
    topology: Topology, wanted: Wanted, operator: str
) -> None:
    schedules = made(topology, wanted, operator, all_port=False)
    require_as_predicted(schedules, NetworkConfig(topology=topology))


@pytest.mark.parametrize(
    ("topology", "wanted", "registers"),
    [(mesh((4, 4)), ONE_PORT, 1), (mesh((4, 2)), ALL_PORTS, 0)],
    ids=["one port", "all ports"],
)
def test_streamed_reductions(topology: Topology, wanted: Wanted, registers: int) -> None:
    limits = {"all_port": wanted is ALL_PORTS, "link_registers": registers, "depth": 1 + registers}
    config = NetworkConfig(topology=topology, operators="max-signed", **limits)
    schedules = [*made(topology, wanted, "max-signed", all_port=wanted is ALL_PORTS)]
    assert all(schedule.stream.any() for schedule in schedules)
    require_as_predicted(schedules, config)


@pytest.mark.parametrize(
    ("topology", "all_port", "number"),
    [
        (with_faults(mesh((3, 3)), [2], [(0, 1)]), True, 13),
        (switch_mesh(2, 2), True, 11),
        (with_faults(mesh((3, 3)), [2], [(0, 1)]), False, 5),
        (fat_tree(4), False, 3),
    ],
    ids=["faults", "switches", "faults, one port", "fat tree, one port"],
)
def test_each_collective_by_each_algorithm(topology: Topology, all_port: bool, number: int) -> None:
    names = ("packed-trees", "packed-chains", "greedy", "direct")
    root, *others = topology.working_nodes.tolist()
    schedules = [
        schedule
        for collective in Collective
        for schedule in every_schedule(
            topology,
            collective,
            source=root,
            targets=tuple(others[::2]),
            words=1 if collective == Collective.BARRIER else 40,
            all_port=all_port,
        )
        if schedule.algorithm.removesuffix("-rooted") in names
    ]
    assert len(schedules) == number
    limits = {"streams": True, "operators": "add,and"} if all_port else {"timed_rows": True}
    require_as_predicted(schedules, NetworkConfig(topology=topology, all_port=all_port, **limits))
