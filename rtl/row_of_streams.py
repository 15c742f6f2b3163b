"""Fields of a row that only networks with streams have (docs/router.md, section 20).

Used by :class:`.Sender`, which keeps them while the row is under way.
"""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Mux, Value

from ..model.network.config import NetworkConfig
from .window import fixed_bits, is_above


def row_of_streams(config: NetworkConfig) -> dict[str, int]:
    """Widths of what is kept beside the other fields.

    ``stream`` is that of the row; ``ahead`` the number of words that must have come, but for one,
    before the next word is there, below 0 where it is one of ``lead`` (two's complement);
    ``no_stream``: there is no such stream or window; ``fixed``: as for :func:`.next_place`.
    """
    widths = dict(config.table.fields)
    fixed = {"fixed": config.length_bits} if config.window_bits else {}
    return {"stream": widths["stream"], "ahead": widths["lead"] + 1, "no_stream": 1, **fixed}


def loads_of_streams(
    config: NetworkConfig, row: Any, fields: Mapping[str, Value], words: Mapping[str, int]
) -> dict[str, list[Any]]:
    """Registers of each field as it is read; ``words`` says in which control word that is.

    They come behind ``source_address`` and ``length``, which are in ``row`` if not in that word.
    """
    unknown = is_above(fields["stream"], config.lanes)
    loads = {
        "stream": [row.stream.eq(fields["stream"]), row.no_stream.eq(unknown)],
        "lead": [row.ahead.eq(-fields["lead"])],
    }
    if not config.window_bits:
        return loads
    window = fields["window"]
    if words["stream"] != words["window"]:
        unknown = row.no_stream
    loads["window"] = [
        row.no_stream.eq(unknown | is_above(window, config.most_window)),
        row.fixed.eq(fixed_bits(window, config.length_bits)),
        row.too_long.eq(_is_too_long(config, row, fields, words)),
    ]
    return loads


def _is_too_long(
    config: NetworkConfig, row: Any, fields: Mapping[str, Value], words: Mapping[str, int]
) -> Value:
    """The row has more words than its window, or that has words beyond the message memory."""

    def known(name: str, kept: Value) -> Value:
        return fields[name] if words[name] == words["window"] else kept

    source, length = known("source_address", row.place), known("length", row.left)
    window = fields["window"]
    last = (source | ~fixed_bits(window, config.address_bits))[: config.address_bits]
    beyond = (length > (1 << window)) | (last >= config.message_words)
    return Mux(window.any(), beyond, source + length > config.message_words)
