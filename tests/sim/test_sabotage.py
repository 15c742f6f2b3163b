"""Faults planted on purpose; the check for each detects it.

``Schedule.check`` detects faults in schedules (tests/model/schedule/test_schedule.py). Here are
faults in programs, in the hardware's flits, and in the hardware itself.
"""

import dataclasses
from functools import partial

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from helpers.programs import changed

from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import compare
from eyecast.model.compare.waiting import waiting
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.run import FLAGS
from eyecast.model.run.trace import first_difference
from eyecast.rtl.packets.credits import CreditCounter
from eyecast.rtl.parts.arbiter import Arbiter
from eyecast.rtl.parts.host_port import Flag
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import simulate
from eyecast.sim.verilog import fast_verilog, network_verilog

CONFIG = NetworkConfig(topology=mesh((4, 4)))
"""Network shared with tests/sim/test_verify.py, so that it is built once."""


def broadcast_case(timing="barrier", flits=4):
    return Case.of(
        Compiled.of(eye_broadcast(CONFIG.topology, 0, flits), CONFIG), timing=timing, seed=1
    )


def run_on_hardware(program, payload, *, timing="barrier", read_words=4, verilog=None):
    simulator = build_simulator(program.config, verilog=verilog)
    job = prepare(
        program,
        payload.loads(program.config),
        timing=timing,
        read_words=read_words,
        cycle_limit=500,
    )
    return next(simulate(simulator, [job]))


def with_row(program, node, place, **changes):
    """Return the program with one row changed."""
    rows = list(map(list, program.rows))
    rows[node][place] = dataclasses.replace(rows[node][place], **changes)
    return changed(program, rows=rows)


def failed(result):
    return {check.name for check in result.checks if not check.agrees}


def hardware_of(case, program):
    """Run another program on the hardware, and compare it with the right program's prediction."""
    return compare(case, run_on_hardware(program, case.payload))


def test_a_wrong_hop_count_in_a_route():
    case = broadcast_case()
    (segment, *rest) = case.program.rows[0][0].route
    short = (Segment(segment.port, segment.hops - 1, segment.vc), *rest)
    result = hardware_of(case, with_row(case.program, 0, 0, route=short))
    assert {"nodes delivered", "cycles", "trace rows"} <= failed(result)
    assert any("waits for a receive" in line for line in waiting(case.program, result.measured))


def test_a_route_that_leads_out_of_the_mesh_sets_bad_route():
    case = broadcast_case()
    result = hardware_of(case, with_row(case.program, 0, 0, route=(Segment(2, 1, 0),)))
    assert result.measured.flag_names(0) == ["bad_route"]
    assert "error flags" in failed(result)


def test_a_node_left_out():
    case = broadcast_case()
    rows = list(case.program.rows)
    sender = next(node for node, row in enumerate(rows) if row and row[-1].step == 4)
    rows[sender] = rows[sender][:-1]
    result = hardware_of(case, changed(case.program, rows=rows))
    assert result.measured.finished is False
    assert {"nodes delivered", "cycles", "TCD"} <= failed(result)


def test_a_node_reached_twice_sets_unexpected_receive():
    case = broadcast_case()
    rows = list(case.program.rows)
    again = rows[0][-1]
    rows[0] = (*rows[0], dataclasses.replace(again, step=5))
    result = hardware_of(case, changed(case.program, rows=rows))
    assert "unexpected_receive" in result.checks[-1].measured
    assert {"error flags", "TCD", "trace rows"} <= failed(result)


def test_a_send_before_receipt_sets_send_and_receive_and_carries_other_words():
    case = broadcast_case()
    early = next(node for node in range(1, 16) if case.program.rows[node])
    step = case.program.receives[early][0]
    result = hardware_of(case, with_row(case.program, early, 0, step=step))
    assert "send_and_receive" in result.measured.flag_names(early)
    assert {"error flags", "trace rows"} <= failed(result)


@pytest.mark.parametrize(
    "changes",
    [
        {"source_address": CONFIG.message_words - 3},
        {"length": CONFIG.message_words + 1},
        {"step": 1},  # after a row of step 2
    ],
    ids=["beyond the message memory", "longer than the message memory", "out of order"],
)
def test_a_row_that_asks_what_the_network_cannot_do_sets_bad_row(changes):
    case = broadcast_case()
    program = with_row(case.program, 0, 2, **changes)
    memory = case.payload.memory(CONFIG)
    predicted = run(program, memory, timing="barrier", cycle_limit=500)
    measured = run_on_hardware(program, case.payload)
    assert measured.flag_names(0) == ["bad_row"]
    assert (measured.flags == predicted.flags).all()
    assert first_difference(predicted.trace, measured.trace) is None
    assert not measured.finished
    assert any("has set bad_row" in line for line in waiting(program, measured))


def test_two_sends_on_one_link_in_one_step_stall():
    """Nodes 0 and 1 of a row both send over the link from 1 to 2, so one of them waits."""
    case = broadcast_case()
    silent = [()] * 16
    rows = list(silent)
    rows[0] = (Row(1, (Segment(1, 2, 0),), 0, 0, 4),)
    rows[1] = (Row(1, (Segment(1, 2, 0),), 0, 0, 4),)
    receives = list(silent)
    receives[2] = receives[3] = (1,)
    program = Program.from_rows(CONFIG, "half-duplex", tuple(rows), tuple(receives))
    measured = run_on_hardware(program, case.payload)
    assert measured.finished
    assert measured.stalled_flits.sum() > 0


