"""The receiving half of the network interface (docs/router.md, section 4, "Receiver")."""

from amaranth.hdl import C, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Member, Out, Signature

from ...model.network.config import NetworkConfig
from ..parts.combiner import ArrivingWord, NextWord, reads_ahead
from ..parts.host_port import Causes, Flag
from ..parts.link import Ejection, delivery_layout
from ..parts.memory_ports import WordWrite
from ..parts.technology import PLAIN, Technology
from ..parts.tile_port import PacketArrival
from .window import fixed_bits, is_in_window, next_place


class Receiver(Component):
    """Writes the payload of every arriving packet to the address in the packet's header.

    Used by :class:`.Lane`.

    Members
    -------
    ejection : In(Ejection)
        The link from port 0 of the router, or from an ejection port. The receiver takes every flit.
    message : Out(WordWrite)
        The word to write to the message memory, in the cycle in which its flit arrives. In a
        network with operators an :class:`.ArrivingWord`, for a :class:`.Combiner`.
    next_words : array of NextWord, Out
        Only with slow operators: the next word of each VC.
    arrival : Out(PacketArrival)
        The end of a packet, in the cycle at whose end its last word is written.
    written : Out(1)
        Only in a network with streams: high in a cycle at whose end a word is written. The step of
        its packet is that of ``arrival``.
    causes : Out(Causes)
        ``bad_write``: high in the cycle at whose end a wrong word would be written. A word is wrong
        if its address, or the stored word's, is beyond the message memory, or if the network lacks
        the operator.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._reads_ahead = reads_ahead(config, technology)
        super().__init__(
            {
                "ejection": In(Ejection(config)),
                "message": Out(message_signature(config, technology)),
                **self._members_of_waiting(),
                "arrival": Out(PacketArrival(config)),
                **({"written": Out(1)} if config.streams else {}),
                "causes": Out(Causes(Flag.BAD_WRITE)),
            }
        )

    def _members_of_waiting(self) -> dict[str, Member]:
        """Return the members that only a network with slow operators has."""
        if not self._config.operator_latency:
            return {}
        return {"next_words": Out(NextWord(self._config)).array(self._config.vcs)}

    def elaborate(self, _platform: object) -> Module:
        """Keep for each VC its packet's step, the address of the next word, and the operator."""
        config = self._config
        m = Module()
        flit = self.ejection.flit
        delivery = Signal(delivery_layout(config))
        address = Signal(config.length_bits)
        step = Signal(config.step_bits)
        is_word, fits = Signal(name="is_word"), Signal(name="fits")
        further = self._further_fields()
        step_now, writable = self.arrival.step, fits
        if config.operators:
            step_now = Signal.like(step)
            writable = fits & self._elaborate_operator(m, address, further["operator"])
            m.d.comb += [
                self.message.leaves.eq(is_word & fits),
                self.arrival.step.eq(self._when_written(m, step_now)),
            ]
        m.d.comb += [
            delivery.eq(flit.data[: delivery.shape().size]),
            is_word.eq(self.ejection.valid.any() & ~flit.head),
            fits.eq(address < config.message_words),
            self.message.enable.eq(is_word & writable),
            self.message.address.eq(address),
            self.message.word.eq(flit.data),
            self.causes.bad_write.eq(self._when_written(m, is_word & ~writable)),
            self.arrival.valid.eq(self._when_written(m, self.ejection.valid.any() & flit.tail)),
            step_now.eq(Mux(flit.head, delivery.step, step)),
        ]
        if config.streams:
            m.d.comb += self.written.eq(self._when_written(m, self.message.enable))
        next_address = self._next_address(address, fits, further)
        if self._reads_ahead:
            self._elaborate_place_ahead(m, delivery, next_address, further["operator"])
        for vc in range(config.vcs):
            kept_address, kept_step = Signal.like(address), Signal.like(step)
            with m.If(self.ejection.valid[vc]):
                m.d.sync += [
                    kept_address.eq(Mux(flit.head, delivery.address, next_address)),
                    kept_step.eq(step_now),
                ]
            with m.If(self._is_of(vc)):
                m.d.comb += [address.eq(kept_address), step.eq(kept_step)]
            kept = self._keep_further(m, vc, delivery, further)
            if config.operator_latency:
                self._elaborate_next_word(m, vc, kept_address, kept["operator"])
        return m

    def _when_written(self, m: Module, value: Value) -> Value:
        """Delay a value of an arriving flit to the cycle at whose end its word is written."""
        for _ in range(self._config.operator_latency + 1 if self._config.operators else 0):
            register = Signal(len(value))
            m.d.sync += register.eq(value)
            value = register
        return value

    def _is_of(self, vc: int) -> Value:
        """Tell whether a flit arrives on that VC."""
        return C(1) if self._config.vcs == 1 else self.ejection.valid[vc]

    def _further_fields(self) -> dict[str, Signal]:
        """Return signals for the further header fields of the packet of the arriving flit.

        ``operator`` is the delivery's field; ``fixed`` marks the address bits that stay the same.
        """
        config, fields = self._config, {}
        if config.operators:
            fields["operator"] = Signal(config.operator_bits, name="operator")
        if config.window_bits:
            fields["fixed"] = Signal(config.length_bits, name="fixed")
        return fields

    def _keep_further(
        self, m: Module, vc: int, delivery: data.View, fields: dict[str, Signal]
    ) -> dict[str, Signal]:
        """Keep the further fields of a VC's packet from its header on; select the arriving VC's."""
        kept = {name: Signal.like(field, name=f"kept_{name}") for name, field in fields.items()}
        with m.If(self.ejection.valid[vc] & self.ejection.flit.head):
            if "operator" in fields:
                m.d.sync += kept["operator"].eq(delivery.operator)
            if "fixed" in fields:
                bits = self._config.length_bits
                m.d.sync += kept["fixed"].eq(fixed_bits(delivery.window, bits))
        with m.If(self._is_of(vc)):
            m.d.comb += [field.eq(kept[name]) for name, field in fields.items()]
        return kept

    def _next_address(self, address: Value, fits: Value, fields: dict[str, Signal]) -> Value:
        """Return the address of the packet's next word; it stays once it is beyond the memory."""
        if "fixed" not in fields:
            return address + fits
        # In a window the address advances even beyond the memory, because it wraps back.
        return next_place(address, fields["fixed"], fits | is_in_window(fields["fixed"]))

    def _elaborate_operator(self, m: Module, address: Value, operator: Value) -> Value:
        """Decode the operator and the stored word's address; return whether both exist."""
        source = self._source(address, operator)
        m.d.comb += self.message.operator.eq((operator + 1) >> 1)
        if not self._reads_ahead:
            m.d.comb += self.message.source.eq(source)
        return self._is_sound(source, operator)

    def _elaborate_place_ahead(
        self, m: Module, delivery: data.View, next_address: Value, operator: Value
    ) -> None:
        """Show the address of the stored word for the next payload flit: :class:`.PlaceAhead`."""
        first = self._source(delivery.address, delivery.operator)
        m.d.comb += [
            self.message.ahead.enable.eq(self.ejection.valid.any()),
            self.message.ahead.source.eq(
                Mux(self.ejection.flit.head, first, self._source(next_address, operator))
            ),
        ]

    def _source(self, address: Value, operator: Value) -> Value:
        """Return the stored word's address: in the other half, if the packet combines across."""
        across = operator.any() & ~operator[0]
        return address ^ (across << (self._config.address_bits - 1))

    def _is_sound(self, source: Value, operator: Value) -> Value:
        """Tell whether the address and the operator exist."""
        in_memory = source < self._config.message_words
        return in_memory & (operator <= 2 * len(self._config.operators))

    def _elaborate_next_word(self, m: Module, vc: int, address: Value, operator: Value) -> None:
        """Show the stored word's address for the VC's next word; slow operators may delay it."""
        begun, word = Signal(name="begun"), self.next_words[vc]
        with m.If(self.ejection.valid[vc]):
            m.d.sync += begun.eq(~self.ejection.flit.tail)
        source = self._source(address, operator)
        fits = address < self._config.message_words
        m.d.comb += [
            word.combines.eq(begun & operator.any() & fits & self._is_sound(source, operator)),
            word.source.eq(source),
        ]


def message_signature(config: NetworkConfig, technology: Technology) -> Signature:
    """Return the signature of writes to the message memory or, with operators, to the combiner."""
    if config.operators:
        return ArrivingWord(config, ahead=reads_ahead(config, technology))
    return WordWrite(config.address_bits, config.flit_width)
