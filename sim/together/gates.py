"""Logic of single bits as gates, none of which is there twice or has a constant at an input."""

from collections.abc import Iterable, Sequence

ZERO, ONE = 0, 1

Gate = tuple[str | int, ...]
"""``("~", a)``, ``("&", a, b)``, ``("|", a, b)``, ``("^", a, b)``; ``("?", s, a, b)``: b if s."""


class Gates:
    """Gates by number: what a gate looks at has lower numbers than its own.

    ``gates`` are all of them. Those without inputs are ``("0",)``, ``("1",)`` and, of what comes
    from elsewhere, ``("input", name)``.
    """

    def __init__(self) -> None:
        self.gates: list[Gate] = []
        self._numbers: dict[Gate, int] = {}
        self._gate("0")
        self._gate("1")

    def _gate(self, *gate: str | int) -> int:
        """The gate's number; a new one if there is none like it."""
        number = self._numbers.setdefault(gate, len(self.gates))
        if number == len(self.gates):
            self.gates.append(gate)
        return number

    def input(self, name: str) -> int:
        """A gate for the signal that has this name elsewhere."""
        return self._gate("input", name)

    def invert(self, a: int) -> int:
        """Not ``a``."""
        if a in (ZERO, ONE):
            return ONE - a
        kind, *inputs = self.gates[a]
        return int(inputs[0]) if kind == "~" else self._gate("~", a)

    def both(self, a: int, b: int) -> int:
        """``a`` and ``b``."""
        a, b = sorted((a, b))
        if a == ZERO or a == self.invert(b):
            return ZERO
        return b if a in (ONE, b) else self._gate("&", a, b)

    def either(self, a: int, b: int) -> int:
        """``a`` or ``b``, or both."""
        a, b = sorted((a, b))
        if a == ONE or a == self.invert(b):
            return ONE
        return b if a in (ZERO, b) else self._gate("|", a, b)

    def differ(self, a: int, b: int) -> int:
        """``a`` or ``b``, and not both."""
        a, b = sorted((a, b))
        if a in (ZERO, ONE):
            return b if a == ZERO else self.invert(b)
        if a in (b, self.invert(b)):
            return ZERO if a == b else ONE
        return self._gate("^", a, b)

    def choose(self, select: int, a: int, b: int) -> int:
        """``b`` if ``select``, else ``a``."""
        if select in (ZERO, ONE) or a == b:
            return b if select == ONE else a
        if self.gates[select][0] == "~":
            select, a, b = self.invert(select), b, a
        if b in (ZERO, ONE):
            return self.either(select, a) if b == ONE else self.both(self.invert(select), a)
        if a in (ZERO, ONE):
            return self.both(select, b) if a == ZERO else self.either(self.invert(select), b)
        return self._gate("?", select, a, b)

    def any(self, bits: Iterable[int]) -> int:
        """Tell whether one of ``bits`` is set: in halves, which are worked out side by side."""
        left = list(bits)
        while len(left) > 1:
            pairs = zip(left[::2], left[1::2], strict=False)
            left = [self.either(*pair) for pair in pairs] + left[len(left) & ~1 :]
        return left[0] if left else ZERO

    def add(self, a: Sequence[int], b: Sequence[int], carry: int = ZERO) -> list[int]:
        """The sum of two numbers of as many bits, lowest first, and a carry."""
        total = []
        for one, other in zip(a, b, strict=True):
            half = self.differ(one, other)
            total.append(self.differ(half, carry))
            carry = self.either(self.both(one, other), self.both(half, carry))
        return total

    def less(self, a: Sequence[int], b: Sequence[int]) -> int:
        """Tell whether the first number is less than the second, of as many bits, lowest first."""
        is_less = ZERO
        for one, other in zip(a, b, strict=True):
            is_less = self.choose(self.differ(one, other), is_less, other)
        return is_less

    def shift_down(self, bits: Sequence[int], amount: Sequence[int]) -> list[int]:
        """``bits`` by a number of places towards the lowest."""
        shifted = list(bits)
        for digit, moves in enumerate(amount):
            moved = [*shifted[1 << digit :], *[ZERO] * (1 << digit)]
            shifted = [self.choose(moves, *pair) for pair in zip(shifted, moved, strict=False)]
        return shifted

    def lines(self, number: Sequence[int], count: int) -> list[int]:
        """A bit for each of ``count`` values of a number: it has that value."""
        found = [ONE]
        for bit in number:
            low = [self.both(line, self.invert(bit)) for line in found]
            found = low + [self.both(line, bit) for line in found]
        return found[:count]
