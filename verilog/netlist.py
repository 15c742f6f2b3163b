"""Netlists of modules, as Amaranth writes them in RTLIL, the language of Yosys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Part:
    """Successive bits of a wire: ``width`` bits from bit ``low`` on."""

    wire: str
    low: int
    width: int


@dataclass(frozen=True, slots=True)
class Constant:
    """Bits ``0``, ``1`` and ``x``, the most significant first."""

    bits: str

    @property
    def width(self) -> int:
        """Number of bits."""
        return len(self.bits)


Bits = tuple[Part | Constant, ...]
"""A value: a concatenation of parts, the most significant first, as in Verilog's braces."""


@dataclass(slots=True)
class Wire:
    """A wire, or a register. ``initial`` is its value at power-up, if it has one.

    Amaranth makes the names that begin with ``$``; all others are names in the Python source of the
    hardware. ``states`` has the name of each value of a state machine or an enumeration, by the
    value's bits.
    """

    name: str
    width: int
    direction: str | None = None
    initial: str | None = None
    states: dict[str, str] = field(default_factory=dict)

    def name_states(self, names: Iterable[str]) -> None:
        """Name the values from 0 on, in order."""
        self.states |= {f"{value:0{self.width}b}": name for value, name in enumerate(names)}

    @property
    def is_named(self) -> bool:
        """Tell whether the wire has a name in the Python source of the hardware."""
        return not self.name.startswith("$")


@dataclass(slots=True)
class Cell:
    """An operator, a register, or an instance of another module."""

    kind: str
    name: str
    parameters: dict[str, str]
    ports: dict[str, Bits]

    def is_signed(self, operand: str) -> bool:
        """Tell whether an operand is signed."""
        return self.parameters.get(f"{operand}_SIGNED", "0") != "0"


@dataclass(slots=True)
class Assign:
    """An assignment, either outside processes or in a branch of a process."""

    target: Bits
    value: Bits


@dataclass(slots=True)
class Switch:
    """A choice of branches: the first with a matching pattern; a branch without one matches all."""

    subject: Bits
    cases: list[tuple[list[str], list[Assign | Switch]]]


Body = list[Assign | Switch]


@dataclass(slots=True)
class Netlist:
    """A module: its wires in order, its cells, its processes and its assignments."""

    wires: dict[str, Wire] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    processes: list[Body] = field(default_factory=list)
    assigns: list[Assign] = field(default_factory=list)


def width_of(bits: Bits) -> int:
    """Count the bits of a value."""
    return sum(part.width for part in bits)


def joined(parts: Iterable[Part | Constant]) -> Bits:
    """Return the concatenation of parts; adjacent parts of a wire become one part."""
    found: list[Part | Constant] = []
    for part in parts:
        before = found[-1] if found else None
        if not part.width:
            continue
        if isinstance(part, Constant) and isinstance(before, Constant):
            found[-1] = Constant(before.bits + part.bits)
        elif (
            isinstance(part, Part)
            and isinstance(before, Part)
            and before.wire == part.wire
            and before.low == part.low + part.width
        ):
            found[-1] = Part(part.wire, part.low, part.width + before.width)
        else:
            found.append(part)
    return tuple(found)


def cut(bits: Bits, low: int, width: int) -> Bits:
    """Return ``width`` bits of a value from bit ``low`` on."""
    found: list[Part | Constant] = []
    for part in reversed(bits):
        here = max(low, 0), min(low + width, part.width)
        if here[0] < here[1]:
            found.append(_cut_part(part, here[0], here[1] - here[0]))
        low -= part.width
    return joined(reversed(found))


def _cut_part(part: Part | Constant, low: int, width: int) -> Part | Constant:
    if isinstance(part, Part):
        return Part(part.wire, part.low + low, width)
    end = part.width - low
    return Constant(part.bits[end - width : end])


def zeros(width: int) -> Constant:
    """Return a constant of zeros."""
    return Constant("0" * width)


def targets(body: Body) -> Iterator[Bits]:
    """Yield the target of each assignment of a process."""
    for statement in body:
        if isinstance(statement, Assign):
            yield statement.target
        else:
            for _, inner in statement.cases:
                yield from targets(inner)


def assigned_wires(body: Body) -> set[str]:
    """Return the names of the wires that a process assigns."""
    return {part.wire for bits in targets(body) for part in bits if isinstance(part, Part)}


