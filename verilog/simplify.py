"""Simplification of a netlist: no operators without effect, and one wire for each value."""

from collections.abc import Callable, Iterator

from .choices import choices
from .netlist import (
    Assign,
    Bits,
    Body,
    Cell,
    Constant,
    Netlist,
    Part,
    Switch,
    cut,
    joined,
    width_of,
    zeros,
)

REDUCTIONS = ("$reduce_or", "$reduce_bool", "$reduce_and", "$reduce_xor")
"""Operators that combine all bits of one operand into one bit."""


def simplify(netlist: Netlist) -> None:
    """Remove operators that compute nothing, repeated operators, and wires without a name."""
    while True:
        _fold_processes(netlist)
        names: dict[str, Bits] = {}
        kept, known = [], dict[object, Bits]()
        for cell in netlist.cells:
            value = simple_value(cell)
            if value is None and "Y" in cell.ports and cell.kind.startswith("$"):
                # Two equal operators with equal inputs become one.
                inputs = tuple((port, bits) for port, bits in cell.ports.items() if port != "Y")
                same = (cell.kind, width_of(cell.ports["Y"]), cell.is_signed("A"), inputs)
                if known.setdefault(same, cell.ports["Y"]) is not cell.ports["Y"]:
                    value = known[same]
            if value is None:
                kept.append(cell)
            else:
                netlist.assigns.append(Assign(cell.ports["Y"], value))
        netlist.cells = kept
        assigns = []
        for assign in netlist.assigns:
            match assign.target:
                case (Part(wire, 0, width),) if (
                    not netlist.wires[wire].is_named and netlist.wires[wire].width == width
                ):
                    names[wire] = assign.value
                case _:
                    assigns.append(assign)
        if not names:
            netlist.assigns = [*_together(netlist.assigns)]
            return
        netlist.assigns = assigns
        _replace(netlist, _resolver(names))


def _together(assigns: list[Assign]) -> Iterator[Assign]:
    """Join assignments to adjacent stretches of a wire."""
    by_wire: dict[str, list[tuple[Part, Bits]]] = {}
    for assign in assigns:
        low = 0
        for part in reversed(assign.target):
            assert isinstance(part, Part)
            value = cut(assign.value, low, part.width)
            by_wire.setdefault(part.wire, []).append((part, value))
            low += part.width
    for parts in by_wire.values():
        parts.sort(key=lambda each: -each[0].low)
        together = [parts[0]]
        for part, bits in parts[1:]:
            if together[-1][0].low != part.low + part.width:
                yield _one_of(together)
                together = []
            together.append((part, bits))
        yield _one_of(together)


def _one_of(parts: list[tuple[Part, Bits]]) -> Assign:
    """Return one assignment for adjacent stretches."""
    return Assign(joined(part for part, _ in parts), joined(p for _, bits in parts for p in bits))


def _fold_processes(netlist: Netlist) -> None:
    """Decide tests of constants in processes; a process without tests becomes assignments."""
    kept = []
    for body in netlist.processes:
        folded = [*_folded(body)]
        if all(isinstance(statement, Assign) for statement in folded):
            for target, value in choices(folded):
                assert isinstance(value, tuple)
                netlist.assigns.append(Assign(target, value))
        else:
            kept.append(folded)
    netlist.processes = kept


def _folded(body: Body) -> Iterator[Assign | Switch]:
    for statement in body:
        if isinstance(statement, Assign):
            yield statement
            continue
        cases = [(patterns, [*_folded(inner)]) for patterns, inner in statement.cases]
        match statement.subject:
            case (Constant(bits),) if "x" not in bits:
                fitting = (inner for patterns, inner in cases if _fits(bits, patterns))
                yield from next(fitting, ())
            case _ if any(inner for _, inner in cases):
                yield Switch(statement.subject, cases)


def _fits(bits: str, patterns: list[str]) -> bool:
    return not patterns or any(
        all(one in ("-", other) for one, other in zip(pattern, bits, strict=True))
        for pattern in patterns
    )


def _resolver(names: dict[str, Bits]) -> Callable[[Bits], Bits]:
    """Return a function that replaces the wires in ``names`` in a value."""
    known: dict[str, Bits] = {}

    def of_wire(wire: str) -> Bits:
        if wire not in known:
            known[wire] = resolve(names[wire])
        return known[wire]

    def resolve(bits: Bits) -> Bits:
        return joined(
            piece
            for part in bits
            for piece in (
                cut(of_wire(part.wire), part.low, part.width)
                if isinstance(part, Part) and part.wire in names
                else (part,)
            )
        )

    return resolve


def _replace(netlist: Netlist, resolve: Callable[[Bits], Bits]) -> None:
    for cell in netlist.cells:
        cell.ports = {port: resolve(bits) for port, bits in cell.ports.items()}
    for assign in netlist.assigns:
        assign.value = resolve(assign.value)
    for body in netlist.processes:
        _replace_in(body, resolve)


def _replace_in(body: Body, resolve: Callable[[Bits], Bits]) -> None:
    for statement in body:
        if isinstance(statement, Assign):
            statement.value = resolve(statement.value)
            continue
        statement.subject = resolve(statement.subject)
        for _, inner in statement.cases:
            _replace_in(inner, resolve)


