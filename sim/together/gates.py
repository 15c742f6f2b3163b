"""Logic of single bits as gates, without duplicates and constant inputs."""

from collections.abc import Iterable, Sequence

ZERO, ONE = 0, 1

Gate = tuple[str | int, ...]
"""``("~", a)``, ``("&", a, b)``, ``("|", a, b)``, ``("^", a, b)``; ``("?", s, a, b)``: b if s."""


class Gates:
    """Gates by number; the inputs of a gate have lower numbers than the gate.

    ``gates`` are all of them. Gates without inputs are ``("0",)``, ``("1",)`` and
    ``("input", name)``, a signal from elsewhere.
    """

    def __init__(self) -> None:
        self.gates: list[Gate] = []
        self._numbers: dict[Gate, int] = {}
        self._gate("0")
        self._gate("1")

    def _gate(self, *gate: str | int) -> int:
        """Return the number of this gate; make it if there is none like it."""
        number = self._numbers.setdefault(gate, len(self.gates))
        if number == len(self.gates):
            self.gates.append(gate)
        return number

    def input(self, name: str) -> int:
        """Return the gate of a signal from elsewhere, by its name."""
        return self._gate("input", name)

    def invert(self, a: int) -> int:
        """Return not ``a``."""
        if a in (ZERO, ONE):
            return ONE - a
        kind, *inputs = self.gates[a]
        return int(inputs[0]) if kind == "~" else self._gate("~", a)

    def both(self, a: int, b: int) -> int:
        """Return ``a`` and ``b``."""
        a, b = sorted((a, b))
        if a == ZERO or a == self.invert(b):
            return ZERO
        return b if a in (ONE, b) else self._gate("&", a, b)

    def either(self, a: int, b: int) -> int:
        """Return ``a`` or ``b``."""
        a, b = sorted((a, b))
        if a == ONE or a == self.invert(b):
            return ONE
        return b if a in (ZERO, b) else self._gate("|", a, b)

    def differ(self, a: int, b: int) -> int:
        """Return ``a`` exclusive-or ``b``."""
        a, b = sorted((a, b))
        if a in (ZERO, ONE):
            return b if a == ZERO else self.invert(b)
        if a in (b, self.invert(b)):
            return ZERO if a == b else ONE
        return self._gate("^", a, b)

    def choose(self, select: int, a: int, b: int) -> int:
        """Return ``b`` if ``select``, otherwise ``a``."""
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
        """Return whether any of ``bits`` is set, as a balanced tree of gates."""
        left = list(bits)
        while len(left) > 1:
            pairs = zip(left[::2], left[1::2], strict=False)
            left = [self.either(*pair) for pair in pairs] + left[len(left) & ~1 :]
        return left[0] if left else ZERO

    def add(self, a: Sequence[int], b: Sequence[int], carry: int = ZERO) -> list[int]:
        """Return the sum of two numbers of equal width, lowest bit first, and a carry."""
        total = []
        for one, other in zip(a, b, strict=True):
            half = self.differ(one, other)
            total.append(self.differ(half, carry))
            carry = self.either(self.both(one, other), self.both(half, carry))
        return total

    def less(self, a: Sequence[int], b: Sequence[int]) -> int:
        """Return whether ``a`` is less than ``b``, of equal width, lowest bit first."""
        is_less = ZERO
        for one, other in zip(a, b, strict=True):
            is_less = self.choose(self.differ(one, other), is_less, other)
        return is_less

    def shift_down(self, bits: Sequence[int], amount: Sequence[int]) -> list[int]:
        """Return ``bits`` shifted right by ``amount``."""
        shifted = list(bits)
        for digit, moves in enumerate(amount):
            moved = [*shifted[1 << digit :], *[ZERO] * (1 << digit)]
            shifted = [self.choose(moves, *pair) for pair in zip(shifted, moved, strict=False)]
        return shifted

    def lines(self, number: Sequence[int], count: int) -> list[int]:
        """Return a bit for each value 0 to ``count`` - 1, set if the number has it."""
        found = [ONE]
        for bit in number:
            low = [self.both(line, self.invert(bit)) for line in found]
            found = low + [self.both(line, bit) for line in found]
        return found[:count]
