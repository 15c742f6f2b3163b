"""The format of an entry of a run table (docs/router.md, section 23, "Entries").

Used by :class:`.RunTable`, and by the numbers of the host port. This module needs no Amaranth,
which takes longer to import than a short run takes.
"""

from ..model.network.config import NetworkConfig, bits_for

DURATION_BITS = 10
"""Width of the cycles for which an entry is current."""


def entry_fields(config: NetworkConfig) -> dict[str, tuple[int, int]]:
    """Return (count, width) of each field of an entry, from bit 0 upwards; only codes are several.

    The fields of a join are there only in a network with operators.
    """
    ports, operators = config.topology.ports, len(config.operators)
    code = bits_for(ports)
    join = {"first": (1, code), "second": (1, code), "operator": (1, bits_for(operators))}
    return {
        "duration": (1, DURATION_BITS),
        "codes": (ports, code),
        **(join if operators else {}),
        "send_address": (1, config.address_bits),
        "receive_address": (1, config.address_bits),
        "receive": (1, bits_for(operators + 1)),
    }


def entry_bits(config: NetworkConfig) -> int:
    """Return the bits of an entry."""
    return sum(count * width for count, width in entry_fields(config).values())


def entry_words(config: NetworkConfig) -> int:
    """Return the words of an entry at the host port."""
    return -(-entry_bits(config) // config.flit_width)


def word_bits(config: NetworkConfig) -> int:
    """Return the lowest bits of an address of the host that number the words of an entry."""
    return bits_for(entry_words(config) - 1)
