"""Addresses and codes for a host of a network (docs/router.md, sections 6 and 16).

Used by the hardware, and by the hosts of the simulator and of boards. This module needs no
Amaranth, which takes longer to import than a short run takes.
"""

import enum

from ...model.network.config import NetworkConfig, bits_for
from .run_entry import word_bits

TILES_MODULE = "eyecast_tiles"
"""Verilog module with all tiles of a network, for a fast simulation."""

EJECTION_PORT = 64
"""Offset of ejection ports in printed lines: a flit that leaves by ejection port l has 64 + l.

The number sorts the lines of a cycle. In the finished trace all ejection ports are port 0.
"""


class HostSpace(enum.IntEnum):
    """Space of a host address."""

    MESSAGE = 0
    TABLE = 1
    EXPECTED = 2
    STATUS = 3


CONTROLLER_SPACE = HostSpace.EXPECTED
"""The controller's space in a network with programs, where nodes load ``expected`` themselves."""

CONTROLLER_ENTRIES = 8
"""Address of the first program's entry in the controller's space."""

ENTRY_WORDS = 4
"""Words of a program's entry."""


class StatusWord(enum.IntEnum):
    """Addresses in the status space.

    From ARRIVED on follow: the words of ``arrived`` of each ejection port; in an all-port network,
    the states of all senders except the first; in a network with signatures, the signature.
    """

    FLAGS = 0
    STEP = 1
    SENDER_STATE = 2
    STALLED_FLITS = 3
    ARRIVED = 4


def status_words(config: NetworkConfig) -> int:
    """Return the number of words in the status space."""
    if config.circuits:
        return StatusWord.ARRIVED + config.signature_words
    further_senders = config.lanes - 1
    return (
        StatusWord.ARRIVED
        + config.lanes * config.mask_words
        + further_senders
        + config.signature_words
    )


def expectation_words(config: NetworkConfig) -> int:
    """Return the number of words in the space of expectations."""
    if config.circuits:
        return 0
    of_timed_rows = 2 if config.timed_rows else 0
    return config.lanes * config.mask_words + of_timed_rows


def table_address_bits(config: NetworkConfig) -> int:
    """Return the width b of an address in a table; a node's tables lie 2^b addresses apart."""
    return bits_for(config.table_words - 1)


def table_space_words(config: NetworkConfig) -> int:
    """Return the number of addresses in the space of tables; some may have no word."""
    if config.circuits:
        return config.table_words << word_bits(config)
    return config.lanes << table_address_bits(config)


def controller_words(config: NetworkConfig) -> int:
    """Return the number of words in the controller's space, in a network with programs."""
    return CONTROLLER_ENTRIES + ENTRY_WORDS * config.programs


class ControllerWord(enum.IntEnum):
    """Addresses in the controller's space; the entries of programs follow."""

    IDENTITY = 0
    IMAGE = 1
    COMMAND = 2
    RESULT = 3
    CYCLE = 4
    QUEUED = 5
    ENABLE = 6


class Command(enum.IntEnum):
    """The lowest byte of the command word."""

    START = 1
    STOP = 2
    ACKNOWLEDGE = 3


class EntryField(enum.IntEnum):
    """The words of an entry, in the order of their addresses."""

    BASE = 0
    WORDS = 1
    MODE = 2
    LIMIT = 3


class RunState(enum.Enum):
    """State of an engine; the host reads the value."""

    IDLE = 0
    STARTING = 1
    RUNNING = 2
    DONE = 3
    FAILED = 4
    TIMED_OUT = 5


def nodes_with_ports(config: NetworkConfig) -> list[int]:
    """Return the nodes that have a port for their tile, ascending."""
    nodes = set(range(config.topology.nodes)) - set(config.topology.switches)
    return sorted(nodes) if config.tile_ports else []
