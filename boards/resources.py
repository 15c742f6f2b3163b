"""Use of a device by a network, and refusal of what does not fit."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig
from .registry import Board


@dataclass(frozen=True)
class Resource:
    """Use of one resource of a device: how many are used, how many there are."""

    name: str
    used: int
    available: int


_PLACED = {
    "ice40": {"ICESTORM_LC": "logic cells", "ICESTORM_RAM": "block RAMs"},
    "ecp5": {"TRELLIS_COMB": "LUTs", "TRELLIS_FF": "flip-flops", "DP16KD": "block RAMs"},
}
"""Names of nextpnr's resources."""

LEAST_BLOCK_WORDS = 128
"""A memory of so many words, of 16 bits or more, is made of block RAMs."""
LEAST_SHARE_OF_A_TILE = 0.5
"""What a tile of a network keeps, at the least, of the LUTs of one with a link at every port."""

_BLOCK_SHAPES = {
    "ice40": ((256, 16), (512, 8), (1024, 4), (2048, 2)),
    "ecp5": ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1)),
}
"""Words and bits of a block RAM."""


def require_memories_fit(board: Board, config: NetworkConfig) -> None:
    """Raise :class:`.InvalidInput` if the nodes' message memories alone are too many.

    This is known before synthesis. Short memories, and so the tables, are left out: they may be
    made of LUTs.
    """
    if config.message_words < LEAST_BLOCK_WORDS:
        return
    each = block_rams_of(board.family, config.message_words, config.flit_width)
    needed = each * config.topology.interfaces
    require_fits(board, config, [Resource("block RAMs", needed, board.capacity.block_rams)])


def block_rams_of(family: str, words: int, bits: int) -> int:
    """Block RAMs that a memory takes, if it is made of them."""
    return min(-(-words // deep) * -(-bits // wide) for deep, wide in _BLOCK_SHAPES[family])


def cells_used(board: Board, statistics: dict[str, Any]) -> tuple[Resource, ...]:
    """Count the cells that yosys has made, the least that a device must have."""
    cells: dict[str, int] = statistics["design"]["num_cells_by_type"]

    def count(pattern: str) -> int:
        return sum(number for name, number in cells.items() if re.fullmatch(pattern, name))

    capacity = board.capacity
    if board.family == "ice40":
        luts, flip_flops = count("SB_LUT4"), count("SB_DFF.*")
        blocks = count("SB_RAM40_4K.*")
    else:
        # A carry cell and a distributed RAM are made of LUTs: two, and four with two to write it.
        luts = count("LUT4") + 2 * count("CCU2C") + 6 * count("TRELLIS_DPR16X4")
        flip_flops, blocks = count("TRELLIS_FF"), count("DP16KD|PDPW16KD")
    return (
        Resource("LUTs", luts, capacity.luts),
        Resource("flip-flops", flip_flops, capacity.flip_flops),
        Resource("block RAMs", blocks, capacity.block_rams),
    )


def require_tiles_fit(board: Board, config: NetworkConfig, tile: Iterable[Resource]) -> None:
    """Raise :class:`.InvalidInput` if a network of tiles like ``tile`` is clearly too large.

    Tiles at an edge are smaller than the one in the middle that was counted, but not by half.
    Switches, which have no memories and may be smaller yet, are left out.
    """
    nodes = config.topology.interfaces
    for resource in tile:
        least = int(nodes * resource.used * LEAST_SHARE_OF_A_TILE)
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
    """Raise :class:`.InvalidInput`, saying by how much, if there is too little of a resource."""
    for resource in resources:
        if resource.used > resource.available:
            over = resource.used - resource.available
            raise InvalidInput.of(
                f"{resource.name} of the {config.topology.label} on {board.name}",
                f"at most {resource.available}",
                f"{resource.used}, {over} too many",
            )
