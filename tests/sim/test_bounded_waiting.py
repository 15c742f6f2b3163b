"""The page's limit on how many heads may pass a waiting head (docs/router.md, section 3).

The tests count passes in traces, from the cycles in which heads come to the front and leave.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.programs import HEAD, UP, simulated, words
from helpers.traffic import timed, traffic, traffic_network

from eyecast.model.base.arrays import Numbers
from eyecast.model.cycle import model as cycle_model
from eyecast.model.cycle.model import run
from eyecast.model.network.topology import Topology, line, mesh, torus
from eyecast.model.program.payload import empty_memory, random_words
from eyecast.model.program.program import Program
from eyecast.model.run.packets import Packets
from eyecast.model.run.rules import check_packets, check_routes, check_rows
from eyecast.model.run.trace import Trace
from eyecast.model.traffic.program import traffic_program
from eyecast.model.traffic.traffic import draw_traffic
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import simulate

FLITS = 5


def crowded(topology: Topology, **limits: Any) -> tuple[Program, np.ndarray]:
    """Return a program with more traffic than the network can carry, and its memories."""
    config = traffic_network(topology, FLITS, **limits)
    offered = draw_traffic(topology, "uniform", rate=0.7, flits=FLITS, cycles=300, seed=5)
    memory = empty_memory(config)
    memory[:, :FLITS] = random_words(config, (topology.nodes, FLITS), 5)
    return traffic_program(offered, config, 5), memory


class Heads(NamedTuple):
    """The first flits of packets at routers: output VC, buffer, and two cycles of each.

    ``waits`` is a cycle from which it certainly stands at the front of its buffer, for links the
    first such cycle. It leaves in the cycle ``granted``.
    """

    exit: Numbers
    buffer: Numbers
    waits: Numbers
    granted: Numbers


def heads_in(program: Program, trace: Trace) -> Heads:
    config, packets = program.config, check_packets(program, trace)
    passages = check_rows(program, packets)
    left = check_routes(program, packets, passages)
    flits, came_as = packets.flits, passages.source[packets.begin]
    own = came_as < 0
    assert (passages.row >= 0).all()
    channel = np.repeat(packets.channel, packets.end - packets.begin)
    before = np.where(channel[came_as] == channel[came_as - 1], left[came_as - 1], -1)
    node, port = flits.node[came_as], flits.port[came_as]
    front = np.maximum(flits.cycle[came_as] + config.registers_of_links[node, port], before) + 1
    front[own] = own_fronts(program, packets, passages.row[packets.begin], own)
    entry = np.where(own, 0, config.topology.peer[node, port])
    vc = np.where(own, flits.vc[packets.begin], flits.vc[came_as])
    granted = flits.cycle[packets.begin]
    return Heads(packets.channel, entry * config.vcs + vc, front, granted)


def own_fronts(program: Program, packets: Packets, row: Numbers, own: np.ndarray) -> list[int]:
    """Return the fronts of heads that nodes inject, in order of packets.

    A trace does not record injections, but a flit is injected before its node injects the next one.
    """
    flits, begin, end = packets.flits, packets.begin, packets.end
    sent = {int(row[each]): slice(begin[each], end[each]) for each in np.flatnonzero(own).tolist()}
    injected, by, last = dict[int, int](), 0, -1
    for each, node in ((each, int(program.row_node[each])) for each in sorted(sent, reverse=True)):
        cycles = flits.cycle[sent[each]].tolist()
        by = by - program.config.table.control_words if node == last else cycles[-1]
        for cycle in reversed(cycles):
            by = min(by, cycle) - 1
        injected[each], last = by, node
    fronts, ahead = dict[int, int](), dict[tuple[int, int], int]()
    for each in sorted(sent):
        queue = int(program.row_node[each]), int(flits.vc[sent[each].start])
        fronts[each] = max(injected[each], ahead.get(queue, -1)) + 1
        ahead[queue] = int(flits.cycle[sent[each]][-1])
    return [fronts[each] for each in row[own].tolist()]


def passes(heads: Heads, head: int) -> Counter[int]:
    """Count, for each other buffer, the heads that got a waiting head's output VC before it."""
    rivals = (heads.exit == heads.exit[head]) & (heads.granted >= heads.waits[head])
    return Counter(heads.buffer[rivals & (heads.granted < heads.granted[head])].tolist())


CROWDED = [
    (mesh((4, 4)), {"vcs": 1, "depth": 2}),
    (mesh((4, 4)), {"vcs": 2, "depth": 2}),
    (mesh((4, 4)), {"vcs": 3, "depth": 1, "link_registers": 1}),
    (torus((4, 4)), {"vcs": 2, "depth": 3, "link_registers": 2}),
]


