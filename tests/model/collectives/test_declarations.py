"""Declarations of algorithms: networks, ports and steps, checked by their schedules."""

from collections.abc import Callable
from dataclasses import replace
from math import ceil, log2

import pytest
from helpers.switch_networks import fat_tree

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.algorithm import Algorithm
from eyecast.model.collectives.declared.request import Ports, Request
from eyecast.model.collectives.registry import ALGORITHMS
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.schedule.collective import ROOTLESS, Collective

NETWORKS = {
    "mesh 4x2": mesh((4, 2)),
    "mesh 3x3": mesh((3, 3)),
    "mesh 2x2x2": mesh((2, 2, 2)),
    "line 3": line(3),
    "torus 4x4": torus((4, 4)),
    "torus 5x3": torus((5, 3)),
    "torus 3x3": torus((3, 3)),
    "ring 4": ring(4),
    "hypercube 3": hypercube(3),
    "faulty mesh": with_faults(mesh((4, 4)), [6]),
    "faulty torus": with_faults(torus((3, 3)), [4]),
    "faulty hypercube": with_faults(hypercube(3), [5]),
    "binary tree": binary_tree(7),
    "fat tree": fat_tree(2),
}
GRIDS = {name for name, network in NETWORKS.items() if network.whole_grid}
TORI = {name for name in GRIDS if NETWORKS[name].wrapped}
POWERS = {name for name in GRIDS if all(side.bit_count() == 1 for side in NETWORKS[name].dims)}
EQUAL = {name for name in GRIDS if len(set(NETWORKS[name].dims)) == 1}
SERVED = {
    "any network": set(NETWORKS),
    # `request` asks for an idempotent operator.
    "any; the operator is idempotent, or N is 2^k": set(NETWORKS),
    "tori; the operator is idempotent, or sides are 3^k": TORI,
    "any network of circuits": set(NETWORKS),
    "networks of circuits without switches": {
        name for name in NETWORKS if not NETWORKS[name].switches
    },
    # Their tests are in streaming/test_streamed_reductions.py.
    "networks whose links differ": set(),
    "networks whose links differ in rate": set(),
    "equal parts joined by slower links, such as chiplets, or any levels of an order": set(),
    "square tori of circuits, of known sides": {"torus 4x4", "torus 3x3"},
    "networks of circuits with a ring of all nodes": {
        *("mesh 4x2", "mesh 2x2x2", "torus 4x4", "torus 5x3", "torus 3x3", "faulty torus"),
        *("ring 4", "hypercube 3"),
    },
    "any network with linked nodes": set(NETWORKS) - {"fat tree"},
    "grids of 1 to 3 axes, also with faults": set(NETWORKS) - {"binary tree", "fat tree"},
    "meshes and tori": GRIDS,
    "meshes": GRIDS - TORI,
    "tori": TORI,
    "hypercubes": {"hypercube 3"},
    "hypercubes, also with faults": {"hypercube 3", "faulty hypercube"},
    "meshes and tori of equal sides 2^k": EQUAL & POWERS,
    "meshes and tori of sides 2^k": POWERS,
    "tori of sides 2^k": TORI & POWERS,
    "lines and 2-D meshes": {"mesh 4x2", "mesh 3x3", "line 3"},
    "2-D meshes, also with faults off the edge": {"mesh 4x2", "mesh 3x3", "faulty mesh"},
    "2-D meshes and tori": {"mesh 4x2", "mesh 3x3", "torus 4x4", "torus 5x3", "torus 3x3"},
    "meshes of an even side, tori with cycles that share no link": {
        *("mesh 4x2", "mesh 2x2x2", "torus 4x4", "torus 3x3", "ring 4", "hypercube 3")
    },
}
"""For each phrase, the test networks that it stands for."""


def log(nodes: int) -> int:
    return ceil(log2(nodes))


def ring_steps(topology: Topology) -> int:
    if topology.whole_grid:
        return sum(side - 1 for side in topology.dims)
    return len(topology.working_nodes) - 1


def streamed_steps(topology: Topology, otherwise: int) -> int:
    sides = [side for side in topology.dims if side > 1]
    axes = topology.whole_grid and all(side.bit_count() == 1 for side in sides)
    # Two nodes pass nothing on.
    return len(sides) if axes else min(otherwise, len(topology.working_nodes) - 1)


def cycle_steps(topology: Topology) -> int:
    return 1 if topology.nodes.bit_count() == 1 else topology.nodes - 1


