"""The words of a row's message, fetched for the sender (docs/router.md, section 4, "Sender").

Used by :class:`.Sender`.
"""

from typing import Any

from amaranth.hdl import C, Module, Mux, Signal, Value

from ..model.network.config import NetworkConfig
from .injector import Injector
from .row import RowReader
from .row_of_streams import add_coming
from .window import next_place


class MessageFetch:
    """The next word of the row's message, and whether it may leave.

    Parameters
    ----------
    m
        The module of the sender, to which the fetch adds its gates.
    config
        The network.
    ports
        The ports of the sender.
    reader
        The row under way.
    injector
        The way out for the word.
    ahead
        Whether the memory reads a word before the last one has left. A streamed word leaves too
        soon after its arrival for that.

    Attributes
    ----------
    in_payload : Signal
        High in a cycle in which the sender injects words. Set by the sender's states.
    leaves : Value
        High in a cycle in which a word of the message is injected.
    last : Signal
        High in a cycle in which no word is left after the one being injected, or none at all.
    there : Value
        High if the next word has arrived: always, except in a row that streams.
    word : Value
        The word that is injected next. Valid after ``elaborate``.

    """

    def __init__(
        self,
        m: Module,
        config: NetworkConfig,
        ports: Any,
        *,
        reader: RowReader,
        injector: Injector,
        ahead: bool,
    ) -> None:
        self._m, self._config, self._ports = m, config, ports
        self._reader, self._injector = reader, injector
        self._ahead = ahead
        self.in_payload, self.last = Signal(name="payload"), Signal(name="last")
        # With streams or operators a leaving word must be known without the examination of a row
        # that begins. In other networks that is no faster.
        self._leaves_early = bool(config.streams or config.operators)
        self.leaves: Value = injector.injected & self.in_payload
        if self._leaves_early:
            self.leaves = Signal(name="leaves")
        self.there: Value = C(1)
        self.word: Value = ports.message.word

    def elaborate(self, due: Signal) -> None:
        """Fetch the row's words; ``due`` is high while the row could begin."""
        m, row = self._m, self._reader.row
        place = self._next_place()
        if self._config.streams:
            self.there = add_coming(m, row, self._ports.come, self.in_payload, self.leaves)
        if self._ahead:
            self.word = self._word_ahead(due)
        else:
            m.d.comb += self._ports.message.address.eq(place)

    def elaborate_leaving(self) -> None:
        """Tell early whether a word leaves: it has arrived, and its VC has a credit."""
        if self._leaves_early:
            leaves = self.in_payload & self.there & self._injector.keeps_credit
            self._m.d.comb += self.leaves.eq(leaves)

    def _next_place(self) -> Signal:
        """Return the address of the word that may be injected in the next cycle."""
        m, row = self._m, self._reader.row
        place = Signal.like(row.place)
        if self._config.window_bits:
            next_word = next_place(row.place, self._reader.fixed, self.leaves)
        else:
            next_word = row.place + self.leaves
        m.d.comb += [
            place.eq(next_word),
            # One word is left while it is injected; before, the row has none at all.
            self.last.eq(row.left == self.in_payload),
        ]
        m.d.sync += [row.place.eq(place), row.left.eq(row.left - self.leaves)]
        return place

    def _word_ahead(self, due: Signal) -> Signal:
        """Return the register of the word to be injected, as for :class:`.Table`.

        While the row is offered the memory reads the word behind it. Before, it reads the row's
        first word in every cycle, because that word may still arrive.
        """
        m, message = self._m, self._ports.message
        shown, fetched = Signal.like(message.word, name="shown"), Signal(name="fetched")
        address = Signal.like(message.address)
        # A register, because the cycle leaves no time for an addition.
        next_address = Signal.like(address)
        goes_on = (due & ~fetched) | self.leaves
        m.d.comb += message.address.eq(Mux(goes_on, next_address, address))
        m.d.sync += [
            address.eq(message.address),
            next_address.eq(message.address + 1),
            fetched.eq(due | self._injector.wanted),
        ]
        with m.If(~fetched | self.leaves):
            m.d.sync += shown.eq(message.word)
        return shown
