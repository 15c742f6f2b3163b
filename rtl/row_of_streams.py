"""Fields of a row that only networks with streams have (docs/router.md, section 20).

Used by :class:`.Sender`, which keeps them while the row is under way.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from amaranth.hdl import Array, C, Cat, Module, Shape, Signal, Value

from ..model.network.config import NetworkConfig
from .window import fixed_bits, is_above
from .word_count import count_shape


def row_of_streams(config: NetworkConfig) -> dict[str, int | Shape]:
    """Shapes of what is kept beside the other fields.

    ``stream`` is that of the row; ``ahead`` the number of words that have left, less one and those
    of ``lead``; ``leads``: there are such; ``no_stream``: there is no such
    stream or window.
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
    """Registers of each field as it is read; ``words`` says in which control word that is.

    ``fixed`` is the register of the window's :func:`.fixed_bits`.
    They come behind ``source_address`` and ``length``, which are in ``row`` if not in that word,
    and tell whether the row is too long.
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
    """Tell whether the row exceeds its window, or the window the message memory."""

    def known(name: str, kept: Value) -> Value:
        return fields[name] if words[name] == words["window"] else kept

    source, length = known("source_address", row.place), known("length", row.left)
    window, most = fields["window"], config.message_words
    # A window of 2^w words has room for what has room behind the last word but 2^w of the memory.
    windows = range(1, config.most_window + 1)
    first = Array([source, *(most - (1 << number) for number in windows)])[window]
    last = (source | ~fixed_bits(window, config.address_bits))[: config.address_bits]
    beyond = window.any() & is_above(last, most - 1)
    return beyond | (first + length > most)


def add_coming(
    m: Module, row: Any, comes: Sequence[Any], in_payload: Value, word_leaves: Value
) -> Value:
    """Add a register of whether the word to be injected has come, of each lane's ``comes``.

    A row that does not stream has all its words. Valid while it is ``in_payload``;
    ``word_leaves``: in this cycle one is injected.
    """
    there, further = Signal(name="there"), Signal(name="further")
    last, before, some = (_of_stream(row, comes, name) for name in ("last", "before", "some"))
    with m.If(word_leaves):
        # Another one is there but where it was the only one, which is known without adding.
        m.d.comb += further.eq(row.ahead != before)
        m.d.sync += row.ahead.eq(row.ahead + 1)
    with m.Elif(in_payload):
        m.d.comb += further.eq(there)
    with m.Else():
        m.d.comb += further.eq(row.leads | some)
    m.d.sync += there.eq(~row.stream.any() | last | further)
    return there


def _of_stream(row: Any, comes: Sequence[Any], name: str) -> Value:
    """A member of :class:`.ComingWords` of the lane whose words the row sends on."""
    each = [getattr(come, name) for come in comes]
    return each[0] if len(each) == 1 else Array([C(0), *each])[row.stream]
