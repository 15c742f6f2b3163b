"""Use of a device by a network, and refusal of networks that do not fit."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig
from .registry import Board


@dataclass(frozen=True)
class Resource:
    """Use of one resource of a device: number used, number available."""

    name: str
    used: int
    available: int


_PLACED = {
    "ice40": {"ICESTORM_LC": "logic cells", "ICESTORM_RAM": "block RAMs"},
    "ecp5": {"TRELLIS_COMB": "LUTs", "TRELLIS_FF": "flip-flops", "DP16KD": "block RAMs"},
}
"""Names of the resources in nextpnr's log, by family."""

LEAST_BLOCK_WORDS = 128
"""Fewest words, of 16 bits or more, of a memory that is certainly made of block RAMs."""
LEAST_SHARE_OF_A_TILE = 0.5
"""Least LUTs of any tile in a network, as a share of those of a tile with all links."""

_BLOCK_SHAPES = {
    "ice40": ((256, 16), (512, 8), (1024, 4), (2048, 2)),
    "ecp5": ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1)),
}
"""Words and bits of a block RAM, by family."""


def require_memories_fit(board: Board, config: NetworkConfig) -> None:
    """Raise :class:`.InvalidInput` if the message memories alone need too many block RAMs.

    This is known before synthesis. Short memories, and so the tables, do not count: they may be
    made of LUTs.
    """
    if config.message_words < LEAST_BLOCK_WORDS:
        return
    each = block_rams_of(board.family, config.message_words, config.flit_width)
    needed = each * config.topology.interfaces
    require_fits(board, config, [Resource("block RAMs", needed, board.capacity.block_rams)])


def block_rams_of(family: str, words: int, bits: int) -> int:
    """Return the block RAMs of a memory that is made of them."""
    return min(-(-words // deep) * -(-bits // wide) for deep, wide in _BLOCK_SHAPES[family])


def cells_used(board: Board, statistics: dict[str, Any]) -> tuple[Resource, ...]:
    """Count the cells that yosys made, the least that the device must have."""
    cells: dict[str, int] = statistics["design"]["num_cells_by_type"]

    def count(pattern: str) -> int:
        return sum(number for name, number in cells.items() if re.fullmatch(pattern, name))

    capacity = board.capacity
    if board.family == "ice40":
        luts, flip_flops = count("SB_LUT4"), count("SB_DFF.*")
        blocks = count("SB_RAM40_4K.*")
    else:
        # LUTs of a carry cell: 2; of a distributed RAM: 4, and 2 to write it.
        luts = count("LUT4") + 2 * count("CCU2C") + 6 * count("TRELLIS_DPR16X4")
        flip_flops, blocks = count("TRELLIS_FF"), count("DP16KD|PDPW16KD")
    return (
        Resource("LUTs", luts, capacity.luts),
        Resource("flip-flops", flip_flops, capacity.flip_flops),
        Resource("block RAMs", blocks, capacity.block_rams),
    )


def require_tiles_fit(board: Board, config: NetworkConfig, tile: Iterable[Resource]) -> None:
    """Raise :class:`.InvalidInput` if a network of tiles like ``tile`` is clearly too large.

    ``tile`` has all links; tiles at an edge are smaller, but not by half. On circuits all tiles
    have the same block RAMs. Switches do not count: they may be smaller still.
    """
    nodes = config.topology.interfaces
    for resource in tile:
        same = config.circuits and resource.name == "block RAMs"
        least = int(nodes * resource.used * (1 if same else LEAST_SHARE_OF_A_TILE))
        if least > resource.available:
            raise InvalidInput.of(
                f"{resource.name} of the {config.topology.label} on {board.name}",
                f"at most {resource.available}",
                f"{least} or more, {least - resource.available} too many "
                f"({nodes} nodes of up to {resource.used})",
            )


def placed_resources(board: Board, log: str) -> tuple[Resource, ...]:
    """Read the use of the device from nextpnr's log."""
    names = _PLACED[board.family]
    found = dict.fromkeys(names, (0, 0))
    for name, used, available in re.findall(r"(\w+): *(\d+)/ *(\d+) +\d+%", log):
        if name in names:
            found[name] = int(used), int(available)
    return tuple(Resource(names[name], *counts) for name, counts in found.items())


def require_fits(board: Board, config: NetworkConfig, resources: Iterable[Resource]) -> None:
    """Raise :class:`.InvalidInput`, with the numbers, if the device lacks some resource."""
    for resource in resources:
        if resource.used > resource.available:
            over = resource.used - resource.available
            raise InvalidInput.of(
                f"{resource.name} of the {config.topology.label} on {board.name}",
                f"at most {resource.available}",
                f"{resource.used}, {over} too many",
            )
