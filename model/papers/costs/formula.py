"""Formulas as the paper prints them: evaluated exactly, and written as text.

>>> formula = Formula("2*ceil(M/B) + N - 3")
>>> str(formula), formula(n=3, M=16, B=5)
('2⌈M/B⌉ + N - 3', 13)

Names are n, M, B, tau and tc; N is 2^n. ``S(i, low, high, term)`` is a sum, ``C(n, k)`` a binomial,
``log`` the logarithm to base 2.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, comb, floor, log2, pi, sqrt
from typing import Any

from .rows import Number

_GREEK = {"tau": "τ", "tc": "t_c", "pi": "π"}
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: (
        a / b if isinstance(a, float) or isinstance(b, float) else Fraction(a) / b
    ),
    ast.Pow: lambda a, b: a**b,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ceil": ceil,
    "floor": floor,
    "sqrt": sqrt,
    "log": log2,
    "max": max,
    "C": lambda n, k: comb(n, k) if min(n, k) >= 0 else 0,
}
_BRACKETS = {"ceil": "⌈⌉", "floor": "⌊⌋", "sqrt": ("√(", ")")}
_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_SIGNS: dict[type, tuple[str, int, int, int]] = {
    ast.Add: (" + ", _SUM, _SUM, _SUM),
    ast.Sub: (" - ", _SUM, _PRODUCT, _SUM),
    ast.Mult: ("", _PRODUCT, _PRODUCT, _PRODUCT),
    ast.Div: ("/", _PRODUCT, _POWER, _PRODUCT),
    ast.Pow: ("^", _ATOM, _ATOM, _POWER),
}
"""An operator's sign, how tightly its two sides must bind, and how tightly it binds."""


@dataclass(frozen=True)
class Formula:
    """A formula in Python's syntax."""

    source: str

    @cached_property
    def _tree(self) -> ast.expr:
        return ast.parse(self.source, mode="eval").body

    def __call__(self, **names: Number) -> Number:
        """Return the value for these names; exact, unless there are roots or logarithms."""
        value: Number = _value(self._tree, names | {"N": 2 ** int(names["n"]), "pi": pi})
        return value if isinstance(value, float) else Fraction(value)

    def __str__(self) -> str:
        """Return the formula with the paper's signs."""
        return _text(self._tree)[0]


def _value(node: Any, names: dict[str, Any]) -> Any:
    """Return the value of a part of a formula."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return names[node.id]
        case ast.BinOp():
            return _OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
        case ast.Call(func=ast.Name(id="S"), args=[ast.Name(id=index), low, high, term]):
            indices = range(_value(low, names), _value(high, names) + 1)
            return sum(_value(term, names | {index: at}) for at in indices)
        case ast.Call(func=ast.Name(id=name)):
            return _FUNCTIONS[name](*(_value(each, names) for each in node.args))
    raise TypeError(ast.dump(node))


def _text(node: Any) -> tuple[str, int]:
    """Return the text of a part of a formula, and how tightly it binds."""
    match node:
        case ast.Constant():
            return str(node.value), _ATOM
        case ast.Name():
            return _GREEK.get(node.id, node.id), _ATOM
        case ast.BinOp():
            sign, *least, binds = _SIGNS[type(node.op)]
            left, right = map(_bound, (node.left, node.right), least)
            apart = isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Div | ast.Pow)
            if not sign and (apart or right[0].isdigit()):
                sign = "·"
            return left + sign + right, binds
        case ast.Call(func=ast.Name(id="S"), args=[index, low, high, term]):
            bounds = f"{_text(index)[0]}={_text(low)[0]}..{_text(high)[0]}"
            return f"Σ[{bounds}] {_bound(term, _PRODUCT)}", _SUM
        case ast.Call(func=ast.Name(id=name)):
            inner = ", ".join(_text(each)[0] for each in node.args)
            begin, end = _BRACKETS.get(name, (f"{name}(", ")"))
            return f"{begin}{inner}{end}", _ATOM
    raise TypeError(ast.dump(node))


def _bound(node: Any, least: int) -> str:
    """Return the text of a part, in parentheses if it binds less tightly than ``least``."""
    text, binds = _text(node)
    return text if binds >= least else f"({text})"
