"""All tiles of a network in one module of Verilog, in which a word has a bit of each tile.

::

    tile 0: valid = ready & wanted                 valid = ready & wanted
    tile 1: valid = ready & wanted       ──►       (each of them 64 bits, one for each tile)
    ...

All tiles are the same module. So the gates of one tile, each made to work on words, compute all
tiles: a processor does the work of 64 tiles at once with the code of one. Only memories belong to
one tile at a time: addresses and words are transposed from a word for each bit to a word for each
tile, and the words read are transposed back.

Tiles of switches are another module with other gates. If a word has tiles of both kinds, both
modules compute all its bits, and a mask selects those of the right kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...model.network.config import NetworkConfig
from ...model.network.topology import NO_LINK
from ...rtl.parts.host_map import TILES_MODULE
from ...rtl.tiles_together import INSIDE
from .gates import ONE, ZERO, Gate
from .tile import Memory, ReadPort, TileGates, WritePort
from .trace import print_line

TILES = 64
"""Tiles in one word: the bits of a processor's word."""
WORD_MODULE = f"eyecast_{TILES}_tiles"
SWITCH_WORD_MODULE = f"eyecast_{TILES}_switches"
WORD = f"[{TILES - 1}:0]"
PRESENT = "present"
"""Input of a word that prints: a bit for each tile that exists."""
LONGEST = 400
"""Characters of an expression above which it gets a name."""


def tiles_verilog(config: NetworkConfig, *, trace: bool = False) -> str:
    """Return the Verilog of ``TILES_MODULE``, for :class:`.TilesTogether`, and of its modules.

    With ``trace`` it prints each flit that leaves an output port (:mod:`.trace`).
    """
    kinds = _kinds(config, trace=trace)
    modules = (line for kind in kinds for line in _WordModule(config, kind).lines())
    return "\n".join([*_network_of_words(config, kinds), *modules, ""])


def word_modules(config: NetworkConfig) -> list[str]:
    """Return the modules that :func:`tiles_verilog` instantiates once for each word of tiles."""
    return [WORD_MODULE, *([SWITCH_WORD_MODULE] if config.topology.switches else [])]


@dataclass(frozen=True)
class _Kind:
    """A kind of tile: its word module, its gates, and its nodes."""

    module: str
    tile: TileGates
    nodes: frozenset[int]

    def mask(self, first: int) -> int:
        """Return a word with a bit for each node of this kind from ``first`` on."""
        return sum(1 << place for place in range(TILES) if first + place in self.nodes)


def _kinds(config: NetworkConfig, *, trace: bool) -> list[_Kind]:
    """Return the tiles with an interface, and the switches if there are any."""
    switches = frozenset(config.topology.switches)
    others = frozenset(range(config.topology.nodes)) - switches
    kinds = [_Kind(WORD_MODULE, TileGates(config, trace=trace), others)]
    if switches:
        tile = TileGates(config, switch=True, trace=trace)
        kinds.append(_Kind(SWITCH_WORD_MODULE, tile, switches))
    return kinds


def _network_of_words(config: NetworkConfig, kinds: Sequence[_Kind]) -> Iterator[str]:
    """Yield the module of all tiles: its words of each kind, and the links."""
    # Every port of a switch is also a port of other tiles.
    tile, nodes = kinds[0].tile, config.topology.nodes
    outputs = {
        name: [f"{name}_{bit}" for bit in range(len(gates))] for name, gates in tile.outputs.items()
    }
    ports = ["input clk"]
    for direction, wires in (("input", tile.inputs), ("output", outputs)):
        seen = (each for name in wires if not _is_inside(name) for each in wires[name])
        ports += [f"{direction} [{nodes - 1}:0] {each}" for each in seen]
    yield f"module {TILES_MODULE}({', '.join(ports)});"
    firsts = range(0, nodes, TILES)
    for name in filter(_is_inside, outputs):
        yield from (
            f"  wire {WORD} {each}_of_{first};" for each in outputs[name] for first in firsts
        )
    links = {kind.module: _Links(config, kind) for kind in kinds}
    for first in firsts:
        here = f"[{min(first + TILES, nodes) - 1}:{first}]"
        places = {
            each: f"{each}_of_{first}" if _is_inside(name) else f"{each}{here}"
            for name, names in outputs.items()
            for each in names
        }
        yield from _word(links, [kind for kind in kinds if kind.mask(first)], first, here, places)
    yield "endmodule"


