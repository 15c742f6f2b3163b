"""The bench's host of a network with a controller (docs/router.md, sections 16 and 17)."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

import cocotb
from cocotb.triggers import FallingEdge, First, RisingEdge, Timer

from eyecast.sim.job import state_of

if TYPE_CHECKING:
    from eyecast.sim.job import Job

RESET_CYCLES = 3
"""Cycles for which ``rst`` is held, once, before the first request."""

LONGEST_ANSWER = 100
"""Cycles in which any answer has come: at most 64, and 2·7 + 8 with as many barrier registers."""

_FAILED = 4
"""The number of the state *failed*."""

_TILE_INPUTS = ("write_valid", "read_valid", "hold")
"""Inputs of a tile port that ask for something."""


class HostOfController:
    """Loads, starts and reads a network by requests, while it runs; it is reset but once.

    ``period`` is that of the clock, in time units of the simulator.
    """

    def __init__(self, dut: Any, period: int) -> None:
        self._dut, self._period = dut, period
        self._falling_edge = FallingEdge(dut.clk)
        self._was_reset = False

    async def load(self, job: Job) -> None:
        """Stop what runs, and write the job's words."""
        if not self._was_reset:
            await self._reset(job)
        await self._command(job, "stop")
        for node, space, address, word in job.writes:
            await self._request(node, space, address, word)

    async def run(self, job: Job) -> bool:
        """Start the program and wait for its end. True if all nodes finished.

        After a flag what was under way goes on for as long as the run might have taken, as the
        model does.
        """
        dut, clock_cycle = self._dut, self._period
        # More than the cycles before a run and those after which its end is seen.
        late = 2 * job.barrier_registers + 16
        watchdog = Timer((job.cycle_limit + late) * clock_cycle, unit="step")
        tiles = cocotb.start_soon(self._hold(job))
        await self._command(job, "start")
        await First(RisingEdge(dut.done), RisingEdge(dut.error), watchdog)
        await self._falling_edge
        if dut.error.value and state_of(await self.result(job)) == _FAILED:
            await Timer(job.cycle_limit * clock_cycle, unit="step")
            await self._falling_edge
        tiles.cancel()
        return bool(dut.done.value)

    async def result(self, job: Job) -> int:
        """Read how the run has ended, when the culprit's flags are known."""
        controller = self._controller(job)
        for _ in range(2 * job.barrier_registers + 8):
            await self._falling_edge
        return await self._request(0, controller["space"], controller["result"])

    async def status(self, job: Job) -> list[list[int]]:
        """Read every node's status: shape (nodes, status words)."""
        return await self._read(job, job.status_space, job.status_words)

    async def messages(self, job: Job) -> list[list[int]]:
        """Read every node's message memory, in a run that hangs after it has been stopped.

        That of a switch, which there is not, is all 0.
        """
        if not self._dut.done.value:
            await self._command(job, "stop")
        return await self._read(job, job.message_space, job.read_words, without=job.switches)

    async def _reset(self, job: Job) -> None:
        """Hold ``rst`` with nothing asked."""
        await self._falling_edge
        self._dut.rst.value = 1
        self._dut.host__valid.value = 0
        for node in job.hold:
            for name in _TILE_INPUTS:
                getattr(self._dut, f"tile_{node}__{name}").value = 0
        for _ in range(RESET_CYCLES):
            await self._falling_edge
        self._dut.rst.value = 0
        # It passes a register, and what is asked in reset is not answered.
        await self._falling_edge
        await self._falling_edge
        self._was_reset = True

    async def _hold(self, job: Job) -> None:
        """Hold nodes back from the core reset on, each for its number of cycles."""
        ports = {node: getattr(self._dut, f"tile_{node}__hold") for node in job.hold}
        for node, port in ports.items():
            port.value = int(job.hold[node] > 0)
        if not any(job.hold.values()):
            return
        # All nodes are released from reset in the same cycle, cycle 0, of which this is the half.
        await RisingEdge(getattr(self._dut, f"tile_{next(iter(ports))}__running"))
        await self._falling_edge
        now = 0
        for until in sorted({cycles for cycles in job.hold.values() if cycles}):
            await Timer((until - now) * self._period, unit="step")
            now = until
            for node, port in ports.items():
                if job.hold[node] == until:
                    port.value = 0

    async def _read(
        self, job: Job, space: int, words: int, without: Container[int] = ()
    ) -> list[list[int]]:
        """The first ``words`` words of a space of every node; 0 of those ``without`` it."""
        values = [[0] * words for _ in range(job.nodes)]
        for node, here in enumerate(values):
            for address in range(0 if node in without else words):
                here[address] = await self._request(node, space, address)
        return values

    async def _command(self, job: Job, name: str) -> None:
        controller = self._controller(job)
        await self._request(0, controller["space"], controller["command"], controller[name])

    @staticmethod
    def _controller(job: Job) -> dict[str, int]:
        assert job.controller is not None
        return job.controller

    async def _request(self, node: int, space: int, address: int, word: int | None = None) -> int:
        """Write a word, or read one. Raises ``RuntimeError`` where the request is refused."""
        dut, falling_edge = self._dut, self._falling_edge
        dut.host__node.value = node
        dut.host__space.value = space
        dut.host__address.value = address
        dut.host__write.value = int(word is not None)
        dut.host__write_data.value = word or 0
        dut.host__valid.value = 1
        await self._until(dut.host__ready)
        await falling_edge
        dut.host__valid.value = 0
        await self._until(dut.host__answered)
        if refusal := int(dut.host__refusal.value):
            asked = f"node {node}, space {space}, address {address}"
            raise RuntimeError(f"a request ({asked}) was refused with {refusal}")
        read: int = dut.host__read_data.value.to_unsigned()
        await falling_edge
        return read

    async def _until(self, signal: Any) -> None:
        """Wait for a signal of the host port. Raises ``RuntimeError`` where it does not come."""
        for _ in range(LONGEST_ANSWER):
            if signal.value:
                return
            await self._falling_edge
        raise RuntimeError(f"no {signal._name} within {LONGEST_ANSWER} cycles")
