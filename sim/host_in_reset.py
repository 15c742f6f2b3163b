"""The bench's host of a network that is loaded and read in reset (docs/router.md, section 6)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from cocotb.triggers import FallingEdge, First, RisingEdge, Timer

if TYPE_CHECKING:
    from eyecast.sim.job import Job


class HostInReset:
    """Loads a network with one word in each cycle, and reads it likewise.

    ``period`` is that of the clock, in time units of the simulator.
    """

    def __init__(self, dut: Any, period: int) -> None:
        self._dut, self._period = dut, period
        self._falling_edge = FallingEdge(dut.clk)
        names = ("node", "space", "address", "write", "write_data", "read_data")
        self._port = {name: getattr(dut, f"host__{name}") for name in names}

    async def load(self, job: Job) -> None:
        """Hold the network in reset and write the job's words."""
        dut, port = self._dut, self._port
        await self._falling_edge
        dut.rst.value = 1
        dut.barrier.value = int(job.barrier)
        dut.half_duplex.value = int(job.half_duplex)
        for node, space, address, word in job.writes:
            port["node"].value = node
            port["space"].value = space
            port["address"].value = address
            port["write_data"].value = word
            port["write"].value = 1
            await self._falling_edge
        port["write"].value = 0
        # One cycle more in reset: the first table word is read in the last one.
        await self._falling_edge

    async def run(self, job: Job) -> bool:
        """Release reset and wait for done or the watchdog. True if all nodes finished.

        A flag does not end the run: what was under way goes on, and the model says how.
        """
        self._dut.rst.value = 0
        cycles = job.cycle_limit + job.barrier_registers
        watchdog = Timer(cycles * self._period, unit="step")
        await First(RisingEdge(self._dut.done), watchdog)
        await self._falling_edge
        return bool(self._dut.done.value)

    async def result(self, _job: Job) -> int:
        """Tell of a controller, which is not here."""
        return 0

    async def status(self, job: Job) -> list[list[int]]:
        """Read every node's status: shape (nodes, status words)."""
        return await self._read(job, job.status_space, job.status_words)

    async def messages(self, job: Job) -> list[list[int]]:
        """Hold the network in reset again and read every node's message memory."""
        self._dut.rst.value = 1
        return await self._read(job, job.message_space, job.read_words)

    async def _read(self, job: Job, space: int, words: int) -> list[list[int]]:
        """The first ``words`` words of a space of every node: shape (nodes, words)."""
        port = self._port
        address, read_data = port["address"], port["read_data"]
        port["space"].value = space
        values = [[0] * words for _ in range(job.nodes)]
        places = list(itertools.product(range(job.nodes), range(words)))
        # Without such registers an answer comes two cycles after its address: one is under way.
        under_way = 1 + job.barrier_registers
        after: list[tuple[int, int]] = [(0, 0)] * under_way
        before: list[None] = [None] * under_way
        for asked, answered in zip([*places, *after], [*before, *places], strict=True):
            port["node"].value, address.value = asked
            await self._falling_edge
            if answered is not None:
                node, word = answered
                values[node][word] = read_data.value.to_unsigned()
        return values
