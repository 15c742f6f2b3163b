"""The layout of certificates: a file of another form is refused with the place of its mistake."""

import msgspec

from ..base.json_file import Header


class Held(msgspec.Struct):
    """The place of a value before the run."""

    node: int
    address: int
    words: int
    value: int


class Owed(msgspec.Struct):
    """The words that a memory must hold after the run."""

    node: int
    address: int
    words: int
    values: list[int]
    operator: int


class PacketFile(Header):
    """The certificate of a program of packets; see :mod:`.packet_certificate`."""

    program: str
    channel_order: list[tuple[int, int, int]]
    timing: str
    held: list[Held]
    owed: list[Owed]
    stream_order: list[list[list[int]]] = msgspec.field(default_factory=list)
    links: list[tuple[int, int, int, int]] = msgspec.field(default_factory=list)


class CircuitFile(Header):
    """The certificate of a program on circuits; see :mod:`.circuit_certificate`."""

    program: str
    cycles: int
    links: list[tuple[int, int, int, int]]
    held: list[Held]
    owed: list[Owed]
