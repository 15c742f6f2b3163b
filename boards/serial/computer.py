"""The computer's end of a board's serial line: requests, replies, and what to do without one."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ...model.base.errors import InvalidInput
from .frame import (
    MOST_WORDS,
    REPLY_MARK,
    Control,
    Kind,
    Request,
    Status,
    decode_reply,
    reply_bytes,
)

ATTEMPTS = 5
"""How often a request is sent before the line is given up."""
LATENCY_SECONDS = 0.25
"""So long may a board's reply stay away, with all that a USB adapter and a computer add."""


@dataclass(frozen=True)
class Pace:
    """Times of a line, in seconds.

    byte
        A byte on the wire.
    latency
        From the last byte of a request to the first of its reply, at the most.
    silence
        So long without a byte, and a board has given up any request begun.
    """

    byte: float
    latency: float
    silence: float


class Line(Protocol):
    """Bytes to a board and from it: a serial port, or the pins of a simulated one."""

    name: str
    pace: Pace

    def now(self) -> float:
        """The time in seconds, from any beginning: a simulated line has a time of its own."""

    def write(self, data: bytes) -> None:
        """Put ``data`` on the line."""

    def read(self, most: int, seconds: float) -> bytes:
        """Read bytes until ``most`` are there or ``seconds`` have passed."""


class SerialPort:
    """A line by pyserial.

    Raises :class:`.InvalidInput` for a port that cannot be opened, and where one that was open
    fails, as it does when the cable is pulled.
    """

    def __init__(self, name: str, baud: int, *, silence: float) -> None:
        serial = _serial_module()
        self.name = f"{name} at {baud} baud"
        self.pace = Pace(byte=10 / baud, latency=LATENCY_SECONDS, silence=silence)
        self._failures = (OSError, serial.SerialException)
        try:
            self._port = serial.Serial(name, baud, exclusive=True, write_timeout=2)
        except (*self._failures, ValueError) as error:
            raise self._refusal(error) from error
        # Some USB adapters keep bytes for 16 ms otherwise, and every request would wait so long.
        with contextlib.suppress(AttributeError, NotImplementedError, ValueError, *self._failures):
            self._port.set_low_latency_mode(True)

    def now(self) -> float:
        """The time in seconds."""
        return time.monotonic()

    def write(self, data: bytes) -> None:
        """Put ``data`` on the line."""
        try:
            self._port.write(data)
        except self._failures as error:
            raise self._refusal(error) from error

    def read(self, most: int, seconds: float) -> bytes:
        """Read bytes until ``most`` are there or ``seconds`` have passed."""
        try:
            self._port.timeout = seconds
            data: bytes = self._port.read(most)
        except self._failures as error:
            raise self._refusal(error) from error
        return data

    def close(self) -> None:
        """Give the port back."""
        self._port.close()

    def _refusal(self, error: Exception) -> InvalidInput:
        number = getattr(error, "errno", None)
        reason = str(error) if number is None else os.strerror(number)
        return InvalidInput.of(
            f"serial port {self.name}", "a serial port that is there", f"refused ({reason})"
        )


def _serial_module() -> Any:
    """Pyserial, or a refusal that says how to get it."""
    try:
        import serial  # noqa: PLC0415 - optional: only boards need it
    except ImportError as error:
        installed = "installed (pip install 'eyecast[boards]')"
        raise InvalidInput.of("pyserial", installed, "missing") from error
    return serial


