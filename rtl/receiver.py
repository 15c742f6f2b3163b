"""The receiving half of the network interface (docs/router.md, section 4, "Receiver")."""

from amaranth.hdl import C, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.network.config import NetworkConfig
from .host_port import Causes, Flag
from .link import Ejection, delivery_layout
from .memory_ports import WordWrite


class PacketArrival(Signature):
    """The end of a packet; the directions are the receiver's.

    Members
    -------
    valid : Out(1)
        The tail of a packet comes out of the network in this cycle.
    step : Out(step_bits)
        The step that its header flit carries. Valid while ``valid`` is 1.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__({"valid": Out(1), "step": Out(config.step_bits)})


class Receiver(Component):
    """Writes the payload of every packet that comes out of the network where its header says.

    Used by :class:`.Lane`.

    Members
    -------
    ejection : In(Ejection)
        From port 0 of the router, or an ejection port. A flit is taken in every cycle in which it
        is valid.
    message : Out(WordWrite)
        Into the message memory: in the cycle in which a payload flit comes out.
    arrival : Out(PacketArrival)
        In the cycle in which a tail comes out; its word is written at the end of that cycle.
    causes : Out(Causes)
        ``bad_write``: in the cycle in which a payload flit comes out whose place is beyond the
        message memory. It is not written.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(
            {
                "ejection": In(Ejection(config)),
                "message": Out(WordWrite(config.address_bits, config.flit_width)),
                "arrival": Out(PacketArrival(config)),
                "causes": Out(Causes(Flag.BAD_WRITE)),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Per VC: of which step is the packet under way, where does its next word go."""
        config = self._config
        m = Module()
        flit = self.ejection.flit
        delivery = Signal(delivery_layout(config))
        address = Signal(config.length_bits)
        step = Signal(config.step_bits)
        is_word, fits = Signal(name="is_word"), Signal(name="fits")
        m.d.comb += [
            delivery.eq(flit.data[: delivery.shape().size]),
            is_word.eq(self.ejection.valid.any() & ~flit.head),
            fits.eq(address < config.message_words),
            self.message.enable.eq(is_word & fits),
            self.causes.bad_write.eq(is_word & ~fits),
            self.message.address.eq(address),
            self.message.word.eq(flit.data),
            self.arrival.valid.eq(self.ejection.valid.any() & flit.tail),
            self.arrival.step.eq(Mux(flit.head, delivery.step, step)),
        ]
        for vc in range(config.vcs):
            kept_address, kept_step = Signal.like(address), Signal.like(step)
            with m.If(self.ejection.valid[vc]):
                m.d.sync += [
                    kept_address.eq(Mux(flit.head, delivery.address, address + fits)),
                    kept_step.eq(self.arrival.step),
                ]
            with m.If(self._is_of(vc)):
                m.d.comb += [address.eq(kept_address), step.eq(kept_step)]
        return m

    def _is_of(self, vc: int) -> Value:
        """Tell whether what arrives is of that VC, if anything does."""
        return C(1) if self._config.vcs == 1 else self.ejection.valid[vc]
