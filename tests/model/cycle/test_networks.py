"""Switches and links that differ in the cycle model: docs/router.md, sections 15 and 24."""

import re
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from helpers.programs import UP, departures, flags, program, put, simulated, words
from helpers.refusals import refusal_of
from helpers.router_page import blocks, section
from helpers.switch_networks import fat_tree, switch_mesh, switch_star, switch_tree
from helpers.tree_networks import graph_of

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.cycle.model import run
from eyecast.model.network.config import TIMINGS, NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import with_switches
from eyecast.model.network.topology import Topology, line, mesh
from eyecast.model.program.compiler import Compiled, fit
from eyecast.model.program.memory_words import expected_words, table_words
from eyecast.model.program.payload import Payload, empty_memory
from eyecast.model.program.program import Program
from eyecast.model.run.packets import TraceError
from eyecast.model.run.rules import check_trace
from eyecast.model.run.trace import Trace
from eyecast.model.traffic.program import message_words_for, traffic_program
from eyecast.model.traffic.traffic import draw_traffic

PAGE = Path(__file__).parents[3] / "docs" / "router.md"
STAR = switch_star(3)
NETWORKS = [STAR, switch_tree(), switch_mesh(3, 2, 2), fat_tree(4)]


def example() -> Program:
    """Return the worked example of the page: node 1 sends two words to address 4 of node 3."""
    return program({1: [put(1, (1, 1), (3, 1), target=4, length=2)]}, {3: [1]}, STAR)


def test_the_worked_example_of_the_page() -> None:
    page = PAGE.read_text().partition("## 15. ")[2].partition("\n## 16. ")[0]
    page = page.partition("### Worked example")[2]
    writes, trace = re.findall(r"(?:^    .*\n)+", page, flags=re.MULTILINE)
    made, memory = example(), empty_memory(example().config)
    memory[1, :2] = 0xA1, 0xA2
    result = run(made, memory, timing="barrier")
    assert result.cycles == 7
    assert result.memory[3, 4:6].tolist() == [0xA1, 0xA2]
    kinds = ("body", "head", "tail", "single")
    rows = [f"{f.cycle},{f.node},{f.port},{f.vc},{kinds[f.kind]},{f.data:x}" for f in result.trace]
    assert [line.strip() for line in trace.splitlines()[1:]] == rows
    first, table = table_words(made)
    expected = expected_words(made)
    written = {}
    for node in (1, 2, 3):
        written[node, 1] = table[first[node] : first[node + 1]].tolist()
        written[node, 2] = expected[node].tolist()
    written[1, 0] = [0xA1, 0xA2]
    shown = {
        (int(node), int(space)): [int(word, 16) for word in row]
        for node, space, *row in (line.split() for line in writes.splitlines()[1:])
    }
    assert shown == written


def test_a_packet_for_a_switch_is_a_bad_route() -> None:
    """Check the end of the worked example: the route has only the slot to the switch."""
    made = program({1: [put(1, (1, 1), length=2)]}, {3: [1]}, STAR)
    assert f"With the header `{int(made.header[0]):#x}`" in PAGE.read_text()
    for cycles, seen in ((3, {}), (4, {0: {"bad_route"}}), (None, {0: {"bad_route"}})):
        result = simulated(made, "barrier", cycle_limit=cycles)
        assert flags(result) == seen
        assert not result.finished
    assert departures(result, 0, 0) == []
    # Two flits fill the switch's buffer, and the third never gets a credit.
    assert [(f.cycle, f.node, f.data) for f in result.trace] == [(2, 1, 12), (3, 1, 257)]


def test_a_flag_of_a_switch_stops_the_steps_of_all() -> None:
    """With a barrier step 2 never begins; self-timed nodes go on."""
    rows = {
        1: [put(1, (1, 1), length=0)],
        3: [put(1, (1, 1), (2, 1), length=9)],
        2: [put(2, (1, 1), (3, 1))],
    }
    held = simulated(program(rows, {2: [1], 3: [2]}, STAR), "barrier")
    assert (held.finished, departures(held, 2, 1)) == (False, [])
    free = simulated(program(rows, {2: [1], 3: [2]}, STAR), "self-timed")
    assert not free.finished
    assert len(departures(free, 3, 0)) == 2
    assert flags(free) == {0: {"bad_route"}}


def test_a_used_up_header_flit_is_dropped_at_a_switch() -> None:
    """In flits of 8 bits the first slots fill a flit, which is used up at a switch."""
    path = with_switches(graph_of(7, [(n, n + 1) for n in range(6)]), range(1, 6))
    route = [(1, 1), *[(2, 1)] * 5]
    made = program(
        {0: [put(1, *route, length=2)]}, {6: [1]}, path, flit_width=8, message_words=8, steps=1
    )
    result = simulated(made, "barrier")
    heads = [sum(f.kind & 1 for f in result.trace if f.node == node) for node in range(7)]
    assert result.finished
    assert heads[0] > heads[-1] == 1
    assert not result.flags.any()


