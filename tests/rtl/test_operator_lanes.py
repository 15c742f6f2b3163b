"""Operators that act on lanes, compared with the arithmetic of whole numbers on each lane.

docs/router.md, section 19, "Lanes".
"""

import random
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from helpers.amaranth_simulation import simulate
from helpers.own_operator import TWICE, Twice

from eyecast.model.network.operators import BUILT_IN, Operator
from eyecast.rtl.parts.operators import combined

LANE_WIDTHS = (8, 16, 32, 64)
PAIRS = 20
TWICE_IN_LANES = [Operator(f"twice:{width}", latency=3, component=Twice) for width in LANE_WIDTHS]
BY_LANES = [Operator(f"{name}:{width}") for name in BUILT_IN for width in LANE_WIDTHS]


def result(operator: Operator, there: int, coming: int) -> int:
    """Return what the page says of one lane."""
    size = 1 << operator.lane_width

    def signed(lane: int) -> int:
        return lane - size if lane >= size // 2 else lane

    results = {
        "add": (there + coming) % size,
        "min": min(there, coming),
        "max": max(there, coming),
        "min-signed": min(there, coming, key=signed),
        "max-signed": max(there, coming, key=signed),
        "and": there & coming,
        "or": there | coming,
        "xor": there ^ coming,
        "twice": (2 * there + coming) % size,
    }
    return results[operator.function]


def by_lanes(operator: Operator, there: int, coming: int, bits: int) -> int:
    width, word = operator.lane_width, 0
    for low in range(0, bits, width):
        lanes = ((each >> low) % (1 << width) for each in (there, coming))
        word |= result(operator, *lanes) << low
    return word


@pytest.mark.parametrize("bits", [64, 192, 512])
def test_an_operator_acts_on_each_lane(bits: int) -> None:
    m, draw = Module(), random.Random(bits)
    there, coming = Signal(bits), Signal(bits)
    shown = {}
    for number, operator in enumerate([*BY_LANES, *TWICE_IN_LANES]):
        shown[operator] = Signal(bits, name=f"result_{number}")
        m.d.comb += shown[operator].eq(combined(m, f"own_{number}", operator, there, coming))

    async def testbench(ctx: Any) -> None:
        for _ in range(PAIRS):
            # Some words have only ones: every lane of them has a carry that must not go on.
            words = [draw.choice([draw.getrandbits(bits), (1 << bits) - 1]) for _ in range(2)]
            ctx.set(there, words[0])
            ctx.set(coming, words[1])
            for _ in range(TWICE.latency):
                await ctx.tick()
            for operator, signal in shown.items():
                assert ctx.get(signal) == by_lanes(operator, *words, bits), operator.name

    simulate(m, testbench)
