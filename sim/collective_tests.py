"""Tests of a collective, as cocotb tests on the Verilog that users get.

Each test runs the program of a folder, watches every output of the network, and asserts the
sentence in its docstring. Circuits carry no packets, so sentences on packets are left out there.
The environment variable ``EYECAST_RUN`` names the folder. It has the output of
``eyecast program -o program.json --image image.csv``, and ``owed.json``: a list of
{"node", "address", "words"}, the words owed to each node. The tests write ``trace.csv``, the flits
that they have seen, and ``coverage.json``.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock

from eyecast.model.base.arrays import as_integers
from eyecast.model.cycle.any_run import run_any
from eyecast.model.image.host_port import Space
from eyecast.model.image.image_file import read_image
from eyecast.model.program.any_program import without_circuits
from eyecast.model.program.file import read_program
from eyecast.model.run.run import FLAGS
from eyecast.model.run.trace import first_difference
from eyecast.testbench import Coverage, HostDriver, NetworkMonitor, Packet, Scoreboard
from eyecast.testbench.monitor import Recording
from eyecast.testbench.packet_headers import delivery_of

CLOCK_PERIOD = 2
SLACK = 100
"""Cycles, beyond twice the predicted ones, after which a run is taken to hang."""

NO_FLAGS = "no node has set a flag"

FOLDER = Path(os.environ["EYECAST_RUN"])
PROGRAM = read_program(FOLDER / "program.json")
CONFIG = PROGRAM.config
IMAGE = read_image(FOLDER / "image.csv")
PREDICTED = run_any(PROGRAM, IMAGE.memory, timing=IMAGE.timing)

of_packets: Callable[[Any], Any] = (lambda test: test) if CONFIG.circuits else cocotb.test()
"""Make a function a test, except on circuits, whose words are no packets and have no steps."""


@dataclass
class Seen:
    """One run of the program, as the bench has seen it.

    done
        True if all nodes finished before the bench gave up.
    cycles
        The network's output ``cycle`` at the end.
    flags
        The error flags of all nodes in words.
    flits, packets
        All flits and packets that left an output.
    memory
        Each node's message memory after the run.
    """

    done: bool
    cycles: int
    flags: str
    flits: Recording
    packets: list[Packet]
    memory: list[list[int]]

    @property
    def delivered(self) -> Iterator[tuple[Packet, int, int]]:
        """Yield each delivered packet with its step and its address."""
        for packet in self.packets:
            if packet.port == 0:
                yield packet, *delivery_of(CONFIG.header, packet.header)


async def carry_out(
    dut: Any, idles: Iterator[bool] | None = None, scoreboard: Scoreboard | None = None
) -> Seen:
    """Load the program, run it to its end, and read flags and memories."""
    Clock(dut.clk, CLOCK_PERIOD, unit="step").start()
    late = 2 + CONFIG.barrier_registers
    host = HostDriver(dut, answer_cycles=late, idles=idles)
    await host.load(IMAGE.writes)
    monitor = NetworkMonitor(dut, CONFIG)
    packets: list[Packet] = []
    flits = monitor.record()
    if not CONFIG.circuits:
        monitor.on_packet(packets.append)
    if scoreboard is not None:
        scoreboard.watch(monitor)
    coverage = Coverage(CONFIG)
    coverage.watch(monitor)
    await host.start(barrier=IMAGE.timing == "barrier", half_duplex=IMAGE.half_duplex)
    limit = 2 * PREDICTED.cycles + SLACK
    done = await host.wait(limit * CLOCK_PERIOD)
    cycles = int(dut.cycle.value)
    nodes = range(CONFIG.topology.nodes)
    flags = await host.read_nodes(nodes, Space.STATUS, [0])
    coverage.flags(word for (word,) in flags)
    await host.reset()
    pieces = [
        word << CONFIG.piece_bits | piece
        for word in range(CONFIG.message_words)
        for piece in range(CONFIG.pieces)
    ]
    read = np.array(await host.read_nodes(nodes, Space.MESSAGE, pieces), np.uint64)
    memory = as_integers(read.reshape(CONFIG.words_shape(len(nodes), CONFIG.message_words)), axes=2)
    coverage.merge_into(FOLDER / "coverage.json")
    return Seen(done, cycles, flag_names(flags), flits, packets, memory)


def flag_names(flags: list[list[int]]) -> str:
    """Name the error flags of all nodes."""
    names = [
        f"node {node} has set {name}"
        for node, (word,) in enumerate(flags)
        for bit, name in FLAGS.items()
        if word >> bit & 1
    ]
    return ", ".join(names) or NO_FLAGS


@cocotb.test()
async def test_every_node_is_delivered(dut: Any) -> None:
    """Every node ends up with every word that it is owed."""
    seen = await carry_out(dut)
    for owed in json.loads((FOLDER / "owed.json").read_text()):
        node, address, words = owed["node"], owed["address"], owed["words"]
        held = seen.memory[node][address : address + len(words)]
        assert held == words, f"node {node} has {held} from address {address} on, not {words}"


@of_packets
async def test_every_packet_is_delivered_once(dut: Any) -> None:
    """Each row's packet ends at its target, once, and no other packet does."""
    seen = await carry_out(dut)
    scoreboard = Scoreboard(PROGRAM, IMAGE.memory, predicted=PREDICTED)
    got = Counter(
        (packet.node, step, address, len(packet.words)) for packet, step, address in seen.delivered
    )
    assert got == scoreboard.owed