def by_the_page(made: Program) -> int:
    """Return the cycles of a program without contention, with barrier timing, by section 5."""
    config = made.config
    packets = made.row_hops * (config.link_registers + 1) + made.header_flits - 1 + made.length
    steps = [int(packets[made.step == step].max()) for step in range(1, made.steps + 1)]
    extra = config.barrier_registers
    return config.table.control_words + sum(step + 4 + extra for step in steps) - 2 - extra


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("topology", NETWORKS)
def test_broadcasts_end_with_the_right_memories(topology: Topology, timing: str) -> None:
    source = int(topology.working_nodes[1])
    schedule = tree_broadcast(topology, source, 5)
    for limits in ({}, {"link_registers": 1, "barrier_registers": 2, "vcs": 2, "depth": 4}):
        config, (compiled,) = fit(NetworkConfig(topology=topology, **limits), [schedule])
        payload = Payload.random(compiled, seed=1)
        result = run(compiled.program, payload.memory(config), timing=timing)
        assert result.finished
        assert not result.flags.any()
        delivered = payload.delivered(result.memory, topology)
        assert np.flatnonzero(delivered).tolist() == topology.working_nodes.tolist()
        assert not result.memory[list(topology.switches)].any()
        assert not result.step[list(topology.switches)].any()
        check_trace(compiled.program, result.trace)
        if timing == "barrier":
            assert result.cycles == by_the_page(compiled.program)


@pytest.mark.parametrize("topology", [STAR, fat_tree(4)])
def test_traffic_gets_through_and_keeps_the_rules(topology: Topology) -> None:
    traffic = draw_traffic(topology, "uniform", rate=0.5, flits=4, cycles=60, seed=3)
    config = NetworkConfig(
        topology=topology, timed_rows=True, vcs=2, message_words=message_words_for(topology, 4)
    )
    made = traffic_program(traffic, config, seed=3)
    result = run(made, empty_memory(config), timing="self-timed")
    assert result.finished
    check_trace(made, result.trace)
    assert result.received.tolist() == made.awaited.tolist()


def test_switches_arbitrate_as_other_routers_do() -> None:
    """If node 0 only forwards, it sends the same flits as a switch."""
    rows = {
        leaf: [put(1, (1, 1), (target, 1), length=6)]
        for leaf, target in ((1, 3), (2, 3), (3, 1), (4, 3), (5, 1))
    }
    for vcs, depth in product((1, 3), (1, 2)):
        switched, plain = (
            simulated(program(rows, {1: [], 3: []}, each, vcs=vcs, depth=depth), "self-timed")
            for each in (switch_star(5), with_switches(switch_star(5), ()))
        )
        assert list(switched.trace) == list(plain.trace)
        assert switched.stalled_flits.tolist() == plain.stalled_flits.tolist()
        assert switched.stalled_flits[0] > 0


def test_all_port_switches() -> None:
    rows = {1: [put(1, (1, 1), (2, 1), length=3)]}
    made = program(rows, {2: [1]}, STAR, receive_ports={2: [1]}, all_port=True)
    result = simulated(made, "barrier")
    assert (result.finished, result.memory[2, :3].tolist()) == (True, words(made)[1, :3].tolist())
    lost = program({1: [put(1, (1, 1))]}, {}, STAR, all_port=True)
    assert flags(simulated(lost, "barrier")) == {0: {"bad_route"}}


def test_a_faulty_switch_is_still_there() -> None:
    faulty = with_faults(switch_tree(), [1])
    made = program({5: [put(1, (1, 1), (3, 1), length=3)]}, {6: [1]}, faulty)
    result = simulated(made, "barrier")
    assert (result.finished, result.cycles) == (True, 1 + (2 + 3 + 4) - 2)


def test_programs_and_memories_of_a_switch_are_refused() -> None:
    row = put(1, (1, 1))
    for rows, receives, name in (
        ({0: [row], 1: [put(1, (1, 2))]}, {}, "rows"),
        ({}, {0: [1], 1: [1]}, "receives"),
    ):
        made = program(rows, receives, STAR)
        wanted = f"{name} of switch 0 must be none, not 1"
        assert refusal_of(made.check) == wanted
        assert refusal_of(simulated, made) == wanted
    awaited = program({}, {}, STAR, awaited={0: 2}, timed_rows=True)
    assert refusal_of(awaited.check) == ("awaited packets of switch 0 must be none, not 2")
    made = example()
    assert (
        refusal_of(run, made, np.ones_like(empty_memory(made.config)), timing="barrier")
        == "memory of switch 0 must be 0 in every word, not another value"
    )