def simple_value(cell: Cell) -> Bits | None:
    """Return an operator's result if wires and constants can express it, otherwise None."""
    if "Y" not in cell.ports or not cell.kind.startswith("$"):
        return None
    width = width_of(cell.ports["Y"])
    value: Bits | None = None
    if cell.kind == "$mux":
        value = _chosen(cell)
    elif cell.kind in ("$shl", "$shr", "$sshr"):
        value = _shifted(cell, width)
    elif cell.kind in REDUCTIONS and width_of(cell.ports["A"]) == 1:
        value = resized(cell.ports["A"], width)
    elif known := evaluated(cell):
        value = resized((known,), width)
    elif cell.kind in ("$and", "$or"):
        value = _masked(cell, width)
    elif cell.kind == "$eq":
        value = _equal(cell)
    return value


def resized(bits: Bits, width: int, *, signed: bool = False) -> Bits:
    """Return a number cut or extended to ``width`` bits."""
    have = width_of(bits)
    if have >= width:
        return cut(bits, 0, width)
    sign = cut(bits, have - 1, 1) if signed and have else (zeros(1),)
    return joined((*(sign * (width - have)), *bits))


def number(bits: Bits) -> int | None:
    """Return a constant's number; None for any other value."""
    digits = "".join(part.bits if isinstance(part, Constant) else "x" for part in bits)
    return None if "x" in digits else int(digits or "0", 2)


def evaluated(cell: Cell) -> Constant | None:
    """Return an operator's result if its operands are constants, or if they do not matter."""
    values = [number(cell.ports[name]) for name in "AB" if name in cell.ports]
    signed = any(cell.is_signed(name) for name in "AB")
    width = width_of(cell.ports["Y"])
    if not signed and len(values) == 2 and 0 in values:
        # No number is less than 0.
        never = ("$lt", "$ge") if values[1] == 0 else ("$gt", "$le")
        if cell.kind in never:
            return Constant("01"[cell.kind in ("$ge", "$le")])
    if None in values or signed or cell.kind not in _RESULTS:
        return None
    bits = width_of(cell.ports["A"])
    result = _RESULTS[cell.kind](*values, bits) & (1 << width) - 1
    return Constant(f"{result:0{width}b}") if width else Constant("")


_RESULTS: dict[str, Callable[..., int]] = {
    "$not": lambda a, bits: ~a,
    "$neg": lambda a, bits: -a,
    "$and": lambda a, b, bits: a & b,
    "$or": lambda a, b, bits: a | b,
    "$xor": lambda a, b, bits: a ^ b,
    "$add": lambda a, b, bits: a + b,
    "$sub": lambda a, b, bits: a - b,
    "$mul": lambda a, b, bits: a * b,
    "$eq": lambda a, b, bits: a == b,
    "$ne": lambda a, b, bits: a != b,
    "$lt": lambda a, b, bits: a < b,
    "$le": lambda a, b, bits: a <= b,
    "$gt": lambda a, b, bits: a > b,
    "$ge": lambda a, b, bits: a >= b,
    "$reduce_or": lambda a, bits: a != 0,
    "$reduce_bool": lambda a, bits: a != 0,
    "$reduce_and": lambda a, bits: a == (1 << bits) - 1,
    "$reduce_xor": lambda a, bits: a.bit_count() & 1,
}
"""Results of operators on numbers; the last argument is the first operand's width."""


def _chosen(cell: Cell) -> Bits | None:
    zero, one, chooses = cell.ports["A"], cell.ports["B"], cell.ports["S"]
    if zero == one:
        return zero
    if (zero, one) == ((Constant("0"),), (Constant("1"),)):
        return chooses
    if isinstance(chooses[0], Constant):
        return one if chooses[0].bits == "1" else zero
    return None


def _shifted(cell: Cell, width: int) -> Bits | None:
    bits, by = cell.ports["A"], cell.ports["B"]
    if (by and not isinstance(by[0], Constant)) or len(by) > 1:
        return None
    places = int(by[0].bits, 2) if by and isinstance(by[0], Constant) else 0
    signed = cell.is_signed("A")
    if cell.kind == "$shl":
        return resized((*resized(bits, width, signed=signed), zeros(places)), width)
    wide = resized(bits, max(width, width_of(bits)) + places, signed=signed)
    return cut(wide, places, width)


def _masked(cell: Cell, width: int) -> Bits | None:
    """Return the result of an AND or OR with a constant; None without a constant."""
    for mask, other in (("A", "B"), ("B", "A")):
        if all(isinstance(part, Constant) for part in cell.ports[mask]) and not any(
            cell.is_signed(operand) for operand in "AB"
        ):
            value = resized(cell.ports[other], width)
            constant = resized(cell.ports[mask], width)
            bits = "".join(part.bits for part in constant if isinstance(part, Constant))
            if "x" in bits:
                return None
            keeps = "1" if cell.kind == "$and" else "0"
            return joined(
                cut(value, width - 1 - place, 1)[0] if bit == keeps else Constant(bit)
                for place, bit in enumerate(bits)
            )
    return None


def _equal(cell: Cell) -> Bits | None:
    """Return a bit that is compared with 1; None for any other comparison."""
    for one, other in (("A", "B"), ("B", "A")):
        if cell.ports[one] == (Constant("1"),) and width_of(cell.ports[other]) == 1:
            return cell.ports[other]
    return None
