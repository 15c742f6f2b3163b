"""The port by which a host loads and reads a network (docs/router.md, section 6).

Used by :class:`.Network`, :class:`.Tile` and :class:`.NetworkInterface`, and by the hosts of the
simulator and of boards, which take the addresses of words from here.
"""

import enum

from amaranth.lib import data
from amaranth.lib.wiring import In, Out, Signature

from ...model.network.config import NetworkConfig, bits_for
from .host_map import controller_words, expectation_words, status_words, table_space_words


class Flag(enum.IntEnum):
    """Bit numbers of a node's sticky flags; only networks with parity have PARITY."""

    OVERFLOW = 0
    PARITY = 1
    CREDIT_OVERFLOW = 2
    BAD_ROUTE = 3
    UNEXPECTED_RECEIVE = 4
    SEND_AND_RECEIVE = 5
    BAD_ROW = 6
    BAD_WRITE = 7

    @property
    def member(self) -> str:
        """Return the name of the flag's bit in layouts and signatures."""
        return self.name.lower()


def flags_layout(*, parity: bool) -> data.FlexibleLayout:
    """Return the layout of a node's flags as the host reads them: each bit at its number."""
    flags = [flag for flag in Flag if parity or flag != Flag.PARITY]
    return data.FlexibleLayout(max(Flag) + 1, {flag.member: data.Field(1, flag) for flag in flags})


class Causes(Signature):
    """Causes of the error flags that a component may set.

    Members
    -------
    overflow, credit_overflow, bad_route, … : Out(1)
        One for each such :class:`Flag`, in the order of their numbers: high in a cycle with the
        flag's cause. Ignored in reset.

    """

    def __init__(self, *flags: Flag) -> None:
        super().__init__({flag.member: Out(1) for flag in sorted(flags)})


def host_address_bits(config: NetworkConfig) -> int:
    """Return the width of a host address: enough for every space."""
    third = controller_words(config) if config.programs else expectation_words(config)
    messages = config.message_words << config.piece_bits
    spaces = (messages, table_space_words(config), third, status_words(config))
    return bits_for(max(spaces) - 1)


def node_bits(config: NetworkConfig) -> int:
    """Return the width of a node number on a wire."""
    return max(1, bits_for(config.topology.nodes - 1))


ASKED = ("node", "space", "address", "write", "write_data")
"""Outputs of the host at a :class:`HostPort`; ``read_data`` is the answer."""


def asked_of_tiles(config: NetworkConfig) -> tuple[str, ...]:
    """Return the names of the :class:`HostPort` signals that every tile gets."""
    return (*ASKED, "valid") if config.programs else ASKED


class HostPort(Signature):
    """Read or write of one word per cycle, at one address of one node.

    The directions are the host's.

    Members
    -------
    node : Out
        The addressed node, in every cycle.
    space : Out(2)
        A :class:`.HostSpace` of that node.
    address : Out
        The address in that space.
    write : Out(1)
        High to write ``write_data`` at the end of this cycle. Ignored outside reset and in the
        status space.
    write_data : Out(narrow_width)
        The word to write. Valid while ``write`` is 1.
    read_data : In(narrow_width)
        The word at the address, in the message or the status space, 1 cycle later. Added to that
        are: the number of barrier registers; 1 at the port of a :class:`.Network`, whose inputs are
        registered; 1 for words of messages with :attr:`.Technology.look_ahead`. Words of messages
        are valid in reset only.
    valid : Out(1)
        Only in a network with programs, where the controller is the host: high during a request.
        The request does not change until it is answered or given up; then ``valid`` is 0 for a
        cycle. A write is done once.
    answered : In(1)
        Only with ``valid``: high in the cycle after the request was carried out, in which
        ``read_data`` is the word read. In all other cycles ``read_data`` is 0.
    damaged : In(1)
        Only in a network with parity: high if the word read is not the word that was written.

    """

    def __init__(self, config: NetworkConfig) -> None:
        controlled = {"valid": Out(1), "answered": In(1)} if config.programs else {}
        if config.parity:
            controlled["damaged"] = In(1)
        super().__init__(
            {
                "node": Out(node_bits(config)),
                "space": Out(2),
                "address": Out(host_address_bits(config)),
                "write": Out(1),
                "write_data": Out(config.narrow_width),
                "read_data": In(config.narrow_width),
                **controlled,
            }
        )


class Refusal(enum.IntEnum):
    """Reason for which a :class:`RequestPort` refuses a request; NONE if it does not."""

    NONE = 0
    NO_SUCH_WORD = 1
    NOT_NOW = 2
    DAMAGED = 3


class RequestPort(Signature):
    """Requests to a network with programs (docs/router.md, section 16, "Ports of the controller").

    The directions are the host's.

    Members
    -------
    valid : Out(1)
        High while there is a request.
    ready : In(1)
        High in a cycle in which the network takes a request, if there is one.
    write, space, node, address, write_data : Out
        As for :class:`HostPort`. Valid while ``valid`` is 1.
    answered : In(1)
        High in the cycle of the answer to the request taken last.
    read_data : In(narrow_width)
        The word read, otherwise 0. Valid while ``answered`` is 1.
    refusal : In(2)
        A :class:`Refusal`. Valid while ``answered`` is 1.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {
                "valid": Out(1),
                "ready": In(1),
                "write": Out(1),
                "space": Out(2),
                "node": Out(node_bits(config)),
                "address": Out(host_address_bits(config)),
                "write_data": Out(config.narrow_width),
                "answered": In(1),
                "read_data": In(config.narrow_width),
                "refusal": In(2),
            }
        )
