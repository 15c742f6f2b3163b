"""Destinations of values without a name, which are named after their use."""

from collections.abc import Iterator

from .fields import Fields
from .netlist import Assign, Bits, Body, Cell, Netlist, Part, cut


def destinations(netlist: Netlist, fields: Fields) -> dict[str, str]:
    """Return, for each wire without a name, the nearest named wire, field or port that uses it."""
    registers = _next_values(netlist)
    sources: dict[str, list[str]] = {}
    ends: dict[str, str] = {}

    def add(value: Bits, key: str) -> None:
        unnamed = (part.wire for part in value if isinstance(part, Part))
        found = sources.setdefault(key, [])
        found += [wire for wire in unnamed if not netlist.wires[wire].is_named]

    for value, part in _dependencies(netlist):
        wire = registers.get(part.wire, part.wire)
        if not netlist.wires[wire].is_named:
            add(value, wire)
            continue
        inside = fields.within(Part(wire, part.low, part.width))
        end = inside.wire if inside else wire
        ends[end] = fields.name(end) if inside else wire.partition("$")[0]
        add(value, end)
    for cell in netlist.cells:
        for port, bits in cell.ports.items() if not cell.kind.startswith("$") else ():
            end = f"{cell.name}__{port}"
            ends[end] = end
            add(bits, end)
    return _nearest(ends, sources)


def _nearest(ends: dict[str, str], sources: dict[str, list[str]]) -> dict[str, str]:
    """Return, for each wire, the name of the end that is the fewest operators away."""
    found: dict[str, str] = {}
    wave = list(ends.items())
    while wave:
        following = []
        for key, name in wave:
            for wire in sources.get(key, ()):
                if wire not in found:
                    found[wire] = name
                    following.append((wire, name))
        wave = following
    return found


def _next_values(netlist: Netlist) -> dict[str, str]:
    """Return the registers that take the value of a whole wire, by that wire."""
    found = {}
    for cell in netlist.cells:
        match cell:
            case Cell(kind="$dff", ports={"D": (Part(value, 0, width),), "Q": (Part(wire, 0, _),)}):
                if netlist.wires[value].width == netlist.wires[wire].width == width:
                    found[value] = wire
    return found


def _dependencies(netlist: Netlist) -> Iterator[tuple[Bits, Part]]:
    """Yield values, each with the bits that depend on it."""
    for assign in netlist.assigns:
        yield from _aligned(assign)
    for body in netlist.processes:
        yield from _in_process(body, ())
    for cell in netlist.cells:
        if not cell.kind.startswith("$"):
            continue
        if cell.kind == "$dff":
            yield from _aligned(Assign(cell.ports["Q"], cell.ports["D"]))
            continue
        for part in cell.ports.get("Y", ()):
            assert isinstance(part, Part)
            for port, bits in cell.ports.items():
                if port != "Y":
                    yield bits, part


def _aligned(assign: Assign) -> Iterator[tuple[Bits, Part]]:
    """Yield the parts of a target, each with the bits assigned to it."""
    low = 0
    for part in reversed(assign.target):
        assert isinstance(part, Part)
        yield cut(assign.value, low, part.width), part
        low += part.width


def _in_process(body: Body, tested: Bits) -> Iterator[tuple[Bits, Part]]:
    """Yield the parts that a process assigns, with the values and with the tests before."""
    for statement in body:
        if isinstance(statement, Assign):
            for value, part in _aligned(statement):
                yield (*value, *tested), part
            continue
        for _, inner in statement.cases:
            yield from _in_process(inner, (*tested, *statement.subject))