def most_passes(program: Program, trace: Trace) -> tuple[int, int]:
    """Return the most passes of a head from a link, and of a head from a node; check the limits."""
    config = program.config
    heads, ports, vcs = heads_in(program, trace), config.topology.ports, config.vcs
    assert len(heads.exit) > len(program.rows)
    of_links = of_interface = 0
    for head in range(len(heads.exit)):
        passed, from_link = passes(heads, head), heads.buffer[head] >= vcs
        of_each_link = 1 if from_link or vcs == 1 else 2
        most = {rival: of_each_link if rival >= vcs else 1 for rival in passed}
        assert passed <= Counter(most)
        if from_link:
            of_links = max(of_links, passed.total())
        else:
            of_interface = max(of_interface, passed.total())
    assert of_links <= (ports - 1) * vcs - 1
    assert of_interface <= (2 * (ports - 2) * vcs + vcs - 1 if vcs > 1 else ports - 2)
    return of_links, of_interface


@pytest.mark.parametrize(("topology", "limits"), CROWDED)
def test_a_head_is_passed_no_more_often_than_promised(
    topology: Topology, limits: dict[str, int]
) -> None:
    program, memory = crowded(topology, **limits)
    result = run(program, memory, timing="self-timed")
    assert result.finished
    of_links, _ = most_passes(program, result.trace)
    assert of_links > 0


@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_router_that_soon_begins_again_at_the_first_place_is_found_out(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology, limits = CROWDED[number]
    program, memory = crowded(topology, **limits)
    sizes = cycle_model._sizes
    monkeypatch.setattr(cycle_model, "_sizes", lambda config: sizes(config) | {"places": 2})
    trace = run(program, memory, timing="self-timed").trace
    with pytest.raises(AssertionError, match="Counter"):
        most_passes(program, trace)


# ---- The line of five -------------------------------------------------------------------------

MARK = 200
START = 20


def line_of_five(
    rivals: int, start: int = START, length: int = 3, own: int = 1, long: int = 60
) -> Program:
    """Return traffic: nodes 0 and 1 send many packets over node 2 on VC 0, and node 2 sends one.

    After it, node 2 sends long packets on VC 1, which keep the link busy.
    """
    mine = timed(start, (UP, 2, 0), length=own, target=MARK)
    busy = 2 * rivals * (length + 1) * 2 // long + 1
    rows = {
        0: [timed(0, (UP, 4, 0), length=length)] * rivals,
        1: [timed(0, (UP, 3, 0), length=length, target=MARK // 2)] * rivals,
        2: [mine, *[timed(0, (UP, 2, 1), length=long)] * busy],
    }
    limits = {"vcs": 2, "depth": 2, "link_registers": 1, "table_words": 1024, "steps": 1}
    return traffic(rows, {4: sum(map(len, rows.values()))}, line(5), **limits)


def on_model(programs: list[Program]) -> list[Trace]:
    return [simulated(each).trace for each in programs]


def on_hardware(programs: list[Program]) -> list[Trace]:
    jobs = []
    for each in programs:
        loads = [(node, 0, row) for node, row in enumerate(words(each)[:, :64])]
        limit = 2 * simulated(each).cycles
        jobs.append(prepare(each, loads, timing="self-timed", read_words=0, cycle_limit=limit))
    return [run.trace for run in simulate(build_simulator(programs[0].config), jobs)]


ON_BOTH = pytest.mark.parametrize(
    "on", [on_model, pytest.param(on_hardware, marks=pytest.mark.slow)]
)


@ON_BOTH
@pytest.mark.parametrize("start", [START, START + 2])
def test_a_packet_leaves_whatever_number_of_rivals_there_is(on: Any, start: int) -> None:
    programs = [line_of_five(rivals, start) for rivals in (50, 100, 400)]
    config = programs[0].config
    arrived = set()
    for program, trace in zip(programs, on(programs), strict=True):
        address = trace.data >> np.uint64(config.header.port_bits + config.step_bits)
        (place,) = np.flatnonzero((trace.node == 4) & (trace.kind == HEAD) & (address == MARK))
        arrived.add(int(trace.cycle[place]))
        most_passes(program, trace)
    assert len(arrived) == 1
    # Two packets of 4 flits may pass it; the first has begun. Buffers half as deep as the credit
    # loop let a link carry 2 flits of a VC in 4 cycles, so the head waits for 16 cycles. On its
    # path are 3 routers and 2 registers.
    assert max(arrived) <= start + 16 + 3 + 2


@ON_BOTH
def test_no_head_of_drawn_lines_is_passed_more_often_than_promised(on: Any) -> None:
    draw = np.random.default_rng(7)
    low, high = [20, START, 1, 0, 20], [21, START + 8, 6, 2, 64]
    programs = [line_of_five(*draw.integers(low, high).tolist()) for _ in range(12)]
    most = [most_passes(each, trace) for each, trace in zip(programs, on(programs), strict=True)]
    assert {of_interface for _, of_interface in most} > {0}
