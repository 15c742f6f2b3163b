"""The words of a row's message, fetched a cycle early (docs/router.md, section 4, "Sender")."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig


class MessageFetch(Component):
    """Reads a word before the last one has left. Used by :class:`.Sender` if it looks ahead.

    Before a row is due, the memory reads the row's first word in every cycle, because that word may
    still arrive. While the row is offered, the memory reads the word behind it.

    Members
    -------
    read : In(1)
        High in a cycle in which the row is read: ``first`` is the address of its first word.
    first : In(address_bits)
        That address. Valid while ``read`` is 1.
    due : In(1)
        High while the row could begin.
    wanted : In(1)
        High in a cycle in which a flit is offered.
    leaves : In(1)
        High in a cycle in which a word of the message leaves.
    address : Out(address_bits)
        The address that the memory reads in this cycle.
    answer : In(flit_width)
        The word at the ``address`` of the last cycle.
    word : Out(flit_width)
        The word to be injected next.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {
                "read": In(1),
                "first": In(config.address_bits),
                "due": In(1),
                "wanted": In(1),
                "leaves": In(1),
                "address": Out(config.address_bits),
                "answer": In(config.flit_width),
                "word": Out(config.flit_width),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Keep the last address, and the word to be injected."""
        m = Module()
        shown, fetched = Signal.like(self.word, name="shown"), Signal(name="fetched")
        # The next address is a register, because the cycle leaves no time for an addition.
        last, following = (Signal.like(self.address, name=name) for name in ("last", "following"))
        goes_on = (self.due & ~fetched) | self.leaves
        m.d.comb += [
            self.address.eq(Mux(self.read, self.first, Mux(goes_on, following, last))),
            self.word.eq(shown),
        ]
        m.d.sync += [
            last.eq(self.address),
            following.eq(self.address + 1),
            fetched.eq(self.due | self.wanted),
        ]
        with m.If(~fetched | self.leaves):
            m.d.sync += shown.eq(self.answer)
        return m
