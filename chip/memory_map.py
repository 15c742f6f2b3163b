"""Addresses that a core sees, and events that its tile reports, for hardware and software.

::

    0x0000_0000  its own memory: code, data, stack          bytes, half words, words
    0x1000_0000  message memory of its node                 bytes, half words, words
    0x2000_0000  its registers                              words
"""

from enum import IntEnum

MEMORY_WORDS = 1 << 14
"""Words of a core's own memory."""


class Place(IntEnum):
    """The upper four bits of an address."""

    MEMORY = 0
    MESSAGES = 1
    REGISTERS = 2


class Register(IntEnum):
    """The registers of a core; a word each."""

    RANK = 0
    """Read: the number of the node."""
    SIZE = 1
    """Read: the number of nodes."""
    CYCLE = 2
    """Read: cycles since all cores began, modulo 2^32."""
    CONSOLE = 3
    """Write: a character for the user."""
    EXIT = 4
    """Write: the program has ended, with this status."""
    CALL = 5
    """Write: take part in the program with this number."""
    WAIT = 6
    """Read: 0, as soon as the node has done its part in the program of the last call."""
    BEGIN = 7
    """Write, at node 0: let all cores begin. Read: 0, as soon as they may."""
    HOST_PLACE = 8
    """Write, at node 0: node (bits 0 to 15) and space (from bit 16 on) of the host's requests."""
    HOST_ADDRESS = 9
    """Write, at node 0: the address of the host's next request."""
    HOST_DATA = 10
    """Write, at node 0: a word that the host writes there. Its address rises by one."""
    STOP = 11
    """Write: the core does nothing more."""


class Event(IntEnum):
    """Events that a tile reports, in lines of the simulator: cycle, node, event, value."""

    CONSOLE = 0
    """A character."""
    EXIT = 1
    """The program has ended; its status."""
    CALL = 2
    """A call begins; the number of its program."""
    RETURN = 3
    """The node has done its part; the number of the program."""
    TRAP = 4
    """The core has trapped; the address of the instruction that it fetched last."""
    ADDRESS = 5
    """A load or store where nothing is; its address."""
    OTHER_CALL = 6
    """The node was let go for another program than the one that runs, which is the value."""
    REFUSED = 7
    """A request of the host was refused, and not because it came too soon; its address."""
    RUN = 8
    """Told by node 0: cycle 0 of a run; the number of its program."""
    LOAD = 9
    """The core has read a message word: 2^32 times its address, and the word."""
    STORE = 10
    """The core has written a message word: 2^32 times its address, and the word."""


MISTAKES = (
    Event.TRAP,
    Event.ADDRESS,
    Event.OTHER_CALL,
    Event.REFUSED,
)
"""Events after which the chip stops."""
