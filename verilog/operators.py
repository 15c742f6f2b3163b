"""Operators as Verilog, with each operand extended to the width at which the operator works."""

import re
from collections.abc import Callable

from .netlist import Bits, Cell, width_of
from .simplify import REDUCTIONS, resized

TWO_OPERANDS = {"$add": "+", "$sub": "-", "$mul": "*", "$and": "&", "$or": "|", "$xor": "^"}
COMPARISONS = {"$eq": "==", "$ne": "!=", "$lt": "<", "$le": "<=", "$gt": ">", "$ge": ">="}
UNARY_SIGNS = {
    **{"$reduce_or": "|", "$reduce_bool": "|", "$reduce_and": "&", "$reduce_xor": "^"},
    **{"$not": "~", "$neg": "-"},
}

Write = Callable[[Bits, Bits], str]
"""Function that writes a value as Verilog, given the value that it is compared with."""


def operands(cell: Cell) -> list[Bits]:
    """Return an operator's operands, extended to the width at which the operator works."""
    ports = cell.ports
    if cell.kind == "$mux":
        return [ports["S"], ports["B"], ports["A"]]
    signed = cell.is_signed("A")
    if cell.kind in TWO_OPERANDS or cell.kind in ("$not", "$neg"):
        width = width_of(ports["Y"])
        named = [name for name in "AB" if name in ports]
        return [resized(ports[name], width, signed=signed) for name in named]
    if cell.kind in COMPARISONS:
        width = max(width_of(ports["A"]), width_of(ports["B"]))
        return [resized(ports[name], width, signed=signed) for name in "AB"]
    if cell.kind == "$shift":
        return [operand_to_index(cell), ports["B"]]
    if cell.kind in ("$shl", "$shr"):
        return [resized(ports["A"], width_of(ports["Y"])), ports["B"]]
    if cell.kind in REDUCTIONS:
        return [ports["A"]]
    raise ValueError(f"operator not known: {cell.kind}")


def operand_to_index(cell: Cell) -> Bits:
    """Return the operand of a variable index: as many bits as the largest index reaches."""
    places, width = width_of(cell.ports["B"]), width_of(cell.ports["Y"])
    return resized(cell.ports["A"], (1 << places) - 1 + width)


_ATOM = re.compile(r"[!~]?[\w$]+(\[[^\]]*\])?$|\d+'[hb]\w+$|\{[^{}]*\}$")
ASSOCIATIVE = ("&", "|", "^")


def beside(text: str, sign: str = "") -> str:
    """Return an expression as an operand of ``sign``, in parentheses if it needs them."""
    if (_ATOM.match(text) or _is_braces(text)) and not (sign == "!" and text[0] in "!~"):
        return text
    if sign in ASSOCIATIVE and _signs(text) == {sign}:
        return text
    return f"({text})"


def _is_braces(text: str) -> bool:
    """Tell whether the first brace of a text closes at its end."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return place == len(text) - 1
    return False


def _signs(text: str) -> set[str]:
    """Return the binary operators of an expression outside parentheses and braces."""
    depth, outside = 0, ""
    for letter in text:
        depth -= letter in ")}]"
        outside += letter if depth == 0 else ""
        depth += letter in "({["
    return {word for word in outside.split() if not re.match(r"[\w!~({|&^]+[\w(){}\[\]]", word)}


def operator_text(cell: Cell, write: Write) -> str:
    """Write an operator with the operands of :func:`operands`."""
    values = operands(cell)
    kind = cell.kind
    sign = TWO_OPERANDS.get(kind, "")
    likes = values[::-1] if kind in ("$eq", "$ne") else [()] * len(values)
    texts = [beside(write(value, like), sign) for value, like in zip(values, likes, strict=True)]
    if kind == "$mux":
        return f"{texts[0]} ? {texts[1]} : {texts[2]}"
    if kind in TWO_OPERANDS:
        return f"{texts[0]} {sign} {texts[1]}"
    if kind in COMPARISONS:
        if cell.is_signed("A") and kind not in ("$eq", "$ne"):
            texts = [f"$signed({text})" for text in texts]
        return f"{texts[0]} {COMPARISONS[kind]} {texts[1]}"
    if kind in UNARY_SIGNS:
        unary = "!" if kind == "$not" and width_of(values[0]) == 1 else UNARY_SIGNS[kind]
        return unary + beside(write(values[0], ()), "!")
    if kind in ("$shl", "$shr"):
        return f"{texts[0]} {'<<' if kind == '$shl' else '>>'} {texts[1]}"
    width = width_of(cell.ports["Y"])
    place = texts[1] if width == 1 else f"{{1'h0, {texts[1]}}} +: {width}"
    return f"{texts[0]}[{place}]"
