"""The receiving half of the network interface (docs/router.md, section 4, "Receiver")."""

from amaranth.hdl import C, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .link import Ejection, delivery_layout


class Receiver(Component):
    """Writes the payload of every packet that comes out of the network where its header says.

    Attributes
    ----------
    ejection : In(Ejection)
        From port 0 of the router, or an ejection port.
    write, write_address, write_word : Out
        Into the message memory.
    arrival, arrival_step : Out
        The tail of a packet of that step is here.
    bad_write : Out(1)
        A payload flit beyond the message memory; it is not written.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(
            {
                "ejection": In(Ejection(config)),
                "write": Out(1),
                "write_address": Out(config.address_bits),
                "write_word": Out(config.flit_width),
                "arrival": Out(1),
                "arrival_step": Out(config.step_bits),
                "bad_write": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Per VC: of which step is the packet under way, where does its next word go."""
        config = self._config
        m = Module()
        flit = self.ejection.flit
        delivery = Signal(delivery_layout(config))
        address, step = Signal(config.length_bits), Signal(config.step_bits)
        is_word, fits = Signal(), Signal()
        m.d.comb += [
            delivery.eq(flit.data[: delivery.shape().size]),
            is_word.eq(self.ejection.valid.any() & ~flit.head),
            fits.eq(address < config.message_words),
            self.write.eq(is_word & fits),
            self.bad_write.eq(is_word & ~fits),
            self.write_address.eq(address),
            self.write_word.eq(flit.data),
            self.arrival.eq(self.ejection.valid.any() & flit.tail),
            self.arrival_step.eq(Mux(flit.head, delivery.step, step)),
        ]
        for vc in range(config.vcs):
            kept_address, kept_step = Signal.like(address), Signal.like(step)
            with m.If(self.ejection.valid[vc]):
                m.d.sync += [
                    kept_address.eq(Mux(flit.head, delivery.address, address + fits)),
                    kept_step.eq(self.arrival_step),
                ]
            with m.If(self._is_of(vc)):
                m.d.comb += [address.eq(kept_address), step.eq(kept_step)]
        return m

    def _is_of(self, vc: int) -> Value:
        """Tell whether what arrives is of that VC, if anything does."""
        return C(1) if self._config.vcs == 1 else self.ejection.valid[vc]
