"""The timing diagrams of docs/router.md are what the hardware does."""

from pathlib import Path

import numpy as np
import pytest

from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import line
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.trace import first_difference
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import simulate

PAGE = Path(__file__).parents[1] / "docs" / "router.md"
PAYLOAD = 3


def packet(source, start, vc):
    """From ``source`` two links up, or one from node 1: always to node 2, header and 3 flits."""
    return Row(1, (Segment(1, 2 - source, vc),), 0, 0, PAYLOAD, start)


DIAGRAMS = {
    "One packet, A": ({"vcs": 1, "depth": 2}, {0: packet(0, 2, 0)}),
    "A second one, B, one VC": (
        {"vcs": 1, "depth": 2},
        {0: packet(0, 2, 0), 1: packet(1, 4, 0)},
    ),
    "The same, B on a VC of its own": (
        {"vcs": 2, "depth": 2},
        {0: packet(0, 2, 0), 1: packet(1, 4, 1)},
    ),
    "One packet, depth 1": ({"vcs": 1, "depth": 1}, {0: packet(0, 2, 0)}),
    "One packet, a register on each link, depth 4": (
        {"vcs": 1, "depth": 4, "link_registers": 1},
        {0: packet(0, 2, 0)},
    ),
}


def program_of(limits, packets):
    config = NetworkConfig(topology=line(3), timed_rows=True, steps=1, **limits)
    rows = tuple((packets[node],) if node in packets else () for node in range(3))
    return Program.from_rows(config, "full-duplex", rows, ((),) * 3, awaited=(0, 0, len(packets)))


def packet_names(trace):
    """A or B for each row, from the payload: node n's words are 16 n + 1, 16 n + 2, ….

    A header flit is named as the payload flit that follows it on its output and VC.
    """
    names = []
    for place, flit in enumerate(trace):
        following = (
            other
            for other in list(trace)[place:]
            if (other.node, other.port, other.vc) == (flit.node, flit.port, flit.vc)
        )
        word = next(other.data for other in following if not other.kind & 1)
        names.append("AB"[word >> 4] + ("h" if flit.kind & 1 else str(flit.data & 15)))
    return names


def drawn(trace):
    """One line per output port, one column per cycle."""
    last = int(trace.cycle.max())
    outputs = [(0, 1), (1, 1), (2, 0)]
    cells = {output: [".."] * (last + 1) for output in outputs}
    for flit, name in zip(trace, packet_names(trace), strict=True):
        cells[flit.node, flit.port][flit.cycle] = name
    heading = "    cycle          " + " ".join(f"{cycle:2d}" for cycle in range(last + 1))
    lines = [f"    node {n}, port {p} " + " ".join(row) for (n, p), row in cells.items()]
    return "\n".join([heading, *lines])


@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_page_shows_what_the_hardware_does(name):
    program = program_of(*DIAGRAMS[name])
    words = [np.arange(16 * node + 1, 16 * node + 1 + PAYLOAD, dtype=np.uint64) for node in (0, 1)]
    loads = [(node, 0, words[node]) for node in (0, 1)]
    job = prepare(program, loads, timing="self-timed", read_words=0, cycle_limit=100)
    (measured,) = simulate(build_simulator(program.config), [job])
    memory = empty_memory(program.config)
    memory[:2, :PAYLOAD] = words
    predicted = run(program, memory, timing="self-timed")
    assert first_difference(predicted.trace, measured.trace) is None
    diagram = drawn(measured.trace)
    assert f"{name}:\n\n{diagram}\n" in PAGE.read_text(), f"{name}:\n\n{diagram}"
