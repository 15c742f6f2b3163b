"""Coverage counts each event exactly when it happens; files add up runs."""

import dataclasses
import textwrap
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.programs import program, put, words
from helpers.tree_networks import graph_of

import eyecast
from eyecast.model.cycle.control import Control
from eyecast.model.cycle.model import run
from eyecast.model.image.host_port import Space
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.neighbor_table import with_switches
from eyecast.model.network.topology import mesh
from eyecast.model.program.program import Program
from eyecast.model.run.run import Ending, EndState, HardwareRun, Prediction, Run
from eyecast.model.run.signature import signatures
from eyecast.model.run.trace import Flit
from eyecast.registers.register_map import byte_address
from eyecast.sim.job import HostEvent
from eyecast.testbench.bus_drivers import BusDriver
from eyecast.testbench.controller_driver import Refused
from eyecast.testbench.coverage import POINTS, Coverage, coverage_table, points_of
from eyecast.testbench.monitor import Packet

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "own-testbench.md"

CONFIG = NetworkConfig(topology=mesh((4, 2)), vcs=2, operators=("add",), streams=True)
HEADER = CONFIG.header
EAST, NORTH = 1, 3


def packet(port: int, *header: int, words: int = 2, end: int = 9, **fields: int) -> Packet:
    """Return a packet without gaps that leaves a port of node 1 on VC 0."""
    place = {"node": 1, "vc": 0, "begin": end + 1 - len(header) - words} | fields
    return Packet(port=port, end=end, header=header, words=(7,) * words, **place)


def slot(port: int, vc: int) -> int:
    """Return a header flit with one more hop, and a delivery for step 1, address 0."""
    shift = HEADER.port_bits + HEADER.hop_bits
    return port | vc << shift | int(HEADER.delivery(1, 0)) << HEADER.slot_bits


def delivered(step: int = 1, address: int = 0, operator: int = 0, window: int = 0) -> int:
    return int(HEADER.delivery(step, address, operator, window))


SEVERAL, AWAITED = "packet of several flits", "delivery that a step waits for"
COMBINED = "delivery that is combined", "word that is combined"


@pytest.mark.parametrize(
    ("seen", "points"),
    [
        ([packet(EAST, slot(EAST, 0))], {SEVERAL}),
        ([packet(EAST, delivered())], {SEVERAL}),
        ([packet(EAST, delivered(), words=0)], {"packet of one flit"}),
        ([packet(EAST, slot(NORTH, 1))], {SEVERAL, "packet that changes its VC on the way"}),
        (
            [packet(EAST, slot(EAST, 1))],
            {SEVERAL, "packet that changes its VC on the way", "VC turn at a dateline"},
        ),
        (
            [packet(EAST, 0, slot(EAST, 0))],
            {SEVERAL, "packet with several header flits", "header flit used up"},
        ),
        ([packet(EAST, delivered(), begin=3)], {SEVERAL, "gap in a packet"}),
        ([packet(0, delivered())], {SEVERAL, AWAITED}),
        ([packet(0, delivered(step=0))], {SEVERAL, "delivery that no step waits for"}),
        (
            [packet(0, delivered(), words=0)],
            {"packet of one flit", AWAITED, "packet without payload"},
        ),
        ([packet(0, delivered(operator=1))], {SEVERAL, AWAITED, *COMBINED}),
        ([packet(0, delivered(window=2))], {SEVERAL, AWAITED, "delivery into a window"}),
        ([packet(0, delivered(address=2, window=2))], {SEVERAL, AWAITED, "delivery into a window"}),
        (
            [packet(0, delivered(address=3, window=2))],
            {SEVERAL, AWAITED, "delivery into a window", "window that wraps round"},
        ),
        (
            [packet(0, delivered()), packet(0, delivered(step=2))],
            {
                *(SEVERAL, AWAITED),
                "deliveries of two steps in one cycle",
                "two deliveries to a node in one cycle",
            },
        ),
        (
            [packet(0, delivered()), packet(0, delivered(step=2), node=2)],
            {SEVERAL, AWAITED, "deliveries of two steps in one cycle"},
        ),
    ],
)
def test_a_packet_counts_its_points_and_no_others(seen: list[Packet], points: set[str]) -> None:
    coverage = Coverage(CONFIG)
    for each in seen:
        coverage.packet(each)
    assert {point for point, count in coverage.counts.items() if count} == points


