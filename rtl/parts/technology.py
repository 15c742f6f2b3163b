"""Technology: the cells, memories and registers that make a tile on a given chip.

A tile behaves the same in every technology, in every cycle, with one exception that only a host
sees: :attr:`Technology.look_ahead`.

:class:`.Tile` hands its technology to its parts. ``boards/synthesis/technology.py`` makes those of
FPGAs. Simulators and exported Verilog have :data:`PLAIN`.
"""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amaranth.hdl import Module, Value


class BufferStyle(enum.Enum):
    """Memory for the data of flits; a buffer behaves the same with each."""

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
        Function that returns the inside of a :class:`.CrossbarMux`. None: AND-OR gates.
    crossbar_rests_at_zero
        A :class:`.CrossbarMux` gives 0 in a cycle without a grant, as AND-OR gates do. Other parts
        then leave out gates that would make it 0.
    look_ahead
        The network interface fetches message words one cycle early and table words two, because
        its memories are slow. Registers follow the step comparison and the flags, which would
        otherwise limit the clock. A host that reads a message gets its word one cycle later.
    kept_cell
        Function that returns a cell whose output bit equals its input bit. Synthesis keeps the
        cell, and so does not merge the gates before it with those after it. None: a wire.
    memory_style
        Yosys' ``ram_style`` for message and table memories; None lets yosys choose.
    flattened
        Tiles become one module with the network, so that synthesis can use their constants. If not,
        each tile registers its constants, so that no output depends on an input of the same cycle.
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
        """Attributes of the memories that the host loads, by name."""
        return {} if self.memory_style is None else {"ram_style": self.memory_style}


PLAIN = Technology()
"""The technology of simulators and of exported Verilog, for an unknown chip."""
