"""The network of a topology, started by a host that holds it in reset or by a controller.

::

    host ─────────────────► core: tiles, links, barrier          host_in_reset.py
    host ──► controller ──► core ◄──► a port for each tile       controlled.py
"""

from amaranth.hdl import Module, ResetSignal, Signal
from amaranth.lib.wiring import Component, Signature

from ..model.network.config import NetworkConfig
from .barrier_tree import BroadcastTree
from .controlled import add_controller, connect_controller, controlled_signature
from .core import Core, add_core_domains
from .host_in_reset import connect_host, host_signature
from .parts.technology import PLAIN, Technology
from .reduction import either, either_by_bit
from .tiles import add_tiles
from .tiles_together import TilesTogether


def network_signature(config: NetworkConfig) -> Signature:
    """Return the ports of a :class:`Network`."""
    return controlled_signature(config) if config.programs else host_signature(config)


class Network(Component):
    """All nodes and links of a topology.

    Used by ``sim/verilog.py``, which converts it to Verilog, and by the boards' ``HostedNetwork``.

    Parameters
    ----------
    config
        The network to build.
    trace
        Print every flit that leaves a router.
    tile_by_name
        Instantiate the module ``TILE_MODULE`` or ``SWITCH_MODULE`` for each tile; each is written
        once. Otherwise Amaranth elaborates each tile anew, and the Verilog grows with the nodes.
    tiles_together
        Instantiate all tiles and links as one module: :class:`.TilesTogether`.
    technology
        How tiles are made, if Amaranth elaborates them here.

    The members are those of :func:`.host_signature`, or of :func:`.controlled_signature` in a
    network with programs.

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
        if config.programs and technology.look_ahead:
            raise ValueError("a network with programs has no look-ahead")
        if config.tile_ports and tiles_together:
            raise ValueError("tiles with tile ports are modules of their own")
        if config.topology.links_differ and tiles_together:
            raise ValueError("links that differ are modules of their own")
        super().__init__(network_signature(config))

    def elaborate(self, _platform: object) -> Module:
        """Build the core, and the host's port or the controller that resets the core."""
        m, config = Module(), self._config
        # Reset passes a register, as every input does: its wires are long, and a simulator need
        # evaluate the network only at the clock's edge.
        reset = Signal(init=1, name="reset", reset_less=True)
        m.d.sync += reset.eq(ResetSignal())
        combine = either_by_bit if self._tiles_together else either
        if config.programs:
            controller = add_controller(m, config, reset)
            core = self._add_core(m, controller.reset)
            connect_controller(m, self, core, controller, combine)
        else:
            core = self._add_core(m, reset)
            connect_host(m, self, core, combine)
        if self._trace or config.signature:
            # A host's count stops after the run and is late with barrier registers. A controller's
            # count is ahead of the core. The core then counts cycles itself.
            own = config.programs or config.barrier_registers
            core.tell("cycle", core.cycles() if own else self.cycle)
        return m

    def _add_core(self, m: Module, reset: Signal) -> Core:
        """Add the tiles with their links and clock domains."""
        config, tree = self._config, BroadcastTree(self._config)
        resets = add_core_domains(m, config, tree, reset)
        if self._tiles_together:
            together = TilesTogether(config, resets, tree.sharing, trace=self._trace)
            together.add_to(m)
            return Core(m, config, tree, together.tiles)
        tiles = add_tiles(
            m,
            config,
            resets,
            trace=self._trace,
            by_name=self._tile_by_name,
            technology=self._technology,
        )
        return Core(m, config, tree, tiles)