def test_flits_of_one_output_in_two_cycles_in_a_row() -> None:
    head, tail = 1, 2
    turns, close = "VCs of an output take turns", "packet behind another without a gap"
    for vc, kind, cycle, points in (
        (0, 0, 5, {}),
        (1, 0, 5, {turns: 1}),
        (0, head, 5, {close: 1}),
        (1, head, 5, {turns: 1}),
        (0, head, 6, {}),
    ):
        coverage = Coverage(CONFIG)
        coverage.flit(Flit(4, 1, EAST, 0, tail if kind else 0, 7))
        coverage.flit(Flit(cycle, 1, EAST, vc, kind, 7))
        assert +coverage.counts == points


def test_flags_of_nodes() -> None:
    coverage = Coverage(CONFIG)
    coverage.flags([0, 1 << 6, 1 << 4 | 1 << 6, 1])
    assert +coverage.counts == {"flag bad_row": 2, "flag unexpected_receive": 1}


def test_flags_of_circuits_have_other_names() -> None:
    coverage = Coverage(NetworkConfig(topology=mesh((2, 2)), circuits=True))
    coverage.flags([0, 1 << 0 | 1 << 2, 1 << 0])
    assert +coverage.counts == {"flag lost_word": 2, "flag missing_word": 1}


class Bus(BusDriver):
    """A bus that answers at once: 7 to each read, and no access from an address on."""

    def __init__(self, config: NetworkConfig, refused_from: int) -> None:
        self.accesses, self._config, self._clock = Counter(), config, None
        self._refused_from = refused_from

    async def _access(self, address: int, word: int | None) -> int | None:
        return None if address >= self._refused_from else 7


def test_accesses_through_a_bus(monkeypatch: pytest.MonkeyPatch) -> None:
    async def first(access: Any, _patience: None) -> tuple[int, int | None]:
        return 0, await access

    monkeypatch.setattr("eyecast.testbench.bus_drivers.select", first)
    monkeypatch.setattr("eyecast.testbench.bus_drivers.ClockCycles", lambda *_: None)
    config = NetworkConfig(topology=mesh((2, 2)), programs=1)
    host = Bus(config, byte_address(config, 0, Space.MESSAGE, 4))

    async def access() -> None:
        for word in range(6):
            with nullcontext() if word < 4 else pytest.raises(Refused):
                await host._answer(0, Space.MESSAGE, word, 5 if word % 2 else None)

    with pytest.raises(StopIteration):
        access().send(None)
    coverage = Coverage(config)
    coverage.accesses(host.accesses)
    # The driver reads the kind of each of the two refusals.
    assert coverage.counts == {
        "read through a bus": 3 + 2,
        "write through a bus": 3,
        "access that a bus refuses": 2,
    }
    assert {point for point, section in POINTS.items() if section == "21"} == {*coverage.counts}


def test_links_with_registers_slow_links_and_switches() -> None:
    # Node 0 has two leaves: by a slow link, and by a long one with a switch at its end.
    slow = 3
    whole = with_switches(graph_of(3, [(0, 1), (0, 2)]), [2])
    rates, registers = np.ones_like(whole.neighbor), np.zeros_like(whole.neighbor)
    rates[0, 1], registers[0, 2] = slow, 2
    topology = replace(whole, link_rate_of=rates, link_registers_of=registers)
    coverage = Coverage(NetworkConfig(topology=topology))
    for cycle, node, port in ((5, 0, 1), (5, 0, 2), (5 + slow, 0, 1), (9 + slow, 0, 1), (9, 2, 1)):
        coverage.flit(Flit(cycle, node, port, 0, 0, 7))
    assert +coverage.counts == {
        "flit as soon as a slow link is free": 1,
        "flit over a link with registers": 1,
        "flit that leaves a switch": 1,
    }