def test_a_flipped_payload_bit():
    case = broadcast_case()
    flipped = case.payload.words.copy()
    flipped[2] ^= np.uint64(1 << 7)
    other = dataclasses.replace(case.payload, words=flipped)
    result = compare(case, run_on_hardware(case.program, other))
    assert failed(result) == {"nodes delivered", "trace rows"}
    assert result.difference is not None


def test_a_trace_row_one_cycle_late():
    case = broadcast_case()
    measured = run_on_hardware(case.program, case.payload)
    assert compare(case, measured).agrees
    late = measured.trace.cycle.copy()
    late[-1] += 1
    trace = dataclasses.replace(measured.trace, cycle=late)
    assert first_difference(case.predicted.trace, trace).index == len(late) - 1
    result = compare(case, dataclasses.replace(measured, trace=trace))
    assert failed(result) == {"trace rows"}


@pytest.fixture
def contention():
    """Let node 5 and its neighbors to the west and north repeatedly send east from node 5."""
    rows, receives = [[] for _ in range(16)], [[] for _ in range(16)]
    for step in range(1, 7):
        for source, target, route in (
            (5, 6, [(1, 1)]),
            (4, 7, [(1, 3)]),
            (1, 11, [(3, 1), (1, 2), (3, 1)]),
        ):
            segments = tuple(Segment(port, hops, 0) for port, hops in route)
            rows[source].append(Row(step, segments, 0, 0, 4))
            receives[target].append(step)
    return Program.from_rows(
        CONFIG, "full-duplex", tuple(map(tuple, rows)), tuple(map(tuple, receives))
    )


def compare_under_contention(program, verilog=None):
    """Return the first difference between model and hardware, and the hardware's run."""
    payload = broadcast_case().payload
    predicted = run(program, payload.memory(CONFIG), timing="self-timed")
    assert predicted.finished
    measured = run_on_hardware(program, payload, timing="self-timed", verilog=verilog)
    same_counts = (predicted.stalled_flits == measured.stalled_flits).all()
    return first_difference(predicted.trace, measured.trace), bool(same_counts), measured


@pytest.fixture(
    params=[network_verilog, pytest.param(fast_verilog, marks=pytest.mark.slow)],
    ids=["tiles apart", "tiles together"],
)
def written_verilog(request):
    """Return the network's Verilog after a test has changed one of its components."""
    return partial(request.param, trace=True)


@pytest.mark.parametrize(
    "verilog",
    [None, pytest.param(partial(fast_verilog, trace=True), marks=pytest.mark.slow)],
    ids=["tiles apart", "tiles together"],
)
def test_under_contention_the_hardware_is_as_predicted(contention, verilog):
    difference, same_counts, measured = compare_under_contention(contention, verilog)
    assert difference is None
    assert same_counts
    assert measured.finished
    assert measured.stalled_flits.sum() > 0


@pytest.mark.slow
def test_an_arbiter_whose_turn_is_ever_that_of_port_0(contention, monkeypatch, written_verilog):
    monkeypatch.setattr(Arbiter, "_after", lambda self, *_: self._turn(0).init)
    difference, _, measured = compare_under_contention(contention, written_verilog)
    assert difference is not None
    assert measured.finished


@pytest.mark.slow
def test_a_dropped_credit(monkeypatch, written_verilog):
    sound = CreditCounter.elaborate

    def elaborate(self, platform):
        m = Module()
        m.submodules.sound = counter = CreditCounter(CONFIG)
        counter.elaborate = lambda platform: sound(counter, platform)
        lost = Signal()
        with m.If(self.earn):
            m.d.sync += lost.eq(1)
        m.d.comb += [
            counter.spend.eq(self.spend),
            counter.earn.eq(self.earn & lost),
            self.available.eq(counter.available),
        ]
        return m

    monkeypatch.setattr(CreditCounter, "elaborate", elaborate)
    case = broadcast_case()
    result = compare(case, run_on_hardware(case.program, case.payload, verilog=written_verilog))
    assert {"cycles", "stalled flits", "trace rows"} <= failed(result)


@pytest.mark.slow
def test_flits_sent_without_credit_set_overflow(contention, monkeypatch, written_verilog):
    sound = CreditCounter.elaborate

    def elaborate(self, platform):
        m = Module()
        m.submodules.sound = counter = CreditCounter(CONFIG)
        counter.elaborate = lambda platform: sound(counter, platform)
        m.d.comb += [
            counter.spend.eq(self.spend),
            counter.earn.eq(self.earn),
            self.available.eq(1),
            self.overflow.eq(counter.overflow),
        ]
        return m

    monkeypatch.setattr(CreditCounter, "elaborate", elaborate)
    _, _, measured = compare_under_contention(contention, written_verilog)
    names = {name for node in range(16) for name in measured.flag_names(node)}
    assert "overflow" in names


def test_every_flag_has_a_name_in_the_model():
    assert {flag.value: flag.name.lower() for flag in Flag} == FLAGS
