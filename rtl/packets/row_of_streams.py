"""Stream fields of a row, in networks with streams (docs/router.md, section 20).

Used by :class:`.Row`, which keeps them while the row is under way.
"""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Array, C, Cat, Module, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import NetworkConfig
from .window import fixed_bits, is_above
from .word_count import ComingWords, count_shape


def stream_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of the stream of the row under way.

    ``stream`` is the row's field, ``ahead`` the number of words that have left minus 1 minus
    ``lead``. ``leads`` is 1 if ``lead`` is not 0.
    """
    widths = dict(config.table.fields)
    return data.StructLayout({"stream": widths["stream"], "ahead": count_shape(config), "leads": 1})


def loads_of_streams(
    config: NetworkConfig,
    row: data.View,
    fixed: Signal,
    fields: Mapping[str, Value],
    words: Mapping[str, int],
) -> dict[str, list[Any]]:
    """Return, by field, the assignments that load the row's registers when the field is read.

    ``words`` tells in which control word each field is; ``fixed`` is the register of the window's
    :func:`.fixed_bits`. ``source_address`` and ``length`` are in the same control word as
    ``window``, or already in ``row``; so the load of ``window`` also checks the row's length.
    """
    unknown = is_above(fields["stream"], config.lanes)
    loads = {
        "stream": [row.streamed.stream.eq(fields["stream"]), row.no_stream.eq(unknown)],
        "lead": [
            row.streamed.ahead.eq(~Cat(fields["lead"], C(0)).as_signed()),
            row.streamed.leads.eq(fields["lead"].any()),
        ],
    }
    if not config.window_bits:
        return loads
    window = fields["window"]
    if words["stream"] != words["window"]:
        unknown = row.no_stream
    loads["window"] = [
        row.no_stream.eq(unknown | is_above(window, config.most_window)),
        fixed.eq(fixed_bits(window, config.length_bits)),
        row.too_long.eq(_is_too_long(config, row, fields, words)),
    ]
    return loads


def _is_too_long(
    config: NetworkConfig, row: data.View, fields: Mapping[str, Value], words: Mapping[str, int]
) -> Value:
    """Tell whether the row is longer than its window, or the window ends beyond the memory."""

    def known(name: str, kept: Value) -> Value:
        return fields[name] if words[name] == words["window"] else kept

    source, length = known("source_address", row.place), known("length", row.left)
    window, most = fields["window"], config.message_words
    # A row of n words fits a window of 2^w words if it fits the last 2^w words of the memory: one
    # comparison serves rows with and without a window.
    windows = range(1, config.most_window + 1)
    first = Array([source, *(most - (1 << number) for number in windows)])[window]
    last = (source | ~fixed_bits(window, config.address_bits))[: config.address_bits]
    beyond = window.any() & is_above(last, most - 1)
    return beyond | (first + length > most)


class StreamWait(Component):
    """Tells whether the next word of a row has arrived. Used by :class:`.Sender`.

    Members
    -------
    row : In(stream_layout)
        The stream of the row under way.
    come : array of ComingWords, In
        The words that have arrived, by lane.
    payload : In(1)
        High in a cycle in which the sender injects words.
    leaves : In(1)
        High in a cycle in which a word is injected.
    there : Out(1)
        High if the next word to inject has arrived; always, if the row streams nothing. Valid while
        ``payload`` is 1.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {
                "row": In(stream_layout(config)),
                "come": In(ComingWords(config)).array(config.lanes),
                "payload": In(1),
                "leaves": In(1),
                "there": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Keep whether the word is there, from the words of the row's stream."""
        m, row = Module(), self.row
        further = Signal(name="further")
        last, before, some = map(self._of_stream, ("last", "before", "some"))
        with m.If(self.leaves):
            # A further word is here unless this was the last arrived word: a comparison, no adder.
            m.d.comb += further.eq(row.ahead != before)
        with m.Elif(self.payload):
            m.d.comb += further.eq(self.there)
        with m.Else():
            m.d.comb += further.eq(row.leads | some)
        m.d.sync += self.there.eq(~row.stream.any() | last | further)
        return m

    def _of_stream(self, name: str) -> Value:
        """Return member ``name`` of :class:`.ComingWords` for the lane of the row's stream."""
        each = [getattr(come, name) for come in self.come]
        return each[0] if len(each) == 1 else Array([C(0), *each])[self.row.stream]