def test_words_of_circuits() -> None:
    coverage = Coverage(NetworkConfig(topology=mesh((2, 2)), circuits=True))
    for cycle, port, data in ((5, 1, 7), (5, 2, 7), (6, 0, 7), (6, 1, 8)):
        coverage.flit(Flit(cycle, 0, port, 0, 0, data))
    assert +coverage.counts == {
        "word of a circuit over a link": 3,
        "equal words leave a node at once": 1,
    }


def counted(program: Program, predicted: Prediction) -> Coverage:
    """Return the coverage of a predicted run."""
    coverage = Coverage(program.config)
    coverage.run(predicted)
    return coverage


def test_packets_are_counted_where_a_trace_tells_them_apart() -> None:
    """A trace of all ports has the packets of several ejection ports in one."""
    schedule = eyecast.schedule(eyecast.mesh((2, 2)), "eye", source=(0, 0), words=4)
    made, predicted = eyecast.compile(schedule), eyecast.predict(schedule)
    counts = points_of(made.config, predicted)
    assert counts[AWAITED] == 3
    assert counts == counted(made, predicted).counts
    assert not +points_of(replace(made.config, all_port=True), predicted)
    words = +points_of(replace(made.config, circuits=True), predicted)
    assert [*words] == ["word of a circuit over a link"]


def measured(predicted: Prediction, **fields: Any) -> HardwareRun:
    """Return a run of hardware that is as predicted, with other ``fields``."""
    names = [each.name for each in dataclasses.fields(Run)]
    nodes = len(predicted.flags)
    return HardwareRun(
        **{name: getattr(predicted, name) for name in names},
        sender_state=np.zeros((nodes, 1), np.int64),
        **{"signature": np.zeros(nodes, np.uint32), "seconds": 0.0, **fields},
    )


def two_steps(**limits: Any) -> Program:
    """Return a program of two steps, the second one of node 1."""
    rows = {0: [put(1, (1, 1), length=2, target=8)], 1: [put(2, (1, 2), length=1, source=8)]}
    return program(rows, {1: [1], 3: [2]}, **limits)


def test_events_of_run_control() -> None:
    made = two_steps(programs=2)
    predicted = run(made, words(made), timing=Timing.BARRIER)
    ends = {
        EndState.DONE: "completion ends a run",
        EndState.FAILED: "flag ends a run",
        EndState.TIMED_OUT: "limit ends a run",
    }
    for state, point in ends.items():
        coverage = Coverage(made.config)
        coverage.run(
            measured(predicted, ending=Ending(state, 9, None), events=("queued run begins",))
        )
        shown = {name for name, count in coverage.counts.items() if count and POINTS[name] == "16"}
        assert shown == {point, "queued run begins"}
    assert {event.value for event in HostEvent} <= POINTS.keys()
    without = counted(two_steps(), predicted).counts
    assert not {name for name, count in without.items() if count and POINTS[name] == "16"}


def test_signatures_of_nodes_that_send() -> None:
    made = two_steps(signature=True)
    predicted = run(made, words(made), timing=Timing.BARRIER)
    for signature in (signatures(predicted.trace, made.config), np.zeros(4, np.uint32)):
        coverage = Coverage(made.config)
        coverage.run(measured(predicted, signature=signature))
        count = coverage.counts["signature of a node that sends"]
        assert count == np.count_nonzero(signature)


@pytest.mark.parametrize(
    ("registers", "timing"), [(2, "barrier"), (0, "barrier"), (2, "self-timed")]
)
def test_advances_of_a_barrier(registers: int, timing: Timing) -> None:
    made = two_steps(barrier_registers=registers)
    coverage, timing = Coverage(made.config), Timing(timing)
    coverage.program(made, run(made, words(made), timing=timing), timing=timing)
    happens = bool(registers) and timing is Timing.BARRIER
    assert +coverage.counts == ({"advance through barrier registers": 1} if happens else {})


