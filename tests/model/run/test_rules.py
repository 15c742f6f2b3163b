"""Traces of runs pass all rules; for each rule, a broken trace fails with that rule's name."""

import dataclasses
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers.programs import DOWN, LINE, NORTH, UP, changed, program, put, simulated, words

from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import compile_schedule
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.packets import TraceError
from eyecast.model.run.rules import check_trace
from eyecast.model.run.trace import KINDS, Flit, Trace

BODY, HEAD, TAIL, SINGLE = range(len(KINDS))
GRID = mesh((4, 4))


def broadcast(source: int = 0, flits: int = 4, **limits: Any) -> tuple[Program, Trace]:
    config = NetworkConfig(topology=GRID, **limits)
    table = compile_schedule(eye_broadcast(GRID, source, flits), config)
    return table, simulated(table).trace


@cache
def traffic(
    packets: int = 30, longest: int = 4, alike: bool = False, hot: float = 0, **limits: Any
) -> tuple[Program, Trace]:
    """Return packets from each node of the grid to random targets, x first, all at once.

    With ``alike`` all words and addresses are 0. ``hot`` is the share that goes to node 8.
    """
    draw = np.random.default_rng(1)
    limits = {"vcs": 2, "message_words": 64, "table_words": 2048, "timed_rows": True} | limits
    rows: dict[int, list[Row]] = {node: [] for node in range(GRID.nodes)}
    awaited = [0] * GRID.nodes
    for node, _ in product(range(GRID.nodes), range(packets)):
        target = 8 if draw.random() < hot else int(draw.integers(GRID.nodes))
        vc = int(draw.integers(limits["vcs"]))
        x, y = target % 4 - node % 4, target // 4 - node // 4
        route = [
            (port_up if hops > 0 else port_up + 1, abs(hops), vc)
            for port_up, hops in ((UP, x), (NORTH, y))
            if hops
        ]
        if route:
            length = int(draw.integers(longest + 1))
            row = put(1, *route, length=length, target=0 if alike else int(draw.integers(32)))
            rows[node].append(dataclasses.replace(row, start=int(draw.integers(packets))))
            awaited[target] += 1
    table = changed(program(rows, {}, GRID, **limits), awaited=awaited)
    memory = np.zeros_like(words(table)) if alike else words(table) & np.uint64(0xFFFF)
    result = run(table, memory, timing="self-timed", cycle_limit=20_000)
    assert result.finished
    return table, result.trace


@cache
def stairs() -> tuple[Program, Trace]:
    """Return a packet around a corner, where the first of its two header flits is used up."""
    limits = {"vcs": 2, "flit_width": 16, "message_words": 64}
    route = ((UP, 1, 1), (NORTH, 1, 0), (UP, 1, 1))
    table = program({0: [put(1, *route, length=6)]}, {6: [1]}, GRID, **limits)
    return table, simulated(table).trace


@cache
def queue() -> tuple[Program, Trace]:
    """Return two packets of node 0 over one link: the first to node 1, the second to node 2."""
    table = program(
        {0: [put(1, (UP, 1), length=1), put(2, (UP, 2), length=2, source=8)]}, {1: [1], 2: [2]}
    )
    return table, simulated(table).trace


def edited(trace: Trace, *changes: tuple[Callable[[Flit], bool], dict[str, Any]]) -> Trace:
    """Return the trace with fields of selected flits set, or changed by a function."""
    flits = list(trace)
    for picks, fields in changes:
        assert any(map(picks, flits))
        for index, flit in enumerate(flits):
            if picks(flit):
                new = {k: v(getattr(flit, k)) if callable(v) else v for k, v in fields.items()}
                flits[index] = flit._replace(**new)
    return Trace.from_flits(flits)


def at(node: int, *kinds: int) -> Callable[[Flit], bool]:
    return lambda flit: flit.node == node and (not kinds or flit.kind in kinds)


def refused(table: Program, trace: Trace, rule: str, what: str, **options: Any) -> None:
    with pytest.raises(TraceError, match=what) as caught:
        check_trace(table, trace, **options)
    assert caught.value.rule == rule
    assert str(caught.value).startswith(f"{rule}: cycle ")
    assert "\n" not in str(caught.value)


# ---- Traces of the cycle model ----------------------------------------------------------------