def _word(
    links: Mapping[str, _Links],
    kinds: Sequence[_Kind],
    first: int,
    here: str,
    places: dict[str, str],
) -> Iterator[str]:
    """Yield the modules of the tiles from ``first`` on, and their outputs in wires ``places``.

    ``links`` are by the kind's module. If there are two kinds of tiles, each place has the outputs
    of the right kind for each tile.
    """
    parts: dict[str, list[str]] = {each: [] for each in places}
    for kind in kinds:
        connected, linked = {"clk": "clk"}, links[kind.module]
        if kind.tile.prints:
            connected[PRESENT] = _literal(kind.mask(first))
        for name, names in kind.tile.inputs.items():
            for bit, each in enumerate(names):
                inside = _is_inside(name)
                connected[each] = linked.word(name, bit, first) if inside else f"{each}{here}"
        if len(kinds) == 1:
            connected |= places
        else:
            own = {each: f"{each}_of_{kind.module}_{first}" for each in places}
            yield from (f"  wire {WORD} {wire};" for wire in own.values())
            for each, wire in own.items():
                parts[each].append(f"({wire} & {_literal(kind.mask(first))})")
            connected |= own
        # One line each: a single line with many links would be too long for Verilator.
        wired = ",\n    ".join(f".{port}({value})" for port, value in connected.items())
        yield f"  {kind.module} {kind.module.rpartition('_')[2]}_{first}({wired});"
    yield from (
        f"  assign {place} = {' | '.join(parts[each])};"
        for each, place in places.items()
        if parts[each]
    )


def _is_inside(port: str) -> bool:
    """Tell whether a port of the tiles is hidden inside the module of all tiles."""
    return port.partition("__")[0] in INSIDE


class _Links:
    """Inputs of the tiles of a kind: their links and constants."""

    def __init__(self, config: NetworkConfig, kind: _Kind) -> None:
        self._topology = config.topology
        self._kind = kind
        ahead = {
            (node, port): (int(other), int(self._topology.peer[node, port]))
            for (node, port), other in np.ndenumerate(self._topology.neighbor)
            if other != NO_LINK
        }
        # By what an end is called in the tile: flits come from behind, and credits from ahead.
        self._others = {"outputs": ahead, "inputs": {there: here for here, there in ahead.items()}}

    def word(self, name: str, bit: int, first: int) -> str:
        """Return the expression of one bit of an input, for the tiles from ``first`` on."""
        nodes = range(first, min(first + TILES, self._topology.nodes))
        if name in ("node", "linked"):
            numbers = [node if name == "node" else self._linked(node) for node in nodes]
            bits = ((number >> bit & 1) << place for place, number in enumerate(numbers))
            return _literal(sum(bits))
        kind, index, wire = name.split("__")
        there = {"inputs": "outputs", "outputs": "inputs"}[kind]
        # For each port and word at the other end, and shift between the words: the linked tiles.
        masks: Counter[tuple[int, int, int]] = Counter()
        for place, node in enumerate(nodes):
            if node not in self._kind.nodes:
                continue
            if found := self._others[kind].get((node, int(index) + 1)):
                other, port = found
                masks[port - 1, other - other % TILES, place - other % TILES] += 1 << place
        moved = [
            f"({_moved(f'{there}__{port}__{wire}_{bit}_of_{word}', by)} & {_literal(mask)})"
            for (port, word, by), mask in masks.items()
        ]
        return " | ".join(moved) or _literal(0)

    def _linked(self, node: int) -> int:
        """Return a mask of the ports of a node with a link; bit 0 is set."""
        neighbors = self._topology.neighbor[node, 1:]
        return 1 | sum(1 << port for port, other in enumerate(neighbors, 1) if other != NO_LINK)


def _moved(word: str, by: int) -> str:
    """Return a word shifted by some bits, up or down."""
    return f"({word} << {by})" if by > 0 else f"({word} >> {-by})" if by else word


def _literal(number: int) -> str:
    return f"{TILES}'h{number:x}"


