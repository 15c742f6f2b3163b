"""Custom operators for the soak: weighted sums, on the cycle model and in hardware."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import Component
from helpers.soak.topologies import one_in
from hypothesis import strategies as st

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.config import PIECE_BITS, NetworkConfig
from eyecast.model.network.operators import LANE_WIDTHS, Operator
from eyecast.rtl.parts.operators import OperatorPorts

LONGEST_LATENCY = 4
"""Most cycles of a drawn operator."""
FACTOR = 5
"""Factor of the stored word; so an operator that exchanges its two words has another result."""


@st.composite
def with_operator(draw: st.DrawFn, config: NetworkConfig) -> NetworkConfig:
    """Add a weighted sum of up to :data:`LONGEST_LATENCY` cycles to a third of the networks.

    A network with a port for every link, without arbitration or with circuits only has operators of
    no cycles; one with timed rows, or with too narrow flits, has none. Its name may have lanes.
    """
    if config.timed_rows or not draw(one_in(3)):
        return config
    at_once = config.all_port or config.contention_free or config.circuits
    latency = 0 if at_once else draw(st.integers(0, LONGEST_LATENCY))
    component = partial(WeightedSum, latency=latency)
    name = draw(lane_names(["weighted-sum"], config.flit_width))
    own = Operator(name, latency, weighted_sum, component)
    try:
        return replace(config, operators=(*config.operators, own))
    except InvalidInput:
        return config


@st.composite
def lane_names(draw: st.DrawFn, functions: Sequence[str], flit_width: int) -> str:
    """Draw the name of an operator of one of these functions, always with lanes in wide words."""
    lanes = [f":{lane}" for lane in LANE_WIDTHS if flit_width % lane == 0]
    lanes += [""] if flit_width <= PIECE_BITS else []
    return draw(st.sampled_from(functions)) + draw(st.sampled_from(lanes))


def weighted_sum(there: Any, coming: Any, _bits: Any) -> Any:
    """Return :data:`FACTOR` times the stored word, plus the arriving word."""
    return there * np.uint64(FACTOR) + coming


class WeightedSum(Component):
    """The hardware of :func:`weighted_sum`.

    Parameters
    ----------
    width
        Bits of a word.
    latency
        Cycles from the two words to their result.

    """

    def __init__(self, width: int, *, latency: int) -> None:
        super().__init__(OperatorPorts(width))
        self._latency = latency

    def elaborate(self, _platform: object) -> Module:
        """Combine two words in each cycle; a result passes a register for each cycle of latency."""
        m = Module()
        result = FACTOR * self.there + self.coming
        for _ in range(self._latency):
            register = Signal.like(self.there)
            m.d.sync += register.eq(result)
            result = register
        m.d.comb += self.result.eq(result)
        return m
