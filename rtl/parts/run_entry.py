"""The format of an entry of a run table (docs/router.md, section 23, "Entries").

Used by :class:`.RunTable`, and by the numbers of the host port. This module needs no Amaranth,
which takes longer to import than a short run takes.
"""

from ...model.network.config import NetworkConfig, bits_for

DURATION_BITS = 10
"""Width of the cycles for which an entry is current."""

BY_LANE = ("ejections", "send_address", "receive_address", "receive")
"""Fields of an entry that each lane of the interface has; without ``all_port`` there is one lane.

``ejections`` exist only with ``all_port``.
"""


def entry_fields(config: NetworkConfig) -> dict[str, tuple[int, int]]:
    """Return (count, width) of each field of an entry, from bit 0 upwards.

    Codes are by output port, in an all-port network from port 1 on; :data:`BY_LANE` are by lane.
    The fields of a join are there only in a network with operators.
    """
    ports, operators, lanes = config.topology.ports, len(config.operators), config.lanes
    code = bits_for(ports)
    join = {"first": (1, code), "second": (1, code), "operator": (1, bits_for(operators))}
    return {
        "duration": (1, DURATION_BITS),
        "codes": (ports - config.all_port, code),
        **({"ejections": (lanes, 2 if operators else 1)} if config.all_port else {}),
        **(join if operators else {}),
        "send_address": (lanes, config.address_bits),
        "receive_address": (lanes, config.address_bits),
        "receive": (lanes, bits_for(operators + 1)),
    }


def entry_bits(config: NetworkConfig) -> int:
    """Return the bits of an entry."""
    return sum(count * width for count, width in entry_fields(config).values())


def entry_words(config: NetworkConfig) -> int:
    """Return the words of an entry at the host port."""
    return -(-entry_bits(config) // config.narrow_width)


def word_bits(config: NetworkConfig) -> int:
    """Return the lowest bits of an address of the host that number the words of an entry."""
    return bits_for(entry_words(config) - 1)
