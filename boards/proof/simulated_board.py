"""A simulated board as a line for ``serial/computer.py``, with simulated time."""

import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from socket import AF_UNIX, socket
from types import TracebackType
from typing import Any, Self

from ...model.base.processes import Process, stop
from ...sim.run_worker import start_bench
from ...sim.simulator import SimulatorError, ended_early
from ..registry import BAUD, TIMEOUT_SECONDS, Board
from ..serial.computer import Pace
from ..serial.frame import Outcome
from .bench import LINE_FILE
from .worker import MODULE

BENCH = "eyecast.boards.proof.bench"
POWER_ON_SECONDS = 250e-6
"""Time until the board's own reset after power-on is over; the oscillator takes up to 100 us."""
LATENCY_SECONDS = 1e-3
"""Longest wait for a reply: it begins a few cycles after the request, without a USB adapter."""
POLL_SECONDS = 0.05


class BoardOverdue(RuntimeError):
    """The simulated board has used more time than its whole task can take."""


class SimulatedBoard:
    """The pins of a simulated board, from power-on to the end of the ``with`` block.

    ``simulator`` is the folder of a simulator of ``board`` that ``worker.py`` has built. Time is
    that of the simulated clock. After ``cycles`` clock cycles every method raises
    :class:`BoardOverdue`, so a design that does not answer or stop cannot run for ever. If the
    simulator ends by itself, every method raises :class:`.SimulatorError`.
    """

    def __init__(self, simulator: Path, board: Board, *, cycles: int) -> None:
        self.name = "of the simulated board"
        self.pace = Pace(byte=10 / BAUD, latency=LATENCY_SECONDS, silence=2 * TIMEOUT_SECONDS)
        self._simulator = simulator
        self._board = board
        self._limit = cycles
        self._cycles = 0

    def __enter__(self) -> Self:
        """Start the simulator and wait until the board is out of its own reset."""
        self._folder = tempfile.TemporaryDirectory(prefix="eyecast-")
        self._process = self._start(Path(self._folder.name))
        try:
            self._connection = self._connect()
            self._connection.send(self._board.divisor)
            self._ask("wait", round(POWER_ON_SECONDS * self._board.clock))
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """End the simulator."""
        self._connection.close()
        self._stop()

    def now(self) -> float:
        """Return the simulated time in seconds."""
        return self._cycles / self._board.clock

    def write(self, data: bytes) -> None:
        """Send ``data`` on the line."""
        self._ask("write", data)

    def read(self, most: int, seconds: float) -> bytes:
        """Read bytes until there are ``most`` or ``seconds`` have passed."""
        data: bytes = self._ask("read", most, max(1, round(seconds * self._board.clock)))
        return data

    def outcome(self) -> Outcome:
        """Read the LEDs."""
        shown: int = self._ask("leds")
        return Outcome(shown * Outcome.DONE)

    def _ask(self, name: str, *arguments: object) -> Any:
        """Call a method of the bench's pins; return its result."""
        if self._cycles > self._limit:
            raise BoardOverdue(f"the board has not done its part within {self._limit} cycles")
        try:
            self._connection.send((name, arguments))
            result, self._cycles = self._connection.recv()
        except (EOFError, OSError) as error:
            raise self._failure() from error
        return result

    def _start(self, folder: Path) -> Process:
        """Start the simulator in ``folder``, with a socket for the line."""
        self._socket = socket(AF_UNIX)
        self._socket.bind(str(folder / LINE_FILE))
        self._socket.listen(1)
        self._socket.settimeout(POLL_SECONDS)
        return start_bench(self._simulator / MODULE, BENCH, folder)

    def _connect(self) -> Connection:
        """Wait for the connection from the bench."""
        while True:
            try:
                connected, _ = self._socket.accept()
            except TimeoutError:
                if self._process.poll() is not None:
                    raise self._failure() from None
                continue
            connected.setblocking(True)
            return Connection(connected.detach())

    def _failure(self) -> SimulatorError:
        """Return the error of a simulator that ended early."""
        return ended_early(Path(self._folder.name))

    def _stop(self) -> None:
        """End the simulator and remove its socket and folder."""
        self._socket.close()
        stop(self._process)
        self._folder.cleanup()
