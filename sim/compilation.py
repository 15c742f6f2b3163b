"""Compilation of a network's simulator: which tiles go into one module, and the options.

This module does not import Amaranth, which takes longer than a short run.
"""

import enum

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig
from ..rtl.parts.host_map import TILES_MODULE
from .build_worker import QUICK_LEVEL

TOP_MODULE = "eyecast_network"

MOST_BUFFERS = 88
"""Most ports times VCs, the buffers that an output of a router chooses from: a 10-cube with 8 VCs.

There the conversion takes about a minute; time and memory grow with the square.
"""


def require_convertible(config: NetworkConfig) -> None:
    """Raise :class:`InvalidInput` for too large routers, or operators without a component."""
    for operator in config.operators:
        if not operator.built_in and operator.component is None:
            allowed = "given with its component, for hardware"
            raise InvalidInput.of(f"operator {operator.name}", allowed, "without")
    ports, vcs = config.topology.ports, config.vcs
    if ports * vcs > MOST_BUFFERS:
        before = f"ports of a node x VCs must be at most {MOST_BUFFERS} for hardware (lower "
        raise InvalidInput.around(before, "vcs", f"), not {ports} x {vcs}")


class Tiles(enum.Enum):
    """The way from the tiles of a network to C++."""

    APART = "a tile is compiled by itself, once for all nodes"
    WHOLE = "the network is compiled as a whole, of tiles that are modules of their own"
    TOGETHER = "the tiles are one module, in which a word has a bit of each: fast_verilog"


TILE_APART_OPTIONS = ["--hierarchical"]
"""A tile compiled once, for any number of nodes: a third of the compile time for 3x3, a quarter for
8x8; but the simulator evaluates its code more than once in a cycle."""
WHOLE_OPTIONS = [
    # These two optimizations of -O3 number their variables through the whole design: with
    # them no two tiles have the same code, and each is compiled separately.
    "-fno-dfg",
    "-fno-table",
]
"""The network compiled as a whole: its simulator is three times as fast."""
TOGETHER_OPTIONS = [
    *WHOLE_OPTIONS,
    # Split into short functions: over longer ones the compiler takes almost twice as long.
    "--output-split-cfuncs",
    "300",
]
"""Tiles together: the simulator of 8x8 is seven times as fast as compiled as a whole."""
THOROUGH_LEVEL = "-O2"
"""The compiler's level for simulators without a trace, because their runs are long."""
RECORDING_LEVEL = "-O0"
"""The compiler's level for simulators that record waveforms or are monitored: a third to a half of
the build time of ``-O2``, and the recording or the bench takes most of a run."""
FEWEST_TOGETHER = 25
"""Fewest nodes for which tiles with a trace are together; smaller networks build faster apart."""


def compiler_options(tiles: Tiles, *, trace: bool, inside: bool) -> tuple[list[str], str]:
    """Return Verilator's options and the compiler's optimization level.

    ``inside``: waveforms or a bench read signals inside the tiles.
    """
    options = {
        Tiles.APART: TILE_APART_OPTIONS,
        Tiles.WHOLE: WHOLE_OPTIONS,
        Tiles.TOGETHER: TOGETHER_OPTIONS,
    }
    level = QUICK_LEVEL if trace and tiles is not Tiles.WHOLE else THOROUGH_LEVEL
    return options[tiles], RECORDING_LEVEL if inside else level


def choose_way(config: NetworkConfig, *, trace: bool, inside: bool, given: str | None) -> Tiles:
    """Choose how to compile the tiles.

    ``inside``: a bench reads signals inside the tiles, which only ``Tiles.WHOLE`` shows.
    ``given``: Verilog that replaces the network's own.

    Tiles are together, except in small networks with a trace and in networks with tile ports,
    links that differ, custom components of operators, or circuits with further variants.
    """
    if given is not None:
        if TILES_MODULE in given:
            return Tiles.TOGETHER
        return Tiles.APART if trace and not inside else Tiles.WHOLE
    if inside:
        return Tiles.WHOLE
    custom = not all(each.built_in for each in config.operators)
    varied = config.circuits and (config.all_port or config.programs or config.topology.switches)
    if config.tile_ports or config.topology.links_differ or custom or varied:
        return Tiles.APART if trace else Tiles.WHOLE
    return Tiles.APART if trace and config.topology.nodes < FEWEST_TOGETHER else Tiles.TOGETHER