STEPS: dict[str, Callable[[Topology], int]] = {
    "1; in a reduction more, where packets meet": lambda _: 1,
    "log2 N": lambda network: log(network.nodes),
    "log2 N + 1": lambda network: log(network.nodes) + 1,
    "⌈log2 N⌉": lambda network: log(network.nodes),
    "⌈log2 N⌉ where links work both ways": lambda network: log(len(network.working_nodes)),
    "⌈log2 (targets + 1)⌉": lambda network: log(len(targets(network)) + 1),
    "⌈log2 (targets + 1)⌉ where links work both ways": lambda network: log(
        len(targets(network)) + 1
    ),
    "sum of ⌈log2 n⌉": lambda network: sum(map(log, network.dims)),
    "sum of log3 n": lambda network: len(network.dims),
    "sum of n − 1": ring_steps,
    "sum of n − 1; N − 1 where there are no axes": ring_steps,
    "axes × (longest side − 1)": lambda network: len(network.dims) * (max(network.dims) - 1),
    "N − 1": lambda network: len(network.working_nodes) - 1,
    "N − 1, on a timetable": lambda network: len(network.working_nodes) - 1,
    "one for each axis of sides 2^k, otherwise 2": lambda network: streamed_steps(network, 2),
    "one for each axis of sides 2^k, otherwise 1": lambda network: streamed_steps(network, 1),
    "1 where N is 2^k, otherwise N − 1": cycle_steps,
}
"""The number of steps that each phrase promises; other phrases promise none."""
COPYING = [each for each in ALGORITHMS if not Collective(each.collective).reduces]


def targets(topology: Topology) -> tuple[int, ...]:
    """Return some working nodes, without the first."""
    return tuple(topology.working_nodes.tolist()[1:4])


def request(algorithm: Algorithm, topology: Topology, ports: Ports) -> Request:
    """Return a request that an algorithm serves, if it serves the network and the ports."""
    nodes = topology.working_nodes.tolist()
    return Request(
        topology=topology,
        words=8 * len(nodes),
        source=None if algorithm.collective in ROOTLESS else nodes[0],
        targets=targets(topology) if algorithm.collective == Collective.MULTICAST else None,
        operator="max" if "idempotent" in algorithm.networks else None,
        all_port=ports == Ports.ALL,
    )


def steps(algorithm: Algorithm, topology: Topology, ports: Ports) -> int | None:
    """Return a schedule's steps; None if the algorithm does not serve the network."""
    try:
        return algorithm.generate(request(algorithm, topology, ports)).steps
    except InvalidInput:
        return None


def named(algorithm: Algorithm) -> str:
    return f"{algorithm.collective}-{algorithm.name}"


def require_declared(algorithm: Algorithm, networks: dict[str, Topology]) -> None:
    """Make schedules for both ports on all ``networks``, and compare with the declaration."""
    promised = STEPS.get(algorithm.steps)
    if Collective(algorithm.collective).reduces and "in a reduction more" in algorithm.steps:
        promised = None
    for ports in (Ports.ONE, Ports.ALL):
        found = {name: steps(algorithm, network, ports) for name, network in networks.items()}
        served = {name for name, count in found.items() if count is not None}
        serves = SERVED[algorithm.networks] & set(networks) if ports in algorithm.ports else set()
        assert (ports, served) == (ports, serves)
        if promised is not None:
            assert {name: found[name] for name in served} == {
                name: promised(networks[name]) for name in served
            }


@pytest.mark.parametrize("algorithm", COPYING, ids=named)
def test_networks_ports_and_steps(algorithm: Algorithm) -> None:
    few = ("mesh 4x2", "torus 3x3", "hypercube 3", "faulty mesh", "binary tree")
    require_declared(algorithm, {name: NETWORKS[name] for name in few})


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=named)
def test_networks_ports_and_steps_of_all(algorithm: Algorithm) -> None:
    require_declared(algorithm, NETWORKS)


@pytest.mark.parametrize("algorithm", COPYING, ids=named)
def test_nodes_outside_and_messages_without_words_are_refused(algorithm: Algorithm) -> None:
    served = SERVED[algorithm.networks]
    topology = NETWORKS[min(served)] if served else chiplets((2, 1), (2, 2), rate=2)
    asked = request(algorithm, topology, Ports(algorithm.ports[0]))
    algorithm.generate(asked)
    number, there = topology.nodes, f"must be 0 to {topology.nodes - 1}"
    wrong = {"words must be (at least 1|1 to 2147483647), not 0": replace(asked, words=0)}
    if asked.source is not None:
        wrong |= {f"source {there}, not {n}": replace(asked, source=n) for n in (-1, number)}
    if asked.targets is not None:
        wrong[f"target {there}, not {number}"] = replace(asked, targets=(1, number))
    for error, refused in wrong.items():
        with pytest.raises(InvalidInput, match=f"^{error}$"):
            algorithm.generate(refused)
