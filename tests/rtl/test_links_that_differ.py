"""Links with registers and rates of their own, in Amaranth's simulator: docs/router.md, 24."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import ClockDomain
from helpers.amaranth_simulation import simulate
from helpers.engine_host import EJECTION_PORT
from helpers.network_in_python import NetworkBench
from helpers.programs import DOWN, UP, program, put

from eyecast.model.cycle.model import run
from eyecast.model.network.config import Timing
from eyecast.model.network.topology import Topology, line, ring
from eyecast.model.program.program import Program
from eyecast.sim.loading import prepare

THREE = line(3)
SLOW = pytest.mark.slow


def differing(topology: Topology, *, registers: Any = None, rates: Any = None) -> Topology:
    """Return the topology with these values by (node, port), or one array for all links."""
    return replace(
        topology,
        link_registers_of=_of_links(topology, registers),
        link_rate_of=_of_links(topology, rates),
    )


def _of_links(topology: Topology, values: Any) -> Any:
    if not isinstance(values, dict):
        return values
    table = np.full(topology.neighbor.shape, -1, np.int64)
    for place, value in values.items():
        table[place] = value
    return table


def traced(
    clock: ClockDomain,
    capsys: pytest.CaptureFixture[str],
    made: Program,
    timing: Timing = Timing.BARRIER,
) -> tuple[list[tuple[int, ...]], int]:
    """Run a program; return the rows of its trace, and its cycles.

    What leaves by an ejection port has port 0, as in a trace.
    """
    bench = NetworkBench(clock, made.config, trace=True)
    job = prepare(made, [], timing=timing, read_words=0, cycle_limit=0)
    cycles: list[int] = []

    async def testbench(ctx: Any) -> None:
        await bench.load(ctx, job)
        cycles.append(await bench.cycles_to_done(ctx, 200))
        assert not ctx.get(bench.network.error)

    simulate(bench.module, testbench)
    rows = [[*map(int, row.split())] for row in capsys.readouterr().out.splitlines()]
    ejected = [(*row[:2], 0 if row[2] > EJECTION_PORT else row[2], *row[3:]) for row in rows]
    return sorted(ejected), cycles[0]


def message(topology: Topology, **limits: Any) -> Program:
    """Return a program: node 0 sends two words to node 2."""
    return program({0: [put(1, (UP, 2), length=2)]}, {2: [1]}, topology, **limits)


@pytest.mark.parametrize(
    ("parameters", "leave", "wait"),
    [
        # The picture of the page, two cycles later; a latency of 2, and 3 cycles a payload flit.
        pytest.param({"rates": {(0, UP): 3}}, [2, 3, 4], 3, id="rate"),
        pytest.param({"rates": {(1, UP): 4}}, [2, 3, 4], 4, id="rate behind", marks=SLOW),
        pytest.param({"registers": {(0, UP): 2}}, [2, 5, 6], 1, id="registers", marks=SLOW),
        pytest.param({"registers": {(1, UP): 12}}, [2, 3, 16], 1, id="long", marks=SLOW),
        pytest.param(
            {"registers": {(0, UP): 5, (1, UP): 1}, "rates": {(0, UP): 2}},
            *([2, 8, 10], 2),
            id="both",
            marks=SLOW,
        ),
    ],
)
def test_a_packet_over_links_that_differ(
    clock: ClockDomain,
    capsys: pytest.CaptureFixture[str],
    parameters: dict[str, Any],
    leave: list[int],
    wait: int,
) -> None:
    """Header flits leave the three routers in the cycles ``leave``, payload ``wait`` apart."""
    made = message(differing(THREE, **parameters), depth=16)
    rows, cycles = traced(clock, capsys, made)
    last = [row[0] for row in rows if row[1:3] == (2, 0)]
    assert last == [leave[2] + wait * flit for flit in range(3)]
    assert [min(row[0] for row in rows if row[1] == node) for node in range(3)] == leave
    # control words + latencies + L · r + 4 − 2: a header flit leaves in the cycle after injection.
    assert cycles == 1 + (leave[2] - 2) + 2 * wait + 4 - 2


@SLOW
@pytest.mark.parametrize("limits", [{"vcs": 2, "depth": 2}, {"all_port": True, "depth": 1}])
def test_equal_registers_of_all_links_are_the_link_registers_of_a_network(
    clock: ClockDomain, capsys: pytest.CaptureFixture[str], limits: dict[str, Any]
) -> None:
    """Some links say 2 themselves, others take the network's 2; credits come as late as flits."""
    three = ring(3)
    rows = {
        0: [put(1, (UP, 1), length=9), put(2, (UP, 2), length=5)],
        1: [put(1, (UP, 1), length=7)],
        2: [put(1, (UP, 1), length=8)],
    }
    receives = {0: [1], 1: [1], 2: [1, 2]}
    if limits.get("all_port"):
        limits = limits | {"receive_ports": {0: [DOWN], 1: [DOWN], 2: [DOWN, DOWN]}}
    alike = program(rows, receives, three, link_registers=2, **limits)
    registers = np.full(three.neighbor.shape, -1)
    registers[::2, 1::2] = 2
    own = program(rows, receives, differing(three, registers=registers), link_registers=2, **limits)
    predicted = run(alike, np.zeros((3, alike.config.message_words), np.uint64), timing="barrier")
    seen, cycles = traced(clock, capsys, own)
    expected = [(f.cycle, f.node, f.port, f.vc, f.kind, f.data) for f in predicted.trace]
    assert cycles == predicted.cycles
    assert seen == sorted(expected)


@SLOW
def test_a_rate_counts_for_all_vcs_of_an_output(
    clock: ClockDomain, capsys: pytest.CaptureFixture[str]
) -> None:
    """Packets of nodes 0 and 1 share the link from 1 to 2, on two VCs, self-timed."""
    rows = {
        0: [put(1, (UP, 2), length=4)],
        1: [put(2, (UP, 1, 1), length=4, target=8)],
    }
    topology = differing(THREE, rates={(1, UP): 3})
    made = program(rows, {2: [1, 2]}, topology, vcs=2, depth=4)
    made_rows, _ = traced(clock, capsys, made, Timing.SELF_TIMED)
    over = sorted(row[0] for row in made_rows if row[1:3] == (1, UP))
    assert len(over) == 10
    assert set(np.diff(over)) == {3}
