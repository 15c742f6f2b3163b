"""Places of words that run round in a window (docs/router.md, section 20, "Windows").

Used by :class:`.Sender` and :class:`.Receiver`.
"""

from amaranth.hdl import C, Cat, Value


def fixed_bits(window: Value, bits: int) -> Value:
    """The bits of a place, of so many, that stay as they are in a window of that number.

    A window of number w > 0 has 2^w words; where the number is 0 there is none, and no bit stays.
    """
    if not len(window):
        return C(0, bits)
    return Cat((window != 0) & ~is_above(window, place) for place in range(bits))


def is_in_window(fixed: Value) -> Value:
    """Tell whether there is a window, by its :func:`fixed_bits`.

    The highest bit is one of them, as a window is at most half the memory.
    """
    return fixed[-1]


def is_above(number: Value, most: int) -> Value:
    """Tell whether ``number`` is greater than ``most``; the constant 0 where it cannot be."""
    return number > most if most < (1 << len(number)) - 1 else C(0)


def next_place(place: Value, fixed: Value, advance: Value) -> Value:
    """The place behind ``place``, or the same if there is no ``advance`` (a bit)."""
    return (place & fixed) | ((place + advance)[: len(place)] & ~fixed)
