"""Functions that combine many values into one, in flat expressions."""

from collections.abc import Callable, Sequence
from operator import or_

from amaranth.hdl import Cat, Value


def balanced(combine: Callable[[Value, Value], Value], values: Sequence[Value]) -> Value:
    """Combine ``values``, one or more, in pairs, then the results in pairs, and so on.

    Combined one after the other, 1000 values would be an expression of depth 1000. Amaranth visits
    expressions by recursion, and Python limits that to a depth of a few hundred.
    """
    values = list(values)
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=False)
        odd = values[len(values) & ~1 :]
        values = [*(combine(*pair) for pair in pairs), *odd]
    return values[0]


def all_of(bits: Sequence[Value]) -> Value:
    """Return 1 if all of these bits are 1."""
    return Cat(bits).all()


def any_of(bits: Sequence[Value]) -> Value:
    """Return 1 if one of these bits is 1."""
    return Cat(bits).any()


def either(words: Sequence[Value]) -> Value:
    """Return the one of these words that is not 0."""
    return balanced(or_, words)


def either_by_bit(words: Sequence[Value]) -> Value:
    """Return the one of these words that is not 0, if each word is a Cat of single bits."""
    return Cat(Cat(bits).any() for bits in zip(*words, strict=True))
