"""Circuits on the hardware: the page's example, and drawn tables beside the cycle model."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.circuits import circuit_program, example
from helpers.router_page import blocks, host_words, section
from helpers.switch_networks import SIX_NODES

from eyecast.ip.drawn_circuits import drawn_circuits, with_faults
from eyecast.model.base.errors import InvalidInput
from eyecast.model.cycle.circuits import run_circuits
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line, mesh, ring, torus
from eyecast.model.program.circuits.program import CircuitProgram
from eyecast.model.run.run import CIRCUIT_FLAGS, HardwareRun
from eyecast.model.run.signature import signatures
from eyecast.model.run.trace import first_difference
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import prepare_circuits
from eyecast.sim.simulator import simulate

ENDED = 4
"""State of a sender whose run table has ended."""

LIMIT = 300
"""Cycles in which every drawn program ends."""


def on_hardware(
    program: CircuitProgram, memory: npt.NDArray[np.uint64], *, limit: int
) -> HardwareRun:
    """Run a program on the simulated hardware for at most ``limit`` cycles."""
    loads = [(node, 0, words) for node, words in enumerate(memory)]
    read_words = program.config.message_words
    job = prepare_circuits(program, loads, read_words=read_words, cycle_limit=limit)
    (measured,) = simulate(build_simulator(program.config), [job])
    return measured


def test_the_example_of_the_page() -> None:
    program, memory = example(), np.zeros((3, 8), np.uint64)
    memory[0, :2] = 0xA1, 0xA2
    _, written, shown = blocks(section("### Cycles"))
    loads = [(0, 0, memory[0, :2])]
    job = prepare_circuits(program, loads, read_words=0, cycle_limit=100)
    assert sorted(host_words(written)) == sorted(job.writes.tolist())
    measured = on_hardware(program, memory, limit=100)
    assert measured.finished
    assert measured.cycles == 9
    assert [str(flit) for flit in measured.trace] == shown.splitlines()[1:]
    assert measured.memory[:, :2].tolist() == [[0xA1, 0xA2]] * 3
    assert measured.flags.tolist() == [0, 0, 0]
    assert measured.step.tolist() == [1, 2, 2]
    assert measured.sender_state.tolist() == [[ENDED]] * 3
    assert measured.arrived.size == 0


NETWORKS = {
    "without operators": {"topology": line(3), "message_words": 5, "table_words": 33},
    "with an adder, half-duplex": {"topology": torus((3, 3)), "operators": "add"},
    "with three operators, registers and a signature": {
        "topology": mesh((3, 2)),
        "operators": "add,max,xor",
        "message_words": 12,
        "flit_width": 16,
        "link_registers": 1,
        "barrier_registers": 3,
        "signature": True,
    },
    "of tiles that are simulated together": {
        "topology": mesh((5, 5)),
        "operators": "add,max",
        "message_words": 12,
        "table_words": 33,
    },
    "of short words over long links": {
        "topology": ring(4),
        "flit_width": 8,
        "message_words": 20,
        "steps": 1,
        "link_registers": 3,
        "signature": True,
    },
    "with all ports, three operators and registers": {
        "topology": torus((3, 2)),
        "all_port": True,
        "operators": "add,max,xor",
        "message_words": 12,
        "flit_width": 16,
        "link_registers": 1,
        "barrier_registers": 2,
    },
    "with all ports and switches, half-duplex": {
        "topology": SIX_NODES,
        "all_port": True,
        "operators": "add,xor",
        "message_words": 9,
    },
    "with a controller": {
        "topology": mesh((2, 2)),
        "message_words": 9,
        "programs": 2,
        "parity": True,
        "barrier_registers": 3,
    },
    "with tiles, switches and all ports": {
        "topology": SIX_NODES,
        "all_port": True,
        "operators": "add",
        "message_words": 9,
        "programs": 1,
        "tile_ports": True,
        "link_registers": 1,
        "barrier_registers": 1,
    },
}
_ROUTER = {"lost_word", "missing_word", "bad_route"}

SEEN = {
    "without operators": _ROUTER | {"bad_row", "bad_write"},
    "with an adder, half-duplex": _ROUTER | {"send_and_receive", "bad_write"},
    "with three operators, registers and a signature": _ROUTER | {"bad_row", "bad_write"},
    "of short words over long links": _ROUTER | {"bad_row"},
    "with all ports, three operators and registers": _ROUTER | {"bad_row", "bad_write"},
    "with all ports and switches, half-duplex": _ROUTER
    | {"send_and_receive", "bad_row", "bad_write"},
    "with a controller": _ROUTER | {"bad_row"},
    "with tiles, switches and all ports": _ROUTER | {"bad_row", "bad_write"},
    "of tiles that are simulated together": _ROUTER | {"bad_row"},
}
"""Flags that the drawn programs set; in the others the memory has a word at every address, and
every value of ``receive`` is one of the network's."""

PROGRAMS = 60


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_drawn_tables_do_what_the_cycle_model_predicts(name: str) -> None:
    seen, finished = run_drawn(name, range(PROGRAMS))
    assert seen == SEEN[name]
    assert 0 < finished < PROGRAMS


