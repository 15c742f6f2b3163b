"""Every collective by every algorithm on the hardware: all flits as predicted, all words there."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.drawn_reductions import wrong_nodes
from helpers.fault_meshes import faulty_mesh
from helpers.own_operator import TWICE
from helpers.switch_networks import fat_tree, switch_mesh
from helpers.verified import verified

import eyecast
from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.compare.case import Case
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.config import TIMINGS, NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import de_bruijn
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.program.compiler import fit
from eyecast.model.schedule.collective import COLLECTIVES, Collective
from eyecast.model.schedule.schedule import Schedule


def with_drawn_links(whole: Topology) -> Topology:
    """Return the network with a drawn length and rate for each link."""
    draw, shape = np.random.default_rng(3), whole.neighbor.shape
    registers, rates = draw.integers(0, 4, shape), draw.integers(1, 4, shape)
    return replace(whole, link_registers_of=registers, link_rate_of=rates)


HOLE = with_faults(mesh((3, 3)), [4], [(0, 1)])
NETWORKS: dict[str, dict[str, Any]] = {
    "one port": {"topology": mesh((3, 2)), "vcs": 2},
    "all ports": {"topology": mesh((2, 2)), "all_port": True},
    "a line of registers": {"topology": line(2), "link_registers": 2, "depth": 3},
    "torus": {"topology": torus((3, 3)), "all_port": True, "flit_width": 24},
    "wide torus": {"topology": torus((4, 4)), "depth": 3, "operators": [TWICE]},
    "timed rows": {"topology": torus((4, 3)), "timed_rows": True},
    "cube": {"topology": hypercube(3), "all_port": True},
    "ring": {"topology": ring(9), "all_port": True},
    "faults": {"topology": HOLE, "all_port": True},
    "faulty links": {"topology": with_faults(hypercube(3), [], [(0, 1), (6, 4)]), "all_port": True},
    "fault blocks": {"topology": faulty_mesh(5, 3, [(1, 1), (3, 1)])},
    "switches": {"topology": switch_mesh(2, 2), "all_port": True},
    "fat tree": {"topology": fat_tree(4)},
    "chiplets": {"topology": chiplets((2, 2), (2, 1), latency=4, rate=2), "all_port": True},
    "links that differ": {"topology": with_drawn_links(mesh((3, 2))), "depth": 4},
    "circuits": {"topology": mesh((3, 2)), "circuits": True},
    "circuits with all ports": {"topology": mesh((3, 2)), "circuits": True, "all_port": True},
}
"""Networks with those parameters that differ from the defaults."""
FAST = ("one port", "all ports")
"""Networks whose simulators are built in seconds."""


def variants(topology: Topology) -> Iterator[dict[str, Any]]:
    """Yield further parts of requests; each algorithm refuses the parts that it does not take."""
    nodes, works = np.arange(topology.nodes), np.isin(range(topology.nodes), topology.working_nodes)
    pairs = (np.outer(nodes, nodes) % 4) * np.outer(works, works)
    yield {"words": 6}
    yield {"words": 7, "packet": 3}
    yield {"words": 5, "groups": "rows+columns"}
    yield {"words": 12, "order": "columns"}
    yield {"words": 9, "order": "canonical"}
    yield {"block_words": (nodes * 5 % 7 * works).tolist()}
    yield {"block_words": pairs.tolist()}


def schedules(config: NetworkConfig) -> Iterator[Schedule]:
    """Yield a network's schedule for each collective, algorithm and request that it serves.

    Every second reduction uses the network's custom operator, if the network has one. On a network
    with timed rows, all schedules are timed.
    """
    root, *others = reversed(config.topology.working_nodes.tolist())
    own = [*config.operators]
    for collective in map(Collective, COLLECTIVES):
        asked: dict[str, Any] = {"collective": collective, "circuits": config.circuits}
        asked["ports"] = "all" if config.all_port else "one"
        asked["source"] = root if collective.rooted else None
        asked["targets"] = others[::2] if collective == Collective.MULTICAST else None
        for algorithm in algorithms_for(collective, circuits=config.circuits):
            for number, more in enumerate(variants(config.topology)):
                if collective == Collective.BARRIER:
                    more.pop("words", None)
                if collective.reduces and own and number % 2 == 0:
                    more["operator"] = own[0]
                with suppress(InvalidInput):
                    made = eyecast.schedule(config.topology, algorithm.name, **asked, **more)
                    if config.timed_rows:
                        made = replace(made, timed=True)
                        made.check()
                    if config.circuits:
                        # Refuses words that would change while a node sends them.
                        fit(config, [made])
                    if made.timed == config.timed_rows:
                        yield made


def require_as_predicted(made: Sequence[Schedule], config: NetworkConfig) -> None:
    """Require every flit to be as predicted, with NumPy's words at every node that is owed them."""
    cases = []
    for seed, each in enumerate(fit(config, made)[1]):
        ordered = each.schedule.combine.any() or each.schedule.stream.any()
        for timing in ("barrier",) if ordered or config.circuits else TIMINGS:
            cases.append(Case.of(each, timing=timing, seed=seed))
    for result in verified(cases):
        case, memory = result.case, result.measured.memory
        assert wrong_nodes(case, memory) == [], case
        got = case.payload.delivered(memory, config.topology)
        assert got.sum() == len(case.schedule.blocks.served(config.topology)), case


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name not in FAST)) for name in NETWORKS],
)
def test_every_algorithm(name: str) -> None:
    config = NetworkConfig(**NETWORKS[name])
    made = [*schedules(config)]
    assert len({(each.collective, each.algorithm) for each in made}) > 20
    require_as_predicted(made, config)


@pytest.mark.slow
def test_a_host_transmits_to_all() -> None:
    best = eyecast.transmit(de_bruijn(3, 2), seconds=0).best
    made = eyecast.transmit_schedule(best, words=5)
    require_as_predicted([made], NetworkConfig(topology=made.topology, all_port=True))
