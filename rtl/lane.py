"""One way into the network and one out of it at a node (docs/router.md, section 4).

::

    host ──► table ─────────► sender ──► inject (port 0 of the router, or injection port l)
                                ▲ step
    expected ─────────────► arrival record ──► arrived
                                ▲ arrival
    message memory ◄──────── receiver ◄── eject (port 0, or ejection port l)

A node has one, and in an all-port network one for each link.
"""

from amaranth.hdl import Module
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .host_port import table_address_bits
from .link import CYCLE_BITS, Ejection, Link, connect_ejection, connect_link
from .receiver import Receiver
from .sender import Sender
from .steps import ArrivalRecord
from .table import Table
from .technology import PLAIN, Technology


class Lane(Component):
    """Executes a table, and takes what arrives.

    Parameters
    ----------
    config
        Of the network.
    number
        Which of the node's it is, from 0; in an all-port network that of link ``number`` + 1.

    Attributes
    ----------
    injection, ejection : Link, Ejection
        To and from the router.
    table_write, table_write_address, table_write_word : In
        Into the table memory.
    message_address, message_word : Out, In
        The message memory: the word at the address that was shown in the last cycle.
    write, write_address, write_word : Out
        Into the message memory.
    step, rises, next_step, now, hold, barrier : In
        As for :class:`.Sender` and :class:`.ArrivalRecord`.
    expected, awaited, arrived : In, In, Out
        As for :class:`.ArrivalRecord`.
    begins, receives : Out(1)
        A row begins; something arrives in this step.
    step_done, all_done : Out(1)
        All is sent and received of this step; of the program.
    stalled : Out(1)
        The flit injected in this cycle has waited for a credit.
    credit_overflow, unexpected_receive, bad_row, bad_write : Out(1)
        What must never happen.
    sender_state : Out(3)
        The value of a :class:`.SenderState`, for the host.

    """

    def __init__(
        self, config: NetworkConfig, *, number: int, technology: Technology = PLAIN
    ) -> None:
        self._config = config
        self._technology = technology
        links = range(1, config.topology.ports)
        self._ports = links[number : number + 1] if config.all_port else links
        super().__init__(
            {
                "injection": Out(Link(config)),
                "ejection": In(Ejection(config)),
                "table_write": In(1),
                "table_write_address": In(table_address_bits(config)),
                "table_write_word": In(config.flit_width),
                "message_address": Out(config.address_bits),
                "message_word": In(config.flit_width),
                "write": Out(1),
                "write_address": Out(config.address_bits),
                "write_word": Out(config.flit_width),
                "step": In(config.step_bits),
                "rises": In(1),
                "next_step": In(config.step_bits),
                "now": In(CYCLE_BITS),
                "hold": In(1),
                "barrier": In(1),
                "expected": In(1 << config.step_bits),
                "awaited": In(config.flit_width),
                "arrived": Out(1 << config.step_bits),
                "begins": Out(1),
                "receives": Out(1),
                "step_done": Out(1),
                "all_done": Out(1),
                "stalled": Out(1),
                "credit_overflow": Out(1),
                "unexpected_receive": Out(1),
                "bad_row": Out(1),
                "bad_write": Out(1),
                "sender_state": Out(3),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """The parts of the drawing above."""
        m = Module()
        technology = self._technology
        m.submodules.table = table = Table(self._config, technology=technology)
        m.submodules.sender = sender = Sender(
            self._config, ports=self._ports, technology=technology
        )
        m.submodules.receiver = receiver = Receiver(self._config)
        m.submodules.record = record = ArrivalRecord(self._config, technology=technology)
        connect_link(m, sender.link, self.injection)
        connect_ejection(m, self.ejection, receiver.ejection)
        self._take(m, sender, "step", "rises", "next_step", "now", "hold", "message_word")
        self._take(m, record, "step", "barrier", "expected", "awaited")
        self._give(m, sender, "message_address", "begins", "stalled")
        self._give(m, sender, "bad_row", "credit_overflow")
        self._give(m, receiver, "write", "write_address", "write_word", "bad_write")
        self._give(m, record, "arrived", "receives", "unexpected_receive")
        m.d.comb += [
            table.write.eq(self.table_write),
            table.write_address.eq(self.table_write_address),
            table.write_word.eq(self.table_write_word),
            table.advance.eq(sender.table_advance),
            sender.table_word.eq(table.word),
            sender.table_next_word.eq(table.next_word),
            record.arrival.eq(receiver.arrival),
            record.arrival_step.eq(receiver.arrival_step),
            self.step_done.eq(sender.over & record.step_received),
            self.all_done.eq(sender.ended & record.all_received),
            self.sender_state.eq(sender.state),
        ]
        return m

    def _take(self, m: Module, part: Component, *names: str) -> None:
        """A part has these from this component's ports of the same names."""
        m.d.comb += [getattr(part, name).eq(getattr(self, name)) for name in names]

    def _give(self, m: Module, part: Component, *names: str) -> None:
        """These ports of this component show those of a part."""
        m.d.comb += [getattr(self, name).eq(getattr(part, name)) for name in names]
