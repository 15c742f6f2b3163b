"""Stream fields of a row, in networks with streams (docs/router.md, section 20).

Used by :class:`.Sender`, which keeps them while the row is under way.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Array, C, Cat, Module, Shape, Signal, Value

from ..model.network.config import NetworkConfig
from .window import fixed_bits, is_above
from .word_count import count_shape


def row_of_streams(config: NetworkConfig) -> dict[str, int | Shape]:
    """Return the shapes of the registers that a sender keeps for a row's stream.

    ``stream`` is the row's field, ``ahead`` the number of words that have left minus 1 minus
    ``lead``. ``leads`` is 1 if ``lead`` is not 0, ``no_stream`` if the row names a stream or a
    window that the network lacks.
    """
    widths = dict(config.table.fields)
    return {"stream": widths["stream"], "ahead": count_shape(config), "leads": 1, "no_stream": 1}


def loads_of_streams(
    config: NetworkConfig,
    row: Any,
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
        "stream": [row.stream.eq(fields["stream"]), row.no_stream.eq(unknown)],
        "lead": [
            row.ahead.eq(~Cat(fields["lead"], C(0)).as_signed()),
            row.leads.eq(fields["lead"].any()),
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
    config: NetworkConfig, row: Any, fields: Mapping[str, Value], words: Mapping[str, int]
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


def add_coming(
    m: Module, row: Any, comes: Sequence[Any], in_payload: Value, word_leaves: Value
) -> Value:
    """Return a new register that tells whether the next word to inject has arrived.

    ``comes`` has the arrived words of each lane; ``word_leaves`` is 1 in a cycle in which a word is
    injected. The register is valid while the row is ``in_payload``, and 1 for a row that streams
    nothing.
    """
    there, further = Signal(name="there"), Signal(name="further")
    last, before, some = (_of_stream(row, comes, name) for name in ("last", "before", "some"))
    with m.If(word_leaves):
        # A further word is here unless this was the last arrived word: a comparison, no adder.
        m.d.comb += further.eq(row.ahead != before)
        m.d.sync += row.ahead.eq(row.ahead + 1)
    with m.Elif(in_payload):
        m.d.comb += further.eq(there)
    with m.Else():
        m.d.comb += further.eq(row.leads | some)
    m.d.sync += there.eq(~row.stream.any() | last | further)
    return there


def _of_stream(row: Any, comes: Sequence[Any], name: str) -> Value:
    """Return member ``name`` of :class:`.ComingWords` for the lane whose words the row sends on."""
    each = [getattr(come, name) for come in comes]
    return each[0] if len(each) == 1 else Array([C(0), *each])[row.stream]
