"""The chip's host in cocotb: it loads both programs, starts one, queues the other, and reads.

The bench gets the words to write; all else is in docs/router.md, section 16.
"""

import json
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

TASK, FOUND = "task.json", "found.json"
MESSAGES, CONTROLLER = 0, 2
COMMAND, START = 2, 1
MOST_CYCLES = 20_000


class Host:
    """A sender of requests, one after the other."""

    def __init__(self, dut: Any) -> None:
        self.dut, self.edge = dut, FallingEdge(dut.clk)

    async def reset(self) -> None:
        """Hold the chip in reset, once."""
        self.dut.rst.value = 1
        self.dut.host__valid.value = 0
        for _ in range(3):
            await self.edge
        self.dut.rst.value = 0
        for _ in range(2):
            await self.edge

    async def request(self, node: int, space: int, address: int, word: int | None = None) -> int:
        """Write a word, or read one."""
        dut = self.dut
        dut.host__node.value, dut.host__space.value = node, space
        dut.host__address.value = address
        dut.host__write.value, dut.host__write_data.value = int(word is not None), word or 0
        dut.host__valid.value = 1
        while not dut.host__ready.value:
            await self.edge
        await self.edge
        dut.host__valid.value = 0
        while not dut.host__answered.value:
            await self.edge
        assert dut.host__refusal.value == 0, (node, space, address)
        answer: int = dut.host__read_data.value.to_unsigned()
        await self.edge
        return answer


@cocotb.test(timeout_time=10_000_000, timeout_unit="step")
async def multiply(dut: Any) -> None:
    """Run both programs, and note in each cycle which processors are at work."""
    task = json.loads(Path(TASK).read_text())
    Clock(dut.clk, 2, unit="step", impl="gpi").start()
    host = Host(dut)
    await host.reset()
    for node, space, address, word in task["writes"]:
        await host.request(node, space, address, word)
    await host.request(0, CONTROLLER, COMMAND, START)
    queued = cocotb.start_soon(host.request(0, CONTROLLER, COMMAND, START | 1 << 8))
    computes, ends = [], []
    for cycle in range(MOST_CYCLES):
        computes.append(dut.computes.value.to_unsigned())
        assert not dut.error.value, f"an error in cycle {cycle}"
        if dut.done.value:
            ends.append(cycle)
        if len(ends) == task["programs"]:
            break
        await host.edge
    await queued
    results = [
        [await host.request(node, MESSAGES, address) for address in range(*task["result"])]
        for node in range(task["nodes"])
    ]
    found = {"results": results, "computes": computes, "ends": ends}
    Path(FOUND).write_text(json.dumps(found))
