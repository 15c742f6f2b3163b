"""AXI-Stream in front of a tile port (docs/router.md, section 21)."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.network.buses import stream_bits
from ..model.network.config import NetworkConfig
from .parts.assertions import Assertions, asserted

ADDRESS_BITS = 16
"""Bits of an address in a beat. In a command, the number of words minus 1 stands above them."""

COMMAND_BITS = 32


class AxiStream(Signature):
    """A stream of beats, as the standard defines it; the directions are the transmitter's.

    ``last`` adds ``tlast``, and ``user`` a ``tuser`` of one bit.
    """

    def __init__(self, bits: int, *, last: bool = False, user: bool = False) -> None:
        marks = {"tlast": Out(1)} if last else {}
        if user:
            marks["tuser"] = Out(1)
        super().__init__({"tdata": Out(bits), "tvalid": Out(1), "tready": In(1), **marks})


class _Place:
    """A register for an address, with a mark for addresses beyond the message memory."""

    def __init__(self, config: NetworkConfig) -> None:
        self._words = config.message_words
        layout = data.StructLayout({"address": config.address_bits, "beyond": 1})
        self.now = Signal(layout)

    def first(self, address: Value) -> Value:
        """Return the register's value for the address in a beat."""
        return Cat(address[: len(self.now.address)], address[:ADDRESS_BITS] >= self._words)

    def next(self) -> Value:
        """Return the register's value for the next address; the mark stays set."""
        address, is_last = self.now.address, self.now.address == self._words - 1
        return Cat((address + 1)[: len(address)], self.now.beyond | is_last)


def writer_signature(config: NetworkConfig) -> Signature:
    """Return the ports of a :class:`StreamWriter`."""
    return Signature(
        {
            "stream": In(AxiStream(stream_bits(config), last=True)),
            "valid": Out(1),
            "address": Out(config.address_bits),
            "data": Out(config.flit_width),
            "ready": In(1),
            "refused": Out(1),
        }
    )


class StreamWriter(Component):
    """Writes the messages of a stream into the message memory. Used by :class:`.Engine`.

    The first beat of a message is the address, the others are the words.

    Members
    -------
    stream : In(AxiStream)
        The tile's stream, with ``tlast``.
    valid, address, data : Out
        The ``write_`` signals of the tile port.
    ready : In(1)
        The ``write_ready`` signal of the tile port.
    refused : Out(1)
        High in the cycle after a word beyond the message memory was taken.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(writer_signature(config))

    def elaborate(self, _platform: object) -> Module:
        """Advance the address with each word; drop words beyond the memory."""
        m = Module()
        stream, place, inside = self.stream, _Place(self._config), Signal()
        m.d.comb += [
            stream.tready.eq(~inside | place.now.beyond | self.ready),
            self.valid.eq(stream.tvalid & inside & ~place.now.beyond),
            self.address.eq(place.now.address),
            self.data.eq(stream.tdata),
        ]
        m.d.sync += self.refused.eq(stream.tvalid & inside & place.now.beyond)
        with m.If(stream.tvalid & stream.tready):
            m.d.sync += [
                inside.eq(~stream.tlast),
                place.now.eq(Mux(inside, place.next(), place.first(stream.tdata))),
            ]
        return m


def reader_signature(config: NetworkConfig) -> Signature:
    """Return the ports of a :class:`StreamReader`."""
    return Signature(
        {
            "commands": In(AxiStream(COMMAND_BITS)),
            "stream": Out(AxiStream(stream_bits(config), last=True, user=True)),
            "valid": Out(1),
            "address": Out(config.address_bits),
            "ready": In(1),
            "data": In(config.flit_width),
            **({"damaged": In(1)} if config.parity else {}),
        }
    )


@asserted
class StreamReader(Component):
    """Reads the messages that commands ask for. Used by :class:`.Engine`.

    Members
    -------
    commands : In(AxiStream)
        The tile's commands: an address, and above it the number of words minus 1.
    stream : Out(AxiStream)
        The words for the tile, with ``tlast`` and ``tuser``.
    valid, address : Out
        The ``read_valid`` and ``read_address`` signals of the tile port.
    ready, data : In
        The ``read_ready`` and ``read_data`` signals of the tile port. ``data`` is used in the cycle
        after a request was taken.
    damaged : In(1)
        Only with parity: the port's ``read_damaged``, used with ``data``.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(reader_signature(config))

    def assertions(self, check: Assertions) -> None:
        """State that a beat stays until it is taken."""
        stream = self.stream
        beat = Cat(stream.tdata, stream.tlast, stream.tuser)
        check.ensures("beats_stay", check.stays(stream.tvalid, stream.tready, beat))

    def elaborate(self, _platform: object) -> Module:
        """Request a word when the previous one leaves, and keep a word that does not leave."""
        m = Module()
        stream, place = self.stream, _Place(self._config)
        # ``left`` counts the words after the next one.
        busy, left = Signal(), Signal(COMMAND_BITS - ADDRESS_BITS)
        may, asked = Signal(), Signal()
        m.d.comb += [
            self.commands.tready.eq(~busy),
            may.eq(busy & (~stream.tvalid | stream.tready)),
            self.valid.eq(may & ~place.now.beyond),
            self.address.eq(place.now.address),
            asked.eq(may & (place.now.beyond | self.ready)),
        ]
        with m.If(asked):
            m.d.sync += [place.now.eq(place.next()), left.eq(left - 1), busy.eq(left != 0)]
        with m.Elif(~busy & self.commands.tvalid):
            command = self.commands.tdata
            m.d.sync += [
                *(busy.eq(1), left.eq(command[ADDRESS_BITS:])),
                place.now.eq(place.first(command)),
            ]
        self._elaborate_answer(m, asked, left == 0, place.now.beyond)
        return m

    def _elaborate_answer(self, m: Module, asked: Signal, last: Value, beyond: Value) -> None:
        """Show the word requested in the last cycle, or the word that still waits."""
        stream, fresh, kept = self.stream, Signal(), Signal(self._config.flit_width)
        waits = Signal()
        is_beyond = stream.tuser
        if self._config.parity:
            is_beyond = self._elaborate_damaged(m, waits)
        word = Mux(waits, kept, self.data)
        m.d.comb += [
            stream.tvalid.eq(fresh | waits),
            stream.tdata.eq(Mux(is_beyond, 0, word)),
        ]
        m.d.sync += [
            fresh.eq(asked),
            waits.eq(stream.tvalid & ~stream.tready),
            kept.eq(word),
        ]
        with m.If(asked):
            m.d.sync += [stream.tlast.eq(last), is_beyond.eq(beyond)]

    def _elaborate_damaged(self, m: Module, waits: Signal) -> Signal:
        """Mark damaged words and words beyond the memory in ``tuser``; return the latter's mark."""
        is_beyond, kept = Signal(name="is_beyond"), Signal(name="kept_damaged")
        damaged = Mux(waits, kept, self.damaged)
        m.d.sync += kept.eq(damaged)
        m.d.comb += self.stream.tuser.eq(is_beyond | damaged)
        return is_beyond
