"""All tiles and links of a network as an instance of one module.

``sim/together/network.py`` writes the module, with the same wire of all tiles in one word, because
a simulator evaluates that fastest. Used by :class:`.Network` too.
"""

from collections.abc import Sequence
from operator import or_
from types import SimpleNamespace

from amaranth.hdl import C, Cat, ClockSignal, Instance, Module, Mux, Signal, Value
from amaranth.lib.wiring import Out

from ..model.network.config import NetworkConfig
from .parts.host_map import TILES_MODULE
from .parts.tile_signature import tile_signature
from .reduction import balanced

INSIDE = ("node", "linked", "inputs", "outputs")
"""Ports of a tile that the module connects inside."""


class TilesTogether:
    """The instance of ``TILES_MODULE``, and its signals by tile.

    The module has a port for each bit of each port of a tile, as wide as there are tiles. Bit 3 of
    ``host.node`` of all tiles is port ``host__node_3``, and bit 5 of this port belongs to node 5.

    Parameters
    ----------
    config
        The network.
    resets
        The reset of each tile.
    sharing
        This many successive tiles share the signals of their inputs.
    trace
        The module prints a trace.

    Attributes
    ----------
    tiles
        By node: the ports of a :class:`.Tile`, without links and constants. Tiles that share an
        input have one signal for it.

    """

    def __init__(
        self, config: NetworkConfig, resets: Sequence[Signal], sharing: int, *, trace: bool
    ) -> None:
        self._nodes = config.topology.nodes
        self._sharing = sharing
        # Signals by port name: of an output one for each bit, of an input one for each group.
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
        """Return the ports of the tile of ``node``, as attributes."""
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
        """Add the instance of ``TILES_MODULE`` to ``m``."""
        ports: dict[str, Value] = {"i_clk": ClockSignal()}
        for name, signals in self._outputs.items():
            ports |= {f"o_{name}_{bit}": signal for bit, signal in enumerate(signals)}
        for name, groups in self._inputs.items():
            for bit in range(len(groups[0])):
                ports[f"i_{name}_{bit}"] = self._of_all([group[bit] for group in groups])
        m.submodules.tiles = Instance(TILES_MODULE, **ports)

    def _of_all(self, bits: Sequence[Value]) -> Value:
        """Return one bit for each tile, from one bit for each group of tiles."""
        nodes, group = (1 << self._nodes) - 1, (1 << self._sharing) - 1
        places = range(0, self._nodes, self._sharing)
        masks = [C(group << place & nodes, self._nodes) for place in places]
        return balanced(or_, [Mux(*pair, 0) for pair in zip(bits, masks, strict=True)])