@pytest.mark.parametrize(("source", "depth"), [(0, 1), (5, 4)])
def test_broadcasts_pass(source: int, depth: int) -> None:
    check_trace(*broadcast(source, depth=depth))


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"depth": 1},
        {"vcs": 1, "depth": 1},
        {"vcs": 4, "depth": 3, "link_registers": 1},
        {"link_registers": 3, "depth": 4},
        {"flit_width": 16, "vcs": 2},
        {"flit_width": 16, "vcs": 3, "depth": 1, "link_registers": 2},
        {"alike": True, "longest": 0, "vcs": 2},
        {"alike": True, "longest": 1, "vcs": 1, "depth": 4},
        {"alike": True, "longest": 3, "hot": 0.4, "depth": 4},
        {"alike": True, "longest": 0, "hot": 0.7, "depth": 8, "packets": 60},
    ],
    ids=str,
)
def test_traffic_passes_whole_and_cut_off(limits: dict[str, Any]) -> None:
    """Alike packets of several senders are only counted, or a correct trace would be refused."""
    table, trace = traffic(**limits)
    check_trace(table, trace)
    for cycle in range(0, int(trace.cycle[-1]), max(int(trace.cycle[-1]) // 5, 1)):
        check_trace(table, trace.first_rows(int((trace.cycle < cycle).sum())), complete=False)


def test_every_cut_of_a_packet_with_a_dropped_header_passes() -> None:
    table, trace = stairs()
    check_trace(table, trace)
    for cycle in range(int(trace.cycle[-1])):
        check_trace(table, trace.first_rows(int((trace.cycle < cycle).sum())), complete=False)


def test_one_alike_packet_too_many() -> None:
    table, trace = traffic(alike=True, longest=0)
    last = trace[-1]
    again = Trace.from_flits([*trace, last._replace(cycle=last.cycle + 1)])
    refused(table, again, "rows", "no further row")


def test_empty_traces() -> None:
    check_trace(program({}, {}), Trace.empty())
    table, _ = queue()
    check_trace(table, Trace.empty(), complete=False)
    refused(table, Trace.empty(), "rows", "node 0, port 1, VC 0: .* node 0, row 0 has not left")


# ---- Rule 1, outputs --------------------------------------------------------------------------


def test_two_flits_by_one_output_in_one_cycle() -> None:
    table, trace = stairs()
    refused(table, Trace.from_flits([*trace, trace[5]]), "outputs", "a second flit")


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("port", 9, "no such output"),
        ("port", DOWN, "no such output"),
        ("node", 16, "no such output"),
        ("vc", 2, "VC is not 0 to 1"),
        ("kind", 4, "kind of flit"),
        ("data", 1 << 16, "wider than 16 bits"),
        ("cycle", -1, "negative"),
    ],
)
def test_values_out_of_range(field: str, value: int, what: str) -> None:
    table, trace = stairs()
    first = trace[0]
    refused(table, edited(trace, (lambda f: f == first, {field: value})), "outputs", what)


# ---- Rule 2, packets --------------------------------------------------------------------------


def test_a_flit_left_out() -> None:
    table, trace = stairs()
    without = {
        kind: Trace.from_flits([f for f in trace if f.node != 1 or f.kind != kind])
        for kind in (HEAD, TAIL)
    }
    refused(table, without[HEAD], "packets", "node 1, port 3, VC 0: .* without a header")
    refused(table, without[TAIL], "packets", "node 1, port 3, VC 0: .* no tail")
    body = next(index for index, f in enumerate(trace) if (f.node, f.kind) == (1, BODY))
    shorter = Trace.from_flits(list(trace)[:body] + list(trace)[body + 1 :])
    refused(table, shorter, "rows", "node 1, port 3, VC 0: .* as many flits")


def test_two_packets_interleaved() -> None:
    table, trace = traffic()
    places = (trace.node, trace.port, trace.vc)
    order = np.lexsort((trace.cycle, *places))
    kinds = trace.kind[order]
    same = np.logical_and.reduce([column[order][3:] == column[order][:-3] for column in places])
    pattern = np.stack([kinds[i : len(kinds) - 3 + i] for i in range(4)], axis=1)
    hit = np.flatnonzero(same & (pattern == [HEAD, TAIL, HEAD, TAIL]).all(axis=1))[0]
    second, third = order[hit + 1], order[hit + 2]
    flits = list(trace)
    flits[second] = trace[third]._replace(cycle=trace[second].cycle)
    flits[third] = trace[second]._replace(cycle=trace[third].cycle)
    refused(table, Trace.from_flits(flits), "packets", "begins without a header")
    table, trace = stairs()
    inside = next(flit for flit in trace if (flit.node, flit.kind) == (1, TAIL))
    late_head = edited(trace, (lambda flit: flit == inside, {"kind": SINGLE}))
    refused(table, late_head, "packets", "within a packet's payload")


# ---- Rule 3, rows, and rule 4, routes ---------------------------------------------------------


def later(cycles: int) -> dict[str, Callable[[int], int]]:
    return {"cycle": lambda cycle: cycle + cycles}


def flipped(bits: int) -> dict[str, Callable[[int], int]]:
    return {"data": lambda data: data ^ bits}


def by(node: int, port: int, *kinds: int) -> Callable[[Flit], bool]:
    return lambda flit: flit.port == port and at(node, *kinds)(flit)


@cache
def registers() -> tuple[Program, Trace]:
    """Return a packet over links with two registers."""
    table = program({0: [put(1, (UP, 3))]}, {3: [1]}, link_registers=2, depth=6)
    return table, simulated(table).trace


@cache
def late() -> tuple[Program, Trace]:
    """Return a packet that starts in cycle 20, and so leaves in cycle 21."""
    row = dataclasses.replace(put(1, (UP, 1)), start=20)
    table = changed(program({0: [row]}, {}, timed_rows=True), awaited=(0, 1, 0, 0))
    return table, simulated(table).trace


