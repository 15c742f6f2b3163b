"""An adder of floating-point numbers as an operator of a network: the hardware, and its meaning.

Sums are those of IEEE 754 and of most hardware: rounded to the nearest number, to even in the
middle, with subnormal numbers. The result "not a number" has one form.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ..model.network.operators import Operator
from ..rtl.parts.operators import OperatorPorts

EXPONENT_BITS = 8
SPARE = 3
"""Extra low bits of a sum: two, and one that is set if any lower bit is."""
LATENCY = 3
"""Cycles from two numbers to their sum."""


class FloatAdder(Component):
    """Adds two numbers of a sign, eight bits of exponent and ``fraction`` bits.

    Parameters
    ----------
    fraction
        23 for IEEE's single format, 7 for bfloat16.
    pipelined
        Whether the sum is three cycles late; otherwise it is there at once.

    Members
    -------
    there, coming : In(9 + fraction)
        The numbers.
    result : Out(9 + fraction)
        Their sum.

    """

    def __init__(self, fraction: int, *, pipelined: bool = True) -> None:
        self._fraction = fraction
        self._domain = "sync" if pipelined else "comb"
        self._bits = 1 + EXPONENT_BITS + fraction
        self._infinity = 0xFF << fraction
        number = self._bits
        super().__init__({"there": In(number), "coming": In(number), "result": Out(number)})

    def elaborate(self, _platform: object) -> Module:
        """Align, add and round, each followed by a register if pipelined."""
        m = Module()
        significand = self._fraction + 1
        special = {"special": 1, "special_bits": self._bits}
        number = {"sign": 1, "exponent": EXPONENT_BITS}
        aligned = Signal(
            data.StructLayout(
                {
                    **number,
                    "greater": significand + SPARE,
                    "lesser": significand + SPARE,
                    "subtracts": 1,
                    **special,
                }
            )
        )
        summed = Signal(data.StructLayout({**number, "sum": significand + 1 + SPARE, **special}))
        self._elaborate_aligned(m, aligned)
        total = Mux(
            aligned.subtracts,
            aligned.greater - aligned.lesser,
            aligned.greater + aligned.lesser,
        )
        m.d[self._domain] += [
            summed.sum.eq(total),
            # Of two that cancel out, the sum is positive; -0 and -0 have nothing to subtract.
            summed.sign.eq(aligned.sign & ~(aligned.subtracts & (total == 0))),
            summed.exponent.eq(aligned.exponent),
            summed.special.eq(aligned.special),
            summed.special_bits.eq(aligned.special_bits),
        ]
        rounded = self._rounded(m, summed)
        m.d[self._domain] += self.result.eq(Mux(summed.special, summed.special_bits, rounded))
        return m

    def _elaborate_aligned(self, m: Module, aligned: data.View) -> None:
        """Order the two by size, and shift the lesser one to the exponent of the greater one."""
        size = self._bits - 1
        swap = Signal()
        greater, lesser = Signal(self._bits), Signal(self._bits)
        m.d.comb += [
            swap.eq(self.coming[:size] > self.there[:size]),
            greater.eq(Mux(swap, self.coming, self.there)),
            lesser.eq(Mux(swap, self.there, self.coming)),
        ]
        away = Signal(EXPONENT_BITS)
        m.d.comb += away.eq(self._exponent(greater) - self._exponent(lesser))
        # Behind the spare bits it only counts whether there is anything.
        significand = self._significand(lesser)
        shifted = Signal(len(significand) + self._bits)
        m.d.comb += shifted.eq(Cat(Const(0, self._bits), significand) >> away)
        low = self._bits - (SPARE - 1)
        lost = shifted[:low].any() | ((away > self._bits) & significand.any())
        infinite = greater[:size] == self._infinity
        opposite = greater[-1] ^ lesser[-1]
        both = infinite & (lesser[:size] == self._infinity)
        wrong = (greater[:size] > self._infinity) | (both & opposite)
        m.d[self._domain] += [
            aligned.sign.eq(greater[-1]),
            aligned.exponent.eq(self._exponent(greater)),
            aligned.greater.eq(Cat(Const(0, SPARE), self._significand(greater))),
            aligned.lesser.eq(Cat(lost, shifted[low:])),
            aligned.subtracts.eq(opposite),
            aligned.special.eq(greater[self._fraction : size].all()),
            aligned.special_bits.eq(Mux(wrong, not_a_number(self._fraction), greater)),
        ]

    def _exponent(self, number: Value) -> Value:
        """Return the exponent; subnormal numbers have that of the least normal one."""
        bits = number[self._fraction : self._bits - 1]
        return Mux(bits == 0, 1, bits)

    def _significand(self, number: Value) -> Value:
        """Return the fraction and the bit before its point."""
        return Cat(number[: self._fraction], number[self._fraction : self._bits - 1].any())

    def _rounded(self, m: Module, summed: data.View) -> Value:
        """Normalize and round a sum."""
        width = len(summed.sum)
        # A bit too long: the exponent of the sum is one more, and its first bit is there at once.
        zeros = Signal(range(width + 1))
        m.d.comb += zeros.eq(width)
        for place in range(width):
            with m.If(summed.sum[place]):
                m.d.comb += zeros.eq(width - 1 - place)
        shift, exponent = Signal(range(width + 1)), Signal(EXPONENT_BITS + 1)
        m.d.comb += [
            # Not below the exponent of the least normal number.
            shift.eq(Mux(zeros > summed.exponent, summed.exponent, zeros)),
            exponent.eq(summed.exponent + 1 - shift),
        ]
        normal = Signal(width)
        m.d.comb += normal.eq(summed.sum << shift)
        first = width - (self._fraction + 1)
        kept, spare = normal[first:], normal[:first]
        up = spare[-1] & (spare[:-1].any() | kept[0])
        # One more exponent is one more in the lowest bit above the fraction, so that a fraction may
        # run over into it. Without a bit before the point there is no exponent.
        number = Signal(self._bits)
        m.d.comb += number.eq((Mux(kept[-1], exponent - 1, 0) << self._fraction) + kept + up)
        size = Mux(number >= self._infinity, self._infinity, number)[: self._bits - 1]
        return Cat(size, summed.sign)


def not_a_number(fraction: int) -> int:
    """Return the bits of the one result that is no number."""
    return 0xFF << fraction | 1 << (fraction - 1)


class FloatAdd(Component):
    """Adds two words, or lanes, of 32 bits in IEEE's single format, or of 16 bits as bfloat16.

    The members are those of ``OperatorPorts``.
    """

    def __init__(self, width: int, *, pipelined: bool = True) -> None:
        self._pipelined = pipelined
        super().__init__(OperatorPorts(width))

    def elaborate(self, _platform: object) -> Module:
        """Make an adder."""
        m = Module()
        fraction = len(self.there) - 1 - EXPONENT_BITS
        m.submodules.adder = adder = FloatAdder(fraction, pipelined=self._pipelined)
        m.d.comb += [
            adder.there.eq(self.there),
            adder.coming.eq(self.coming),
            self.result.eq(adder.result),
        ]
        return m


NOT_A_NUMBER, NOT_A_BFLOAT16 = (np.uint64(not_a_number(fraction)) for fraction in (23, 7))


def _added(there: Any, coming: Any, _bits: Any) -> Any:
    """Add for models."""
    total = np.uint32(there).view(np.float32) + np.uint32(coming).view(np.float32)
    if np.isnan(total):
        return NOT_A_NUMBER
    return np.uint64(np.float32(total).view(np.uint32))


def _added_bfloat16(there: Any, coming: Any, _bits: Any) -> Any:
    """Add for models: in float32, whose rounding never changes the final one."""
    low = np.uint64(16)
    x, y = np.uint32(there << low).view(np.float32), np.uint32(coming << low).view(np.float32)
    total = np.float32(x + y)
    if np.isnan(total):
        return NOT_A_BFLOAT16
    number = np.uint64(total.view(np.uint32))
    odd = number >> low & np.uint64(1)
    return (number + np.uint64(0x7FFF) + odd) >> low


FLOAT_ADD = Operator("float-add", latency=LATENCY, meaning=_added, component=FloatAdd)
"""The sum of two numbers in IEEE's single format."""
BFLOAT16_ADD = Operator("bfloat16-add:16", LATENCY, _added_bfloat16, FloatAdd)
"""The sums of two vectors of bfloat16 numbers, lane by lane."""
AT_ONCE: dict[str | Operator, Operator] = {
    each: replace(each, latency=0, component=partial(FloatAdd, pipelined=False))
    for each in (FLOAT_ADD, BFLOAT16_ADD)
}
"""The same without registers, for circuits."""
