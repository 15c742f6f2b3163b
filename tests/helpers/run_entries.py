"""Entries of run tables as words of the host, packed as docs/router.md, section 23, says."""

from collections.abc import Iterator, Sequence
from typing import Any

from eyecast.model.network.config import NetworkConfig

Entry = dict[str, Any]
"""Fields by name; those left out are 0, the duration 1.

``codes`` is a dict by output, and ``ejections`` by lane. In an all-port network ``send_address``,
``receive_address`` and ``receive`` are dicts by lane, or one number for all lanes.
"""

TABLE = 1


def _bits(largest: int) -> int:
    """Return the page's bits(n)."""
    return largest.bit_length()


def _fields(config: NetworkConfig, entry: Entry) -> Iterator[tuple[int, int]]:
    """Yield (value, width) of the fields of an entry, from bit 0 upwards."""
    ports, operators = config.topology.ports, len(config.operators)
    lanes = range(1, ports) if config.all_port else [0]
    yield entry.get("duration", 1), 10
    for output in range(1 if config.all_port else 0, ports):
        yield entry.get("codes", {}).get(output, 0), _bits(ports)
    for lane in lanes if config.all_port else []:
        yield entry.get("ejections", {}).get(lane, 0), 2 if operators else 1
    if operators:
        yield entry.get("first", 0), _bits(ports)
        yield entry.get("second", 0), _bits(ports)
        yield entry.get("operator", 0), _bits(operators)
    address = _bits(config.message_words - 1)
    for name, width in (
        ("send_address", address),
        ("receive_address", address),
        ("receive", _bits(operators + 1)),
    ):
        for lane in lanes:
            value = entry.get(name, 0)
            yield value.get(lane, 0) if isinstance(value, dict) else value, width


def entry_word_list(config: NetworkConfig, entry: Entry) -> list[int]:
    """Return the words of an entry, that of bit 0 first."""
    value, at = 0, 0
    for field, width in _fields(config, entry):
        assert 0 <= field < 1 << width
        value |= field << at
        at += width
    bits = min(config.flit_width, 64)
    return [value >> low & (1 << bits) - 1 for low in range(0, at, bits)]


def table_writes(
    config: NetworkConfig, node: int, table: Sequence[Entry], base: int = 0
) -> list[tuple[int, int, int, int]]:
    """Return the host's writes, as (node, space, address, word), of a table and its end entry."""
    writes = []
    for number, entry in enumerate([*table, {"duration": 0}], base):
        words = entry_word_list(config, entry)
        apart = _bits(len(words) - 1)
        writes += [(node, TABLE, (number << apart) + k, word) for k, word in enumerate(words)]
    return writes