@pytest.mark.parametrize(("late", "held"), [((3, 0, 5, 0), 1), ((0, 0, 5, 0), 0)])
def test_late_tiles_hold_senders(late: tuple[int, ...], held: int) -> None:
    """Only nodes 0 and 1 send; a tile that is late at node 2 holds back nothing."""
    made = two_steps(programs=1, tile_ports=True)
    hold = np.array(late)
    predicted = run(made, words(made), timing=Timing.BARRIER, control=Control(hold=hold))
    coverage = Coverage(made.config)
    coverage.program(made, predicted, timing=Timing.BARRIER, hold=hold)
    assert coverage.counts["sender held by a late tile"] == held


@pytest.mark.parametrize(("pattern", "refused"), [(0, False), (0xAAAA, True)])
def test_refusals_and_awaited_packets(pattern: int, refused: bool) -> None:
    rows = {0: [replace(put(1, (1, 1), length=4), start=0)]}
    made = program(rows, {}, timed_rows=True, awaited={1: 1})
    refusal = np.full(4, pattern, np.uint16)
    predicted = run(made, words(made), timing=Timing.SELF_TIMED, refusal=refusal)
    assert predicted.finished
    coverage = Coverage(made.config)
    coverage.program(made, predicted, timing=Timing.SELF_TIMED, refusal=refusal)
    assert coverage.counts["node that has received its awaited packets"] == 1
    # With every second cycle refused, each flit leaves after a refused cycle.
    assert coverage.counts["flit after a refused cycle"] == 5 * refused


@pytest.mark.parametrize(("stream", "words_on"), [(1, 2), (0, 0)])
def test_words_that_a_stream_sends_on(stream: int, words_on: int) -> None:
    """Node 1 sends a word of its own, then two words of the packet that it receives."""
    row = replace(put(1, (1, 1), length=3, source=8, target=16), stream=stream, lead=stream)
    rows = {0: [put(1, (1, 1), length=2, target=9)], 1: [row]}
    made = program(rows, {1: [1], 2: [1]}, mesh((3,)), streams=True)
    predicted = run(made, words(made), timing=Timing.BARRIER)
    assert predicted.finished
    coverage = Coverage(made.config)
    coverage.program(made, predicted, timing=Timing.BARRIER)
    assert coverage.counts["word sent on while its packet arrives"] == words_on


def test_files_add_up_runs(tmp_path: Path) -> None:
    made = program(
        {0: [put(1, (1, 1), length=2, target=8)], 1: [put(2, (1, 2), length=1, source=8)]},
        {1: [1], 3: [2]},
    )
    file = tmp_path / "coverage.json"
    predicted = run(made, words(made), timing=Timing.BARRIER)
    for _ in range(2):
        counted(made, predicted).merge_into(file)
    first, *lines = coverage_table(file).splitlines()
    assert first == f"coverage of the contract: 2 of {len(POINTS)} points"
    shown = {line[15:]: line[:13].split() for line in lines}
    assert shown[SEVERAL] == ["1", "10"]
    assert shown[AWAITED] == ["4", "4"]
    assert shown["gap in a packet"] == ["3", "-"]
    assert [*shown] == [*POINTS]
    twice = {line[15:]: line[:13].split() for line in coverage_table(file, file).splitlines()[1:]}
    assert twice[SEVERAL] == ["1", "20"]


def test_the_guide_shows_the_table_of_its_run(tmp_path: Path) -> None:
    broadcast = eyecast.schedule(eyecast.mesh((2, 2)), "eye", source=(0, 0), words=4)
    file = tmp_path / "coverage.json"
    counted(eyecast.compile(broadcast), eyecast.predict(broadcast)).merge_into(file)
    begin = "\n".join(coverage_table(file).splitlines()[:5])
    assert textwrap.indent(begin, "    ") in GUIDE.read_text()
