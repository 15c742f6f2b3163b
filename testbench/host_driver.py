"""Driver of the host port, which loads and reads a network in reset (docs/router.md, section 6)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cocotb.triggers import FallingEdge, First, RisingEdge, Timer

Write = tuple[int, int, int, int]
"""Node, space, address and word of a write through the host port."""


class HostDriver:
    """Host of a network without a controller: it loads in reset, starts, waits and reads.

    The driver changes signals at the clock's falling edge, and reads or writes one word a cycle.

    Parameters
    ----------
    network
        Handle of ``eyecast_network``.
    clock
        Handle of the clock; ``network.clk`` by default.
    answer_cycles
        Cycles from an address to its word: 2, and one more for each barrier register.
    idles
        Yields, before each write, True if the host pauses for a cycle; no pauses by default.

    """

    def __init__(
        self,
        network: Any,
        *,
        clock: Any = None,
        answer_cycles: int = 2,
        idles: Iterator[bool] | None = None,
    ) -> None:
        self._network = network
        self._falling_edge = FallingEdge(network.clk if clock is None else clock)
        self.answer_cycles = answer_cycles
        self._idles = idles
        names = ("node", "space", "address", "write", "write_data", "read_data")
        self._port = {name: getattr(network, f"host__{name}") for name in names}

    async def reset(self) -> None:
        """Hold the network in reset from the next falling edge, without writes."""
        await self._falling_edge
        self.hold_reset()

    def hold_reset(self) -> None:
        """Hold the network in reset from now on, without writes."""
        self._network.rst.value = 1
        self._port["write"].value = 0

    async def write(self, node: int, space: int, address: int, word: int) -> None:
        """Write one word; the network must be in reset."""
        await self._write((node, space, address, word))
        self._port["write"].value = 0

    async def load(self, writes: Iterable[Write]) -> None:
        """Hold the network in reset and write all words of ``writes``."""
        await self.reset()
        for each in writes:
            await self._write(each)
        self._port["write"].value = 0
        # The network sees the last write one cycle late.
        await self._falling_edge

    async def _write(self, write: Write) -> None:
        """Show a write for one cycle, after the pauses that ``idles`` asks for."""
        port = self._port
        while self._idles is not None and next(self._idles):
            port["write"].value = 0
            await self._falling_edge
        port["node"].value, port["space"].value, port["address"].value, word = write
        port["write_data"].value = word
        port["write"].value = 1
        await self._falling_edge

    async def start(self, *, barrier: bool, half_duplex: bool = False) -> None:
        """Release reset: at the ports, cycle 0 is the cycle after the next one."""
        self._network.barrier.value = int(barrier)
        self._network.half_duplex.value = int(half_duplex)
        self._network.rst.value = 0

    async def wait(self, time: int, unit: str = "step") -> bool:
        """Wait until all nodes are finished, at most for ``time``; return whether they are."""
        await First(RisingEdge(self._network.done), Timer(time, unit=unit))
        await self._falling_edge
        return bool(self._network.done.value)

    async def read(self, node: int, space: int, address: int) -> int:
        """Read one word."""
        ((word,),) = await self.read_nodes([node], space, [address])
        return word

    async def read_nodes(
        self, nodes: Sequence[int], space: int, addresses: Sequence[int]
    ) -> list[list[int]]:
        """Read the words at ``addresses`` of a space of each node: shape (nodes, addresses).

        The driver shows an address in each cycle, while earlier answers are still on their way.
        """
        port = self._port
        places = [(node, address) for node in nodes for address in addresses]
        port["space"].value = space
        words = []
        for number in range(len(places) + self.answer_cycles - 1):
            if number < len(places):
                port["node"].value, port["address"].value = places[number]
            await self._falling_edge
            if number >= self.answer_cycles - 1:
                words.append(port["read_data"].value.to_unsigned())
        answers = iter(words)
        return [[next(answers) for _ in addresses] for _ in nodes]
