"""An adder of bfloat16 numbers as an operator of a network: the hardware, and its sums in Python.

A word of the network has one number for each 16 of its bits. Sums are those of ``ml_dtypes`` and of
most hardware: rounded to the nearest number, to even in the middle, with subnormal numbers. The
result "not a number" is always 7fc0.
"""

from typing import Any

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from eyecast.api import InvalidInput, Operator
from eyecast.rtl.parts.operators import OperatorPorts

INFINITY, NOT_A_NUMBER = 0x7F80, 0x7FC0
SPARE = 3
"""Extra low bits of a sum: two, and one that is set if any lower bit is."""

ALIGNED = data.StructLayout(
    {
        "sign": 1,
        "exponent": 8,
        "greater": 8 + SPARE,
        "lesser": 8 + SPARE,
        "subtracts": 1,
        "special": 1,
        "special_bits": 16,
    }
)
"""Two numbers with one exponent, or a sum that is known without adding."""

SUMMED = data.StructLayout(
    {"sign": 1, "exponent": 8, "sum": 9 + SPARE, "special": 1, "special_bits": 16}
)


class Bfloat16Adder(Component):
    """Adds two bfloat16 numbers in each cycle; the sum is three cycles late.

    Members
    -------
    there, coming : In(16)
        The numbers.
    result : Out(16)
        Their sum.

    """

    def __init__(self) -> None:
        super().__init__({"there": In(16), "coming": In(16), "result": Out(16)})

    def elaborate(self, _platform: object) -> Module:
        """Align, add and round, each followed by a register."""
        m = Module()
        aligned, summed = Signal(ALIGNED), Signal(SUMMED)
        self._elaborate_aligned(m, aligned)
        total = Mux(
            aligned.subtracts,
            aligned.greater - aligned.lesser,
            aligned.greater + aligned.lesser,
        )
        m.d.sync += [
            summed.sum.eq(total),
            # Of two that cancel out, the sum is positive; -0 and -0 have nothing to subtract.
            summed.sign.eq(aligned.sign & ~(aligned.subtracts & (total == 0))),
            summed.exponent.eq(aligned.exponent),
            summed.special.eq(aligned.special),
            summed.special_bits.eq(aligned.special_bits),
        ]
        m.d.sync += self.result.eq(Mux(summed.special, summed.special_bits, _rounded(m, summed)))
        return m

    def _elaborate_aligned(self, m: Module, aligned: data.View) -> None:
        """Order the two by size, and shift the lesser one to the exponent of the greater one."""
        swap = Signal()
        greater, lesser = Signal(16), Signal(16)
        m.d.comb += [
            swap.eq(self.coming[:15] > self.there[:15]),
            greater.eq(Mux(swap, self.coming, self.there)),
            lesser.eq(Mux(swap, self.there, self.coming)),
        ]
        away = Signal(8)
        m.d.comb += away.eq(_exponent(greater) - _exponent(lesser))
        # Behind the spare bits it only counts whether there is anything.
        shifted = Signal(8 + 16)
        m.d.comb += shifted.eq(Cat(Const(0, 16), _significand(lesser)) >> away)
        low = 16 - (SPARE - 1)
        lost = shifted[:low].any() | ((away > 16) & _significand(lesser).any())
        infinite = greater[:15] == INFINITY
        opposite = greater[15] ^ lesser[15]
        both = infinite & (lesser[:15] == INFINITY)
        wrong = (greater[:15] > INFINITY) | (both & opposite)
        m.d.sync += [
            aligned.sign.eq(greater[15]),
            aligned.exponent.eq(_exponent(greater)),
            aligned.greater.eq(Cat(Const(0, SPARE), _significand(greater))),
            aligned.lesser.eq(Cat(lost, shifted[low:])),
            aligned.subtracts.eq(opposite),
            aligned.special.eq(greater[7:15].all()),
            aligned.special_bits.eq(Mux(wrong, NOT_A_NUMBER, greater)),
        ]


def _exponent(number: Value) -> Value:
    """Return the exponent; subnormal numbers have that of the least normal one."""
    return Mux(number[7:15] == 0, 1, number[7:15])


def _significand(number: Value) -> Value:
    """Return the fraction and the bit before its point."""
    return Cat(number[:7], number[7:15].any())


def _rounded(m: Module, summed: data.View) -> Value:
    """Normalize and round a sum."""
    width = 9 + SPARE
    # A bit too long: the exponent of the sum is one more, and its first bit stands there at once.
    zeros = Signal(range(width + 1))
    m.d.comb += zeros.eq(width)
    for place in range(width):
        with m.If(summed.sum[place]):
            m.d.comb += zeros.eq(width - 1 - place)
    shift, exponent = Signal(range(width + 1)), Signal(9)
    m.d.comb += [
        # Not below the exponent of the least normal number.
        shift.eq(Mux(zeros > summed.exponent, summed.exponent, zeros)),
        exponent.eq(summed.exponent + 1 - shift),
    ]
    normal = Signal(width)
    m.d.comb += normal.eq(summed.sum << shift)
    first = width - 8
    kept, spare = normal[first:], normal[:first]
    up = spare[-1] & (spare[:-1].any() | kept[0])
    # One more exponent is one more in bit 7, so that a fraction may run over into it. Without a
    # bit before the point there is no exponent.
    number = Signal(16)
    m.d.comb += number.eq((Mux(kept[-1], exponent - 1, 0) << 7) + kept + up)
    return Cat(Mux(number >= INFINITY, INFINITY, number)[:15], summed.sign)


class Bfloat16Add(Component):
    """Adds the numbers of two words, each in 16 bits of its own: see ``OperatorPorts``."""

    def __init__(self, width: int) -> None:
        if width % 16:
            raise InvalidInput.of("flit_width for bfloat16", "a multiple of 16", width)
        super().__init__(OperatorPorts(width))

    def elaborate(self, _platform: object) -> Module:
        """Make an adder for each number in a word."""
        m = Module()
        for place in range(0, len(self.there), 16):
            m.submodules[f"adder_{place}"] = adder = Bfloat16Adder()
            m.d.comb += [
                adder.there.eq(self.there[place : place + 16]),
                adder.coming.eq(self.coming[place : place + 16]),
                self.result[place : place + 16].eq(adder.result),
            ]
        return m


def added(there: Any, coming: Any, bits: Any) -> Any:
    """Add for models: in float32, whose rounding never changes the final one."""
    word = np.uint64(0)
    for place in range(0, int(bits), 16):
        shift = np.uint64(place)
        low = np.uint64(0xFFFF)
        x = np.uint32((there >> shift & low) << np.uint64(16)).view(np.float32)
        y = np.uint32((coming >> shift & low) << np.uint64(16)).view(np.float32)
        total = np.float32(x + y)
        number = np.uint64(total.view(np.uint32))
        if np.isnan(total):
            number = np.uint64(NOT_A_NUMBER)
        else:
            odd = number >> np.uint64(16) & np.uint64(1)
            number = (number + np.uint64(0x7FFF) + odd) >> np.uint64(16)
        word |= number << shift
    return word


BFLOAT16_ADD = Operator("bfloat16-add", latency=3, meaning=added, component=Bfloat16Add)