@pytest.mark.parametrize(
    ("made", "picks", "changes", "what"),
    [
        (stairs, at(1, HEAD), flipped(8), "rows: .* node 1, .* no row"),
        (stairs, at(1), {"vc": 1}, "rows: .* node 1, port 3, VC 1: no row"),
        (stairs, at(1), {"port": UP}, "rows: .* node 1, port 1, VC 0: no row"),
        (stairs, at(0), {"port": NORTH}, "rows: .* node 0, port 3, VC 1: no row"),
        (stairs, at(6), {"node": 7}, "rows: .* node 7, port 0, VC 1: no row"),
        (stairs, at(6), {"vc": 0}, "rows: .* node 6, port 0, VC 0: no row"),
        (stairs, at(5, TAIL), flipped(1), "routes: .* node 5, .* other data"),
        (stairs, at(1, BODY), flipped(1), "routes: .* node 1, .* other data"),
        (stairs, at(5), later(-1), "routes: .* node 5, .* before the cycle after"),
        (stairs, at(0), later(1), "routes: .* node 1, .* before the cycle after"),
        (registers, at(2), later(-1), "routes: .* node 2, port 1, .* before the cycle after"),
        (late, at(0), later(-1), "rows: cycle 20, node 0, port 1, .* before its start"),
        (queue, by(1, 0), later(30), "routes: .* node 1, port 1, VC 0: .* the one ahead of it"),
        (queue, by(1, 0, TAIL), later(3), "routes: .* node 1, port 1, VC 0: .* the one ahead"),
    ],
)
def test_one_hop_that_is_wrong(
    made: Callable[[], tuple[Program, Trace]],
    picks: Callable[[Flit], bool],
    changes: dict[str, Any],
    what: str,
) -> None:
    table, trace = made()
    check_trace(table, trace)
    refused(table, edited(trace, (picks, changes)), *what.split(": ", 1))


def test_a_packet_under_way_that_is_wrong() -> None:
    table, trace = stairs()
    end = trace.cycle[trace.node == 5][3]
    cut = trace.first_rows(int((trace.cycle <= end).sum()))
    check_trace(table, cut, complete=False)
    refused(table, cut, "packets", "no tail")
    wrong = edited(cut, (at(1, BODY), {"data": 99}))
    refused(table, wrong, "routes", "node 1, .* other data", complete=False)
    lost = Trace.from_flits([flit for flit in cut if flit.node != 1])
    refused(table, lost, "routes", "node 5, .* has not come in", complete=False)


def test_packets_of_a_sender_leave_in_the_order_of_its_table() -> None:
    rows = [put(1, (UP, 1)), put(2, (NORTH, 1))]
    table = program({0: rows}, {1: [1], 4: [2]}, GRID)
    trace = simulated(table).trace
    check_trace(table, trace)
    swapped = edited(trace, (by(0, UP), later(50)), (by(1, 0), later(50)))
    refused(table, swapped, "rows", "node 0, port 3, VC 0: .* the one ahead of it in its table")


def test_a_packet_lost_at_its_target_and_one_delivered_twice() -> None:
    table, trace = broadcast(flits=1)
    last = int(trace.node[-1])
    arrived = [flit for flit in trace if (flit.node, flit.port) == (last, 0)]
    lost = Trace.from_flits([flit for flit in trace if flit not in arrived])
    refused(table, lost, "rows", f"node {last}, port 0, .* has not left by the end")
    check_trace(table, lost, complete=False)
    again = [flit._replace(cycle=flit.cycle + 50) for flit in arrived]
    refused(table, Trace.from_flits([*trace, *again]), "rows", f"node {last}, port 0, .* further")


# ---- Rule 5, buffers --------------------------------------------------------------------------


@pytest.mark.parametrize(("registers", "depth"), [(0, 2), (0, 3), (1, 4), (2, 7)])
def test_departures_put_off_while_arrivals_go_on(registers: int, depth: int) -> None:
    limits = {"link_registers": registers, "depth": depth}
    table = program({0: [put(1, (UP, 2), length=12)]}, {2: [1]}, LINE, **limits)
    trace = simulated(table).trace
    spare = depth - (2 * registers + 2)
    for delay in range(spare + 3):
        late = edited(trace, (lambda f: f.node, {"cycle": lambda cycle, by=delay: cycle + by}))
        if delay <= spare:
            check_trace(table, late)
        else:
            refused(table, late, "buffers", f"node 0, port 1, .* all its {depth} full")


def test_a_dropped_header_frees_its_place_when_it_is_dropped() -> None:
    # Node 5 drops the first of node 1's flits, and holds back all the others.
    table, trace = stairs()
    assert table.config.depth == 2
    held = edited(trace, (lambda f: f.node in (5, 6), {"cycle": lambda cycle: cycle + 1}))
    refused(table, held, "buffers", "node 1, port 3, VC 0")
    dropped = int(trace.cycle[trace.node == 1][0]) + 1
    reused = int(trace.cycle[trace.node == 1][2])
    assert reused == dropped + 1
