"""The bench's host for a network that is loaded and read in reset (docs/router.md, section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eyecast.sim.job import HostEvent
from eyecast.testbench.host_driver import HostDriver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from eyecast.sim.job import Job


class HostInReset:
    """Runs jobs on a network that is loaded in reset.

    ``period`` is the clock period in time steps of the simulator.
    """

    def __init__(self, dut: Any, period: int) -> None:
        self._period = period
        self._driver = HostDriver(dut)

    async def load(self, job: Job) -> None:
        """Hold the network in reset and write the job's words."""
        # Each barrier register delays an answer by a cycle.
        self._driver.answer_cycles = 2 + job.barrier_registers
        await self._driver.load(job.writes)

    async def interrupt(self, job: Job) -> list[str]:
        """Start the program, and reset the network after ``job.interrupted`` cycles."""
        await self._driver.start(barrier=job.barrier, half_duplex=job.half_duplex)
        ended = await self._driver.wait(job.interrupted * self._period)
        await self._driver.reset()
        return [] if ended else [HostEvent.RESET]

    async def run_first(self, job: Job) -> list[str]:
        """Raise ``ValueError``: only a controller keeps two programs."""
        raise ValueError(f"{job.first_cycles} cycles of a first program, without a controller")

    async def run(self, job: Job) -> bool:
        """Release reset and wait for done or the watchdog. True if all nodes finished.

        A flag does not end the run: flits go on moving, as in the model.
        """
        await self._driver.start(barrier=job.barrier, half_duplex=job.half_duplex)
        cycles = job.cycle_limit + job.barrier_registers
        return await self._driver.wait(cycles * self._period)

    async def result(self, _job: Job) -> int:
        """Return 0: there is no controller."""
        return 0

    async def status(self, job: Job) -> list[list[int]]:
        """Read every node's status: shape (nodes, status words)."""
        return await self._read(job, job.status_space, range(job.status_words))

    async def messages(self, job: Job) -> list[list[int]]:
        """Hold the network in reset again and read every node's message memory."""
        self._driver.hold_reset()
        return await self._read(job, job.message_space, job.message_addresses())

    async def _read(self, job: Job, space: int, addresses: Sequence[int]) -> list[list[int]]:
        """Read the words at ``addresses`` of every node's space: shape (nodes, addresses)."""
        return await self._driver.read_nodes(range(job.nodes), space, addresses)
