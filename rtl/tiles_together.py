"""All tiles of a network, and the links between them, as one module that is written elsewhere.

A simulator works fastest on that module where it has each wire of all tiles in one word. Used by
:class:`.Network`, and by ``sim/together/network.py``, which writes the module.
"""

from collections.abc import Sequence
from operator import or_
from types import SimpleNamespace

from amaranth.hdl import C, Cat, ClockSignal, Instance, Module, Mux, Signal, Value
from amaranth.lib.wiring import Out

from ..model.network.config import NetworkConfig
from .host_map import TILES_MODULE
from .reduction import balanced
from .tile import tile_signature

INSIDE = ("node", "linked", "inputs", "outputs")
"""Ports of a tile that are not seen from outside the module."""


class TilesTogether:
    """The tiles as the network around them sees them, and the instance of ``TILES_MODULE``.

    The module has a port for each bit of a port of the tiles, with one bit for each tile: bit 3 of
    ``host__node`` is port ``host__node_3``, and there bit 5 is that of the tile of node 5.

    Parameters
    ----------
    config
        Of the network.
    resets
        The reset of each tile.
    sharing
        So many tiles next to each other are told the same by the same signals.
    trace
        The module prints a trace.

    Attributes
    ----------
    tiles
        By node: what a :class:`.Tile` has, without its links and what is constant. Tiles that share
        an input have one signal for it.

    """

    def __init__(
        self, config: NetworkConfig, resets: Sequence[Signal], sharing: int, *, trace: bool
    ) -> None:
        self._nodes = config.topology.nodes
        self._sharing = sharing
        # By name of a port: its signals, one for each bit, or one for each group of tiles.
        self._outputs: dict[str, list[Signal]] = {}
        self._inputs: dict[str, list[Signal]] = {"rst": list(resets[::sharing])}
        signature = tile_signature(config, trace=trace)
        for path, member, value in signature.flatten(signature.create()):
            if path[0] in INSIDE:
                continue
            name, width = "__".join(map(str, path)), len(value)
            if member.flow == Out:
                bits = range(width)
                self._outputs[name] = [Signal(self._nodes, name=f"{name}_{bit}") for bit in bits]
            else:
                groups = range(0, self._nodes, sharing)
                self._inputs[name] = [Signal(width, name=f"{name}_{first}") for first in groups]
        self.tiles = [self._tile(node) for node in range(self._nodes)]

    def _tile(self, node: int) -> SimpleNamespace:
        """Signals of the tile of ``node`` as the network sees them."""
        seen: dict[str, Value] = {
            name: Cat(bit[node] for bit in bits) for name, bits in self._outputs.items()
        }
        seen |= {name: groups[node // self._sharing] for name, groups in self._inputs.items()}
        parts: dict[str, dict[str, Value]] = {"host": {}, "program": {}}
        for name in list(seen):
            part, _, member = name.partition("__")
            if part in parts:
                parts[part][member] = seen.pop(name)
        within = {part: SimpleNamespace(**members) for part, members in parts.items()}
        return SimpleNamespace(**within, **seen)

    def add_to(self, m: Module) -> None:
        """Add the instance."""
        ports: dict[str, Value] = {"i_clk": ClockSignal()}
        for name, signals in self._outputs.items():
            ports |= {f"o_{name}_{bit}": signal for bit, signal in enumerate(signals)}
        for name, groups in self._inputs.items():
            for bit in range(len(groups[0])):
                ports[f"i_{name}_{bit}"] = self._of_all([group[bit] for group in groups])
        m.submodules.tiles = Instance(TILES_MODULE, **ports)

    def _of_all(self, bits: Sequence[Value]) -> Value:
        """A bit for each tile, of one for each group."""
        nodes, group = (1 << self._nodes) - 1, (1 << self._sharing) - 1
        places = range(0, self._nodes, self._sharing)
        masks = [C(group << place & nodes, self._nodes) for place in places]
        return balanced(or_, [Mux(*pair, 0) for pair in zip(bits, masks, strict=True)])
