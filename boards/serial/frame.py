"""The frames on the serial line between a computer and a board (docs/fpga.md, "The serial line").

::

    request  MARK  SEQUENCE  COMMAND  COUNT  NODE  ADDRESS (2)  WORD  CRC (2)
    reply    MARK  SEQUENCE  PAYLOAD  CRC (2)

Numbers of several bytes go low byte first. The CRC covers all bytes between the mark and itself.
"""

from __future__ import annotations

import enum
import json
import zlib
from dataclasses import dataclass

from ...model.base.errors import InvalidInput
from ...model.network.config import NetworkConfig
from ...model.network.config_file import network_to_json

REQUEST_MARK = 0xE5
REPLY_MARK = 0xCA
HEADER_BYTES = 6
"""Bytes of a request's header: sequence, command, count, node and address."""
CRC_BYTES = 2
CRC_START = 0xFFFF
CRC_POLYNOMIAL = 0x8408
"""x^16 + x^12 + x^5 + 1, with its bits in the order of the line, lowest first."""
MOST_WORDS = 256
"""Most words that one request can read."""
MOST_NODES = 256
MOST_ADDRESS_BITS = 16
STATUS_BYTES = 9


class RequestKind(enum.IntEnum):
    """Kind of a request: bits 2 and 3 of its command. Bits 0 and 1 are the host space."""

    READ = 0
    WRITE = 1
    STATUS = 2
    CONTROL = 3


class Control(enum.IntFlag):
    """Bits that a control request sets; also the lowest bits of a status."""

    RESET = 1
    BARRIER = 2
    HALF_DUPLEX = 4


class Outcome(enum.IntFlag):
    """Bits of a status that tell how a run ended, or that a request was refused: bits 3 to 5."""

    DONE = 8
    ERROR = 16
    REFUSED = 32
    """A controller has refused a request since the last control request."""


@dataclass(frozen=True)
class Status:
    """Status of a board.

    control, outcome
        The control bits set last; the current signals of the network.
    identity
        Identity of the network on the board; see :func:`identity`.
    cycle
        The cycle counter. It stands still if ``outcome`` has done; otherwise it changes while it is
        sent, so its bytes may not belong together.
    """

    control: Control
    outcome: Outcome
    identity: int
    cycle: int

    @classmethod
    def of(cls, payload: bytes) -> Status:
        """Read the payload of a status reply."""
        return cls(
            control=Control(payload[0] & 7),
            outcome=Outcome(payload[0] & 56),
            identity=int.from_bytes(payload[1:5], "little"),
            cycle=int.from_bytes(payload[5:9], "little"),
        )


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request of the computer; a read asks for ``words`` words, 1 to :data:`MOST_WORDS`."""

    kind: RequestKind
    space: int = 0
    node: int = 0
    address: int = 0
    words: int = 1
    word: int = 0

    def encode(self, sequence: int, word_bytes: int) -> bytes:
        """Return the frame, for words of ``word_bytes`` bytes."""
        header = bytes((sequence, self.kind << 2 | self.space, self.words - 1, self.node))
        address = self.address.to_bytes(2, "little")
        body = header + address + self.word.to_bytes(word_bytes, "little")
        return bytes((REQUEST_MARK,)) + body + crc(body).to_bytes(CRC_BYTES, "little")

    def payload_bytes(self, word_bytes: int) -> int:
        """Return the number of payload bytes of the reply."""
        return {RequestKind.READ: self.words * word_bytes, RequestKind.STATUS: STATUS_BYTES}.get(
            self.kind, 0
        )


def reply_bytes(payload: int) -> int:
    """Return the number of bytes of a reply with ``payload`` payload bytes."""
    return 2 + payload + CRC_BYTES


def decode_reply(frame: bytes, sequence: int) -> bytes | None:
    """Return the payload of the reply to request ``sequence``; None for any other frame."""
    body, received = frame[1:-CRC_BYTES], frame[-CRC_BYTES:]
    if frame[:2] != bytes((REPLY_MARK, sequence)):
        return None
    return body[1:] if crc(body).to_bytes(CRC_BYTES, "little") == received else None


def crc(data: bytes) -> int:
    """Return the checksum of a frame (CRC-16/MCRF4XX).

    >>> hex(crc(b"123456789"))
    '0x6f91'
    """
    value = CRC_START
    for byte in data:
        for place in range(8):
            feedback = (value ^ byte >> place) & 1
            value = value >> 1 ^ (CRC_POLYNOMIAL if feedback else 0)
    return value


def word_bytes(config: NetworkConfig) -> int:
    """Return the bytes of a host's word on the line: of a wide word, those of a piece."""
    return -(-config.narrow_width // 8)


def identity(config: NetworkConfig) -> int:
    """Return 32 bits that distinguish networks, so that no board is taken for another."""
    return zlib.crc32(json.dumps(network_to_json(config), sort_keys=True).encode())


def require_boardable(config: NetworkConfig) -> None:
    """Raise :class:`.InvalidInput` for a network that the frames cannot address."""
    nodes = config.topology.nodes
    if nodes > MOST_NODES:
        raise InvalidInput.of("nodes of a network on a board", f"at most {MOST_NODES}", nodes)
    from ...rtl.parts.host_port import host_address_bits  # noqa: PLC0415 - loads Amaranth

    address_bits = host_address_bits(config)
    if address_bits > MOST_ADDRESS_BITS:
        allowed = f"of at most {MOST_ADDRESS_BITS} bits"
        raise InvalidInput.of("host addresses of a network on a board", allowed, address_bits)
    if config.all_port:
        raise InvalidInput.of("all_port of a network on a board", "False", config.all_port)