def read_rtlil(text: str) -> Netlist:
    """Read ``text``, which must be one module without memories.

    Raises :class:`ValueError` for RTLIL that Amaranth does not write.
    """
    return _Reader(text).read()


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]|\[[\d:]+\]|[^\s{}]+')
_CONSTANT = re.compile(r"\d+'([01xz-]*)$")
_STATE = "\\enum_value_"
"""The prefix of a wire's attribute that names one of its values."""


class _Reader:
    """A reader of RTLIL, one line at a time."""

    def __init__(self, text: str) -> None:
        self._lines: Iterator[list[str]] = (
            tokens for line in text.splitlines() if (tokens := _TOKEN.findall(line))
        )
        self._netlist = Netlist()
        self._attributes: dict[str, str] = {}

    def read(self) -> Netlist:
        """Read all lines; return the module."""
        modules = 0
        for tokens in self._lines:
            match tokens:
                case ["attribute", name, value]:
                    self._attributes[name] = value
                    continue
                case ["module", _]:
                    modules += 1
                case ["wire", *words]:
                    self._read_wire(words)
                case ["cell", kind, name]:
                    self._netlist.cells.append(self._cell(kind, name))
                case ["process", _]:
                    self._netlist.processes.append(self._body()[0])
                case ["connect", *sides]:
                    self._netlist.assigns.append(Assign(*self._sides(sides)))
                case ["end"]:
                    pass
                case _:
                    raise ValueError(f"RTLIL not known: {' '.join(tokens)}")
            self._attributes = {}
        if modules != 1:
            raise ValueError(f"RTLIL has {modules} modules, not 1")
        return self._netlist

    def _read_wire(self, words: list[str]) -> None:
        width = int(words[words.index("width") + 1])
        initial = _CONSTANT.match(self._attributes.get("\\init", ""))
        direction = next((each for each in ("input", "output") if each in words), None)
        name = words[-1].removeprefix("\\")
        states = {
            key.removeprefix(_STATE): value.strip('"')
            for key, value in self._attributes.items()
            if key.startswith(_STATE)
        }
        self._netlist.wires[name] = Wire(
            name, width, direction, initial[1] if initial else None, states
        )

    def _cell(self, kind: str, name: str) -> Cell:
        cell = Cell(kind.removeprefix("\\"), name.removeprefix("\\"), {}, {})
        for tokens in self._lines:
            match tokens:
                case ["parameter", *_, parameter, value]:
                    cell.parameters[parameter.removeprefix("\\")] = value
                case ["connect", port, *words]:
                    cell.ports[port.removeprefix("\\")] = self._bits(words)
                case _:
                    return cell
        raise ValueError("RTLIL ends in a cell")

    def _body(self) -> tuple[Body, list[str]]:
        """Read statements up to the end of a branch; return them, and the line after them."""
        body: Body = []
        for tokens in self._lines:
            match tokens:
                case ["assign", *sides]:
                    body.append(Assign(*self._sides(sides)))
                case ["switch", *words]:
                    body.append(self._switch(self._bits(words)))
                case ["attribute", *_]:
                    pass
                case _:
                    return body, tokens
        raise ValueError("RTLIL ends in a process")

    def _switch(self, subject: Bits) -> Switch:
        switch = Switch(subject, [])
        line = next(self._lines)
        while line[0] != "end":
            if line[0] != "case":
                line = next(self._lines)
                continue
            patterns = [each.partition("'")[2].rstrip(",") for each in line[1:] if each != ","]
            body, line = self._body()
            switch.cases.append((patterns, body))
        return switch

    def _sides(self, words: list[str]) -> tuple[Bits, Bits]:
        """Read two values, one after the other."""
        end = self._end(words)
        return self._bits(words[:end]), self._bits(words[end:])

    @staticmethod
    def _end(words: list[str]) -> int:
        """Return the number of words that the first value takes."""
        if words[0] == "{":
            return words.index("}") + 1
        return 2 if words[1].startswith("[") else 1

    def _bits(self, words: list[str]) -> Bits:
        parts: list[Part | Constant] = []
        for word in words:
            if word in "{}":
                continue
            if word.startswith("["):
                whole = parts.pop()
                assert isinstance(whole, Part)
                high, _, low = word[1:-1].partition(":")
                first = int(low or high)
                parts.append(Part(whole.wire, first, int(high) - first + 1))
            elif constant := _CONSTANT.match(word):
                parts.append(Constant(constant[1]))
            else:
                name = word.removeprefix("\\")
                parts.append(Part(name, 0, self._netlist.wires[name].width))
        return joined(parts)