def test_a_delivery_at_a_switch_breaks_the_rules_of_traces() -> None:
    trace = simulated(example(), "barrier").trace
    moved = Trace(
        trace.cycle,
        np.where(trace.port == 0, 0, trace.node).astype(np.int32),
        *(getattr(trace, name) for name in ("port", "vc", "kind", "data")),
    )
    with pytest.raises(TraceError, match="there is no such output"):
        check_trace(example(), moved)


def test_compiled_programs_give_switches_nothing() -> None:
    topology = fat_tree(4)
    schedule = tree_broadcast(topology, int(topology.working_nodes[0]), 3)
    made = Compiled.of(schedule, NetworkConfig(topology=topology)).program
    assert [made.rows[node] + made.receives[node] for node in topology.switches] == [()] * 20


# ---- Links that differ in the cycle model -------------------------------------------------------


def with_links(
    topology: Topology, registers: dict[tuple[int, int], int], rates: dict[tuple[int, int], int]
) -> Topology:
    tables = np.full((2, *topology.neighbor.shape), -1)
    for table, values in zip(tables, (registers, rates), strict=True):
        for link, value in values.items():
            table[link] = value
    return replace(topology, link_registers_of=tables[0], link_rate_of=tables[1])


def cycles_of(rows: str) -> dict[tuple[int, int], list[int]]:
    """Cycles of the flits of each output in the drawing of the page."""
    found = {}
    for row in rows.splitlines()[1:]:
        words = row.replace(",", "").split()
        cells = enumerate(words[4:])
        found[int(words[1]), int(words[3])] = [cycle for cycle, cell in cells if cell != ".."]
    return found


def test_the_drawing_of_the_page() -> None:
    page = blocks(section("## 24. Variant: links that differ"))
    drawn = cycles_of(next(block for block in page if block.startswith("cycle")))
    slow = with_links(line(3), {}, {(0, UP): 3})
    run = simulated(program({0: [put(1, (UP, 2), length=2)]}, {2: [1]}, slow), "barrier")
    # The drawing leaves out the control word, which the sender reads first.
    for (node, port), cycles in drawn.items():
        left = [cycle for cycle, *_ in departures(run, node, port)]
        assert left[: len(cycles)] == [1 + cycle for cycle in cycles]
        assert len(cycles) > 1
    # control words + (latencies + L * r + 4) - 2
    assert run.cycles == 1 + (2 + 2 * 3 + 4) - 2
    # A1 and A2 waited for the rate: A1 in the sender or the router, each until its turn.
    assert run.stalled_flits.sum() > 0


@pytest.mark.parametrize(("depth", "rate", "gap"), [(16, 1, 1), (4, 1, 4), (2, 1, 8), (4, 5, 5)])
def test_a_long_link_needs_depth_for_its_rate(depth: int, rate: int, gap: int) -> None:
    """With R = 7 a slot is used again 16 cycles later; a rate of r spares ``depth``."""
    long = with_links(line(2), {(0, UP): 7}, {(0, UP): rate})
    run = simulated(
        program({0: [put(1, (UP, 1), length=31)]}, {1: [1]}, long, depth=depth), "barrier"
    )
    cycles = [cycle for cycle, *_ in departures(run, 0, UP)]
    assert cycles[-1] - cycles[0] >= 31 * gap - 16
    assert cycles[-1] - cycles[0] <= 31 * gap
    arrived = [cycle for cycle, *_ in departures(run, 1, 0)]
    assert [b - a for a, b in zip(cycles, arrived, strict=True)] == [8] * 32


def test_packets_of_two_vcs_share_the_rate_of_a_link() -> None:
    slow = with_links(mesh((3,)), {}, {(1, UP): 4})
    rows = {0: [put(1, (UP, 2, 0), length=3)], 1: [put(1, (UP, 1, 1), length=3)]}
    run = simulated(program(rows, {2: [1]}, slow, vcs=2), "self-timed")
    cycles = [cycle for cycle, *_ in departures(run, 1, UP)]
    assert [b - a for a, b in pairwise(cycles)] == [4] * 6


@pytest.mark.parametrize(("name", "value"), [("link_registers_of", 64), ("link_rate_of", 0)])
def test_a_value_out_of_range_is_refused(name: str, value: int) -> None:
    with pytest.raises(InvalidInput, match=f"{name.replace('_', ' ')} must be .*, not {value}"):
        replace(line(2), **{name: np.full((2, 3), value)})
