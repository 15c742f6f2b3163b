"""The network: a tile per node, the links of the topology, the barrier, one host port.

::

    host port ─► every tile            all over, not all finished ─► advance ─► every tile
    tile (n) port p ◄──link──► port peer[n, p] of tile neighbor[n, p]
"""

from amaranth.hdl import Cat, ClockSignal, Instance, Module, ResetSignal, Signal
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.config import NetworkConfig
from ..model.topology import NO_LINK
from .host import HostPort
from .link import CYCLE_BITS
from .tile import Tile, tile_signature

TILE_MODULE = "eyecast_tile"
"""Verilog module that :class:`Network` instantiates where the tile is converted once, by itself."""


def network_signature(config: NetworkConfig) -> Signature:
    """The ports of a :class:`Network`."""
    return Signature(
        {
            "barrier": In(1),
            "half_duplex": In(1),
            "host": In(HostPort(config)),
            "done": Out(1),
            "error": Out(1),
            "cycle": Out(CYCLE_BITS),
        }
    )


class Network(Component):
    """All nodes and links of a topology.

    Parameters
    ----------
    config
        What to build.
    trace
        Print every flit that leaves a router.
    tile_by_name
        Instantiate the module ``TILE_MODULE`` for each tile instead of elaborating each anew:
        Amaranth shares no modules, and one module for all tiles makes the Verilog, and what a
        simulator makes of it, smaller by the number of nodes.

    Attributes
    ----------
    barrier : In(1)
        1: a step starts when the last one has ended everywhere. 0: self-timed.
    half_duplex : In(1)
        A send and a receive of one node in one step is an error.
    host : HostPort
        Loads and reads; see :class:`HostPort`.
    done : Out(1)
        All nodes are finished.
    error : Out(1)
        Some node has a flag set.
    cycle : Out(32)
        Cycles since reset; stands still when all nodes are finished.

    """

    def __init__(
        self, config: NetworkConfig, *, trace: bool = False, tile_by_name: bool = False
    ) -> None:
        self._config = config
        self._trace = trace
        self._tile_by_name = tile_by_name
        super().__init__(network_signature(config))

    def elaborate(self, _platform: object) -> Module:
        """Tiles, links, barrier, host port."""
        m = Module()
        signature = tile_signature(self._config, trace=self._trace)
        tiles = [self._add_tile(m, node, signature) for node in range(self._config.topology.nodes)]
        self._elaborate_links(m, tiles)
        self._elaborate_control(m, tiles)
        self._elaborate_host(m, tiles)
        return m

    def _add_tile(self, m: Module, node: int, signature: Signature):
        """The tile of ``node``: a submodule, or an instance of the shared module."""
        name = f"tile_{node}"
        if not self._tile_by_name:
            tile = Tile(self._config, trace=self._trace)
            m.submodules[name] = tile
            return tile
        tile = signature.create(path=(name,))
        ports = {"i_clk": ClockSignal(), "i_rst": ResetSignal()}
        for path, member, value in signature.flatten(tile):
            direction = "o" if member.flow == Out else "i"
            ports[f"{direction}_{'__'.join(str(part) for part in path)}"] = value
        m.submodules[name] = Instance(TILE_MODULE, **ports)
        return tile

    def _elaborate_links(self, m: Module, tiles: list) -> None:
        """Every link from its output port to its input port, credits back."""
        topology = self._config.topology
        for node, tile in enumerate(tiles):
            linked = 1
            for port in range(1, topology.ports):
                neighbor = topology.neighbor[node, port]
                if neighbor == NO_LINK:
                    continue
                linked |= 1 << port
                source = tile.outputs[port - 1]
                sink = tiles[neighbor].inputs[topology.peer[node, port] - 1]
                m.d.comb += [
                    sink.valid.eq(source.valid),
                    sink.flit.eq(source.flit),
                    source.credit.eq(sink.credit),
                ]
            m.d.comb += [tile.node.eq(node), tile.linked.eq(linked)]

    def _elaborate_control(self, m: Module, tiles: list) -> None:
        """The barrier, the cycle counter, done and error."""
        advance, all_over = Signal(), Signal()
        m.d.comb += [
            all_over.eq(Cat(tile.over for tile in tiles).all()),
            self.done.eq(Cat(tile.finished for tile in tiles).all()),
            self.error.eq(Cat(tile.flagged for tile in tiles).any()),
        ]
        m.d.sync += [
            advance.eq(all_over & ~self.done & ~advance),
            self.cycle.eq(self.cycle + ~self.done),
        ]
        for tile in tiles:
            m.d.comb += [
                tile.barrier.eq(self.barrier),
                tile.half_duplex.eq(self.half_duplex),
                tile.advance.eq(advance & self.barrier),
            ]
            if self._trace:
                m.d.comb += tile.cycle.eq(self.cycle)

    def _elaborate_host(self, m: Module, tiles: list) -> None:
        """The host port to all tiles; only the one addressed answers with other than 0."""
        answer = 0
        for tile in tiles:
            for name in ("node", "space", "address", "write", "write_data"):
                m.d.comb += getattr(tile.host, name).eq(getattr(self.host, name))
            answer |= tile.host.read_data
        m.d.comb += self.host.read_data.eq(answer)
