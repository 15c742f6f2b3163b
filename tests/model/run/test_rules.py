"""Traces of runs pass all rules; for each rule, a broken trace fails with that rule's name."""

import dataclasses
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers.programs import DOWN, LINE, NORTH, UP, changed, program, put, simulated, words
from helpers.traffic import timed
from helpers.traffic import traffic as by_start

from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import compile_schedule
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run import matching, rules
from eyecast.model.run.grants import fronts_of
from eyecast.model.run.rules import TraceError, check_trace
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


@pytest.mark.parametrize("source", [0, 5, 15])
@pytest.mark.parametrize("depth", [1, 4])
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
def test_traffic_passes_whole_and_cut_off(
    limits: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The packets of these traces can be told apart, so the check never falls back to counting.
    monkeypatch.delattr(matching._Walk, "count")
    begin = matching._Walk.__init__

    def begin_strict(*arguments: Any, strict: bool) -> None:
        assert strict
        begin(*arguments, strict=strict)

    monkeypatch.setattr(matching._Walk, "__init__", begin_strict)
    table, trace = traffic(**limits)
    check_trace(table, trace)
    for cycle in range(0, int(trace.cycle[-1]), max(int(trace.cycle[-1]) // 5, 1)):
        check_trace(table, trace.first_rows(int((trace.cycle < cycle).sum())), complete=False)


def test_every_cut_of_a_packet_with_a_dropped_header_passes() -> None:
    table, trace = stairs()
    check_trace(table, trace)
    for cycle in range(int(trace.cycle[-1])):
        check_trace(table, trace.first_rows(int((trace.cycle < cycle).sum())), complete=False)


def test_packets_that_are_only_counted_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    table, trace = traffic(alike=True, longest=0)
    monkeypatch.setattr(matching, "MOST_RETRIES", -1)
    monkeypatch.setattr(matching._Walk, "_goes_on", lambda _: False)
    check_trace(table, trace)
    last = trace[-1]
    again = Trace.from_flits([*trace, last._replace(cycle=last.cycle + 1)])
    refused(table, again, "routes", "fewer packets")
    early = edited(trace, (lambda flit: flit == trace[0], {"cycle": 0}))
    refused(table, early, "routes", "before the cycle after")


def test_empty_traces() -> None:
    check_trace(program({}, {}), Trace.empty())
    table, _ = queue()
    check_trace(table, Trace.empty(), complete=False)
    refused(table, Trace.empty(), "deliveries", "1 words .* has not arrived")


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
    refused(table, Trace.from_flits(list(trace)[:body] + list(trace)[body + 1 :]), "routes", "node")


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


# ---- Rule 3, routes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("picks", "changes", "what"),
    [
        (at(5, TAIL), {"data": lambda data: data ^ 1}, "no packet"),
        (at(5, HEAD), {"data": lambda data: data ^ 1}, "no packet"),
        (at(1), {"vc": 1}, "node 1, port 3, VC 1: no packet"),
        (at(1), {"port": UP}, "node 1, port 1, VC 0: no packet"),
        (at(0), {"port": NORTH}, "node 0, port 3, VC 1: no packet"),
        (at(6), {"node": 7}, "node 7, port 0, VC 1: no packet"),
        (at(6), {"vc": 0}, "node 6, port 0, VC 0: no packet"),
        (at(5), {"cycle": lambda cycle: cycle - 1}, "node 5, .* before the cycle after"),
        (at(0), {"cycle": lambda cycle: cycle - 1}, "node 0, .* before the cycle after"),
    ],
)
def test_one_hop_that_is_wrong(
    picks: Callable[[Flit], bool], changes: dict[str, Any], what: str
) -> None:
    table, trace = stairs()
    refused(table, edited(trace, (picks, changes)), "routes", what)


def test_one_flit_a_cycle_early() -> None:
    # Node 1 forwards the tail in the cycle in which node 0 sends it; earlier flits make room.
    table, trace = queue()
    tail = max(flit for flit in trace if flit.node == 1 and flit.port == UP)
    early = edited(
        trace,
        (lambda flit: flit.node == 0 and flit.cycle == tail.cycle - 1, {"cycle": tail.cycle}),
        (lambda flit: flit.node == 2 and flit.kind == TAIL, {"cycle": tail.cycle + 1}),
    )
    what = f"cycle {tail.cycle}, node 1, port 1, VC 0: the flit leaves before"
    refused(table, early, "routes", what)


def test_early_over_link_registers() -> None:
    table = program({0: [put(1, (UP, 3))]}, {3: [1]}, link_registers=2, depth=6)
    trace = simulated(table).trace
    check_trace(table, trace)
    early = edited(trace, (lambda f: f.node == 2, {"cycle": lambda cycle: cycle - 1}))
    refused(table, early, "routes", "node 2, port 1")


def test_a_packet_overtakes_on_its_input_vc() -> None:
    table, trace = queue()
    late = int(trace.cycle[-1]) + 1
    overtaken = edited(trace, (lambda f: (f.node, f.port) == (1, 0), {"cycle": lambda c: c + late}))
    refused(table, overtaken, "routes", "node 1, port 1, VC 0: .* the one ahead of it")


def test_a_packet_leaves_before_the_last_flit_of_the_one_ahead() -> None:
    table, trace = queue()
    second = int(trace.cycle[(trace.node == 1) & (trace.port == UP)][0])
    slow = edited(trace, (lambda f: (f.node, f.port, f.kind) == (1, 0, TAIL), {"cycle": second}))
    refused(table, slow, "routes", "node 1, port 1, VC 0: .* the one ahead of it")


@pytest.mark.parametrize(
    ("picks", "changes"),
    [
        (at(1, BODY), {"data": 99}),
        (at(1, HEAD), {"data": lambda data: data ^ 8}),
        (at(1), {"port": UP}),
        (at(1), {"cycle": lambda cycle: cycle - 1}),
    ],
)
def test_a_packet_under_way_that_is_wrong(
    picks: Callable[[Flit], bool], changes: dict[str, Any]
) -> None:
    table, trace = stairs()
    end = trace.cycle[trace.node == 5][3]
    cut = trace.first_rows(int((trace.cycle <= end).sum()))
    check_trace(table, cut, complete=False)
    refused(table, edited(cut, (picks, changes)), "routes", "node 1", complete=False)
    refused(table, cut, "packets", "no tail")


def test_a_timed_row_leaves_before_its_start() -> None:
    row = dataclasses.replace(put(1, (UP, 1)), start=20)
    table = program({0: [row]}, {}, timed_rows=True)
    timed = changed(table, awaited=(0, 1, 0, 0))
    trace = simulated(timed).trace
    check_trace(timed, trace)
    assert trace.cycle[0] == 21
    early = edited(trace, (lambda _: True, {"cycle": lambda cycle: cycle - 1}))
    refused(timed, early, "routes", "cycle 20, node 0, port 1")


# ---- Rule 4, deliveries -----------------------------------------------------------------------


def test_a_packet_lost_at_its_target_and_one_delivered_twice() -> None:
    table, trace = broadcast(flits=1)
    last = int(trace.node[-1])
    arrived = [flit for flit in trace if (flit.node, flit.port) == (last, 0)]
    lost = Trace.from_flits([flit for flit in trace if flit not in arrived])
    refused(table, lost, "deliveries", f"node {last}, port 0, .* has not arrived")
    check_trace(table, lost, complete=False)
    again = [flit._replace(cycle=flit.cycle + 50) for flit in arrived]
    twice = Trace.from_flits([*trace, *again])
    refused(table, twice, "routes", f"node {last}, port 0")
    packets = rules.check_packets(table, twice)
    with pytest.raises(TraceError, match=f"deliveries: .*node {last}, port 0, .* no further row"):
        rules.check_deliveries(table, packets)


def test_a_delivery_at_the_wrong_node() -> None:
    table, trace = broadcast()
    moved = edited(
        trace, (lambda f: f.node == 15 and f.port == 0, {"node": 14, "cycle": lambda c: c + 40})
    )
    packets = rules.check_packets(table, moved)
    with pytest.raises(TraceError, match=r"deliveries: .* node 14, port 0"):
        rules.check_deliveries(table, packets)


def test_a_packet_that_never_left_its_node() -> None:
    table, _ = queue()
    rows, receives = (table.rows[0][:1], (), (), ()), ((), (1,), (), ())
    only_first = changed(table, rows=rows, receives=receives)
    trace = simulated(only_first).trace
    refused(table, trace, "deliveries", "node 2, port 0, .* 2 words")
    check_trace(table, trace, complete=False)


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


# ---- Rule 6, grants ---------------------------------------------------------------------------


@pytest.mark.parametrize("made", [traffic, stairs, broadcast])
def test_a_flit_stands_at_the_front_when_it_leaves(
    made: Callable[[], tuple[Program, Trace]],
) -> None:
    table, trace = made()
    buffered = rules.check_routes(table, rules.check_packets(table, trace))
    fronts = fronts_of(table.config, buffered)
    assert (fronts <= buffered.left).all()


def test_the_first_flit_of_all_leaves_before_a_vc_whose_turn_it_is() -> None:
    # After VC 1, it is the turn of VC 2 at node 0, before that of VC 0.
    rows = {
        1: [timed(0, (DOWN, 1, 1), length=0), timed(20, (DOWN, 1, 0), length=0)],
        2: [timed(20, (NORTH + 1, 1, 2), length=0)],
    }
    table = by_start(rows, {0: 3}, mesh((2, 2)), vcs=3)
    trace = simulated(table).trace
    check_trace(table, trace)
    *_, second, first = (flit for flit in trace if flit.node == 0)
    assert (second.vc, first.vc, first.cycle) == (2, 0, second.cycle + 1)
    swapped = edited(
        trace,
        (lambda flit: flit == first, {"cycle": second.cycle}),
        (lambda flit: flit == second, {"cycle": first.cycle}),
    )
    refused(table, swapped, "grants", "node 0, port 0, VC 0: VC 2 was ready, and it was its turn")
