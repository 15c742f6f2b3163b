"""All collectives on the hardware: every word at its address, steps and cycles as predicted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from helpers.all_port_bench import CUBE
from helpers.verified import verified

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.cube.broadcast_copies import nesbt_copies
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import Verification
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.program.compiler import fit
from eyecast.model.schedule.collective import COLLECTIVES, ROOTLESS
from eyecast.model.schedule.schedule import Schedule

COPYING = tuple(
    each for each in COLLECTIVES if not each.reduces and each not in ("neighbor", "halo")
)
"""Collectives that only copy blocks, but for exchanges, which ``direct`` alone serves.

test_reductions.py has the others.
"""

TIMINGS = ("barrier", "self-timed")
GRAPHS = ("nesbt", "nrsbt", "sbnt")
OTHER_GRAPHS = ("brg", "nrbrg", "sbt", "tcbt")
OTHER_ONE_PORT_GRAPHS = ("brg", "sbt-gray", "tcbt", "nrsbt", "nesbt", "sbnt")
GRID_ALGORITHMS = ("ring", "recursive-doubling")


def slow(*values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.slow)


def requests(
    topology: Topology, all_port: bool, draw: np.random.Generator
) -> Iterator[tuple[str, Request]]:
    """Yield every collective with random root and length, once with packets of random size."""
    for collective in COPYING:
        if collective == "multicast":
            continue
        root = None if collective in ROOTLESS else int(draw.integers(topology.nodes))
        words = int(draw.integers(1, 5))
        request = Request(topology=topology, words=words, source=root, all_port=all_port)
        yield collective, request
        yield collective, replace(request, packet=int(draw.integers(1, words + 1)))


def schedules(
    topology: Topology, names: Sequence[str], draw: np.random.Generator, *, all_port: bool = False
) -> list[Schedule]:
    """Yield the schedules of the algorithms ``names`` for the :func:`requests` they serve."""
    made = []
    for collective, request in requests(topology, all_port, draw):
        for algorithm in algorithms_for(collective):
            if algorithm.name in names and (request.packet is None or "packet" in algorithm.takes):
                try:
                    made.append(algorithm.generate(request))
                except InvalidInput:
                    continue
    return made


def on_hardware(made: Sequence[Schedule], config: NetworkConfig) -> list[Verification]:
    """Run all schedules with both timings, and require no difference."""
    _, compiled = fit(config, made)
    cases = [
        Case.of(each, timing=timing, seed=number)
        for number, each in enumerate(compiled)
        for timing in TIMINGS
    ]
    return list(verified(cases))


def one_of_each(made: Sequence[Schedule]) -> list[Schedule]:
    """Return the last schedule of each algorithm and collective: with packets, if it takes them."""
    return [*{(each.collective, each.algorithm): each for each in made}.values()]


def all_port(cube: Topology) -> NetworkConfig:
    """Return the configuration; that of a 3-cube equals other tests', to share the simulator."""
    return NetworkConfig(topology=cube, all_port=True) if cube.nodes > 8 else CUBE


def multicasts(topology: Topology, draw: np.random.Generator) -> list[Schedule]:
    """Draw multicasts by U-mesh, which is U-cube on a hypercube."""
    (u_mesh,) = [each for each in algorithms_for("multicast") if each.name == "u-mesh"]
    made = []
    for count in range(1, topology.nodes):
        source, *targets = draw.permutation(topology.nodes)[: 1 + count].tolist()
        request = Request(topology=topology, words=3, source=source, targets=tuple(targets))
        made.append(u_mesh.generate(request))
    return made


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "others"), [(1, ()), (4, OTHER_ONE_PORT_GRAPHS)])
def test_one_port(dimension: int, others: tuple[str, ...]) -> None:
    """Run all graphs with one port, and multicasts, on one network."""
    topology = hypercube(dimension)
    draw = np.random.default_rng(dimension)
    made = schedules(topology, ("sbt",), draw)
    made += one_of_each(schedules(topology, others, draw)) + multicasts(topology, draw)
    assert {each.algorithm for each in made} == {"sbt", *others, "u-mesh"}
    assert {each.collective for each in made} == {*COPYING}
    for result in on_hardware(made, NetworkConfig(topology=topology)):
        if result.case.schedule.largest_link_load <= 1 and result.case.timing == "barrier":
            assert result.measured.stalled_flits.sum() == 0


@pytest.mark.parametrize("dimension", [3, slow(4)])
def test_all_ports_at_once(dimension: int) -> None:
    topology = hypercube(dimension)
    draw = np.random.default_rng(dimension)
    made = schedules(topology, GRAPHS, draw, all_port=True)
    assert {each.collective for each in made} == {*COPYING} - {"multicast"}
    others = (*OTHER_GRAPHS, "direct") if dimension == 3 else ()
    made += one_of_each(schedules(topology, others, draw, all_port=True))
    assert {each.algorithm for each in made} == {*GRAPHS, *others}
    on_hardware(made, all_port(topology))


@pytest.mark.slow
def test_all_to_all_of_a_torus_on_all_ports() -> None:
    topology = torus((4, 4))
    made = schedules(topology, ("row-column", "direct"), np.random.default_rng(4), all_port=True)
    assert {each.algorithm for each in made} == {"row-column", "direct"}
    on_hardware(made, NetworkConfig(topology=topology, all_port=True))


@pytest.mark.parametrize(
    ("topology", "vcs"),
    [
        # With the simulator of the page of the router.
        (mesh((3, 2)), 2),
        slow(torus((4, 4)), 2),
        slow(torus((3, 3, 3)), 1),
    ],
    ids=lambda value: value.label.replace(" ", "-") if isinstance(value, Topology) else f"{value}",
)
def test_grids(topology: Topology, vcs: int) -> None:
    made = schedules(topology, GRID_ALGORITHMS, np.random.default_rng(topology.nodes))
    assert {each.collective for each in made} == {*COPYING} - {"multicast"}
    on_hardware(made, NetworkConfig(topology=topology, vcs=vcs, depth=2))


def test_copies_down_edge_disjoint_trees() -> None:
    """Whichever n - 1 links fail, a copy reaches every node, on the hardware too."""
    dimension, whole = 3, hypercube(3)
    draw = np.random.default_rng(dimension)
    links = [(node, node ^ 1 << bit) for node in range(whole.nodes) for bit in range(dimension)]
    made = []
    for _ in range(6):
        broken = draw.choice(links, dimension - 1, replace=False).tolist()
        faulty = with_faults(whole, (), [(begin, end) for begin, end in broken])
        made.append(nesbt_copies(faulty, int(draw.integers(whole.nodes)), 5))
    for result in on_hardware(made, all_port(whole)):
        owed = result.case.schedule.blocks.owed
        got = {node for nodes in owed for node in (range(whole.nodes) if nodes is None else nodes)}
        assert got | {result.case.schedule.root} == set(range(whole.nodes))
