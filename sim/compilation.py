"""How a network becomes a simulator: which tiles together, and by which options.

This module needs no Amaranth, which takes longer to import than a short run takes.
"""

from __future__ import annotations

import enum

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig
from ..rtl.host_map import TILES_MODULE
from .build_worker import QUICK_LEVEL

TOP_MODULE = "eyecast_network"

MOST_BUFFERS = 88
"""Ports times VCs, what an output of a router chooses from: as in a 10-cube with 8 VCs.

The time of the conversion, about a minute there, and its memory rise with the square.
"""


def require_convertible(config: NetworkConfig) -> None:
    """Raise :class:`InvalidInput` for routers too large to be converted, and for no component."""
    for operator in config.operators:
        if not operator.built_in and operator.component is None:
            allowed = "given with its component, for hardware"
            raise InvalidInput.of(f"operator {operator.name}", allowed, "without")
    ports, vcs = config.topology.ports, config.vcs
    if ports * vcs > MOST_BUFFERS:
        allowed = f"at most {MOST_BUFFERS} for hardware"
        raise InvalidInput.of("ports of a node x VCs", allowed, f"{ports} x {vcs}")


class Tiles(enum.Enum):
    """Ways in which the tiles of a network become C++."""

    APART = "a tile is compiled by itself, once for all nodes"
    WHOLE = "the network is compiled as a whole, of tiles that are modules of their own"
    TOGETHER = "the tiles are one module, in which a word has a bit of each: fast_verilog"


TILE_APART_OPTIONS = ["--hierarchical"]
"""A tile compiled by itself, whatever the number of nodes: a third of the time for 3x3, and a
quarter for 8x8; but its code is gone through more than once in a cycle."""
WHOLE_OPTIONS = [
    # Two optimizations (of -O3, so they stand behind it) that number their variables through the
    # whole design: with them no two tiles have the same code, and each is compiled by itself.
    "-fno-dfg",
    "-fno-table",
]
"""The network compiled as a whole: three times as fast in the end."""
TOGETHER_OPTIONS = [
    *WHOLE_OPTIONS,
    # In functions so short: over longer ones the compiler takes almost twice as long.
    "--output-split-cfuncs",
    "300",
]
"""Tiles together: seven times as fast as the network compiled as a whole, in 8x8."""
THOROUGH_LEVEL = "-O2"
"""The compiler's level for simulators without a trace, whose runs are long."""
RECORDING_LEVEL = "-O0"
"""The compiler's level for simulators that record waveforms: a third of the time of ``-O2``, and a
run spends its time on the recording."""
FEWEST_TOGETHER = 25
"""Nodes of a network whose tiles print a trace together; fewer are built sooner apart."""


def compiler_options(tiles: Tiles, *, trace: bool, waves: bool) -> tuple[list[str], str]:
    """Return Verilator's options and the compiler's level of optimization."""
    options = {
        Tiles.APART: TILE_APART_OPTIONS,
        Tiles.WHOLE: WHOLE_OPTIONS,
        Tiles.TOGETHER: TOGETHER_OPTIONS,
    }
    level = QUICK_LEVEL if trace and tiles is not Tiles.WHOLE else THOROUGH_LEVEL
    return options[tiles], RECORDING_LEVEL if waves else level


def choose_way(config: NetworkConfig, *, trace: bool, inside: bool, given: str | None) -> Tiles:
    """Choose how to compile the tiles.

    ``inside``: somebody reads signals inside the tiles, which only ``Tiles.WHOLE`` shows.
    ``given``: Verilog that takes the place of the network's own.

    Tiles are together except in small networks with a trace, and in networks with tile ports or
    with operators that have components of users' own.
    """
    if given is not None:
        if TILES_MODULE in given:
            return Tiles.TOGETHER
        return Tiles.APART if trace and not inside else Tiles.WHOLE
    if inside:
        return Tiles.WHOLE
    if config.tile_ports or not all(each.built_in for each in config.operators):
        return Tiles.APART if trace else Tiles.WHOLE
    return Tiles.APART if trace and config.topology.nodes < FEWEST_TOGETHER else Tiles.TOGETHER
