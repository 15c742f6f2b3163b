"""Those who share a node's message memory with the network: the controller and the tile.

Used by :class:`.SharedMessage` and :class:`.SharedWords` (docs/router.md, sections 16 to 18).
"""

from typing import Any

from amaranth.hdl import C, Module, Mux, Signal

from ..model.network.config import NetworkConfig
from .host_access import carried_out
from .host_map import HostSpace
from .shared_memory import SharedMemory


def connect_host(m: Module, ports: Any, memory: SharedMemory, selected: Signal) -> None:
    """Carry out the controller's requests; those to the memory when it is free.

    ``ports`` are those of the interface. ``selected`` is high in the cycle that carries one out.
    """
    host = ports.host
    is_message = host.space == HostSpace.MESSAGE
    free = Mux(host.write, memory.write_free, memory.read_free)
    m.d.comb += [
        selected.eq(carried_out(m, host, ports.node, free | ~is_message)),
        memory.host_address.eq(host.address),
        memory.host_word.eq(host.write_data),
        memory.host_writes.eq(selected & host.write & (host.space == HostSpace.MESSAGE)),
        memory.host_reads.eq(selected & is_message & ~host.write),
    ]


def connect_tile(m: Module, tile: Any, memory: SharedMemory) -> None:
    """Give the tile its way to the memory."""
    m.d.comb += [
        memory.tile_write.enable.eq(tile.write_valid),
        memory.tile_write.address.eq(tile.write_address),
        memory.tile_write.word.eq(tile.write_data),
        tile.write_ready.eq(memory.tile_write_ready),
        memory.tile_reads.eq(tile.read_valid),
        memory.tile_read.address.eq(tile.read_address),
        tile.read_ready.eq(memory.tile_read_ready),
        tile.read_answered.eq(memory.tile_answered),
        tile.read_data.eq(memory.tile_read.word),
    ]


def connect_damage(m: Module, config: NetworkConfig, ports: Any, memory: SharedMemory) -> None:
    """Tell the controller, or the tile, of a damaged word that it reads."""
    host, tile = ports.host, C(0)
    shown = Signal(name="shown", reset_less=True)
    m.d.sync += shown.eq(memory.host_reads)
    m.d.comb += host.damaged.eq(shown & memory.reads[0].damaged)
    if config.tile_ports:
        tile = ports.tile.read_damaged
        m.d.comb += tile.eq(memory.tile_answered & memory.tile_read.damaged)
    m.d.comb += ports.damaged.eq(host.damaged | tile)