class _WordModule:
    """The module of one word of tiles."""

    def __init__(self, config: NetworkConfig, kind: _Kind) -> None:
        self._name = kind.module
        self._tile = kind.tile
        self._tiles = min(TILES, config.topology.nodes)
        self._text = {ZERO: _literal(0), ONE: f"~{_literal(0)}"}

    def lines(self) -> Iterator[str]:
        """Yield the lines of the module."""
        tile = self._tile
        outputs = {
            f"{name}_{bit}": gate
            for name, gates in tile.outputs.items()
            for bit, gate in enumerate(gates)
        }
        inputs = (each for names in tile.inputs.values() for each in names)
        ports = ["input clk", *(f"input {WORD} {each}" for each in inputs)]
        if tile.prints:
            ports.append(f"input {WORD} {PRESENT}")
        ports += [f"output {WORD} {each}" for each in outputs]
        yield f"module {self._name}({', '.join(ports)});"
        for register in tile.registers:
            initial = _literal(-register.initial % (1 << TILES))
            yield f"  reg {WORD} {register.name} = {initial};"
        # A memory of longer words than transposed words hold is several memories.
        memories = [part for memory in tile.memories for part in memory.parts(TILES)]
        for memory in memories:
            for port in memory.reads:
                yield from (f"  wire {WORD} {name};" for name in port.names)
        yield from self._gate_lines()
        for name, gate in outputs.items():
            yield f"  assign {name} = {self._text[gate]};"
        yield "  always @(posedge clk) begin"
        for register in tile.registers:
            yield f"    {register.name} <= {self._text[register.following]};"
        for printed in tile.prints:
            yield print_line(printed, PRESENT, self._text.__getitem__)
        yield "  end"
        for number, memory in enumerate(memories):
            yield from self._memory_lines(f"memory_{number}", memory)
        yield "endmodule"

    def _wanted(self) -> Counter[int]:
        """Count the uses of each gate; 0 if nothing needs it."""
        looked_at: Counter[int] = Counter()
        for gates in self._tile.outputs.values():
            looked_at.update(gates)
        looked_at.update(register.following for register in self._tile.registers)
        for memory in self._tile.memories:
            for read in memory.reads:
                looked_at.update([*read.address, read.enable])
            for write in memory.writes:
                looked_at.update([*write.address, *write.data, write.enable])
        for each in self._tile.prints:
            planes = (*each.cycle, *each.node, *each.vc, *each.kind, *each.data)
            looked_at.update([each.enable, *planes])
        # Inputs have lower numbers, so all uses of a gate are counted before it is reached.
        for number in range(len(self._tile.gates.gates) - 1, ONE, -1):
            kind, *inputs = self._tile.gates.gates[number]
            if looked_at[number] and kind != "input":
                looked_at.update(map(int, inputs))
                if kind == "?":
                    looked_at[int(inputs[1])] += 1
        return looked_at

    def _gate_lines(self) -> Iterator[str]:
        """Yield a wire for each gate used more than once; others become part of expressions."""
        looked_at = self._wanted()
        for number, gate in enumerate(self._tile.gates.gates):
            if number in (ZERO, ONE) or not looked_at[number]:
                continue
            text = self._expression(gate)
            if gate[0] != "input" and (looked_at[number] > 1 or len(text) > LONGEST):
                yield f"  wire {WORD} g{number} = {text};"
                text = f"g{number}"
            self._text[number] = text

    def _expression(self, gate: Gate) -> str:
        kind, *inputs = gate
        if kind == "input":
            return str(inputs[0])
        texts = [self._text[int(number)] for number in inputs]
        if kind == "~":
            return f"(~{texts[0]})"
        if kind == "?":
            # The selection, for each tile separately.
            select, a, b = texts
            return f"({a} ^ ({select} & ({a} ^ {b})))"
        return f"({texts[0]} {kind} {texts[1]})"

    def _memory_lines(self, name: str, memory: Memory) -> Iterator[str]:
        """Yield a memory with the words of all tiles; a read returns the value before a write."""
        words = self._tiles << memory.address_bits
        yield f"  reg [{memory.width - 1}:0] {name} [0:{words - 1}];"
        yield f"  initial begin : clear_{name}"
        yield "    integer word;"
        yield f"    for (word = 0; word < {words}; word = word + 1) {name}[word] = 0;"
        yield "  end"
        edge: list[str] = []
        for number, read in enumerate(memory.reads):
            yield from self._read_lines(f"{name}_read_{number}", name, memory, read, edge)
        for number, write in enumerate(memory.writes):
            yield from self._write_lines(f"{name}_write_{number}", name, memory, write, edge)
        yield "  always @(posedge clk) begin"
        yield from (f"    {line}" for line in edge)
        yield "  end"

    def _read_lines(
        self, name: str, place: str, memory: Memory, read: ReadPort, edge: list[str]
    ) -> Iterator[str]:
        """Yield a register for each tile's answer, and the transposed answers."""
        address, reads = self._by_tile(f"{name}_address", read.address), []
        yield from address.declared
        for tile in range(self._tiles):
            yield f"  reg [{memory.width - 1}:0] {name}_of_{tile} = 0;"
            found = f"{name}_of_{tile} <= {place}[{self._place(memory, tile, address)}];"
            if read.enable != ONE:
                found = f"if ({name}_enable[{tile}]) {found}"
            reads.append(found)
        yield f"  wire {WORD} {name}_enable = {self._text[read.enable]};"
        edge += [f"if (|{name}_enable) begin", *address.turned, *reads, "end"]
        size = _power_of_two(memory.width)
        rows = [
            "{"
            + ", ".join(
                f"{size - memory.width}'h0, {name}_of_{tile}"
                if size > memory.width
                else f"{name}_of_{tile}"
                for tile in reversed(range(row, self._tiles, size))
            )
            + "}"
            if row < self._tiles
            else _literal(0)
            for row in range(size)
        ]
        answers = _Turned(name, rows)
        yield from answers.declared
        yield "  always @* begin"
        yield from (f"    {line}" for line in answers.turned)
        yield "  end"
        for bit, wire in enumerate(read.names):
            yield f"  assign {wire} = {answers.rows[bit]};"

    def _write_lines(
        self, name: str, place: str, memory: Memory, write: WritePort, edge: list[str]
    ) -> Iterator[str]:
        address = self._by_tile(f"{name}_address", write.address)
        data = self._by_tile(f"{name}_data", write.data)
        yield from (*address.declared, *data.declared)
        yield f"  wire {WORD} {name}_enable = {self._text[write.enable]};"
        edge += [f"if (|{name}_enable) begin", *address.turned, *data.turned]
        edge += [
            f"if ({name}_enable[{tile}]) "
            f"{place}[{self._place(memory, tile, address)}] = {data.of_tile(tile, memory.width)};"
            for tile in range(self._tiles)
        ]
        edge.append("end")

    def _by_tile(self, name: str, gates: Sequence[int]) -> _Turned:
        return _Turned(name, [self._text[gate] for gate in gates])

    def _place(self, memory: Memory, tile: int, address: _Turned) -> str:
        """Return the address of a tile's word in the memory of all tiles."""
        of_tile = f"{max(1, (self._tiles - 1).bit_length())}'d{tile}"
        return f"{{{of_tile}, {address.of_tile(tile, memory.address_bits)}}}"