@of_packets
async def test_no_two_packets_share_a_link_in_a_step(dut: Any) -> None:
    """In each step, each link carries at most one packet."""
    seen = await carry_out(dut)
    crossed = Counter(
        (delivery_of(CONFIG.header, packet.header)[0], packet.node, packet.port)
        for packet in seen.packets
        if packet.port
    )
    shared = {place: packets for place, packets in crossed.items() if packets > 1}
    assert not shared, f"packets by (step, node, port): {shared}"


@of_packets
async def test_steps_are_as_predicted(dut: Any) -> None:
    """Packets are delivered in each of the predicted steps, and in no other."""
    seen = await carry_out(dut)
    steps = {step for _, step, _ in seen.delivered}
    assert steps == set(range(1, without_circuits(PROGRAM).steps + 1))


@cocotb.test()
async def test_cycles_are_as_predicted(dut: Any) -> None:
    """The network is done after as many cycles as the golden model says."""
    seen = await carry_out(dut)
    assert seen.done, f"not done after {seen.cycles} cycles"
    cycles = seen.cycles
    assert cycles == PREDICTED.cycles


@cocotb.test()
async def test_flits_are_as_predicted(dut: Any) -> None:
    """Every flit leaves its output in the predicted cycle, bit for bit."""
    seen = await carry_out(dut)
    trace = seen.flits.trace()
    trace.write_csv(FOLDER / "trace.csv")
    difference = first_difference(PREDICTED.trace, trace)
    assert difference is None, difference.describe()


@cocotb.test()
async def test_no_node_sets_a_flag(dut: Any) -> None:
    """No node sets an error flag."""
    seen = await carry_out(dut)
    flags = seen.flags
    assert flags == NO_FLAGS


@cocotb.test()
async def test_a_host_that_pauses_changes_nothing(dut: Any) -> None:
    """The scoreboard has no complaint in a run that a host with random pauses has loaded."""
    draw = random.Random(1)
    idles = (draw.random() < 0.3 for _ in iter(int, 1))
    scoreboard = Scoreboard(PROGRAM, IMAGE.memory, timing=IMAGE.timing, predicted=PREDICTED)
    seen = await carry_out(dut, idles, scoreboard)
    scoreboard.check_done(seen.cycles)
    for node, words in enumerate(seen.memory):
        known = [part for part in IMAGE.after if part[0] == node]
        for _, address, right in known:
            assert words[address : address + len(right)] == right, f"node {node}"
