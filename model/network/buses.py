"""Buses that may lie in front of a network with programs (docs/router.md, section 21)."""

from __future__ import annotations

from enum import StrEnum

from ..base.errors import InvalidInput
from .config import NetworkConfig

MOST_ADDRESS_BITS = 32
"""Width of a byte address at most."""


REVISION = 1
"""Number that rises when registers or hardware change so that software must know."""


class HostBus(StrEnum):
    """A bus in front of the host port."""

    AXI4_LITE = "axi4-lite"
    WISHBONE = "wishbone"


class TileBus(StrEnum):
    """A bus in front of each tile port."""

    AXI_STREAM = "axi-stream"


def bus_data_bits(config: NetworkConfig) -> int:
    """Width of the data on a bus: the least of 32 and 64 that holds a word of the network."""
    return 32 if config.flit_width <= 32 else 64


def require_buses(config: NetworkConfig, host: HostBus | None, tile: TileBus | None) -> None:
    """Raise :class:`InvalidInput` for buses in front of ports that the network does not have."""
    if host is not None and not config.programs:
        raise InvalidInput.of("programs", f"at least 1 for {host}", config.programs)
    if tile is not None and not config.tile_ports:
        raise InvalidInput.of("tile ports", f"given for {tile}", "left out")


def require_address_bits(bits: int) -> None:
    """Raise :class:`InvalidInput` for byte addresses that are wider than a bus has them."""
    if bits > MOST_ADDRESS_BITS:
        raise InvalidInput.of(
            "bits of a byte address (regions, nodes, words of a node)",
            f"at most {MOST_ADDRESS_BITS}",
            bits,
        )
