"""AXI-Stream in front of a tile port (docs/router.md, section 21)."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.network.buses import bus_data_bits
from ..model.network.config import NetworkConfig

ADDRESS_BITS = 16
"""Bits of an address in a beat; behind them comes, in a command, the number of words less one."""

COMMAND_BITS = 32


class AxiStream(Signature):
    """A stream of beats, as the standard has it; the directions are the transmitter's.

    ``last`` and ``user`` say whether there are ``tlast`` and a ``tuser`` of one bit.
    """

    def __init__(self, bits: int, *, last: bool = False, user: bool = False) -> None:
        marks = {"tlast": Out(1)} if last else {}
        if user:
            marks["tuser"] = Out(1)
        super().__init__({"tdata": Out(bits), "tvalid": Out(1), "tready": In(1), **marks})


class _Place:
    """An address of the message memory, and whether it is beyond it."""

    def __init__(self, config: NetworkConfig) -> None:
        self._words = config.message_words
        layout = data.StructLayout({"address": config.address_bits, "beyond": 1})
        self.now = Signal(layout)

    def first(self, address: Value) -> Value:
        """Return the place at an address of a beat."""
        return Cat(address[: len(self.now.address)], address[:ADDRESS_BITS] >= self._words)

    def next(self) -> Value:
        """Return the next place; beyond the memory every next place is beyond it too."""
        address, is_last = self.now.address, self.now.address == self._words - 1
        return Cat((address + 1)[: len(address)], self.now.beyond | is_last)


def writer_signature(config: NetworkConfig) -> Signature:
    """The ports of a :class:`StreamWriter`."""
    return Signature(
        {
            "stream": In(AxiStream(bus_data_bits(config), last=True)),
            "valid": Out(1),
            "address": Out(config.address_bits),
            "data": Out(config.flit_width),
            "ready": In(1),
            "refused": Out(1),
        }
    )


class StreamWriter(Component):
    """Writes the messages of a stream: in each, the first beat is where. Used by :class:`.Engine`.

    Members
    -------
    stream : In(AxiStream)
        Of the tile, with ``tlast``.
    valid, address, data : Out
        To the tile port, its ``write_`` signals.
    ready : In(1)
        The same.
    refused : Out(1)
        In the last cycle a word was taken for which there is no place.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(writer_signature(config))

    def elaborate(self, _platform: object) -> Module:
        """Advance the place with each word."""
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
    """The ports of a :class:`StreamReader`."""
    return Signature(
        {
            "commands": In(AxiStream(COMMAND_BITS)),
            "stream": Out(AxiStream(bus_data_bits(config), last=True, user=True)),
            "valid": Out(1),
            "address": Out(config.address_bits),
            "ready": In(1),
            "data": In(config.flit_width),
            **({"damaged": In(1)} if config.parity else {}),
        }
    )


class StreamReader(Component):
    """Reads the messages that commands ask for. Used by :class:`.Engine`.

    Members
    -------
    commands : In(AxiStream)
        Of the tile: an address, and above it the number of words less one.
    stream : Out(AxiStream)
        To the tile, with ``tlast`` and ``tuser``.
    valid, address : Out
        To the tile port, its ``read_`` signals.
    ready, data : In
        The same; ``data`` is looked at in the cycle after a request was taken.
    damaged : In(1)
        Only with parity: the same, with ``data``.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(reader_signature(config))

    def elaborate(self, _platform: object) -> Module:
        """Request a word when the previous one leaves, and keep a word that does not leave."""
        m = Module()
        stream, place = self.stream, _Place(self._config)
        # ``left`` counts the words behind the next one.
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
        """Return the word requested in the last cycle, or the kept word."""
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
        """Mark damaged words too; return the register that marks a word beyond the memory."""
        is_beyond, kept = Signal(name="is_beyond"), Signal(name="kept_damaged")
        damaged = Mux(waits, kept, self.damaged)
        m.d.sync += kept.eq(damaged)
        m.d.comb += self.stream.tuser.eq(is_beyond | damaged)
        return is_beyond
