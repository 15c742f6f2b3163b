"""The fast simulator, whose tiles are bits of one word, equals the model in each cycle.

With a trace every flit is compared. Without a trace, signatures are compared, which cover every
flit of a router and its cycle.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from helpers.own_operator import TWICE
from helpers.switch_networks import fat_tree
from helpers.traffic import traffic_network
from helpers.verified import require_same_but_trace, verified

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.compare.case import Case, watchdog
from eyecast.model.compare.traffic_case import TrafficCase, compare_traffic
from eyecast.model.network.config import TIMINGS, NetworkConfig, Timing
from eyecast.model.network.faults import with_faults
from eyecast.model.network.operators import BUILT_IN
from eyecast.model.network.topology import Topology, hypercube, mesh, ring, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.payload import empty_memory
from eyecast.model.run.trace import Flit
from eyecast.model.traffic.program import traffic_program
from eyecast.model.traffic.traffic import draw_traffic
from eyecast.sim.build import build_simulator
from eyecast.sim.compilation import Tiles, choose_way
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import SimulatorError, read_printed_trace, simulate
from eyecast.sim.together.trace import MARK, RECORDS_AT_ONCE
from eyecast.sim.verilog import fast_verilog

SLOW = pytest.mark.slow
TRACED = partial(fast_verilog, trace=True)
"""Writes the fast simulator's Verilog with a trace, even for a small network."""


def _whole_memories(case: TrafficCase) -> npt.NDArray[np.uint64]:
    """Return whole initial memories, so that no words of the last run are left."""
    memories = empty_memory(case.program.config)
    memories[:, : case.words.shape[1]] = case.words
    return memories


@pytest.mark.parametrize(
    ("topology", "limits", "trace"),
    [
        # The link from 0 to 1 is faulty, the one from 1 to 0 is not.
        (with_faults(mesh((2, 2)), [], [(0, 1)]), {"flit_width": 24}, True),
        pytest.param(mesh((5,)), {"flit_width": 24}, False, marks=SLOW),
        pytest.param(torus((3, 3)), {"vcs": 3, "depth": 3}, True, marks=SLOW),
        pytest.param(
            mesh((10, 7)), {"flit_width": 24, "link_registers": 1, "depth": 3}, True, marks=SLOW
        ),
        pytest.param(hypercube(3), {"vcs": 2, "flit_width": 64, "depth": 16}, True, marks=SLOW),
    ],
    ids=lambda value: getattr(value, "label", ""),
)
def test_traffic(topology: Topology, limits: dict[str, int], *, trace: bool) -> None:
    config = traffic_network(topology, 6, signature=True, **limits)
    drawn = np.random.default_rng(3)
    cases = []
    for seed, pattern in enumerate(("uniform", "hotspot")):
        traffic = draw_traffic(topology, pattern, rate=0.4, flits=6, cycles=200, seed=seed)
        program = traffic_program(traffic, config, seed)
        refusal = drawn.integers(0, 1 << 12, topology.nodes).astype(np.uint16)
        cases.append(TrafficCase.of(traffic, program, seed=seed, refusal=refusal))
    jobs = [
        prepare(
            case.program,
            [
                (node, 0, words)
                for node, words in enumerate(_whole_memories(case))
                if node not in topology.switches
            ],
            timing="self-timed",
            read_words=config.message_words,
            cycle_limit=watchdog(case.predicted),
            refusal=case.refusal,
        )
        for case in cases
    ]
    simulator = build_simulator(config, trace=trace, verilog=TRACED if trace else None)
    for case, measured in zip(cases, simulate(simulator, jobs), strict=True):
        require_same_but_trace(case.predicted, measured, config)
        if trace:
            compared = compare_traffic(case, measured)
            assert compared.agrees, compared.checks


