"""Buses that may be put in front of a network with programs (docs/router.md, section 21)."""

from enum import StrEnum

from ..base.errors import InvalidInput
from .config import NetworkConfig

MOST_ADDRESS_BITS = 32
"""Largest width of a byte address."""


REVISION = 1
"""Revision of registers and hardware, which rises with changes that software must know."""


class HostBus(StrEnum):
    """A bus in front of the host port."""

    AXI4_LITE = "axi4-lite"
    WISHBONE = "wishbone"


class TileBus(StrEnum):
    """A bus in front of each tile port."""

    AXI_STREAM = "axi-stream"


def bus_data_bits(config: NetworkConfig) -> int:
    """Return the width of data on a bus: 32, or 64 if a word of the network needs more."""
    return 32 if config.flit_width <= 32 else 64


def stream_bits(config: NetworkConfig) -> int:
    """Return the width of a word on the streams of a tile: that of the bus, or of a wide word."""
    return max(bus_data_bits(config), config.flit_width)


def require_buses(config: NetworkConfig, host: HostBus | None, tile: TileBus | None) -> None:
    """Raise :class:`InvalidInput` for buses in front of ports that the network does not have."""
    if host is not None and not config.programs:
        raise InvalidInput.of("programs", f"at least 1 for {host}", config.programs)
    if tile is not None and not config.tile_ports:
        raise InvalidInput.of("tile ports", f"given for {tile}", "left out")


def require_address_bits(bits: int) -> None:
    """Raise :class:`InvalidInput` for byte addresses wider than :data:`MOST_ADDRESS_BITS`."""
    if bits > MOST_ADDRESS_BITS:
        raise InvalidInput.of(
            "bits of a byte address (regions, nodes, words of a node)",
            f"at most {MOST_ADDRESS_BITS}",
            bits,
        )
