"""Driver of a node's tile port (docs/router.md, section 17)."""

from collections.abc import Iterator
from typing import Any

from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge


class TileDriver:
    """Tile of one node: it reads and writes the node's message memory, and holds the node.

    The driver changes signals at the falling edge of the clock. A read and a write may be under way
    at the same time, from two tasks.

    Parameters
    ----------
    network
        Handle of ``eyecast_network``.
    node
        The node.
    clock
        Handle of the clock; ``network.clk`` by default.
    idles
        Yields, before each request, True if the tile pauses for a cycle; no pauses by default.

    """

    def __init__(
        self,
        network: Any,
        node: int,
        *,
        clock: Any = None,
        idles: Iterator[bool] | None = None,
    ) -> None:
        self._clock = network.clk if clock is None else clock
        self._falling_edge = FallingEdge(self._clock)
        self._idles = idles
        self._name = f"tile_{node}__"
        self._network = network
        for name in ("write_valid", "read_valid", "hold"):
            self._port(name).value = 0

    async def write(self, address: int, word: int) -> None:
        """Write one word, as soon as the network accepts it."""
        await self._pause()
        self._port("write_address").value = address
        self._port("write_data").value = word
        await self._ask("write")

    async def read(self, address: int) -> int:
        """Read one word, as soon as the network accepts the request."""
        await self._pause()
        self._port("read_address").value = address
        await self._ask("read")
        word: int = self._port("read_data").value.to_unsigned()
        return word

    def hold(self, held: bool) -> None:
        """Hold the node from its next cycle on, or release it."""
        self._port("hold").value = int(held)

    async def doorbell(self) -> int:
        """Wait until a packet with a step has ended at the node; return the step."""
        while True:
            await self._falling_edge
            if self._port("arrived").value:
                return int(self._port("arrived_step").value)

    async def _ask(self, kind: str) -> None:
        """Show a request until it is accepted, and then until the next falling edge."""
        self._port(f"{kind}_valid").value = 1
        while True:
            # Read the answer after the signals just driven have settled, in the same cycle.
            await ReadOnly()
            taken = bool(self._port(f"{kind}_ready").value)
            await RisingEdge(self._clock)
            await self._falling_edge
            if taken:
                break
        self._port(f"{kind}_valid").value = 0

    async def _pause(self) -> None:
        await self._falling_edge
        while self._idles is not None and next(self._idles):
            await self._falling_edge

    def _port(self, name: str) -> Any:
        return getattr(self._network, self._name + name)