class SerialHost:
    """Loads, starts and reads the network of a board.

    Every method sends requests and waits for their replies. A request that is not answered, or
    wrongly, is sent again: each says what is to be, not what is to change, so that one carried out
    twice does what one does. Raises :class:`.InvalidInput` when the line stays silent.

    ``word_bytes`` is what a word of the network's memories takes.
    """

    def __init__(self, line: Line, *, word_bytes: int) -> None:
        self._line = line
        self._word_bytes = word_bytes
        self._sequence = 0
        self._heard = False

    def status(self) -> Status:
        """Ask the board for its status."""
        return Status.of(self._exchange(Request(kind=Kind.STATUS)))

    def control(self, control: Control) -> None:
        """Hold the network in reset or let it run; set how it runs."""
        self._exchange(Request(kind=Kind.CONTROL, word=int(control)))

    def write_word(self, node: int, space: int, address: int, word: int) -> None:
        """Write one word through the host port; in reset only."""
        self._exchange(Request(kind=Kind.WRITE, space=space, node=node, address=address, word=word))

    def write_once(
        self, space: int, address: int, word: int, *, was_done: Callable[[], bool]
    ) -> None:
        """Write a word of node 0 that does something, and must not be written twice.

        ``was_done`` is asked where no reply came: the request may have come all the same.
        """
        request = Request(kind=Kind.WRITE, space=space, address=address, word=word)
        self._heard = False
        for _ in range(ATTEMPTS):
            if self._attempt(request) is not None:
                return
            self._wait_for_silence()
            if was_done():
                return
        raise self._refusal()

    def read_words(
        self, node: int, space: int, words: int, *, first: int = 0
    ) -> npt.NDArray[np.uint64]:
        """Read ``words`` words of a space of a node, from ``first`` on: shape (words,)."""
        data = b""
        for address in range(first, first + words, MOST_WORDS):
            count = min(MOST_WORDS, first + words - address)
            data += self._exchange(
                Request(kind=Kind.READ, space=space, node=node, address=address, words=count)
            )
        padded = np.zeros((words, 8), dtype=np.uint8)
        padded[:, : self._word_bytes] = np.frombuffer(data, np.uint8).reshape(words, -1)
        return padded.view("<u8")[:, 0].astype(np.uint64)

    def _exchange(self, request: Request) -> bytes:
        """Send ``request`` until a good reply comes, and give its payload."""
        self._heard = False
        for attempt in range(ATTEMPTS):
            if attempt:
                self._wait_for_silence()
            payload = self._attempt(request)
            if payload is not None:
                return payload
        raise self._refusal()

    def _attempt(self, request: Request) -> bytes | None:
        """Send ``request`` once: the payload of its reply, None if there is none."""
        self._sequence = (self._sequence + 1) % 256
        self._line.write(request.encode(self._sequence, self._word_bytes))
        return self._reply(request)

    def _refusal(self) -> InvalidInput:
        """Say that no good reply has come."""
        state = "one with other bytes on it" if self._heard else "silent"
        return InvalidInput.of(
            f"serial port {self._line.name}", "a line to a board with a network", state
        )

    def _reply(self, request: Request) -> bytes | None:
        """The payload of the reply, which may stand behind anything; None if there is none."""
        pace = self._line.pace
        size = reply_bytes(request.payload_bytes(self._word_bytes))
        request_bytes = len(request.encode(0, self._word_bytes))
        # Twice the reply: as much again may stand before it.
        end = self._line.now() + pace.latency + (request_bytes + 2 * size) * pace.byte
        received = b""
        while self._line.now() < end:
            more = self._read(size - len(received), end - self._line.now())
            if not more:
                break
            received = _from_mark(received + more)
            while len(received) >= size:
                payload = decode_reply(received[:size], self._sequence)
                if payload is not None:
                    return payload
                received = _from_mark(received[1:])
        return None

    def _wait_for_silence(self) -> None:
        """Read until nothing more comes and the board waits for a mark."""
        # A line that never falls silent is not waited for for ever.
        for _ in range(ATTEMPTS):
            if not self._read(1 << 12, self._line.pace.silence):
                break

    def _read(self, most: int, seconds: float) -> bytes:
        """Read from the line, and remember that anything came."""
        data = self._line.read(most, seconds)
        self._heard |= bool(data)
        return data


def _from_mark(data: bytes) -> bytes:
    """Cut ``data`` before its first mark of a reply."""
    start = data.find(REPLY_MARK)
    return data[start:] if start >= 0 else b""
