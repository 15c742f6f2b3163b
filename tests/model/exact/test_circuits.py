"""Runs of circuits in closed form, against the cycle model, also for wrong programs."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.circuits import circuit_program

import eyecast as package
from eyecast.ip.drawn_circuits import drawn_circuits, with_faults
from eyecast.model.cycle.circuits import run_circuits
from eyecast.model.exact.circuits import closed_run
from eyecast.model.exact.declined import Declined
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import hypercube, line, ring, torus
from eyecast.model.program.circuits.program import CircuitProgram
from eyecast.model.program.payload import random_words

SWITCHES = graph([[-1, 1, 2, 3], [-1, 0, 2, 3], [-1, 0, 1, 3], [-1, 0, 1, 2]], [0])
"""Four nodes, each linked with each other one; node 0 is a switch."""

NETWORKS = (torus((3, 3)), torus((2, 3)), ring(5), hypercube(3), SWITCHES)
"""Networks in which every port has a link: drawn programs also send where none is."""


TASKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("light-tree", {"source": 0}),
    ("joining-tree", {"collective": "all-reduce"}),
    ("ring", {"collective": "all-reduce"}),
    ("direct", {"collective": "all-to-all"}),
)


def drawn(draw: np.random.Generator, *, all_port: bool = False) -> CircuitProgram:
    """A program of drawn forks and joins, some of which lose words."""
    config = NetworkConfig(
        topology=NETWORKS[draw.integers(len(NETWORKS))],
        circuits=True,
        all_port=all_port,
        operators=("", "add,max")[draw.integers(2)],
        link_registers=int(draw.integers(3)),
        message_words=64,
        table_words=1024,
    )
    made = drawn_circuits(draw, config, cycles=40, sends=0.1 + 0.3 * draw.random())
    # The addresses of a drawn program may lie beyond the memory; here they never do.
    made = replace(
        made, send_address=0 * made.send_address, receive_address=0 * made.receive_address
    )
    port_model = ("full-duplex", "half-duplex")[draw.integers(2)]
    return replace(made, port_model=port_model)


def require_alike(program: CircuitProgram, seen: Counter[str]) -> None:
    """Require that the closed form declines each flag, and otherwise has the run's numbers."""
    config = program.config
    run = run_circuits(program, random_words(config, (program.nodes, config.message_words), 1))
    try:
        found = closed_run(program)
    except Declined:
        seen["flagged" if run.flags.any() else "declined"] += 1
        return
    assert not run.flags.any()
    assert found.cycles == run.cycles
    assert np.array_equal(found.link_flits, run.link_flits(config.topology))
    seen["closed"] += 1


@pytest.mark.parametrize("all_port", [False, True], ids=["one port", "all ports"])
def test_drawn_programs_run_as_in_the_cycle_model(all_port: bool) -> None:
    draw, seen = np.random.default_rng(5), Counter[str]()
    for _ in range(25):
        require_alike(drawn(draw, all_port=all_port), seen)
    assert seen["closed"] > 3
    assert seen["flagged"] > 8
    assert not seen["declined"]


@pytest.mark.parametrize(("algorithm", "asked"), TASKS, ids=[name for name, _ in TASKS])
def test_compiled_programs_run_as_in_the_cycle_model_and_damaged_ones(
    algorithm: str, asked: dict[str, Any]
) -> None:
    draw, seen = np.random.default_rng(6), Counter[str]()
    made = package.schedule(package.torus((3, 2)), algorithm, words=4, **asked)
    program = package.compile(made, circuits=True)
    assert isinstance(program, CircuitProgram)
    require_alike(program, seen)
    assert seen == {"closed": 1}
    for _ in range(40):
        require_alike(with_faults(draw, program, 1), seen)
    assert seen["closed"] > 3
    assert seen["flagged"] > 3
    # A run out of the limits may have no effect, such as an address that no word needs.
    assert seen["declined"] < 20


JOIN = {"first": 1, "second": 3, "operator": 1, "codes": {1: 2}}
SEND, TAKE = {"codes": {1: 1}}, {"codes": {0: 3}}


@pytest.mark.parametrize(
    ("later", "receiver", "port_model", "outcome"),
    [
        ([{}, SEND], [{"duration": 3}, TAKE | {"duration": 2}], "half-duplex", "closed"),
        # The word would leave by output 1 in the cycle of the sum.
        ([SEND], [{"duration": 3}, TAKE], "half-duplex", "flagged"),
        # A word of node 2 is delivered in the cycle in which input register 0 holds one.
        *(
            (
                [{}, {"codes": {1: 1, 0: 2}}],
                [{"duration": 2}, {"codes": {2: 1}}, TAKE | {"duration": 2}],
                model,
                outcome,
            )
            for model, outcome in (("full-duplex", "closed"), ("half-duplex", "flagged"))
        ),
    ],
)
def test_node_1_sends_a_sum_and_then_a_word(
    later: list[dict[str, Any]], receiver: list[dict[str, Any]], port_model: str, outcome: str
) -> None:
    """Node 1 joins a word of node 0 and one of its own in cycle 5, and sends the sum to node 2."""
    config = NetworkConfig(topology=line(3), message_words=8, circuits=True, operators="add")
    seen = Counter[str]()
    tables = [[SEND], [{}, JOIN, *later], receiver]
    require_alike(circuit_program(config, tables, port_model=port_model), seen)
    assert seen == {outcome: 1}


@pytest.mark.parametrize("all_port", [False, True])
def test_a_switch_delivers_nothing(all_port: bool) -> None:
    deliver = {"ejections": {1: 1}} if all_port else {"codes": {0: 2}}
    config = NetworkConfig(
        topology=graph([[-1, 1], [-1, 0]], [1]), message_words=8, circuits=True, all_port=all_port
    )
    seen = Counter[str]()
    require_alike(circuit_program(config, [[SEND], [{}, deliver]]), seen)
    assert seen == {"flagged": 1}
