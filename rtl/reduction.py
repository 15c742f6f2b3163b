"""Many values made one, in expressions that are as flat as they can be."""

from collections.abc import Callable, Sequence

from amaranth.hdl import Value


def balanced(combine: Callable[[Value, Value], Value], values: Sequence[Value]) -> Value:
    """Combine ``values``, one or more, in pairs, then the results in pairs, and so on.

    One after the other, a thousand would be an expression a thousand deep; Amaranth visits
    expressions by recursion, which Python allows to go no deeper than a few hundred of them.
    """
    values = list(values)
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=False)
        odd = values[len(values) & ~1 :]
        values = [*(combine(*pair) for pair in pairs), *odd]
    return values[0]
