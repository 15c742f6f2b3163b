"""The computer's end of a board's serial line: requests, replies and retries."""

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
    Request,
    RequestKind,
    Status,
    decode_reply,
    reply_bytes,
)

ATTEMPTS = 5
"""Attempts to send a request before the computer gives the line up."""
LATENCY_SECONDS = 0.25
"""Longest wait for a reply, with the delays of a USB adapter and a computer."""


@dataclass(frozen=True)
class Pace:
    """Times of a line, in seconds.

    byte
        Time of a byte on the wire.
    latency
        Longest time from the last byte of a request to the first of its reply.
    silence
        Time without a byte after which a board has dropped an incomplete request.
    """

    byte: float
    latency: float
    silence: float


class Line(Protocol):
    """A line for bytes to and from a board: a serial port, or the pins of a simulated board."""

    name: str
    pace: Pace

    def now(self) -> float:
        """Return the time in seconds from any origin; a simulated line has simulated time."""

    def write(self, data: bytes) -> None:
        """Send ``data`` on the line."""

    def read(self, most: int, seconds: float) -> bytes:
        """Read bytes until there are ``most`` or ``seconds`` have passed."""


class SerialPort:
    """A line over a serial port (pyserial).

    Raises :class:`.InvalidInput` if the port cannot be opened, or fails later, for example because
    the cable is pulled.
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
        # Without this, some USB adapters keep bytes for 16 ms, which would delay every request.
        with contextlib.suppress(AttributeError, NotImplementedError, ValueError, *self._failures):
            self._port.set_low_latency_mode(True)

    def now(self) -> float:
        """Return the time in seconds."""
        return time.monotonic()

    def write(self, data: bytes) -> None:
        """Send ``data`` on the line."""
        try:
            self._port.write(data)
        except self._failures as error:
            raise self._refusal(error) from error

    def read(self, most: int, seconds: float) -> bytes:
        """Read bytes until there are ``most`` or ``seconds`` have passed."""
        try:
            self._port.timeout = seconds
            data: bytes = self._port.read(most)
        except self._failures as error:
            raise self._refusal(error) from error
        return data

    def close(self) -> None:
        """Close the port."""
        self._port.close()

    def _refusal(self, error: Exception) -> InvalidInput:
        number = getattr(error, "errno", None)
        reason = str(error) if number is None else os.strerror(number)
        return InvalidInput.of(
            f"serial port {self.name}", "a serial port that is there", f"refused ({reason})"
        )


def _serial_module() -> Any:
    """Import pyserial. Raises :class:`.InvalidInput` if it is missing."""
    try:
        import serial  # noqa: PLC0415 - optional: only boards need it
    except ImportError as error:
        installed = "installed (pip install 'eyecast[boards]')"
        raise InvalidInput.of("pyserial", installed, "missing") from error
    return serial


class SerialHost:
    """Loads, starts and reads the network of a board.

    Every method sends requests and waits for their replies. A request without a correct reply is
    sent again. That is safe, because a request sets a value and changes nothing the second time.
    Raises :class:`.InvalidInput` if the line stays silent.

    ``word_bytes`` is the number of bytes of a word of the network's memories.
    """

    def __init__(self, line: Line, *, word_bytes: int) -> None:
        self._line = line
        self._word_bytes = word_bytes
        self._sequence = 0
        self._heard = False

    def status(self) -> Status:
        """Ask the board for its status."""
        return Status.of(self._exchange(Request(kind=RequestKind.STATUS)))

    def control(self, control: Control) -> None:
        """Hold the network in reset or let it run; set its timing and port model."""
        self._exchange(Request(kind=RequestKind.CONTROL, word=int(control)))

    def write_word(self, node: int, space: int, address: int, word: int) -> None:
        """Write one word through the host port; without a controller, in reset only."""
        self._exchange(
            Request(kind=RequestKind.WRITE, space=space, node=node, address=address, word=word)
        )

    def write_once(
        self, space: int, address: int, word: int, *, was_done: Callable[[], bool]
    ) -> None:
        """Write a word of node 0 that starts an action, and must not be written twice.

        If no reply comes, ``was_done`` tells whether the request arrived nevertheless.
        """
        request = Request(kind=RequestKind.WRITE, space=space, address=address, word=word)
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
        """Read ``words`` words of a space of a node, from address ``first``: shape (words,)."""
        data = b""
        for address in range(first, first + words, MOST_WORDS):
            count = min(MOST_WORDS, first + words - address)
            data += self._exchange(
                Request(kind=RequestKind.READ, space=space, node=node, address=address, words=count)
            )
        padded = np.zeros((words, 8), dtype=np.uint8)
        padded[:, : self._word_bytes] = np.frombuffer(data, np.uint8).reshape(words, -1)
        return padded.view("<u8")[:, 0].astype(np.uint64)

    def _exchange(self, request: Request) -> bytes:
        """Send ``request`` until a correct reply comes; return its payload."""
        self._heard = False
        for attempt in range(ATTEMPTS):
            if attempt:
                self._wait_for_silence()
            payload = self._attempt(request)
            if payload is not None:
                return payload
        raise self._refusal()

    def _attempt(self, request: Request) -> bytes | None:
        """Send ``request`` once; return the payload of its reply, or None."""
        self._sequence = (self._sequence + 1) % 256
        self._line.write(request.encode(self._sequence, self._word_bytes))
        return self._reply(request)

    def _refusal(self) -> InvalidInput:
        """Return the error of a line without a correct reply."""
        state = "one with other bytes on it" if self._heard else "silent"
        return InvalidInput.of(
            f"serial port {self._line.name}", "a line to a board with a network", state
        )

    def _reply(self, request: Request) -> bytes | None:
        """Read the payload of a reply, which other bytes may precede; None without a reply."""
        pace = self._line.pace
        size = reply_bytes(request.payload_bytes(self._word_bytes))
        request_bytes = len(request.encode(0, self._word_bytes))
        # Time for twice the reply, because as many other bytes may precede it.
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
        """Read until no more bytes come and the board waits for a mark."""
        # Bounded, because a line may never be silent.
        for _ in range(ATTEMPTS):
            if not self._read(1 << 12, self._line.pace.silence):
                break

    def _read(self, most: int, seconds: float) -> bytes:
        """Read from the line, and record whether any byte came."""
        data = self._line.read(most, seconds)
        self._heard |= bool(data)
        return data


def _from_mark(data: bytes) -> bytes:
    """Drop the bytes before the first mark of a reply."""
    start = data.find(REPLY_MARK)
    return data[start:] if start >= 0 else b""
