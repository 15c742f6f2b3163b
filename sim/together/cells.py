"""Translation of netlist cells into gates."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .gates import ONE, ZERO, Gates

Bits = Sequence[int]
"""Gates of the bits of a number, the lowest first."""


SHIFTS = ("$shift", "$shiftx", "$shr")


class UnknownCellError(Exception):
    """A netlist has a cell that this translation does not support."""


def cell_gates(gates: Gates, cell: Mapping[str, Any], inputs: Mapping[str, Bits]) -> list[int]:
    """Return the gates at a cell's output Y; ``inputs`` are the gates at its inputs, by name."""
    kind, width = cell["type"], len(cell["connections"]["Y"])
    single: dict[str, Callable[..., int]] = {
        "$_NOT_": gates.invert,
        "$_AND_": gates.both,
        "$_OR_": gates.either,
        "$_XOR_": gates.differ,
    }
    if kind in single:
        return [single[kind](*(inputs[name][0] for name in sorted(inputs)))]
    if kind == "$_MUX_":
        return [gates.choose(*(inputs[name][0] for name in "SAB"))]
    if kind == "$pmux":
        return _choice(gates, inputs, width)
    signed = [int(cell["parameters"][name], 2) == 1 for name in ("A_SIGNED", "B_SIGNED")]
    if any(signed) and (kind in SHIFTS or not all(signed)):
        raise UnknownCellError(f"{kind} of signed numbers")
    return _number_gates(gates, kind, inputs["A"], inputs["B"], width, signed=all(signed))


def _choice(gates: Gates, inputs: Mapping[str, Bits], width: int) -> list[int]:
    """Return the number selected by the one bit of S that is set; A if no bit is set."""
    none = gates.invert(gates.any(inputs["S"]))
    lines = [none, *inputs["S"]]
    numbers = [*inputs["A"], *inputs["B"]]
    return [
        gates.any(gates.both(*pair) for pair in zip(lines, numbers[place::width], strict=True))
        for place in range(width)
    ]


def _number_gates(
    gates: Gates, kind: str, a: Bits, b: Bits, width: int, *, signed: bool
) -> list[int]:
    """Make the gates of a cell with two numbers, such as an adder or a comparison."""
    if kind in SHIFTS:
        return gates.shift_down(_wide(a, max(width, len(a))), b)[:width]
    if kind in ("$add", "$sub"):
        a, b = _wide(a, width, signed=signed), _wide(b, width, signed=signed)
        if kind == "$add":
            return gates.add(a, b)
        return gates.add(a, [gates.invert(bit) for bit in b], ONE)
    longer = max(len(a), len(b))
    a, b = _wide(a, longer, signed=signed), _wide(b, longer, signed=signed)
    if signed:
        # With the sign inverted, signed numbers have the order of unsigned numbers.
        a, b = ([*bits[:-1], gates.invert(bits[-1])] for bits in (a, b))
    if kind in ("$lt", "$ge"):
        is_less = gates.less(a, b)
    elif kind in ("$gt", "$le"):
        is_less = gates.less(b, a)
    else:
        raise UnknownCellError(kind)
    return _wide([is_less if kind in ("$lt", "$gt") else gates.invert(is_less)], width)


def _wide(bits: Bits, width: int, *, signed: bool = False) -> list[int]:
    """Extend a number to ``width`` bits; a ``signed`` one with copies of its sign."""
    above = bits[-1] if signed else ZERO
    return [*bits, *[above] * (width - len(bits))][:width]
