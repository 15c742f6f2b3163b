"""The network: a tile per node, the links of the topology, the barrier, one host port.

::

    host port ─► every tile            all over, not all finished ─► advance ─► every tile
    tile (n) port p ◄──link──► port peer[n, p] of tile neighbor[n, p]
"""

from collections.abc import Callable, Sequence
from operator import or_

from amaranth.hdl import (
    C,
    Cat,
    ClockDomain,
    ClockSignal,
    DomainRenamer,
    Module,
    Mux,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib.wiring import Component, In, Out, Signature, connect, flipped

from ..model.network.config import NetworkConfig
from ..model.network.topology import NO_LINK
from .barrier_tree import BroadcastTree, registered
from .by_name import add_by_name
from .controller import Controller
from .host_port import ASKED, HostPort, RequestPort, asked_of_tiles, node_bits
from .link import CYCLE_BITS
from .reduction import balanced
from .technology import PLAIN, Technology
from .tile import Tile, tile_signature
from .tile_port import TilePort
from .tiles_together import TilesTogether

TILE_MODULE = "eyecast_tile"
"""Verilog module that :class:`Network` instantiates where the tile is converted once, by itself."""

SWITCH_MODULE = "eyecast_switch"
"""The same for the tile of a switch."""


def tile_modules(config: NetworkConfig) -> dict[str, bool]:
    """Names of the modules of a network's tiles, each with True if it is that of a switch."""
    return {TILE_MODULE: False, **({SWITCH_MODULE: True} if config.topology.switches else {})}


STATE_OUTPUTS = ("busy", "done", "error", "interrupt")
"""Outputs of a network with programs that tell of its controller."""


def nodes_with_ports(config: NetworkConfig) -> list[int]:
    """The nodes that have a port for their tile."""
    nodes = set(range(config.topology.nodes)) - set(config.topology.switches)
    return sorted(nodes) if config.tile_ports else []


def tile_name(node: int) -> str:
    """The name of the port for the tile of a node."""
    return f"tile_{node}"


def network_signature(config: NetworkConfig) -> Signature:
    """The ports of a :class:`Network`."""
    if config.programs:
        return Signature(
            {
                **{name: Out(1) for name in STATE_OUTPUTS},
                "cycle": Out(CYCLE_BITS),
                "host": In(RequestPort(config)),
                **{tile_name(node): In(TilePort(config)) for node in nodes_with_ports(config)},
            }
        )
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

    Used by ``sim/verilog.py``, which makes Verilog of it, and by the boards' ``HostedNetwork``.

    Parameters
    ----------
    config
        What to build.
    trace
        Print every flit that leaves a router.
    tile_by_name
        Instantiate the module ``TILE_MODULE``, or ``SWITCH_MODULE``, for each tile instead of
        elaborating each anew: Amaranth shares no modules, and one module for all tiles makes the
        Verilog, and what a simulator makes of it, smaller by the number of nodes.
    tiles_together
        Instantiate all of them, with the links between them, as one: :class:`.TilesTogether`. They
        print no trace.
    technology
        What tiles are made of, where each is elaborated anew.

    Members
    -------
    barrier : In(1)
        1: a step starts when the last one has ended everywhere. 0: self-timed. Constant but in
        reset; as all inputs it passes a register.
    half_duplex : In(1)
        A send and a receive of one node in one step is an error. Constant but in reset.
    host : In(HostPort)
        Loads and reads; see :class:`.HostPort`.
    done : Out(1)
        All nodes are finished: from then on until reset. With barrier registers this, ``error`` and
        ``cycle`` come late.
    error : Out(1)
        Some node has a flag set: from the cycle after its cause until reset.
    cycle : Out(32)
        Cycles since reset; stands still when all nodes are finished.

    In a network with programs there are ``busy`` and ``interrupt`` too, ``host`` is a
    :class:`.RequestPort`, and all of these are those of a :class:`.Controller`, which resets the
    core and gives it ``barrier`` and ``half_duplex``. With tile ports, ``tile_n`` is the
    :class:`.TilePort` of node n, at which no input but ``hold`` passes a register.

    """

    def __init__(
        self,
        config: NetworkConfig,
        *,
        trace: bool = False,
        tile_by_name: bool = False,
        tiles_together: bool = False,
        technology: Technology = PLAIN,
    ) -> None:
        self._config = config
        self._trace = trace
        self._tile_by_name = tile_by_name
        self._tiles_together = tiles_together
        self._technology = technology
        if config.programs and (technology.look_ahead or tiles_together):
            raise ValueError("a network with programs has no look-ahead, and tiles by themselves")
        super().__init__(network_signature(config))

    def elaborate(self, _platform: object) -> Module:
        """Input registers, tiles, links, barrier, host port."""
        m = Module()
        tree = BroadcastTree(self._config)
        controller = Controller(self._config) if self._config.programs else None
        resets = self._elaborate_reset(m, tree, controller)
        if self._tiles_together:
            together = TilesTogether(self._config, resets, tree.sharing)
            together.add_to(m)
            tiles: list = together.tiles
        else:
            tiles = [self._add_tile(m, node, reset) for node, reset in enumerate(resets)]
            self._elaborate_links(m, tiles)
        if controller is None:
            self._elaborate_control(m, tree, tiles)
            self._elaborate_cycle(m, tree, tiles)
            self._elaborate_host(m, tree, tiles)
        else:
            self._elaborate_controller(m, tree, tiles, controller)
        return m

    def _elaborate_reset(
        self, m: Module, tree: BroadcastTree, controller: Controller | None
    ) -> list[Signal]:
        """Domains of the same clock: "core" is reset one cycle later. Gives the reset of each tile.

        As every input of the network, reset passes a register: it has far to go, and a simulator
        need not evaluate the network when an input changes, but only at the clock's edge.
        Domain "middle", of what hears from all tiles, is in reset until all that they said before
        their reset has arrived. A controller is in a domain of its own and resets all others.
        """
        resets = [Signal(init=1, name="reset", reset_less=True)]
        m.d.sync += resets[0].eq(ResetSignal())
        if controller is not None:
            m.domains += ClockDomain("control", local=True)
            m.d.comb += [
                ClockSignal("control").eq(ClockSignal()),
                ResetSignal("control").eq(resets[0]),
            ]
            m.submodules.controller = DomainRenamer("control")(controller)
            resets = [controller.reset]
        for ago in range(1, self._config.barrier_registers + 1):
            resets.append(registered(m, resets[-1], f"reset_{ago}_ago"))
        for name, reset in (("core", resets[0]), ("middle", Cat(resets).any())):
            m.domains += ClockDomain(name, local=True)
            m.d.comb += [ClockSignal(name).eq(ClockSignal()), ResetSignal(name).eq(reset)]
        return tree.to_all(m, "reset", resets[0])

    def _input(self, m: Module, value: Signal) -> Signal:
        """An input as the network sees it, a cycle late."""
        return registered(m, value, f"{value.name}_register")

    def _is_switch(self, node: int) -> bool:
        return node in self._config.topology.switches

    def _add_tile(self, m: Module, node: int, reset: Signal):
        """The tile of ``node``: a submodule, or an instance of the shared module."""
        name, switch = f"tile_{node}", self._is_switch(node)
        if not self._tile_by_name:
            m.domains += ClockDomain(name, local=True)
            m.d.comb += [ClockSignal(name).eq(ClockSignal()), ResetSignal(name).eq(reset)]
            tile = Tile(self._config, trace=self._trace, switch=switch, technology=self._technology)
            m.submodules[name] = DomainRenamer(name)(tile)
            return tile
        signature = tile_signature(self._config, trace=self._trace, switch=switch)
        return add_by_name(m, SWITCH_MODULE if switch else TILE_MODULE, signature, name, reset)

    def _elaborate_links(self, m: Module, tiles: list) -> None:
        """Every link from its output port to its input port, credits back."""
        topology = self._config.topology
        for node, tile in enumerate(tiles):
            linked = int(not self._is_switch(node))
            for port in range(1, topology.ports):
                neighbor = topology.neighbor[node, port]
                if neighbor == NO_LINK:
                    continue
                linked |= 1 << port
                source = tile.outputs[port - 1]
                sink = tiles[neighbor].inputs[topology.peer[node, port] - 1]
                connect(m, source, sink)
            m.d.comb += [tile.node.eq(node), tile.linked.eq(linked)]

    def _elaborate_control(self, m: Module, tree: BroadcastTree, tiles: list) -> None:
        """The barrier, done and error."""
        advance, finished, flagged, heard = self._elaborate_barrier(m, tree, tiles)
        m.d.comb += [self.done.eq(finished & heard), self.error.eq(flagged & heard)]
        barrier = self._input(m, self.barrier)
        half_duplex = self._input(m, self.half_duplex)
        self._tell_steps(m, tree, tiles, advance, barrier, half_duplex)

    def _elaborate_barrier(
        self, m: Module, tree: BroadcastTree, tiles: list
    ) -> tuple[Value, Value, Value, Value]:
        """The barrier's pulse; all finished, some flagged, and that it is not of before a reset."""

        def of_all(name: str, combine: Callable[[Sequence[Value]], Value]) -> Value:
            return tree.from_all(m, name, [getattr(tile, name) for tile in tiles], combine)

        registers = self._config.barrier_registers
        advance, advanced = Signal(name="advance"), Signal(registers, name="advanced")
        all_over, finished, flagged = of_all("over", _all), of_all("finished", _all), Signal()
        m.d.comb += flagged.eq(of_all("flagged", _any))
        # What was told before an advance has come back says nothing of the step after it.
        m.d.middle += [
            advance.eq(all_over & ~finished & ~advance & ~advanced.any()),
            advanced.eq(Cat(advance, advanced)),
        ]
        heard = ~ResetSignal("middle") if registers else C(1)
        return advance, finished, flagged, heard

    def _tell_steps(
        self, m: Module, tree: BroadcastTree, tiles: list, advance, barrier, half_duplex
    ) -> None:
        """Tell all nodes of the barrier: their steps rise by it."""
        rising = Signal()
        m.d.comb += rising.eq(advance & barrier)
        told = {"advance": rising, "barrier": barrier, "half_duplex": half_duplex}
        for name, value in told.items():
            for node, here in enumerate(tree.to_all(m, name, value)):
                if not self._is_switch(node):
                    m.d.comb += getattr(tiles[node], name).eq(here)

    def _elaborate_cycle(self, m: Module, tree: BroadcastTree, tiles: list) -> None:
        """The cycle as the host sees it, which stands still in the end, and as the tiles do."""
        # Not "+ ~done", which would wait for a carry.
        with m.If(~self.done):
            m.d.middle += self.cycle.eq(self.cycle + 1)
        if not (self._trace or self._config.signature):
            return
        now = self.cycle
        if self._config.barrier_registers:
            # Ahead of what is told of all tiles.
            now = Signal.like(self.cycle)
            m.d.core += now.eq(now + 1)
        for tile, here in zip(tiles, tree.to_all(m, "cycle", now), strict=True):
            m.d.comb += tile.cycle.eq(here)

    def _elaborate_host(self, m: Module, tree: BroadcastTree, tiles: list) -> None:
        """The host port to all tiles; only the one addressed answers with other than 0."""
        for name in ASKED:
            asked = self._input(m, getattr(self.host, name))
            for tile, here in zip(tiles, tree.to_all(m, name, asked), strict=True):
                m.d.comb += getattr(tile.host, name).eq(here)
        answers = [tile.host.read_data for tile in tiles]
        either = _either_by_bit if self._tiles_together else _either
        m.d.comb += self.host.read_data.eq(tree.from_all(m, "answer", answers, either))

    def _elaborate_controller(
        self, m: Module, tree: BroadcastTree, tiles: list, controller: Controller
    ) -> None:
        """The controller takes the place of the ports, and says at its own what it is in."""
        connect(m, flipped(self).host, controller.host)
        for name in (*STATE_OUTPUTS, "cycle"):
            m.d.comb += getattr(self, name).eq(getattr(controller, name))
        run, nodes = controller.run, controller.nodes
        advance, finished, flagged, heard = self._elaborate_barrier(m, tree, tiles)
        m.d.comb += [
            nodes.finished.eq(finished & heard),
            nodes.flagged.eq(flagged & heard),
            nodes.heard.eq(heard),
        ]
        if self._config.parity:
            shown = [tile.damaged for node, tile in enumerate(tiles) if not self._is_switch(node)]
            m.d.comb += nodes.damaged.eq(tree.from_all(m, "shows_damaged", shown, _any))
        self._tell_steps(m, tree, tiles, advance, run.barrier, run.half_duplex)
        for name in ("base", "end", *(["program"] if self._config.tile_ports else [])):
            for node, here in enumerate(tree.to_all(m, name, run[name])):
                if not self._is_switch(node):
                    m.d.comb += getattr(tiles[node].program, name).eq(here)
        for name, wrong in {
            "first_flagged": [tile.flagged for tile in tiles],
            "first_unfinished": [~tile.finished for tile in tiles],
        }.items():
            pairs = [Cat(bit, C(node, node_bits(self._config))) for node, bit in enumerate(wrong)]
            m.d.comb += getattr(nodes, name).eq(tree.from_all(m, name, pairs, _first)[1:])
        if self._trace or self._config.signature:
            now = Signal(CYCLE_BITS)
            m.d.core += now.eq(now + 1)
            for tile, here in zip(tiles, tree.to_all(m, "cycle", now), strict=True):
                m.d.comb += tile.cycle.eq(here)
        self._elaborate_requests(m, tree, tiles, controller.tiles)
        for node in nodes_with_ports(self._config):
            connect(m, getattr(flipped(self), tile_name(node)), tiles[node].tile)

    def _elaborate_requests(self, m: Module, tree: BroadcastTree, tiles: list, asks) -> None:
        """The controller's requests to all tiles; only the one addressed answers."""
        for name in asked_of_tiles(self._config):
            for tile, here in zip(tiles, tree.to_all(m, name, getattr(asks, name)), strict=True):
                m.d.comb += getattr(tile.host, name).eq(here)
        said_by = {"read_data": _either, "answered": _any}
        if self._config.parity:
            said_by["damaged"] = _any
        for name, combine in said_by.items():
            said = [getattr(tile.host, name) for tile in tiles]
            m.d.comb += getattr(asks, name).eq(tree.from_all(m, name, said, combine))


def _all(bits: Sequence[Value]) -> Value:
    """Combine: 1 where all of these are 1."""
    return Cat(bits).all()


def _any(bits: Sequence[Value]) -> Value:
    """Combine: 1 where one of these is 1."""
    return Cat(bits).any()


def _first(nodes: Sequence[Value]) -> Value:
    """Combine bits, each with a node's number above it: the first that is 1, or any."""
    return balanced(lambda first, second: Mux(first[0], first, second), nodes)


def _either(words: Sequence[Value]) -> Value:
    """The one of these that is not 0."""
    return balanced(or_, words)


def _either_by_bit(words: Sequence[Value]) -> Value:
    """The same, of words whose bits of one place lie together."""
    return Cat(Cat(bits).any() for bits in zip(*words, strict=True))
