"""Bitstreams of networks: yosys, nextpnr, and icepack or ecppack; all results are cached.

::

    Amaranth ─► tile.il, top.il ─► yosys ─► top.json ─► nextpnr ─► top.asc    ─► icepack ─► top.bin
                top.pcf or top.lpf ───────────────────────►        top.config ─► ecppack ─► top.bit

The cache has two entries for each board and network: the netlist, and the bitstream made from it.
So a network that does not fit is refused the second time without synthesis.
"""

import enum
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ...model.network.config import NetworkConfig
from ...model.network.config_file import network_to_json
from ...rtl.tiles import TILE_MODULE
from ...sim.cache import NETWORK_SOURCES, cached_folder, digest, network_words, source_digest
from ...sim.toolchain import require_plain_temporary_folder
from ...sim.verilog import own_operators_text
from ..registry import Board
from ..resources import (
    Resource,
    cells_used,
    placed_resources,
    require_fits,
    require_memories_fit,
    require_tiles_fit,
)
from ..serial.frame import require_boardable
from ..serial.hosted_network import Surroundings
from ..tools import ToolError, run_tool, tool_version
from .technology import THOROUGH, synthesis, synthesis_files
from .top import TILE_FILE, TOP, synthesis_inputs, tile_rtlil

STATISTICS = "statistics.json"
REPORT = "report.json"
TILE_SCRIPT = "tile.ys"
SEED = 1
TIMING_WEIGHT = 80
"""Timing weight of nextpnr's placer, by default 10; no other option speeds up networks as much."""
FEW_TILES = 8
"""Networks with at most this many tiles are synthesized without counting a tile first."""
BUILT_FROM = (
    *NETWORK_SOURCES,
    *(
        "boards/synthesis/top.py",
        "boards/serial/hosted_network.py",
        "boards/serial/uart.py",
        "boards/serial/device.py",
    ),
    *(
        "boards/serial/frame.py",
        "boards/registry.py",
        "boards/synthesis/bitstream.py",
        "boards/resources.py",
    ),
    *("boards/synthesis/technology.py", "boards/synthesis/crossbar_mux*.v"),
)
"""Sources of this package on which a netlist depends."""

Say = Callable[[str], None]


class Stage(enum.StrEnum):
    """Stages of a build, in order; small networks skip the first."""

    COUNT = "counting what one node takes (yosys)"
    CONVERT = "converting to RTLIL"
    SYNTHESIZE = "synthesis (yosys)"
    PLACE = "place and route (nextpnr)"
    PACK = "packing"


@dataclass(frozen=True)
class Bitstream:
    """A bitstream that was built.

    folder
        Folder of all files that the tools read and wrote.
    bitstream
        The file for the board.
    resources
        Used and available resources, as nextpnr counts them.
    fmax
        The highest frequency that nextpnr guarantees, in Hz.
    """

    folder: Path
    bitstream: Path
    resources: tuple[Resource, ...]
    fmax: float


@dataclass(frozen=True)
class _Family:
    """The programs for one kind of FPGA, and their file endings."""

    place: str
    constraints: str
    placed: str
    pack: str
    packed: str

    @property
    def place_arguments(self) -> tuple[str, ...]:
        """Arguments for nextpnr except those of the device."""
        option = {"pcf": "--pcf", "lpf": "--lpf"}[self.constraints]
        result = {"asc": "--asc", "config": "--textcfg"}[self.placed]
        return (
            *("--json", f"{TOP}.json", option, f"{TOP}.{self.constraints}"),
            *(result, f"{TOP}.{self.placed}", "--report", REPORT, "--seed", str(SEED)),
            *("--timing-allow-fail", "--placer-heap-timingweight", str(TIMING_WEIGHT)),
        )

    @property
    def pack_arguments(self) -> tuple[str, ...]:
        """Arguments for icepack or ecppack."""
        compress = ("--compress",) if self.pack == "ecppack" else ()
        return (*compress, f"{TOP}.{self.placed}", f"{TOP}.{self.packed}")


_FAMILIES = {
    "ice40": _Family("nextpnr-ice40", "pcf", "asc", "icepack", "bin"),
    "ecp5": _Family("nextpnr-ecp5", "lpf", "config", "ecppack", "bit"),
}


