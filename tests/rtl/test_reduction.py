"""Combining the values of a thousand nodes into one."""

from operator import or_

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from eyecast.rtl.reduction import balanced


@pytest.mark.parametrize("nodes", [1, 2, 3, 7, 1024])
def test_every_value_counts_and_a_thousand_are_no_deep_expression(nodes: int) -> None:
    values, result = Signal(nodes), Signal()
    m = Module()
    m.d.comb += result.eq(balanced(or_, list(values)))

    async def testbench(ctx):
        assert not ctx.get(result)
        for place in range(nodes):
            ctx.set(values, 1 << place)
            assert ctx.get(result)

    simulator = Simulator(m)
    simulator.add_testbench(testbench)
    simulator.run()
