"""The core of a network: its tiles as one, and the barrier that counts their steps.

::

    host or controller ──► tell ──► every tile
                       ◄── ask ◄─── every tile
    all over, not all finished ──► advance ──► every tile
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

from amaranth.hdl import C, Cat, Module, ResetSignal, Signal, Value

from ..model.network.config import NetworkConfig
from .barrier_tree import BroadcastTree, registered
from .parts.link import CYCLE_BITS
from .reduction import all_of, any_of
from .tiles import add_domain

Combine: TypeAlias = Callable[[Sequence[Value]], Value]


def add_core_domains(
    m: Module, config: NetworkConfig, tree: BroadcastTree, reset: Signal
) -> list[Signal]:
    """Add the clock domains of the core, which ``reset`` resets; return the reset of each tile.

    Domain "core" is in reset while ``reset`` is high. Domain "middle" combines the tiles' outputs.
    It stays in reset until no output from before the tiles' reset is left in a barrier register.
    """
    resets = [reset]
    for ago in range(1, config.barrier_registers + 1):
        resets.append(registered(m, resets[-1], f"reset_{ago}_ago"))
    add_domain(m, "core", reset)
    add_domain(m, "middle", Cat(resets).any())
    return tree.to_all(m, "reset", reset)


class Core:
    """The tiles of a network with shared inputs and outputs, and the barrier.

    Used by :class:`.Network`.

    Parameters
    ----------
    m
        The module of the network, to which the core adds its gates.
    config, tree
        The network, and the registers between its middle and its tiles.
    tiles
        By node: the ports of each :class:`.Tile`.

    Attributes
    ----------
    finished : Value
        High when all nodes have finished the program. Low while not ``heard``.
    flagged : Value
        High while a flag of some node is set. Low while not ``heard``.
    heard : Value
        High while the tiles' outputs, as they arrive here, are from after the last reset.

    """

    def __init__(
        self, m: Module, config: NetworkConfig, tree: BroadcastTree, tiles: Sequence[Any]
    ) -> None:
        self._m, self._tree = m, tree
        self.config = config
        self.tiles = tiles
        self.heard: Value = ~ResetSignal("middle") if config.barrier_registers else C(1)
        self._add_barrier()

    def _add_barrier(self) -> None:
        """Advance the step when the step is over everywhere, until all nodes have finished."""
        m, registers = self._m, self.config.barrier_registers
        advance, advanced = Signal(name="advance"), Signal(registers, name="advanced")
        all_over, finished = self.ask("over", all_of), self.ask("finished", all_of)
        flagged = Signal(name="flagged")
        m.d.comb += flagged.eq(self.ask("flagged", any_of))
        # Outputs from before a tile saw the last advance are about the step that has ended.
        m.d.middle += [
            advance.eq(all_over & ~finished & ~advance & ~advanced.any()),
            advanced.eq(Cat(advance, advanced)),
        ]
        self._advance = advance
        self.finished, self.flagged = finished & self.heard, flagged & self.heard

    def ask(self, name: str, combine: Combine, path: str = "") -> Value:
        """Return output ``path``, by default ``name``, of all tiles, combined into one value."""
        values = [attrgetter(path or name)(tile) for tile in self.tiles]
        return self.ask_for(name, combine, values)

    def ask_for(self, name: str, combine: Combine, values: Sequence[Value]) -> Value:
        """Return the tiles' ``values`` combined into one; ``name`` names the registers between."""
        return self._tree.from_all(self._m, name, values, combine)

    def tell(self, path: str, value: Signal, *, switches: bool = True) -> None:
        """Drive input ``path`` of all tiles, or of all but switches, with ``value``."""
        here = self._tree.to_all(self._m, path.rpartition(".")[2], value)
        for node, tile in enumerate(self.tiles):
            if switches or node not in self.config.topology.switches:
                self._m.d.comb += attrgetter(path)(tile).eq(here[node])

    def tell_steps(self, barrier: Signal, half_duplex: Signal) -> None:
        """Tell all nodes how they count steps and, with ``barrier``, when a step ends."""
        rising = Signal(name="rising")
        self._m.d.comb += rising.eq(self._advance & barrier)
        told = {"advance": rising, "barrier": barrier, "half_duplex": half_duplex}
        for name, value in told.items():
            self.tell(name, value, switches=False)

    def cycles(self) -> Signal:
        """Return a new count of the cycles since core reset."""
        now = Signal(CYCLE_BITS, name="now")
        self._m.d.core += now.eq(now + 1)
        return now
