"""Drawn reductions on the hardware: the sums are NumPy's, and every flit is as predicted."""

from collections import Counter

import numpy as np
import pytest
from helpers.drawn_reductions import case_of, draw_reduction, together, wrong_nodes
from helpers.generated import generated
from helpers.own_operator import TWICE
from helpers.verified import verified

from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.operators import BUILT_IN
from eyecast.model.network.topology import Topology, mesh, ring, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.schedule.collective import REDUCTIONS
from eyecast.model.schedule.schedule import Schedule


def drawn(topology: Topology, count: int, *, all_port: bool) -> list[Schedule]:
    """Draw this many reductions on one network, for its ports."""
    draw = np.random.default_rng(topology.nodes)
    found: list[Schedule] = []
    while len(found) < count:
        schedule = draw_reduction(draw, topology)
        if schedule is not None and (schedule.port_model == "all-port") == all_port:
            found.append(schedule)
    return found


def check_on_hardware(topology: Topology, count: int, *, all_port: bool = False) -> None:
    """Carry out drawn reductions on one network that is built with all operators."""
    operators = tuple(BUILT_IN.values())
    config = NetworkConfig(topology=topology, all_port=all_port, operators=operators)
    compiled = together(drawn(topology, count, all_port=all_port), config)
    cases = [Case.of(each, timing="barrier", seed=seed) for seed, each in enumerate(compiled)]
    for result in verified(cases):
        assert wrong_nodes(result.case, result.measured.memory) == [], result.case


def test_a_few() -> None:
    check_on_hardware(mesh((2, 2)), 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("topology", "all_port"),
    [(torus((3, 3)), True), (with_faults(mesh((3, 3)), [4], [(0, 1)]), False)],
    ids=repr,
)
def test_many(topology: Topology, all_port: bool) -> None:
    check_on_hardware(topology, 125, all_port=all_port)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["eye", "ring", "recursive-doubling", "chain"])
def test_a_multiply_accumulate_of_three_cycles(algorithm: str) -> None:
    """The operator's words must keep their order, and each node has a different result."""
    made = generated("all-reduce", algorithm, mesh((2, 2)), words=9, operator=TWICE.name)
    made.check()
    parameters = {"operators": (TWICE, "add"), "streams": True}
    case = Case.of(compile_certified(made, parameters), timing="barrier", seed=3)
    list(verified([case]))
    results = [case.payload.results[node, 0].tolist() for node in range(4)]
    assert (len({*map(tuple, results)}) > 1) == (algorithm == "recursive-doubling")


@pytest.mark.slow
@pytest.mark.parametrize(("network", "steps"), [(ring(9), 2), (torus((3, 3)), 2)], ids=str)
def test_trivance_with_whole_messages(network: Topology, steps: int) -> None:
    """Two messages meet in words that are being sent."""
    made = generated("all-reduce", "trivance-whole", network, words=5, all_port=True)
    made.check()
    assert made.steps == steps
    case = case_of(made, 2)
    (result,) = verified([case])
    assert wrong_nodes(case, result.measured.memory) == []


def test_what_is_drawn_is_of_all_kinds() -> None:
    """The random reductions include several collectives."""
    seen = Counter(each.collective for each in drawn(mesh((2, 2)), 40, all_port=False))
    assert {*REDUCTIONS} == set(seen)
