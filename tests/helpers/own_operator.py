"""A custom operator that takes three cycles, and whose two words must not be exchanged."""

from typing import Any

import numpy as np
from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import Component

from eyecast.model.network.operators import Operator
from eyecast.rtl.parts.operators import OperatorPorts


class Twice(Component):
    """An operator that doubles the stored word and adds the arriving word."""

    def __init__(self, width: int) -> None:
        super().__init__(OperatorPorts(width))

    def elaborate(self, _platform: object) -> Module:
        """Combine two words in each cycle; operands and results pass registers."""
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
    """Return the same combination for models."""
    return there * np.uint64(2) + coming


TWICE = Operator("twice", latency=3, meaning=twice, component=Twice)
