"""The instance of all tiles: each input bit of a group of tiles goes to the tiles of the group."""

from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.rtl.tiles_together import TilesTogether


@pytest.mark.parametrize(("nodes", "sharing"), [(5, 2), (4, 2), (3, 1), (3, 4)])
def test_a_bit_of_each_group_reaches_its_tiles(nodes: int, sharing: int) -> None:
    groups = -(-nodes // sharing)
    resets = [Signal(name=f"reset_{node}") for node in range(nodes)]
    together = TilesTogether(NetworkConfig(topology=mesh((nodes,))), resets, sharing, trace=False)
    bits, wide = Signal(groups), Signal(nodes)
    m = Module()
    m.d.comb += wide.eq(together._of_all(list(bits)))

    async def testbench(ctx: Any) -> None:
        for value in range(1 << groups):
            ctx.set(bits, value)
            of_node = [value >> node // sharing & 1 for node in range(nodes)]
            assert ctx.get(wide) == sum(bit << node for node, bit in enumerate(of_node))

    simulator = Simulator(m)
    simulator.add_testbench(testbench)
    simulator.run()
