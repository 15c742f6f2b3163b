"""The network: a tile per node, the links of the topology, the barrier, one host port.

::

    host port ─► every tile            all over, not all finished ─► advance ─► every tile
    tile (n) port p ◄──link──► port peer[n, p] of tile neighbor[n, p]
"""

from amaranth.hdl import (
    C,
    Cat,
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    Instance,
    Module,
    ResetSignal,
    Signal,
)
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.config import NetworkConfig
from ..model.topology import NO_LINK
from .host import ASKED, HostPort
from .link import CYCLE_BITS, connect_link
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
        """Input registers, tiles, links, barrier, host port."""
        m = Module()
        self._elaborate_reset(m)
        signature = tile_signature(self._config, trace=self._trace)
        tiles = [self._add_tile(m, node, signature) for node in range(self._config.topology.nodes)]
        self._elaborate_links(m, tiles)
        self._elaborate_control(m, tiles)
        self._elaborate_host(m, tiles)
        return m

    def _elaborate_reset(self, m: Module) -> None:
        """A domain of the same clock that is reset one cycle later.

        As every input of the network, reset passes a register: it has far to go, and a simulator
        need not evaluate the network when an input changes, but only at the clock's edge.
        """
        m.domains.core = ClockDomain("core", local=True)
        reset = Signal(init=1, reset_less=True)
        m.d.sync += reset.eq(ResetSignal())
        m.d.comb += [ClockSignal("core").eq(ClockSignal()), ResetSignal("core").eq(reset)]

    def _registered(self, m: Module, value: Signal) -> Signal:
        """An input, a cycle late."""
        register = Signal.like(value, name=f"{value.name}_register", reset_less=True)
        m.d.sync += register.eq(value)
        return register

    def _add_tile(self, m: Module, node: int, signature: Signature):
        """The tile of ``node``: a submodule, or an instance of the shared module."""
        name = f"tile_{node}"
        if not self._tile_by_name:
            tile = Tile(self._config, trace=self._trace)
            m.submodules[name] = DomainRenamer("core")(tile)
            return tile
        tile = signature.create(path=(name,))
        ports = {"i_clk": ClockSignal(), "i_rst": ResetSignal("core")}
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
                connect_link(m, source, sink)
            m.d.comb += [tile.node.eq(node), tile.linked.eq(linked)]

    def _elaborate_control(self, m: Module, tiles: list) -> None:
        """The barrier, the cycle counter, done and error."""
        advance, all_over = Signal(), Signal()
        m.d.comb += [
            all_over.eq(Cat(tile.over for tile in tiles).all()),
            self.done.eq(Cat(tile.finished for tile in tiles).all()),
            self.error.eq(Cat(tile.flagged for tile in tiles).any()),
        ]
        m.d.core += advance.eq(all_over & ~self.done & ~advance)
        # Not "+ ~done", which would wait for a carry.
        with m.If(~self.done):
            m.d.core += self.cycle.eq(self.cycle + 1)
        barrier = self._registered(m, self.barrier)
        half_duplex = self._registered(m, self.half_duplex)
        for tile in tiles:
            m.d.comb += [
                tile.barrier.eq(barrier),
                tile.half_duplex.eq(half_duplex),
                tile.advance.eq(advance & barrier),
            ]
            if self._trace or self._config.signature:
                m.d.comb += tile.cycle.eq(self.cycle)

    def _elaborate_host(self, m: Module, tiles: list) -> None:
        """The host port to all tiles; only the one addressed answers with other than 0."""
        asked = {name: self._registered(m, getattr(self.host, name)) for name in ASKED}
        answer = C(0)
        for tile in tiles:
            for name, value in asked.items():
                m.d.comb += getattr(tile.host, name).eq(value)
            answer |= tile.host.read_data
        m.d.comb += self.host.read_data.eq(answer)
