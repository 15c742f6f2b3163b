"""FPGA families: their memories and multiplexers, and yosys scripts that use them.

::

    tile ─► "eyecast_crossbar_mux" ─► constants spread ─► cells of the family ─► LUTs of the rest
            (crossbar_mux.v)                              (crossbar_mux_<family>*.v)

By itself yosys uses half as many LUTs again as a crossbar's multiplexer needs.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from amaranth.hdl import C, Cat, Instance, Module, Value

from ...model.network.config import NetworkConfig
from ...model.network.topology import NO_LINK
from ...rtl.barrier_tree import COPY
from ...rtl.packets.input_port import routed_layout
from ...rtl.parts.crossbar import CrossbarMux
from ...rtl.parts.run_entry import entry_bits
from ...rtl.parts.technology import BufferStyle, Technology
from ..registry import Board
from ..resources import block_rams_of

SHALLOW = 2
"""Greatest depth, in flits, of a buffer made of registers. They take few more cells than the logic
around a block RAM and are twice as fast: a block RAM read at the falling edge leaves half a cycle
for the path to the next router. Distributed RAM takes three LUTs for two bits, registers two."""

MUX_MODULE = "eyecast_crossbar_mux"

ANY_AT_COLLISION = (
    "setparam -set COLLISION_X_MASK 1 t:$memrd_v2 r:CLK_ENABLE=1 %i r:CLK_POLARITY=1 %i"
)
"""Lets a block RAM return any word for an address that is written in the same cycle, which the
design allows (docs/fpga.md). Otherwise yosys would add a register and a multiplexer per bit."""

COPIES = f"setattr -set keep 1 w:*{COPY}* %ci1 t:$*dff* %i"
"""Keeps registers of equal value apart, because each is placed near its readers."""

THOROUGH = "scratchpad -copy abc9.script.flow3 abc9.script"
"""Tells abc to optimize longer than by default."""


def crossbar_cell(mux: CrossbarMux) -> Module:
    """Build the inside of a crossbar's multiplexer: a cell that yosys replaces."""
    m = Module()
    groups = len(mux.wins)
    m.submodules.cells = Instance(
        MUX_MODULE,
        p_GROUPS=groups,
        p_MEMBERS=len(mux.grant) // groups,
        p_WIDTH=len(mux.value),
        i_WINS=mux.wins,
        i_GROUP=Cat(mux.group, C(0, 2)),
        i_CANDIDATES=mux.candidates.as_value(),
        i_VALUES=mux.values.as_value(),
        o_VALUE=mux.value,
    )
    return m


def lut_that_passes(bit: Value, passed: Value) -> Module:
    """Build a LUT of an iCE40 that passes on a bit."""
    m = Module()
    m.submodules.lut = Instance(
        "SB_LUT4", p_LUT_INIT=C(0xAAAA, 16), i_I0=bit, i_I1=C(0), i_I2=C(0), i_I3=C(0), o_O=passed
    )
    return m


def technology_of(family: str, config: NetworkConfig, *, block_rams: int) -> Technology:
    """Choose the technology of a tile with up to ``block_rams`` block RAMs for each buffer.

    yosys chooses that of message and table memories.
    """
    return Technology(
        buffer_style=_buffer_style(family, config, block_rams),
        crossbar_mux=crossbar_cell,
        crossbar_rests_at_zero=family == "ice40",
        # On an iCE40 the block RAM answers in time without look-ahead, and cells are few. An
        # interface with a controller does not read ahead.
        look_ahead=family == "ecp5" and not config.programs,
        # Keeps room in a LUT of the carry chain for the choice between sum and word.
        kept_cell=lut_that_passes if family == "ice40" else None,
        flattened=True,
    )


def _buffer_style(family: str, config: NetworkConfig, block_rams: int) -> BufferStyle:
    """Choose the style of a buffer with this many block RAMs; an iCE40 has no distributed RAM."""
    for_data = block_rams_of(family, config.depth, config.flit_width)
    labels = routed_layout(config, config.topology.ports - 1).size - config.flit_width
    if config.depth <= SHALLOW:
        return BufferStyle.REGISTERS
    if family != "ice40":
        return BufferStyle.MEMORY
    if block_rams < for_data:
        return BufferStyle.REGISTERS
    if block_rams < for_data + block_rams_of(family, config.depth, labels):
        return BufferStyle.BLOCK_RAM
    return BufferStyle.ALL_BLOCK_RAM


def tile_technology(board: Board, config: NetworkConfig) -> Technology:
    """Choose the technology of a network's tiles; buffers share the block RAMs that are left."""
    nodes, capacity = config.topology.interfaces, board.capacity
    message = block_rams_of(board.family, config.message_words, config.flit_width)
    table_bits = entry_bits(config) if config.circuits else config.narrow_width
    each = message + block_rams_of(board.family, config.table_words, table_bits)
    left = capacity.block_rams - nodes * each
    inputs = nodes + int((config.topology.neighbor != NO_LINK).sum())
    technology = technology_of(board.family, config, block_rams=left // (inputs * config.vcs))
    return replace(technology, memory_style="block" if left >= 0 else None)


@dataclass(frozen=True)
class Synthesis:
    """A yosys synthesis: the commands before it, its options, and the commands after it."""

    before: str
    options: str
    after: str

    def script(self, family: str, top: str) -> str:
        """Return the whole script as one line."""
        return f"{self.before}; synth_{family} {self.options} -top {top}; {self.after}"


def synthesis(family: str, top: str) -> Synthesis:
    """Return the yosys script for a design of this top, with :func:`synthesis_files`.

    It stops before LUTs are made, and continues when the multiplexers are cells.
    """
    before = f"read_verilog -lib crossbar_mux.v; {ANY_AT_COLLISION}; {COPIES}; {THOROUGH}"
    if family == "ecp5":
        # Wide LUTs, made of several LUTs and multiplexers, are larger and no faster here.
        options = "-nowidelut"
        before += "; read_verilog -lib -specify crossbar_mux_ecp5_timing.v"
        cells = "; techmap -map crossbar_mux_ecp5_cells.v"
    else:
        # Reset has priority over enable, so an enable input takes a LUT: use it only if shared.
        options = "-dffe_min_ce_use 4"
        # Optimize for size rather than speed: a period of 12 ns is allowed.
        before += "; scratchpad -set abc9.D 12000"
        cells = ""
    after = f"techmap -map crossbar_mux_{family}.v; techmap; opt -fast; "
    after += f"synth_{family} {options} -run map_luts: -top {top}{cells}"
    return Synthesis(before, f"{options} -run begin:map_luts", after)


def synthesis_files(family: str) -> dict[str, str]:
    """Return the files that yosys reads beside the design, by name."""
    here = Path(__file__).parent
    paths = (here / "crossbar_mux.v", *here.glob(f"crossbar_mux_{family}*.v"))
    return {path.name: path.read_text() for path in paths}