EVERY = tuple(BUILT_IN)
COLLECTIVES: dict[str, tuple[Topology, str, dict[str, Any]]] = {
    "barrier registers": (ring(6), "broadcast tree", {"barrier_registers": 3}),
    "contention-free": (mesh((4, 4)), "broadcast eye", {"contention_free": True}),
    "all ports": (hypercube(3), "all-gather hamiltonian", {"all_port": True}),
    "switches": (fat_tree(4), "all-reduce chain", {"operators": EVERY}),
    "streams by all ports": (
        mesh((3, 2)),
        "all-reduce packed-trees",
        {"operators": EVERY, "all_port": True, "link_registers": 1, "depth": 3},
    ),
    "controller": (mesh((3, 3)), "all-reduce ring", {"operators": EVERY, "programs": 2}),
    # A memory of 65 bits.
    "parity of words of 64 bits": (
        ring(6),
        "all-gather ring",
        {"programs": 1, "parity": True, "flit_width": 64},
    ),
    "controller far away": (
        hypercube(3),
        "all-reduce packed-trees",
        {"operators": EVERY, "all_port": True, "programs": 1, "barrier_registers": 2},
    ),
    "controller of switches": (fat_tree(4), "broadcast chain", {"programs": 1}),
}


@pytest.mark.slow
@pytest.mark.parametrize("named", COLLECTIVES)
def test_collectives(named: str) -> None:
    """Each run is equal to its prediction in every flit."""
    topology, wanted, limits = COLLECTIVES[named]
    collective, algorithm = wanted.split()
    nodes = [node for node in range(topology.nodes) if node not in topology.switches]
    reduces = "operators" in limits
    request = Request(
        topology=topology,
        words=8,
        source=nodes[-1] if collective == "broadcast" else None,
        all_port=limits.get("all_port", False),
        **({"operator": "min-signed"} if reduces else {}),
    )
    compiled = compile_certified(find_algorithm(collective, algorithm).generate(request), limits)
    timed = not reduces and not compiled.program.config.streams
    timings = TIMINGS if timed else (Timing.BARRIER,)
    cases = [Case.of(compiled, timing=timing, seed=3) for timing in timings]
    for result in verified(cases, verilog=TRACED):
        assert len(result.measured.trace)


def record(cycle: int, port: int, flits: dict[int, tuple[int, int, int, int]]) -> bytes:
    """Return a cycle's record for a port as bit planes; a tile's flit is (node, VC, kind, data)."""
    planes = [
        sum((flit[column] >> bit & 1) << tile for tile, flit in flits.items())
        for column, bits in enumerate((7, 1, 2, 6))
        for bit in range(bits)
    ]
    header = cycle << 32 | port << 24 | 6 << 14 | 1 << 8 | MARK | 7
    words = [header, sum(1 << tile for tile in flits), *planes]
    return b"".join(word.to_bytes(8, "little") for word in words)


def test_a_printed_trace_by_planes(tmp_path: Path) -> None:
    """Read more records than one read returns; refuse a file that ends within a record."""
    printed, expected = tmp_path / "trace.txt", []
    records = []
    for cycle in range(RECORDS_AT_ONCE + 1):
        flits = {0: (64, cycle & 1, 3, 5), 63: (127, 1, cycle & 3, cycle & 63)}
        records.append(record(cycle, 4, flits))
        expected += [Flit(cycle, flit[0], 4, *flit[1:]) for flit in flits.values()]
    printed.write_bytes(b"".join(records))
    assert list(read_printed_trace(printed)) == expected
    printed.write_bytes(records[0][:-1])
    with pytest.raises(SimulatorError, match="no row"):
        read_printed_trace(printed)


def test_which_networks_have_tiles_together() -> None:
    """Tiles are separate modules in small networks, with tile ports, and with custom operators."""

    def way(
        topology: Topology, *, trace: bool = True, inside: bool = False, **limits: Any
    ) -> Tiles:
        config = NetworkConfig(topology=topology, **limits)
        return choose_way(config, trace=trace, inside=inside, given=None)

    large, small = mesh((5, 5)), mesh((6, 4))
    assert way(large, operators="add", streams=True, all_port=True, vcs=2) is Tiles.TOGETHER
    assert way(large, programs=2, parity=True) is Tiles.TOGETHER
    assert way(small) is Tiles.APART
    assert way(small, trace=False) is Tiles.TOGETHER
    for limits in ({"programs": 1, "tile_ports": True}, {"operators": (TWICE,)}):
        assert way(large, **limits) is Tiles.APART
        assert way(large, trace=False, **limits) is Tiles.WHOLE
    assert way(large, inside=True) is Tiles.WHOLE