class _Turned:
    """Transposed words: a bit matrix, transposed by exchanging its off-diagonal blocks.

    Attributes
    ----------
    declared
        Lines that declare the intermediate words.
    turned
        Lines of the block that transposes.
    rows
        Names of the resulting words; their number is a power of two.

    """

    def __init__(self, name: str, rows: Sequence[str]) -> None:
        self.size = _power_of_two(len(rows))
        self.rows = [*rows, *[_literal(0)] * (self.size - len(rows))]
        self.declared: list[str] = []
        self.turned: list[str] = []
        if self.size == 1:
            # Verilog selects bits of a name only.
            self.declared.append(f"  reg {WORD} {name}_0;")
            self.turned.append(f"{name}_0 = {self.rows[0]};")
            self.rows = [f"{name}_0"]
        block = self.size >> 1
        while block:
            low = sum(1 << place for place in range(TILES) if not place & block)
            for row in range(self.size):
                if not row & block:
                    self._exchange(f"{name}_{block}", row, block, low)
            block >>= 1

    def _exchange(self, name: str, row: int, block: int, low: int) -> None:
        """Exchange the high blocks of one row with the low blocks of another."""
        first, second = self.rows[row], self.rows[row + block]
        names = [f"{name}_{row}", f"{name}_{row + block}", f"{name}_{row}_moved"]
        self.declared.append(f"  reg {WORD} {', '.join(names)};")
        self.turned += [
            f"{names[2]} = (({first} >> {block}) ^ {second}) & {_literal(low)};",
            f"{names[0]} = {first} ^ ({names[2]} << {block});",
            f"{names[1]} = {second} ^ {names[2]};",
        ]
        self.rows[row], self.rows[row + block] = names[:2]

    def of_tile(self, tile: int, width: int) -> str:
        """Return the word of a tile, of this width."""
        return f"{self.rows[tile % self.size]}[{tile - tile % self.size} +: {width}]"


def _power_of_two(number: int) -> int:
    """Return the least power of two that is not below ``number``."""
    return 1 << (number - 1).bit_length()
