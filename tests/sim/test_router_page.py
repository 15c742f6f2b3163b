"""The hardware runs as in the worked examples and timing diagrams of docs/router.md."""

import re
from itertools import pairwise

import numpy as np
import pytest
from helpers.programs import encoded
from helpers.router_page import PAGE, blocks, cells, host_words, section

from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import line, mesh
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.run.run import FLAGS, SENDER_STATES, Run
from eyecast.model.run.trace import Trace, first_difference
from eyecast.rtl.parts.host_port import host_address_bits, node_bits
from eyecast.sim.build import build_simulator
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import simulate

PAYLOAD = 3


def packet(source: int, start: int, vc: int) -> Row:
    """Return a packet from node 0 or 1 up to node 2, with a header and 3 more flits."""
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


def program_of(limits: dict[str, int], packets: dict[int, Row]) -> Program:
    config = NetworkConfig(topology=line(3), timed_rows=True, steps=1, **limits)
    rows = tuple((packets[node],) if node in packets else () for node in range(3))
    return Program.from_rows(config, "full-duplex", rows, ((),) * 3, awaited=(0, 0, len(packets)))


def packet_names(trace: Trace) -> list[str]:
    """Return A or B for each row of a trace, by its payload: node n's words are 16 n + 1, ….

    A header flit has the name of the payload flit that follows it on its output and VC.
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


def drawn(trace: Trace) -> str:
    """Return a drawing of a trace: one line per output port, one column per cycle."""
    last = int(trace.cycle.max())
    outputs = [(0, 1), (1, 1), (2, 0)]
    cells = {output: [".."] * (last + 1) for output in outputs}
    for flit, name in zip(trace, packet_names(trace), strict=True):
        cells[flit.node, flit.port][flit.cycle] = name
    heading = "    cycle          " + " ".join(f"{cycle:2d}" for cycle in range(last + 1))
    lines = [f"    node {n}, port {p} " + " ".join(row) for (n, p), row in cells.items()]
    return "\n".join([heading, *lines])


def predicted_and_job(name: str) -> tuple[Run, Program, list[tuple[int, int, np.ndarray]]]:
    """Return the prediction for a diagram of the page, its program, and its loaded words."""
    program = program_of(*DIAGRAMS[name])
    memory = empty_memory(program.config)
    loads = []
    for node in (0, 1):
        words = np.arange(16 * node + 1, 16 * node + 1 + PAYLOAD, dtype=np.uint64)
        memory[node, :PAYLOAD] = words
        loads.append((node, 0, words))
    return run(program, memory, timing="self-timed"), program, loads


@pytest.mark.parametrize("name", DIAGRAMS)
def test_the_page_shows_what_is_predicted(name: str) -> None:
    predicted, _, _ = predicted_and_job(name)
    diagram = drawn(predicted.trace)
    assert f"{name}:\n\n{diagram}\n" in PAGE.read_text(), f"{name}:\n\n{diagram}"


@pytest.mark.parametrize(
    "name",
    [
        # The default tests use one network; each other network would be built for one packet.
        pytest.param(name, marks=() if limits == {"vcs": 1, "depth": 2} else pytest.mark.slow)
        for name, (limits, _) in DIAGRAMS.items()
    ],
)
def test_the_page_shows_what_the_hardware_does(name: str) -> None:
    predicted, program, loads = predicted_and_job(name)
    job = prepare(program, loads, timing="self-timed", read_words=0, cycle_limit=100)
    (measured,) = simulate(build_simulator(program.config), [job])
    assert first_difference(predicted.trace, measured.trace) is None


EXAMPLE = NetworkConfig(topology=mesh((3, 2)), vcs=2)
"""The network of the page's worked examples."""


