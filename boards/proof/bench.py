"""The cocotb bench of a board: it connects the five pins to another process.

It runs inside the simulator's process and does not know the requests and replies of the serial line
(``serial/computer.py``); they are in the process that started the simulator
(``simulated_board.py``). So it works for any design with the pins ``clk``, ``rst``, ``rx``, ``tx``
and ``led``.

Python runs for each bit of the line, never for a clock cycle. ``rx`` changes at the falling edge of
the clock, when no other signal changes.
"""

from multiprocessing.connection import Connection
from socket import AF_UNIX, socket
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Event, FallingEdge, First, Timer
from cocotb.utils import get_sim_time

LINE_FILE = "line"
"""The socket of the other process, in the simulator's working folder."""

CLOCK_PERIOD = 2
"""In time steps of the simulator."""
RESET_CYCLES = 4


@cocotb.test()
async def serve_line(dut: Any) -> None:
    """Carry out the other process's calls; answer each with its result and the cycle.

    The process first sends the cycles of a bit of the line, and then any number of calls: the name
    of a method of :class:`_Pins` and its arguments. Between calls no simulated time passes.
    """
    # The simulator's own clock: cocotb's coroutine takes longer than a small network.
    Clock(dut.clk, CLOCK_PERIOD, unit="step", impl="gpi").start()
    line = socket(AF_UNIX)
    line.connect(LINE_FILE)
    with Connection(line.detach()) as connection:
        pins = _Pins(dut, connection.recv())
        await pins.reset()
        while True:
            try:
                name, arguments = connection.recv()
            except EOFError:
                return
            result = await getattr(pins, name)(*arguments)
            connection.send((result, int(get_sim_time("step")) // CLOCK_PERIOD))


class _Pins:
    """The pins of a board; a bit of the line takes ``divisor`` cycles."""

    def __init__(self, dut: Any, divisor: int) -> None:
        self._dut = dut
        self._divisor = divisor
        self._received = bytearray()
        self._more = Event()

    async def reset(self) -> None:
        """Hold reset for a few cycles with the line idle; then start to listen."""
        self._dut.rx.value = 1
        self._dut.rst.value = 1
        await _cycles(RESET_CYCLES)
        await FallingEdge(self._dut.clk)
        self._dut.rst.value = 0
        cocotb.start_soon(self._listen())

    async def wait(self, cycles: int) -> None:
        """Let this many cycles pass."""
        await _cycles(cycles)

    async def write(self, data: bytes) -> None:
        """Send ``data`` to the board."""
        for byte in data:
            bits = 0x200 | byte << 1
            for place in range(10):
                self._dut.rx.value = bits >> place & 1
                await _cycles(self._divisor)

    async def read(self, most: int, cycles: int) -> bytes:
        """Read bytes until there are ``most`` or this many cycles have passed."""
        limit = cocotb.start_soon(_cycles(cycles))
        while len(self._received) < most and not limit.done():
            self._more.clear()
            await First(self._more.wait(), limit)
        limit.cancel()
        data = bytes(self._received[:most])
        del self._received[:most]
        return data

    async def leds(self) -> int:
        """Return the two LEDs."""
        return int(self._dut.led.value)

    async def _listen(self) -> None:
        """Keep every byte that the board sends; drop a byte whose stop bit is 0."""
        tx = self._dut.tx
        while True:
            await FallingEdge(tx)
            # From the edge, at a clock edge, to the middle of a bit, between clock edges.
            await Timer(self._divisor // 2 * CLOCK_PERIOD + 1, unit="step")
            byte = 0
            for place in range(9):
                await _cycles(self._divisor)
                byte |= int(tx.value) << place
            if byte >> 8:
                self._received.append(byte & 0xFF)
                self._more.set()


async def _cycles(cycles: int) -> None:
    await Timer(cycles * CLOCK_PERIOD, unit="step")
