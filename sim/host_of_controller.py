"""The bench's host for a network with a controller (docs/router.md, sections 16 and 17)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING, Any

import cocotb
from cocotb.triggers import FallingEdge, First, RisingEdge, Timer

from eyecast.sim.job import FIRST_PROGRAM, HostEvent, state_of
from eyecast.testbench.controller_driver import CONTROLLER_SPACE, ControllerDriver, Refused

if TYPE_CHECKING:
    from eyecast.sim.job import Job

_IDLE, _STARTING, _RUNNING, _FAILED = 0, 1, 2, 4
"""Numbers of the states of a controller."""

_QUEUED = 5
"""The address of the word *queued* in the controller's space."""

_LONG_ENOUGH = 100
"""Cycles of a run in which the host surely queues another program: several requests."""

_DAMAGED = 3
"""The refusal of a read of a damaged word."""

_TILE_INPUTS = ("write_valid", "read_valid", "hold")
"""Inputs of a tile port that make requests."""


class HostOfController:
    """Loads, starts and reads a running network by requests; it is reset only once.

    ``period`` is the clock period in time steps of the simulator.
    """

    def __init__(self, dut: Any, period: int) -> None:
        self._dut, self._period = dut, period
        self._driver = ControllerDriver(dut)
        self._falling_edge = FallingEdge(dut.clk)
        self._was_reset = False
        self._is_queued = False
        """True from the end of a first run on until the job's program, which was queued, runs."""

    async def load(self, job: Job) -> None:
        """Stop any run, and write the job's words."""
        if not self._was_reset:
            for node in job.hold:
                for name in _TILE_INPUTS:
                    getattr(self._dut, f"tile_{node}__{name}").value = 0
            await self._driver.reset()
            self._was_reset = True
        await self._driver.stop()
        await self._driver.load(job.writes)

    async def interrupt(self, job: Job) -> list[str]:
        """Start the program and queue it twice; stop after ``job.interrupted`` cycles.

        The controller refuses the second program for the queue. If the first run is done before the
        stop, the queued run begins.
        """
        events: list[str] = []
        await self._driver.start()
        await self._driver.start()
        _, waits = await self._state()
        try:
            await self._driver.start()
        except Refused:
            events.append(HostEvent.REFUSED)
        await Timer(job.interrupted * self._period, unit="step")
        await self._falling_edge
        before, queued = await self._state()
        await self._driver.stop()
        after, left = await self._state()
        busy = before in (_STARTING, _RUNNING)
        if busy and waits and not queued:
            events.append(HostEvent.QUEUED)
        if busy and after == _IDLE:
            events.append(HostEvent.STOP)
        if queued and not left:
            events.append(HostEvent.CLEARED)
        return events

    async def run_first(self, job: Job) -> list[str]:
        """Run the job's first program to its end. If it is long enough, queue the job's program.

        Raises ``RuntimeError`` if the first run is not done after twice its predicted cycles.
        """
        # A tile may still hold its node, if the job before ended early.
        for node in job.hold:
            getattr(self._dut, f"tile_{node}__hold").value = 0
        await self._driver.start(FIRST_PROGRAM)
        self._is_queued = job.first_cycles >= _LONG_ENOUGH
        if self._is_queued:
            await self._driver.start()
        patience = Timer(2 * (job.first_cycles + _LONG_ENOUGH) * self._period, unit="step")
        done = RisingEdge(self._dut.done)
        if not self._dut.done.value and await First(done, patience) is not done:
            raise RuntimeError(f"the first program is not done: {job.first_cycles} cycles expected")
        await self._falling_edge
        return [HostEvent.QUEUED] if self._is_queued else []

    async def _state(self) -> tuple[int, int]:
        """Read the controller's state, and its word *queued*."""
        state = state_of(await self._driver.result())
        return state, await self._driver.read(0, CONTROLLER_SPACE, _QUEUED)

    async def run(self, job: Job) -> bool:
        """Start the program, unless it is queued, and wait for its end. True if all nodes finished.

        After a flag the simulation goes on for the rest of the cycle limit, as in the model.
        """
        dut, clock_cycle = self._dut, self._period
        # More than the cycles before the run and those until its end is seen.
        late = 2 * job.barrier_registers + 16 + (max(job.hold.values(), default=0) * job.circuits)
        watchdog = Timer((job.cycle_limit + late) * clock_cycle, unit="step")
        tiles = cocotb.start_soon(self._hold(job))
        if self._is_queued:
            self._is_queued = False
        else:
            await self._driver.start()
        await First(RisingEdge(dut.done), RisingEdge(dut.error), watchdog)
        await self._falling_edge
        if dut.error.value and state_of(await self.result(job)) == _FAILED:
            await Timer(job.cycle_limit * clock_cycle, unit="step")
            await self._falling_edge
        tiles.cancel()
        return bool(dut.done.value)

    async def result(self, job: Job) -> int:
        """Read the word *result* of the run, after the culprit's flags have arrived."""
        for _ in range(2 * job.barrier_registers + 8):
            await self._falling_edge
        return await self._driver.result()

    async def status(self, job: Job) -> list[list[int]]:
        """Read every node's status: shape (nodes, status words)."""
        return await self._read(job, job.status_space, range(job.status_words))

    async def messages(self, job: Job) -> list[list[int]]:
        """Read every node's message memory; stop the run first if it has not finished.

        A switch has no memory; its words are 0.
        """
        if not self._dut.done.value:
            await self._driver.stop()
        addresses = job.message_addresses()
        return await self._read(job, job.message_space, addresses, without=job.switches)

    async def _hold(self, job: Job) -> None:
        """Hold nodes from the core reset on, each for its number of cycles.

        The cycles are counted from cycle 0, with circuits from the first cycle of *starting*: all
        nodes then wait for the last tile.
        """
        ports = {node: getattr(self._dut, f"tile_{node}__hold") for node in job.hold}
        for node, port in ports.items():
            port.value = int(job.hold[node] > 0)
        if not any(job.hold.values()):
            return
        # All nodes leave reset in cycle 0; the next falling edge is its middle.
        first = "busy" if job.circuits else f"tile_{next(iter(ports))}__running"
        await RisingEdge(getattr(self._dut, first))
        await self._falling_edge
        now = 0
        for until in sorted({cycles for cycles in job.hold.values() if cycles}):
            await Timer((until - now) * self._period, unit="step")
            now = until
            for node, port in ports.items():
                if job.hold[node] == until:
                    port.value = 0

    async def _read(
        self, job: Job, space: int, addresses: Sequence[int], without: Container[int] = ()
    ) -> list[list[int]]:
        """Read these addresses of a space of every node; 0 for nodes ``without`` the space."""
        values = [[0] * len(addresses) for _ in range(job.nodes)]
        for node, here in enumerate(values):
            for place, address in enumerate(() if node in without else addresses):
                here[place] = await self._word(job, node, space, address)
        return values

    async def _word(self, job: Job, node: int, space: int, address: int) -> int:
        """Read a word; a word that the network refuses as damaged is ``job.damaged``."""
        try:
            return await self._driver.read(node, space, address)
        except Refused as refused:
            if refused.refusal != _DAMAGED or job.damaged is None:
                raise
            return job.damaged
