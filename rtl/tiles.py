"""The tiles of a network and the links between them.

::

    tile (n) port p ◄──link──► port peer[n, p] of tile neighbor[n, p]
"""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import (
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    Instance,
    Module,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib.wiring import Out, Signature, connect

from ..model.network.config import NetworkConfig
from ..model.network.topology import NO_LINK
from .circuits.tile import CircuitTile
from .packets.tile import Tile
from .parts.link import registers_between, rest_bits
from .parts.link_registers import LinkRegisters
from .parts.technology import PLAIN, Technology
from .parts.tile_signature import tile_signature

TILE_MODULE = "eyecast_tile"
"""Verilog module of a tile that is converted once, by itself, for all nodes."""

SWITCH_MODULE = "eyecast_switch"
"""Verilog module of a switch that is converted once, by itself, for all switches."""


def tile_modules(config: NetworkConfig) -> dict[str, bool]:
    """Return the names of the modules of a network's tiles, each with True for a switch."""
    return {TILE_MODULE: False, **({SWITCH_MODULE: True} if config.topology.switches else {})}


def tile_name(node: int) -> str:
    """Return the name of the tile of ``node``, and of its port at a network with tile ports."""
    return f"tile_{node}"


def make_tile(
    config: NetworkConfig,
    *,
    trace: bool = False,
    switch: bool = False,
    technology: Technology = PLAIN,
) -> Tile | CircuitTile:
    """Return a tile of the network; its ports are those of :func:`.tile_signature`."""
    if config.circuits:
        return CircuitTile(config, trace=trace, switch=switch, technology=technology)
    return Tile(config, trace=trace, switch=switch, technology=technology)


def add_domain(m: Module, name: str, reset: Value) -> None:
    """Add the clock domain ``name``, with the clock of domain "sync" and this ``reset``."""
    m.domains += ClockDomain(name, local=True)
    m.d.comb += [ClockSignal(name).eq(ClockSignal()), ResetSignal(name).eq(reset)]


def add_by_name(
    m: Module,
    module: str,
    signature: Signature,
    name: str,
    reset: Value,
    clock: Value | None = None,
) -> Any:
    """Add an instance of ``module``, as the submodule ``name``; return its ports.

    So the Verilog has each module once. The clock is that of domain "sync" unless one is given.
    """
    made = signature.create(path=(name,))
    ports = {"i_clk": ClockSignal() if clock is None else clock, "i_rst": reset}
    for path, member, value in signature.flatten(made):
        direction = "o" if member.flow == Out else "i"
        ports[f"{direction}_{'__'.join(str(part) for part in path)}"] = value
    m.submodules[name] = Instance(module, **ports)
    return made


def add_tiles(
    m: Module,
    config: NetworkConfig,
    resets: Sequence[Signal],
    *,
    trace: bool,
    by_name: bool,
    technology: Technology,
) -> list[Any]:
    """Add a tile for every node, with its own reset, and join the tiles by links.

    With ``by_name`` a tile is an instance of ``TILE_MODULE`` or ``SWITCH_MODULE``.
    Return the tiles, or the ports of the instances, by node.
    """
    tiles: list[Any] = []
    for node, reset in enumerate(resets):
        name, switch = tile_name(node), node in config.topology.switches
        if not by_name or config.topology.link_registers_of is not None:
            add_domain(m, name, reset)
        if by_name:
            module = SWITCH_MODULE if switch else TILE_MODULE
            signature = tile_signature(config, trace=trace, switch=switch)
            tiles.append(add_by_name(m, module, signature, name, reset))
            continue
        tiles.append(make_tile(config, trace=trace, switch=switch, technology=technology))
        m.submodules[name] = DomainRenamer(name)(tiles[-1])
    _connect_links(m, config, tiles)
    return tiles


def _connect_links(m: Module, config: NetworkConfig, tiles: Sequence[Any]) -> None:
    """Connect every output port to its input port; tell each tile its number and its links."""
    topology = config.topology
    for node, tile in enumerate(tiles):
        linked = int(node not in topology.switches)
        for port in range(1, topology.ports):
            neighbor = topology.neighbor[node, port]
            if neighbor != NO_LINK:
                linked |= 1 << port
                sink = tiles[neighbor].inputs[topology.peer[node, port] - 1]
                source = _delayed_link(m, config, node, port, tile.outputs[port - 1])
                connect(m, source, sink)
        m.d.comb += [tile.node.eq(node), tile.linked.eq(linked)]
        if rest_bits(config):
            m.d.comb += tile.rests.eq(_rests(config, node))


def _delayed_link(m: Module, config: NetworkConfig, node: int, port: int, source: Any) -> Any:
    """Return the end of a link behind its registers, if they are not in the tiles."""
    registers = registers_between(config, node, port)
    if not registers:
        return source
    link = LinkRegisters(config, registers)
    neighbor = int(config.topology.neighbor[node, port])
    m.submodules[f"link_{node}_{port}"] = DomainRenamer(tile_name(neighbor))(link)
    connect(m, source, link.source)
    return link.sink


def _rests(config: NetworkConfig, node: int) -> int:
    """Return the value of the input ``rests`` of a :class:`.Tile` for a node."""
    rates = config.topology.link_rate_of
    assert rates is not None
    bits = rest_bits(config)
    rests = [max(0, int(rate) - 1) for rate in rates[node, 1:]]
    return sum(rest << place * bits for place, rest in enumerate(rests))