def run_drawn(name: str, seeds: range) -> tuple[set[str], int]:
    """Run a drawn program for each seed on model and hardware, which must agree in everything.

    Return the names of the flags that are set, and the number of programs that finish.
    """
    config = NetworkConfig(circuits=True, **NETWORKS[name])
    port_model = "half-duplex" if "half-duplex" in name else "full-duplex"
    predicted, jobs = [], []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        program = drawn_circuits(draw, config, cycles=24, sends=draw.choice([0.05, 0.1, 0.3]))
        program = replace(program, port_model=port_model)
        if seed % 2:
            program = with_faults(draw, program, int(draw.integers(1, 6)))
        shape = config.topology.nodes, config.message_words
        memory = draw.integers(1 << config.flit_width, size=shape, dtype=np.uint64)
        predicted.append(run_circuits(program, memory, cycle_limit=LIMIT))
        loads = [(node, 0, words) for node, words in enumerate(memory)]
        hold = draw.integers(30, size=shape[0]) if config.tile_ports else None
        words = config.message_words
        jobs.append(
            prepare_circuits(program, loads, read_words=words, cycle_limit=LIMIT, hold=hold)
        )
    seen = np.bitwise_or.reduce(np.concatenate([run.flags for run in predicted]))
    measurements = simulate(build_simulator(config), jobs)
    for seed, run, measured in zip(seeds, predicted, measurements, strict=True):
        assert (difference := first_difference(run.trace, measured.trace)) is None, (
            f"seed {seed}: {difference}"
        )
        assert measured.finished == run.finished, seed
        assert measured.cycles == run.cycles or not run.finished, seed
        assert measured.flags.tolist() == run.flags.tolist(), seed
        assert measured.step.tolist() == run.step.tolist(), seed
        held = np.setdiff1d(np.arange(config.topology.nodes), config.topology.switches)
        assert (measured.memory[held] == run.memory[held]).all(), seed
        assert (measured.sender_state == ENDED).all(), seed
        if config.signature:
            assert (measured.signature == signatures(run.trace, config)).all(), seed
    flags = {CIRCUIT_FLAGS[bit] for bit in range(8) if seen >> bit & 1}
    return flags, sum(run.finished for run in predicted)


@pytest.mark.slow
def test_a_table_without_an_end_sets_a_flag_and_stops() -> None:
    config = NetworkConfig(circuits=True, **NETWORKS["without operators"])
    run, memory = {"codes": {1: 1}}, np.arange(15, dtype=np.uint64).reshape(3, 5)
    program = circuit_program(config, [[run] * 33, [], [run] * 32])
    predicted = run_circuits(program, memory, cycle_limit=LIMIT)
    measured = on_hardware(program, memory, limit=LIMIT)
    assert first_difference(predicted.trace, measured.trace) is None
    assert measured.flag_names(0) == ["bad_row"]
    assert measured.flags.tolist() == predicted.flags.tolist()
    assert measured.step.tolist() == predicted.step.tolist() == [33, 0, 32]
    with pytest.raises(InvalidInput, match="run table of node 2 must be at most 33 runs long"):
        prepare_circuits(
            circuit_program(config, [[], [], [run] * 34]), [], read_words=0, cycle_limit=1
        )


@pytest.mark.slow
def test_without_a_sum_an_output_takes_what_it_names() -> None:
    """Input 1 holds no word, so nothing is joined, and output 1 is free in the next cycle."""
    config = NetworkConfig(circuits=True, **NETWORKS["with an adder, half-duplex"])
    join = {"first": 1, "second": 2, "operator": 1, "codes": {1: 2}}
    program = circuit_program(config, [[join, {"codes": {1: 1}}], *[[]] * 8])
    memory = np.full((9, config.message_words), 7, np.uint64)
    measured = on_hardware(program, memory, limit=LIMIT)
    assert [str(flit) for flit in measured.trace] == ["5,0,1,0,body,7"]
    assert measured.flag_names(0) == ["missing_word"]
    predicted = run_circuits(program, memory, cycle_limit=LIMIT)
    assert first_difference(predicted.trace, measured.trace) is None
    assert (predicted.flags == measured.flags).all()


JOINED = [
    [{"duration": 4, "codes": {1: 1}}],
    [{}, {"duration": 4, "first": 2, "second": 3, "operator": 1, "codes": {0: 1}, "receive": 1}],
    [{"duration": 4, "codes": {2: 1}}],
]
"""Four words of node 0 and of node 2 become sums in node 1, whose runs begin a cycle later."""


def _changed(node: int, table: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    return [table if place == node else each for place, each in enumerate(JOINED)]


SABOTAGES = {
    "no sabotage": (JOINED, []),
    "a run a cycle too long": (_changed(0, [JOINED[0][0] | {"duration": 5}]), ["lost_word"]),
    "an input off by one": (_changed(1, [{}, JOINED[1][1] | {"first": 1}]), ["lost_word"]),
    "words a cycle apart": (_changed(2, [{}, *JOINED[2]]), ["lost_word", "missing_word"]),
    "a receive row too early": (_changed(1, JOINED[1][1:]), ["lost_word", "missing_word"]),
}


@pytest.mark.slow
def test_hardware_and_model_flag_each_sabotage_of_a_join() -> None:
    config = NetworkConfig(topology=line(3), circuits=True, operators="add", message_words=8)
    memory = np.arange(1, 25, dtype=np.uint64).reshape(3, 8)
    loads = [(node, 0, words) for node, words in enumerate(memory)]
    programs = [circuit_program(config, tables) for tables, _ in SABOTAGES.values()]
    jobs = [prepare_circuits(each, loads, read_words=8, cycle_limit=50) for each in programs]
    runs = simulate(build_simulator(config), jobs)
    for program, measured, (name, (_, flags)) in zip(
        programs, runs, SABOTAGES.items(), strict=True
    ):
        predicted = run_circuits(program, memory, cycle_limit=50)
        assert predicted.flag_names(1) == flags, name
        assert measured.flags.tolist() == predicted.flags.tolist(), name
        assert first_difference(predicted.trace, measured.trace) is None, name
        assert (measured.memory == predicted.memory).all(), name
