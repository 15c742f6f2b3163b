"""An operator of a user's own: it takes three cycles, and its two words must not change places."""

from typing import Any

import numpy as np
from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import Component

from eyecast.model.network.operators import Operator
from eyecast.rtl.operators import OperatorPorts


class Twice(Component):
    """Twice the word that is there, and the one that comes: a multiply-accumulate by 2."""

    def __init__(self, width: int) -> None:
        super().__init__(OperatorPorts(width))

    def elaborate(self, _platform: object) -> Module:
        """Two words a cycle; the result is in a register, and so is what comes before it."""
        m = Module()
        product, coming, total = (Signal.like(self.there) for _ in range(3))
        m.d.sync += [
            product.eq(2 * self.there),
            coming.eq(self.coming),
            total.eq(product + coming),
            self.result.eq(total),
        ]
        return m


def twice(there: Any, coming: Any, _bits: Any) -> Any:
    """The same, for models."""
    return there * np.uint64(2) + coming


TWICE = Operator("twice", latency=3, meaning=twice, component=Twice)
