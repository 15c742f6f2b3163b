"""An adder of bfloat16 numbers as an operator of a network: the hardware, and its sums in Python.

A word of the network has one number for each 16 of its bits. Sums are those of ``ml_dtypes`` and of
most hardware: rounded to the nearest number, to even in the middle, with subnormal numbers. The
result "not a number" is always 7fc0.
"""

from typing import Any

import numpy as np
from amaranth.hdl import Module
from amaranth.lib.wiring import Component

from eyecast.api import InvalidInput, Operator
from eyecast.chip.float_adder import LATENCY, FloatAdder, not_a_number
from eyecast.rtl.parts.operators import OperatorPorts

FRACTION = 7
"""Bits of a number behind its point."""
NOT_A_NUMBER = np.uint64(not_a_number(FRACTION))


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
            m.submodules[f"adder_{place}"] = adder = FloatAdder(FRACTION)
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
            number = NOT_A_NUMBER
        else:
            odd = number >> np.uint64(16) & np.uint64(1)
            number = (number + np.uint64(0x7FFF) + odd) >> np.uint64(16)
        word |= number << shift
    return word


BFLOAT16_ADD = Operator("bfloat16-add", latency=LATENCY, meaning=added, component=Bfloat16Add)
