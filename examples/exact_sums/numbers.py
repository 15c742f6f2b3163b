"""8-bit floating-point numbers as fixed-point words, whose sums are exact.

A word of the network is a sum in units of the least number of the format, in two's complement. So
``add``, an operator of every network, adds without rounding, and any order gives the same bits. A
tile converts its numbers before (:class:`ToFixed`) and rounds the final sum once
(:class:`FromFixed`), to the nearest number, to even in the middle::

    E4M3      S EEEE MMM      units of 2^-9 in a word of 32 bits     any 8,192 numbers
    E5M2      S EEEEE MM      units of 2^-16 in a word of 64 bits    any 1,073,741,824 numbers
"""

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import numpy.typing as npt
from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import Component, In, Out

from eyecast.api import InvalidInput


@dataclass(frozen=True)
class Format:
    """A format of 8-bit floating-point numbers, and the word of its sums.

    name, dtype
        The format's name, and the format in NumPy.
    mantissa, exponent
        Bits of mantissa and exponent.
    width
        Bits of the word of a sum.
    largest
        The code of the greatest finite number.
    overflow
        The code of a positive sum that is too large.
    """

    name: str
    dtype: type[np.generic]
    mantissa: int
    exponent: int
    width: int
    largest: int
    overflow: int

    @property
    def unit(self) -> float:
        """The least positive number, which is the unit of a sum."""
        return float(2.0 ** (2 - (1 << (self.exponent - 1)) - self.mantissa))

    def to_fixed(self, codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
        """Return the words of the numbers with these codes.

        Raises :class:`.InvalidInput` for infinity and for codes that are no number.
        """
        numbers = codes.view(self.dtype).astype(np.float64)
        for code in codes[~np.isfinite(numbers)][:1].tolist():
            raise InvalidInput.of(f"{self.name} number", "finite", f"code {code:02x}")
        whole = (numbers / self.unit).astype(np.int64).astype(np.uint64)
        return whole & np.uint64((1 << self.width) - 1)

    def from_fixed(self, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
        """Return the codes of the numbers nearest to the sums ``words``.

        Sums are below 2^53 units. ``ml_dtypes`` converts by way of float32, which would round
        twice; so the sums are rounded here.
        """
        spare = np.uint64(64 - self.width)
        sums = ((words << spare).view(np.int64) >> spare.astype(np.int64)).astype(np.float64)
        _, bits = np.frexp(sums)
        step = np.ldexp(1.0, np.maximum(bits - self.mantissa - 1, 0))
        rounded = np.rint(sums / step) * step * self.unit
        codes: npt.NDArray[np.uint8] = rounded.astype(self.dtype).view(np.uint8)
        return codes


E4M3 = Format("E4M3", ml_dtypes.float8_e4m3fn, 3, 4, 32, largest=0x7E, overflow=0x7F)
E5M2 = Format("E5M2", ml_dtypes.float8_e5m2, 2, 5, 64, largest=0x7B, overflow=0x7C)
FORMATS = {each.name: each for each in (E4M3, E5M2)}


class ToFixed(Component):
    """Number to word, without a register.

    Members
    -------
    code : In(8)
        The code of a finite number.
    word : Out(width)
        The number in units of the format's least one.

    """

    def __init__(self, form: Format) -> None:
        self._format = form
        super().__init__({"code": In(8), "word": Out(form.width)})

    def elaborate(self, _platform: object) -> Module:
        """Shift the mantissa by the exponent, and negate it if the sign is set."""
        m, form = Module(), self._format
        mantissa, exponent = self.code[: form.mantissa], self.code[form.mantissa : 7]
        normal = exponent.any()
        size, shift = Signal(form.width), Signal(form.exponent)
        m.d.comb += [
            shift.eq(exponent - normal),
            size.eq(Cat(mantissa, normal) << shift),
            self.word.eq(Mux(self.code[7], -size, size)),
        ]
        return m


class FromFixed(Component):
    """Word to the nearest number, without a register.

    Members
    -------
    word : In(width)
        A sum in units of the format's least number.
    code : Out(8)
        The code of the number nearest to the sum; to even in the middle.

    """

    def __init__(self, form: Format) -> None:
        self._format = form
        super().__init__({"word": In(form.width), "code": Out(8)})

    def elaborate(self, _platform: object) -> Module:
        """Find the first one, cut the mantissa behind it, and round by the bits that are left."""
        m, form = Module(), self._format
        negative, size = self.word[-1], Signal(form.width)
        m.d.comb += size.eq(Mux(negative, -self.word, self.word))
        shift = Signal(range(form.width))
        for place in range(form.mantissa + 1, form.width):
            with m.If(size[place]):
                m.d.comb += shift.eq(place - form.mantissa)
        kept, cut = Signal(form.mantissa + 1), Signal(form.width)
        m.d.comb += [
            kept.eq(size >> shift),
            # The bits behind the mantissa, the first of them at the top.
            cut.eq((size << form.width) >> shift),
        ]
        up = cut[-1] & (cut[:-1].any() | kept[0])
        exponent = Signal(range(form.width + 1))
        number = Signal(form.width)
        # One more exponent is one more in its lowest bit, so that a mantissa may run over into it.
        m.d.comb += [
            exponent.eq(shift + kept[form.mantissa]),
            number.eq((exponent << form.mantissa) + kept[: form.mantissa] + up),
        ]
        too_large = number > form.largest
        m.d.comb += self.code.eq(Cat(Mux(too_large, form.overflow, number)[:7], negative))
        return m
