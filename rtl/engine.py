"""A network with bus bridges, exported as one module (docs/router.md, section 21).

::

    AXI4-Lite, Wishbone ──► bridge ──► host port ┐
                                                 │ network
    AXI-Stream of tile n ─► bridge ──► tile n    ┘
"""

from typing import Any

from amaranth.hdl import Module, ResetSignal
from amaranth.lib.wiring import Component, In, Member, Out, Signature, connect, flipped

from ..model.network.buses import HostBus, TileBus, require_buses, stream_bits
from ..model.network.config import NetworkConfig
from .axi4_lite import Axi4Lite, Axi4LiteBus
from .axi_stream import (
    COMMAND_BITS,
    AxiStream,
    StreamReader,
    StreamWriter,
    reader_signature,
    writer_signature,
)
from .controlled import STATE_OUTPUTS
from .network import Network, network_signature
from .parts.host_map import nodes_with_ports
from .parts.technology import PLAIN, Technology
from .parts.tile_port import TilePort
from .tiles import add_by_name, tile_name
from .wishbone import Wishbone, WishboneBus

_BRIDGES: dict[HostBus, Any] = {HostBus.AXI4_LITE: Axi4Lite, HostBus.WISHBONE: Wishbone}
_PREFIXES = {HostBus.AXI4_LITE: "s_axi", HostBus.WISHBONE: "wb"}


WRITER_MODULE, READER_MODULE = "eyecast_stream_writer", "eyecast_stream_reader"
"""Verilog modules that :class:`Engine` instantiates for each tile port."""

STREAM_MODULES = {
    WRITER_MODULE: (StreamWriter, writer_signature),
    READER_MODULE: (StreamReader, reader_signature),
}
"""The component of each of these modules, and the function that returns its ports."""


def _streams(config: NetworkConfig, node: int) -> dict[str, tuple[str, Any]]:
    """Return a tile's streams by prefix: their names at the bridge, and their members."""
    width = stream_bits(config)
    return {
        f"s_axis_write_{node}": ("messages", In(AxiStream(width, last=True))),
        f"s_axis_read_{node}": ("commands", In(AxiStream(COMMAND_BITS))),
        f"m_axis_read_{node}": ("words", Out(AxiStream(width, last=True, user=True))),
    }


def _flat(prefix: str, member: Member) -> dict[str, Member]:
    """Return the members of a bus by full name."""
    return {f"{prefix}_{name}": each for name, each in member.signature.members.items()}


def tile_signals(config: NetworkConfig) -> Signature:
    """Return the tile port's signals that no stream replaces, and ``write_refused``."""
    kept = {
        name: member
        for name, member in TilePort(config).members.items()
        if not name.startswith(("write_", "read_"))
    }
    return Signature({**kept, "write_refused": In(1)})


def engine_signature(
    config: NetworkConfig, host: HostBus | None, tile: TileBus | None
) -> Signature:
    """Return the ports of an :class:`Engine`."""
    members: dict[str, Any] = dict(network_signature(config).members)
    if host is not None:
        del members["host"]
        bus = Axi4LiteBus(config) if host is HostBus.AXI4_LITE else WishboneBus(config)
        members |= _flat(_PREFIXES[host], In(bus))
    for node in nodes_with_ports(config) if tile is not None else ():
        members[tile_name(node)] = In(tile_signals(config))
        for prefix, (_, stream) in _streams(config, node).items():
            members |= _flat(prefix, stream)
    return Signature(members)


class Engine(Component):
    """A network, with bridges between its ports and buses. Used by ``sim/verilog.py``.

    Parameters
    ----------
    config
        The network.
    host, tile
        The buses in front of its host port, and of each of its tile ports; None for the port
        itself. Raises :class:`.InvalidInput` for a bus in front of a port that the network lacks.
    network
        The name of a module to instantiate as the network, with ``STREAM_MODULES`` as bridges. If
        None, Amaranth elaborates the network and the bridges here.
    technology
        The technology of the network, if Amaranth elaborates it here.

    Members
    -------
    Those of :class:`.Network`, with each port behind a bus replaced by the bus's signals. Their
    names are a prefix and the standard's name, such as ``s_axi_awaddr``.

    """

    def __init__(
        self,
        config: NetworkConfig,
        host: HostBus | None,
        tile: TileBus | None,
        *,
        network: str | None = None,
        technology: Technology = PLAIN,
    ) -> None:
        require_buses(config, host, tile)
        self._config, self._host, self._tile, self._network = config, host, tile, network
        self._technology = technology
        super().__init__(engine_signature(config, host, tile))

    def elaborate(self, _platform: object) -> Module:
        """Build the network, and a bridge for each of its ports."""
        m = Module()
        if self._network is None:
            m.submodules.network = network = Network(self._config, technology=self._technology)
        else:
            signature = network_signature(self._config)
            network = add_by_name(m, self._network, signature, "network", ResetSignal())
        for name in (*STATE_OUTPUTS, "cycle"):
            m.d.comb += getattr(self, name).eq(getattr(network, name))
        if self._host is None:
            connect(m, flipped(self).host, network.host)
        else:
            m.submodules.bridge = bridge = _BRIDGES[self._host](self._config)
            connect(m, bridge.host, network.host)
            self._expose(m, _PREFIXES[self._host], bridge.bus)
        for node in nodes_with_ports(self._config):
            port = getattr(network, tile_name(node))
            if self._tile is None:
                connect(m, getattr(flipped(self), tile_name(node)), port)
            else:
                self._elaborate_tile(m, node, port)
        return m

    def _add(self, m: Module, module: str, name: str) -> Any:
        """Add a stream bridge of a tile: a submodule, or an instance of the shared module."""
        make, signature = STREAM_MODULES[module]
        if self._network is not None:
            return add_by_name(m, module, signature(self._config), name, ResetSignal())
        m.submodules[name] = part = make(self._config)
        return part

    def _expose(self, m: Module, prefix: str, bus: Any) -> None:
        """Connect the signals of a bridge's bus with this module's members of the same names."""
        for name, member in bus.signature.members.items():
            inner, outer = getattr(bus, name), getattr(self, f"{prefix}_{name}")
            m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)

    def _elaborate_tile(self, m: Module, node: int, port: Any) -> None:
        """Connect streams to a node's tile port, and its other signals directly."""
        writer = self._add(m, WRITER_MODULE, f"writer_{node}")
        reader = self._add(m, READER_MODULE, f"reader_{node}")
        bridged = {"messages": writer.stream, "commands": reader.commands, "words": reader.stream}
        for prefix, (name, _) in _streams(self._config, node).items():
            self._expose(m, prefix, bridged[name])
        m.d.comb += [
            port.write_valid.eq(writer.valid),
            port.write_address.eq(writer.address),
            port.write_data.eq(writer.data),
            writer.ready.eq(port.write_ready),
            port.read_valid.eq(reader.valid),
            port.read_address.eq(reader.address),
            reader.ready.eq(port.read_ready),
            reader.data.eq(port.read_data),
        ]
        if self._config.parity:
            m.d.comb += reader.damaged.eq(port.read_damaged)
        signals = getattr(self, tile_name(node))
        for name, member in signals.signature.members.items():
            if name == "write_refused":
                m.d.comb += signals.write_refused.eq(writer.refused)
            elif member.flow == In:
                m.d.comb += getattr(port, name).eq(getattr(signals, name))
            else:
                m.d.comb += getattr(signals, name).eq(getattr(port, name))
