"""Driver of the requests to a network's controller (docs/router.md, section 16)."""

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any

from cocotb.triggers import FallingEdge, First, RisingEdge, Timer

from .host_driver import Write

CONTROLLER_SPACE = 2
COMMAND, RESULT = 2, 3
"""Addresses in the controller's space."""

LONGEST_ANSWER = 100
"""Longest wait for an answer, in cycles: more than 64 for the memory and 2·7 + 8 for registers."""

RESET_CYCLES = 3
"""Cycles for which :meth:`ControllerDriver.reset` holds ``rst``."""


class Command(IntEnum):
    """Commands of a controller."""

    START = 1
    STOP = 2
    ACKNOWLEDGE = 3


class Refused(RuntimeError):
    """The network refuses a request; ``refusal`` is 1 (no such word) or 2 (not now)."""

    def __init__(self, asked: str, refusal: int) -> None:
        super().__init__(f"a request ({asked}) was refused with {refusal}")
        self.refusal = refusal


class ControllerDriver:
    """Host of a network with a controller: it loads, starts, stops and reads while a chip runs.

    The driver changes signals at the falling edge of the clock, and makes one request at a time.

    Parameters
    ----------
    network
        Handle of ``eyecast_network``.
    clock
        Handle of the clock; ``network.clk`` by default.
    idles
        Yields, before each request, True if the host pauses for a cycle; no pauses by default.

    """

    def __init__(
        self, network: Any, *, clock: Any = None, idles: Iterator[bool] | None = None
    ) -> None:
        self._network = network
        self._falling_edge = FallingEdge(network.clk if clock is None else clock)
        self._idles = idles

    async def reset(self) -> None:
        """Hold ``rst`` for :data:`RESET_CYCLES` cycles, without requests."""
        await self._falling_edge
        self._network.rst.value = 1
        self._ask_nothing()
        for _ in range(RESET_CYCLES):
            await self._falling_edge
        self._network.rst.value = 0
        # ``rst`` passes a register; a request in reset would get no answer.
        await self._falling_edge
        await self._falling_edge

    async def write(self, node: int, space: int, address: int, word: int) -> None:
        """Write one word. Raises :class:`Refused`."""
        await self._request(node, space, address, word)

    async def read(self, node: int, space: int, address: int) -> int:
        """Read one word. Raises :class:`Refused`."""
        return await self._request(node, space, address)

    async def load(self, writes: Iterable[Write]) -> None:
        """Write all words of ``writes``, in their order. Raises :class:`Refused`."""
        for each in writes:
            await self.write(*each)

    async def command(self, command: Command, program: int = 0) -> None:
        """Give a command. Raises :class:`Refused`."""
        await self.write(0, CONTROLLER_SPACE, COMMAND, command | program << 8)

    async def start(self, program: int = 0) -> None:
        """Start a program. Raises :class:`Refused`."""
        await self.command(Command.START, program)

    async def stop(self) -> None:
        """Stop the running program."""
        await self.command(Command.STOP)

    async def wait(self, time: int, unit: str = "step") -> bool:
        """Wait for the end of a run, at most for ``time``; return whether the program is done."""
        network = self._network
        await First(RisingEdge(network.done), RisingEdge(network.error), Timer(time, unit=unit))
        await self._falling_edge
        return bool(network.done.value)

    async def result(self) -> int:
        """Read the word *result*, which tells how the last run ended."""
        return await self.read(0, CONTROLLER_SPACE, RESULT)

    async def _request(self, node: int, space: int, address: int, word: int | None = None) -> int:
        while self._idles is not None and next(self._idles):
            await self._falling_edge
        return await self._answer(node, space, address, word)

    def _ask_nothing(self) -> None:
        """Show no request."""
        self._network.host__valid.value = 0

    async def _answer(self, node: int, space: int, address: int, word: int | None) -> int:
        """Carry out one request and return the word read. Raises :class:`Refused`."""
        network, falling_edge = self._network, self._falling_edge
        network.host__node.value = node
        network.host__space.value = space
        network.host__address.value = address
        network.host__write.value = int(word is not None)
        network.host__write_data.value = word or 0
        network.host__valid.value = 1
        await self._until(network.host__ready)
        await falling_edge
        network.host__valid.value = 0
        await self._until(network.host__answered)
        if refusal := int(network.host__refusal.value):
            raise Refused(f"node {node}, space {space}, address {address}", refusal)
        read: int = network.host__read_data.value.to_unsigned()
        await falling_edge
        return read

    async def _until(self, signal: Any) -> None:
        """Wait for a signal of the host port. Raises ``RuntimeError`` if it stays low."""
        for _ in range(LONGEST_ANSWER):
            if signal.value:
                return
            await self._falling_edge
        raise RuntimeError(f"no {signal._name} within {LONGEST_ANSWER} cycles")