def test_the_widths_of_the_example_are_those_of_its_network() -> None:
    header, table = EXAMPLE.header, EXAMPLE.table
    _, *lines = cells(section("### Widths"))
    assert {name: int(shown) for name, *_, shown in lines} == {
        "port_bits": header.port_bits,
        "longest_run": EXAMPLE.topology.longest_run,
        "hop_bits": header.hop_bits,
        "vc_bits": header.vc_bits,
        "slot_bits": header.slot_bits,
        "step_bits": header.step_bits,
        "address_bits": header.address_bits,
        "delivery_bits": header.delivery_bits,
        "length_bits": EXAMPLE.length_bits,
        "control_words": table.control_words,
        "mask_words": EXAMPLE.mask_words,
        "node_bits": node_bits(EXAMPLE),
        "host_address_bits": host_address_bits(EXAMPLE),
    }


def test_the_flags_and_the_states_of_a_sender() -> None:
    flags = {row[0]: row[1] for row in cells(section("### Flags")) if row[0].isdecimal()}
    assert flags == {str(bit): name for bit, name in FLAGS.items()}
    sections = "### Sender", "### Programs in the table memories"
    tables = [row for heading in sections for row in cells(section(heading)) if row[0][0] == "*"]
    states = {number: name.strip("*") for name, number, _ in tables}
    assert states == {str(number): name for number, name in enumerate(SENDER_STATES)}


def header_words(text: str, column: int) -> dict[int, str]:
    """Return the page's header word for each node that a header flit leaves."""
    rows = [row for row in cells(text) if row[0].isdecimal()]
    return {int(row[0]): row[column] for row in rows}


@pytest.mark.parametrize(("flit_width", "columns"), [(32, (3,)), (16, (4, 5))])
def test_a_header_on_its_way(flit_width: int, columns: tuple[int, ...]) -> None:
    config = NetworkConfig(topology=mesh((3, 2)), vcs=2, flit_width=flit_width)
    row = Row(2, (Segment(1, 2, 1), Segment(3, 1, 0)), 16, 16, 3)
    rows: list[tuple[Row, ...]] = [()] * 6
    rows[0] = (row,)
    program = Program.from_rows(config, "full-duplex", tuple(rows), ((),) * 5 + ((2,),))
    page = section("## 1. Flits and packets")
    heads: dict[int, list[str]] = {node: [] for node in (0, 1, 2, 5)}
    trace = run(program, empty_memory(config), timing="barrier").trace
    for flit in trace:
        if flit.kind & 1:
            heads[flit.node].append(f"0x{flit.data:0{flit_width // 4 if flit_width == 16 else 6}x}")
    shown = [header_words(page, column) for column in columns]
    for node, words in heads.items():
        wanted = [words_of[node] for words_of in shown]
        assert words == [word for word in wanted if word != "(dropped)"], node
    injected = next(row for row in cells(page) if row[0] == "injected at 0")
    header = encoded(config, [row])[0][config.table.control_words : -1]
    assert [int(injected[column], 16) for column in columns] == header


def test_the_table_of_the_row_that_sends_it() -> None:
    row = Row(2, (Segment(1, 2, 1), Segment(3, 1, 0)), 16, 16, 3)
    example = section("### Table").partition("**Worked example.**")[2]
    first, header, end = re.findall(r"`(0x[0-9a-f]+)`", example)[1:]
    assert [int(word, 16) for word in (first, header, end)] == encoded(EXAMPLE, [row])[0]


def test_what_the_host_writes_and_what_the_network_does_then() -> None:
    """Compare the worked example of section 6: its words, and the trace of model and hardware."""
    page = section("### A run")
    writes, shown = blocks(page)
    rows: list[tuple[Row, ...]] = [()] * 6
    rows[0] = (Row(1, (Segment(1, 2, 0),), 0, 0, 2),)
    rows[2] = (Row(2, (Segment(2, 2, 1), Segment(3, 1, 1)), 0, 16, 2),)
    program = Program.from_rows(EXAMPLE, "full-duplex", tuple(rows), ((), (), (1,), (2,), (), ()))
    memory = empty_memory(EXAMPLE)
    memory[0, :2] = 0xA1, 0xA2
    job = prepare(
        program, [(0, 0, memory[0, :2])], timing="barrier", read_words=18, cycle_limit=100
    )
    assert sorted(host_words(writes)) == sorted(job.writes.tolist())
    (measured,) = simulate(build_simulator(EXAMPLE), [job])
    predicted = run(program, memory, timing="barrier")
    for result in (predicted, measured):
        assert shown == "\n".join(["cycle,node,port,vc,kind,data", *map(str, result.trace), ""])
    assert predicted.cycles == 16
    assert "= 16 cycles" in page
    assert predicted.memory[3, 16:18].tolist() == [0xA1, 0xA2]