def build_bitstream(
    board: Board,
    config: NetworkConfig,
    *,
    around: Surroundings | None = None,
    say: Say = lambda stage: None,
) -> Bitstream:
    """Build the bitstream of a network for a board, or take it from the cache.

    ``around`` is a design around the network; ``say`` gets each :class:`Stage` as it begins.
    Raises :class:`.InvalidInput` if the network does not fit or a tool is missing,
    :class:`.ToolError` if one fails.
    """
    family = _FAMILIES[board.family]
    _require_possible(board, config)
    # Look for the tools first, so that a missing one is reported before synthesis.
    tools = (tool_version(family.place), tool_version(family.pack))
    netlist = synthesize(board, config, around=around, say=say)
    require_fits(board, config, cells_used(board, json.loads((netlist / STATISTICS).read_text())))

    def make(folder: Path) -> None:
        say(Stage.PLACE)
        for name in (f"{TOP}.json", f"{TOP}.{family.constraints}"):
            (folder / name).write_bytes((netlist / name).read_bytes())
        try:
            run_tool(family.place, (*board.device_options, *family.place_arguments), folder)
        except ToolError:
            # If the network does not fit, the user must know; other failures are in the log.
            log = (folder / f"{family.place}.log").read_text(errors="replace")
            require_fits(board, config, placed_resources(board, log))
            raise
        say(Stage.PACK)
        run_tool(family.pack, family.pack_arguments, folder)

    folder = cached_folder(
        digest("bitstream", netlist.name, *tools), f"bitstream of {_words(board, config)}", make
    )
    return _read(board, folder, family)


def synthesize(
    board: Board,
    config: NetworkConfig,
    *,
    around: Surroundings | None = None,
    say: Say = lambda stage: None,
) -> Path:
    """Return the folder with a network's netlist for a board (``top.json``), cached.

    Raises as :func:`build_bitstream` does.
    """
    _require_possible(board, config)
    if config.topology.nodes > FEW_TILES:
        require_tiles_fit(board, config, count_tile(board, config, say=say))

    def make(folder: Path) -> None:
        say(Stage.CONVERT)
        for name, text in synthesis_inputs(board, config, STATISTICS, around).items():
            (folder / name).write_text(text)
        say(Stage.SYNTHESIZE)
        _run_yosys(folder, f"{TOP}.ys")

    what = f"netlist of {_words(board, config)}"
    kind = "netlist" if around is None else f"netlist in {around.name}"
    return cached_folder(_netlist_key(kind, board, config), what, make)


def _require_possible(board: Board, config: NetworkConfig) -> None:
    """Refuse networks that certainly do not fit, before any tool runs."""
    require_boardable(config)
    require_memories_fit(board, config)


def count_tile(
    board: Board, config: NetworkConfig, *, say: Say = lambda stage: None
) -> tuple[Resource, ...]:
    """Count the cells of one tile: in seconds, while the whole network may take hours.

    Raises :class:`.InvalidInput` for a network that no board holds or if yosys is missing,
    :class:`.ToolError` if it fails.
    """
    require_boardable(config)

    def make(folder: Path) -> None:
        say(Stage.COUNT)
        steps = synthesis(board.family, TILE_MODULE).script(board.family, TILE_MODULE)
        script = f"read_rtlil {TILE_FILE}; {steps}; tee -q -o {STATISTICS} stat -json"
        files = {TILE_FILE: tile_rtlil(board, config), TILE_SCRIPT: script}
        for name, text in {**files, **synthesis_files(board.family)}.items():
            (folder / name).write_text(text)
        _run_yosys(folder, TILE_SCRIPT)

    what = f"size of a tile of {_words(board, config)}"
    folder = cached_folder(_netlist_key("tile", board, config), what, make)
    return cells_used(board, json.loads((folder / STATISTICS).read_text()))


def _words(board: Board, config: NetworkConfig) -> str:
    """Describe a network for a board in words."""
    return f"{network_words(config)}, for {board.name}"


def _run_yosys(folder: Path, script: str) -> None:
    """Run a script in a folder; if yosys fails, again without the thorough optimization.

    abc sometimes crashes in that optimization, once with a network of 16 nodes.
    """
    require_plain_temporary_folder()
    arguments = ("-q", "-l", "yosys-full.log", script)
    try:
        run_tool("yosys", arguments, folder)
    except ToolError:
        text = (folder / script).read_text()
        (folder / script).write_text(text.replace(f"{THOROUGH}; ", ""))
        run_tool("yosys", arguments, folder)


def _netlist_key(what: str, board: Board, config: NetworkConfig) -> str:
    """Return the cache key of yosys' result for a network and a board."""
    return digest(
        what,
        board.name,
        json.dumps(network_to_json(config), sort_keys=True),
        source_digest(*BUILT_FROM),
        own_operators_text(config),
        *(version(package) for package in ("amaranth", "amaranth-boards")),
        tool_version("yosys"),
    )


def _read(board: Board, folder: Path, family: _Family) -> Bitstream:
    """Return the bitstream in a finished folder."""
    report = json.loads((folder / REPORT).read_text())
    log = (folder / f"{family.place}.log").read_text(errors="replace")
    return Bitstream(
        folder=folder,
        bitstream=folder / f"{TOP}.{family.packed}",
        resources=placed_resources(board, log),
        fmax=min(clock["achieved"] for clock in report["fmax"].values()) * 1e6,
    )
