"""Addresses of words in a window, which wrap around (docs/router.md, section 20, "Windows").

Used by :class:`.Sender` and :class:`.Receiver`.
"""

from amaranth.hdl import C, Cat, Value


def fixed_bits(window: Value, bits: int) -> Value:
    """Return a mask of the address bits, ``bits`` wide, that stay the same in a window.

    A window w > 0 has 2^w words, so the bits from w on stay the same. With w = 0 there is no
    window, and the mask is 0.
    """
    if not len(window):
        return C(0, bits)
    return Cat((window != 0) & ~is_above(window, place) for place in range(bits))


def is_in_window(fixed: Value) -> Value:
    """Tell by the :func:`fixed_bits` whether there is a window.

    Every window has the highest bit in its mask, because it is at most half the memory.
    """
    return fixed[-1]


def is_above(number: Value, most: int) -> Value:
    """Tell whether ``number`` is greater than ``most``; constant 0 if its width excludes that."""
    return number > most if most < (1 << len(number)) - 1 else C(0)


def next_place(place: Value, fixed: Value, advance: Value) -> Value:
    """Return the address after ``place`` in its window if ``advance`` is 1, otherwise ``place``."""
    return (place & fixed) | ((place + advance)[: len(place)] & ~fixed)