COMBINED = NetworkConfig(topology=line(2), operators="add", message_words=8)
STREAMED = NetworkConfig(topology=line(3), streams=True, message_words=8)


def exchange_that_adds() -> Program:
    rows = [[Row(1, (Segment(port, 1, 0),), 0, 4, 2, operator=2)] for port in (1, 2)]
    return Program.from_rows(COMBINED, "exchange", rows, ((1,), (1,)))


def chain_of_streams() -> Program:
    first = Row(1, (Segment(1, 1, 0),), 0, 4, 3)
    then = Row(1, (Segment(1, 1, 0),), 4, 4, 3, stream=1)
    return Program.from_rows(STREAMED, "half-duplex", [[first], [then], []], ((), (1,), (1,)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heading", "program", "words", "there", "cycles"),
    [
        (
            "## 19. Variant: operators",
            exchange_that_adds(),
            {0: [0xA1, 0xA2], 1: [0xB1, 0xB2]},
            [0x152, 0x154],
            7,
        ),
        (
            "## 20. Variant: streams",
            chain_of_streams(),
            {0: [0xA1, 0xA2, 0xA3]},
            [0xA1, 0xA2, 0xA3],
            11,
        ),
    ],
    ids=["operators", "streams"],
)
def test_what_combines_and_what_streams(
    heading: str, program: Program, words: dict[int, list[int]], there: list[int], cycles: int
) -> None:
    """Compare the worked examples of sections 19 and 20: words, trace, cycles, final memory."""
    page = section(heading)
    _, writes, shown = blocks(page)
    loads = [(node, 0, np.array(held, dtype=np.uint64)) for node, held in words.items()]
    job = prepare(program, loads, timing="barrier", read_words=8, cycle_limit=100)
    assert sorted(host_words(writes)) == sorted(job.writes.tolist())
    (measured,) = simulate(build_simulator(program.config), [job])
    assert shown == "\n".join(["cycle,node,port,vc,kind,data", *map(str, measured.trace), ""])
    assert measured.cycles == cycles
    assert re.search(rf"= {cycles}\s+cycles", page)
    assert not measured.flags.any()
    assert measured.memory[1, 4 : 4 + len(there)].tolist() == there


def test_the_drawing_of_a_stream() -> None:
    program = chain_of_streams()
    trace = run(program, empty_memory(program.config), timing="barrier").trace
    cycles = int(trace.cycle.max()) + 1
    outputs = {(0, 1): "A", (1, 0): "A", (1, 1): "B", (2, 0): "B"}
    drawing = ["cycle          " + "".join(f"{cycle:3d}" for cycle in range(cycles))[1:]]
    for (node, port), packet in outputs.items():
        left_in = [flit.cycle for flit in trace if (flit.node, flit.port) == (node, port)]
        names = dict(zip(left_in, (f"{packet}{each}" for each in "h123"), strict=True))
        row = "".join(f" {names.get(cycle, '..')}" for cycle in range(cycles))
        drawing.append(f"node {node}, port {port}{row}")
    assert blocks(section("## 20. Variant: streams"))[0].splitlines() == drawing


def test_the_drawing_of_the_interface_has_every_state() -> None:
    (sender, receiver) = blocks(section("## 22. The whole sender and the whole receiver"))
    for name, drawing in (("Sender", sender), ("Receiver", receiver)):
        rows = cells(section(f"### {name}, all variants"))
        states = {row[0].strip("*") for row in rows if row[0][0] == "*"}
        assert states <= {*drawing.split()}


def waves(text: str) -> tuple[list[int], dict[str, list[str]]]:
    """Return the cycles of a wave diagram, and each signal's six characters for each cycle.

    The number of a cycle stands above the second of its characters.
    """
    heading, *lines = text.splitlines()
    cycles = [int(word) for word in heading.split()[1:]]
    first = heading.index(f" {cycles[0]}")
    places = range(first, first + 6 * len(cycles), 6)
    return cycles, {
        line[:first].strip(): [line[place : place + 6].strip() for place in places]
        for line in lines
    }


def highs(cycles: list[int], signal: list[str]) -> list[int]:
    """Return the cycles in which a signal of one bit is 1."""
    return [cycle for cycle, cell in zip(cycles, signal, strict=True) if "‾" in cell]


def numbers(signal: list[str]) -> list[int]:
    return [int(cell.strip("|")) for cell in signal]


def left(result: Run, node: int, port: int) -> list[int]:
    """Return the cycles in which a flit leaves by an output."""
    return [flit.cycle for flit in result.trace if (flit.node, flit.port) == (node, port)]


@pytest.mark.parametrize(("place", "depth", "flits", "start"), [(0, 2, 1, 3), (1, 1, 3, 2)])
def test_waves_of_a_hop_and_of_a_credit(place: int, depth: int, flits: int, start: int) -> None:
    cycles, signals = waves(blocks(section("## 2. Links and credits"))[1 + place])
    row = Row(1, (Segment(1, 2, 0),), 0, 0, flits - 1, start)
    program = program_of({"vcs": 1, "depth": depth}, {0: row})
    result = run(program, empty_memory(program.config), timing="self-timed")
    leaves_n, leaves_m, credit = (
        highs(cycles, signals[name])
        for name in ("flit leaves n", "flit leaves m", "credit goes back to n")
    )
    assert leaves_n == left(result, 0, 1)
    assert leaves_m == left(result, 1, 1)[: len(leaves_m)]
    assert credit == leaves_m
    buffered = numbers(signals["flits in the buffer of m"])
    credits = numbers(signals["credit counter in n"])
    assert (buffered[0], credits[0]) == (0, depth)
    for cycle, now, then in zip(cycles, pairwise(buffered), pairwise(credits), strict=False):
        assert now[1] - now[0] == (cycle in leaves_n) - (cycle in leaves_m)
        assert then[1] - then[0] == (cycle in credit) - (cycle in leaves_n)


def test_waves_of_the_barrier() -> None:
    cycles, signals = waves(blocks(section("### Barrier"))[0])
    step_rows = tuple((Row(step, (Segment(1, 1, 0),), 0, 0, 1),) for step in (1, 2))
    config = NetworkConfig(topology=line(3))
    program = Program.from_rows(config, "full-duplex", (*step_rows, ()), ((), (1,), (2,)))
    result = run(program, empty_memory(config), timing="barrier")
    high = {name: highs(cycles, signal) for name, signal in signals.items()}
    assert high["node 1, port 0: a flit"] == left(result, 1, 0)
    assert high["node 1, port 1: a flit"] == left(result, 1, 1)
    assert [cycle + 1 for cycle in high["node 1 injects a flit"]] == left(result, 1, 1)
    tail = left(result, 1, 0)[-1]
    assert min(high["node 1: arrived, bit 1"]) == tail + 1 == result.step_ends[0]
    (advance,) = high["advance"]
    assert high["step over at every node"] == [advance - 1, advance]
    assert advance == tail + 2
    steps = dict(zip(cycles, numbers(signals["step"]), strict=True))
    assert [cycle for cycle, step in steps.items() if step == 2] == list(
        range(advance + 1, cycles[-1] + 1)
    )
    assert min(high["node 1 injects a flit"]) == advance + 1
