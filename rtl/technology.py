"""Technology: how the parts of a tile are made for the chip they are made for.

What a tile does is the same for every technology, to the cycle; cells, memories and registers are
not. (But for one thing that only a host sees: :attr:`Technology.look_ahead`.)

Used by :class:`.Tile`, which hands it down to its parts, and made by
``boards/synthesis/technology.py`` for FPGAs. Simulators and exported Verilog have :data:`PLAIN`.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, Value


class BufferStyle(enum.Enum):
    """Memory for the data of flits; it makes no difference to what a buffer does."""

    MEMORY = "a memory read without a clock: distributed RAM"
    BLOCK_RAM = "a block RAM read at the falling edge; marks and routes in registers"
    ALL_BLOCK_RAM = "the same, and another for marks and routes but those at the front"
    REGISTERS = "registers, in which they move up"


@dataclass(frozen=True, kw_only=True)
class Technology:
    """Materials of a tile: its memories, multiplexers and registers.

    buffer_style
        Memory for the flits of a :class:`.FlitBuffer`.
    crossbar_mux
        Makes the inside of a :class:`.CrossbarMux`, which it is given. None: AND-OR gates.
    crossbar_rests_at_zero
        A :class:`.CrossbarMux` gives 0 in a cycle in which nothing is granted, as AND-OR gates do.
        Other parts may then leave out gates that would make it 0.
    look_ahead
        The network interface fetches message words one cycle early and table words two, as its
        memories are slow; it registers the step comparison and the flags, which would else set the
        clock period. A host that reads a message gets its word one cycle later.
    kept_cell
        Makes a cell that passes on a bit, from the first value to the second, and that synthesis
        leaves as it is: so the gates behind it are known by one input fewer. None: a wire.
    memory_style
        Yosys' ``ram_style`` for message and table memories; None lets yosys choose.
    flattened
        Tiles become one module with the network, so that constants spread into them. If not, each
        registers its constants, so that no output of a tile depends on an input at once.
    """

    buffer_style: BufferStyle = BufferStyle.MEMORY
    crossbar_mux: Callable[[Any], Module] | None = None
    crossbar_rests_at_zero: bool = True
    look_ahead: bool = False
    kept_cell: Callable[[Value, Value], Module] | None = None
    memory_style: str | None = None
    flattened: bool = False

    @property
    def memory_attributes(self) -> dict[str, str]:
        """Attributes of the memories that the host loads."""
        return {} if self.memory_style is None else {"ram_style": self.memory_style}


PLAIN = Technology()
"""The technology of simulators and of exported Verilog: nothing is known of the chip."""
