"""The receiving half of the network interface (docs/router.md, section 4, "Receiver")."""

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import Component, In, Out

from ..model.config import NetworkConfig
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
        m.d.comb += [
            delivery.eq(flit.data[: delivery.shape().size]),
            self.write_word.eq(flit.data),
        ]
        for vc in range(config.vcs):
            address = Signal(config.length_bits, name=f"address_{vc}")
            step = Signal(config.step_bits, name=f"step_{vc}")
            with m.If(self.ejection.valid[vc]):
                m.d.comb += self.arrival.eq(flit.tail)
                with m.If(flit.head):
                    m.d.comb += self.arrival_step.eq(delivery.step)
                    m.d.sync += [address.eq(delivery.address), step.eq(delivery.step)]
                with m.Else():
                    m.d.comb += [
                        self.write.eq(address < config.message_words),
                        self.bad_write.eq(~self.write),
                        self.write_address.eq(address),
                        self.arrival_step.eq(step),
                    ]
                    m.d.sync += address.eq(address + self.write)
        return m
