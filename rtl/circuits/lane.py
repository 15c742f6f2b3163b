"""A lane of the network interface of a network with circuits (docs/router.md, section 23).

::

    run table ──► message memory ──► input register ──► router ──► arrived ──┐
                       ▲                                                     │
                       └──────────────────────── operators ◄─────────────────┘

The interface has one lane, in an all-port network one for each link port.
"""

from amaranth.hdl import C, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig, bits_for
from ..parts.link import WordLink
from ..parts.memory_ports import WordRead, WordWrite
from ..parts.operators import combined
from .run_table import exceeds

REPLACES = 1
"""The value of ``receive`` of a word that replaces the stored word; greater ones combine."""


def lane_suffixes(config: NetworkConfig) -> list[str]:
    """Return for each lane what follows the names of its signals: its link port, if it has one."""
    return [f"_{1 + lane}" for lane in range(config.lanes)] if config.all_port else [""]


def written_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of a word that is written.

    ``stores`` is high while there is one, ``fails`` in its place if it cannot be written. With tile
    ports, ``last`` is high if it belongs to the last cycle of a run.
    """
    last = {"last": 1} if config.tile_ports else {}
    return data.StructLayout({"stores": 1, "fails": 1, "address": config.address_bits, **last})


class CircuitLane(Component):
    """Reads the words that a lane sends, and writes those that arrive at it.

    Used by :class:`.CircuitInterface`.

    Members
    -------
    sends, send_address, receive, receive_address, receive_last
        As for :class:`.CurrentRun`, of this lane; ``receive_last`` only with tile ports.
    injection : Out(WordLink)
        The lane's input register of the router: the word that was read two cycles before.
    ejection : In(WordLink)
        The word that leaves the router for the lane.
    sum_leaves : In(1)
        Only with operators: that word is a sum. Valid while ``ejection.valid`` is high.
    read : Out(WordRead)
        Reads of the words to send.
    fetches : Out(1)
        High in a cycle in which the lane needs the word that it reads.
    stored : Out(WordRead)
        Only with operators: reads of the stored words to combine.
    write : Out(WordWrite)
        The words that arrived.
    bad_read : Out(1)
        High in a cycle in which a word to be sent would be read beyond the memory.
    written : Out(written_layout)
        The word that is written in this cycle.
    damaged : Out(1)
        Only with parity: high in a cycle in which the lane sees a damaged word.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        bits, width, operators = config.address_bits, config.flit_width, len(config.operators)
        read = WordRead(bits, width, parity=config.parity)
        super().__init__(
            {
                "sends": In(1),
                "send_address": In(bits),
                "receive": In(bits_for(operators + 1)),
                "receive_address": In(bits),
                **({"receive_last": In(1)} if config.tile_ports else {}),
                "injection": Out(WordLink(config)),
                "ejection": In(WordLink(config)),
                "read": Out(read),
                "fetches": Out(1),
                **({"sum_leaves": In(1), "stored": Out(read)} if operators else {}),
                "write": Out(WordWrite(bits, width)),
                "bad_read": Out(1),
                "written": Out(written_layout(config)),
                **({"damaged": Out(1)} if config.parity else {}),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the way out of the memory, and the way in."""
        m = Module()
        is_read = self._elaborate_sending(m)
        combines = self._elaborate_receiving(m)
        if self._config.parity:
            damaged = is_read & self.read.damaged
            if self._config.operators:
                damaged |= combines & self.stored.damaged
            m.d.comb += self.damaged.eq(damaged)
        return m

    def _is_beyond(self, address: Value) -> Value:
        """Return 1 if an address is not one of the message memory."""
        return exceeds(address, self._config.message_words - 1)

    def _elaborate_sending(self, m: Module) -> Signal:
        """Read the words to send; return a bit, high while a word that was read is shown."""
        is_read, is_held = Signal(name="is_read"), Signal(name="is_held")
        held = Signal(self._config.flit_width, name="held", reset_less=True)
        m.d.comb += [
            self.bad_read.eq(self.sends & self._is_beyond(self.send_address)),
            self.fetches.eq(self.sends & ~self.bad_read),
            self.read.address.eq(self.send_address),
            self.injection.valid.eq(is_held),
            self.injection.word.eq(held),
        ]
        m.d.sync += [is_read.eq(self.fetches), is_held.eq(is_read), held.eq(self.read.word)]
        return is_read

    def _elaborate_receiving(self, m: Module) -> Value:
        """Write the words that arrive; return a bit, high while a stored word is combined."""
        config, operators = self._config, len(self._config.operators)
        fields = {"place": written_layout(config), "receive": len(self.receive)}
        layout = data.StructLayout({**fields, "word": config.flit_width})
        arrived, written = Signal(layout, name="arrived"), Signal(layout, name="now_written")
        address, receive, last = self._place(m)
        beyond = self._is_beyond(address) | exceeds(receive, operators + 1)
        received = self.ejection.valid & receive.any()
        m.d.sync += [
            arrived.place.stores.eq(received & ~beyond),
            arrived.place.fails.eq(received & beyond),
            arrived.place.address.eq(address),
            arrived.receive.eq(receive),
            arrived.word.eq(self.ejection.word),
        ]
        if config.tile_ports:
            m.d.sync += arrived.place.last.eq(last)
        word: Value = written.word
        if operators:
            m.d.sync += written.eq(arrived)
            word = self._combined(m, address, written)
        else:
            m.d.comb += written.eq(arrived)
        m.d.comb += [
            self.written.eq(written.place),
            self.write.enable.eq(written.place.stores),
            self.write.address.eq(written.place.address),
            self.write.word.eq(word),
        ]
        return arrived.place.stores & (arrived.receive > REPLACES)

    def _place(self, m: Module) -> tuple[Value, Value, Value]:
        """Return address and ``receive`` of the word that leaves for the lane in this cycle.

        The third is 1 if that word belongs to the last cycle of a run; only with tile ports.
        """
        fields = {"address": self.receive_address, "receive": self.receive}
        if self._config.tile_ports:
            fields["last"] = self.receive_last
        now = {name: Signal.like(field, name=f"{name}_now") for name, field in fields.items()}
        m.d.sync += [now[name].eq(field) for name, field in fields.items()]
        if self._config.operators:
            # A sum belongs to the entry of the words that it is made of, one cycle earlier.
            before = {name: Signal.like(field, name=f"sum_{name}") for name, field in now.items()}
            m.d.sync += [before[name].eq(field) for name, field in now.items()]
            place = {name: Signal.like(field, name=f"place_{name}") for name, field in now.items()}
            m.d.comb += [
                field.eq(Mux(self.sum_leaves, before[name], now[name]))
                for name, field in place.items()
            ]
            now = place
        return now["address"], now["receive"], now.get("last", C(0))

    def _combined(self, m: Module, address: Value, written: data.View) -> Signal:
        """Return the word to write: the arrived word, or the result of an operator."""
        config = self._config
        there = Signal(config.flit_width, name="there", reset_less=True)
        word = Signal(config.flit_width, name="result")
        m.d.sync += there.eq(self.stored.word)
        m.d.comb += [self.stored.address.eq(address), word.eq(written.word)]
        with m.Switch(written.receive):
            for place, operator in enumerate(config.operators):
                with m.Case(REPLACES + 1 + place):
                    m.d.comb += word.eq(combined(m, f"own_{place}", operator, there, written.word))
        return word
