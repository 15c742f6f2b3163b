"""The chip's bench in cocotb: a clock, a reset, and the end. Tiles report by themselves."""

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge


@cocotb.test()
async def run(dut: Any) -> None:
    """Run the chip until it stops."""
    Clock(dut.clk, 2, unit="step", impl="gpi").start()
    dut.rst.value = 1
    for _ in range(3):
        await FallingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.stopped)
    for _ in range(2):
        await FallingEdge(dut.clk)
