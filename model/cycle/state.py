"""The registers of the cycle model, and the operations that all its parts share.

Everything is plain integers in flat arrays. A *line* is a port of a router, a *channel* is one VC
of a line. A *lane* is an injection port with its sender and the ejection port beside it with its
receiver. The lines of a router are its lanes, then its link ports::

    lane = node * lanes + 0 ... lanes - 1
    line = node * lines + place     channel = line << vc_bits | vc = node * buffers + number
    place:  0 ... lanes - 1 (lanes), lanes ... lines - 1 (ports 1 ... P - 1)

With one lane, port 0, places are ports and ``number`` orders the buffers as router.md does: where
V is no power of two, some numbers have no buffer. In an all-port network lane l - 1 belongs to link
port l. There too the buffers that request one output are in the order of router.md: an output is
requested by only one injection port, before the links.

Each kind of state has a *record*, a class below, and an array of these records. Input and output
ports share the numbering: ``buffers[channel]`` is the input buffer, ``outputs[channel]`` the output
VC. The names are those of docs/router.md::

    lines[line]      candidates, credited, next_vc │ asked: the set of the lines with a ready VC
       │ a VC
    outputs[channel] holder ──► buffers[channel]  first, count ──► data, kind: its flits
       │             downstream ──► buffers[channel] of the next router
       └ requests: the set of the buffers whose head asks for it, if no buffer holds it

A *set* is words of 64 bits. That of a router's buffers has ``blocks`` words, one bit for each
buffer in the order of turns: links by number, then lanes.
"""

from typing import Annotated, Any, NamedTuple, Protocol, TypeAlias, TypeVar, get_type_hints

import numpy as np
import numpy.typing as npt

from ..base.arrays import Words
from ..base.loops import Int, inlined

Bool: TypeAlias = Annotated[bool, np.bool_]
Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Indices: TypeAlias = npt.NDArray[np.uint32]
Ints: TypeAlias = npt.NDArray[np.int64]

Byte: TypeAlias = Annotated[Int, np.uint8]
Count: TypeAlias = Annotated[Int, np.uint16]
Index: TypeAlias = Annotated[Int, np.uint32]
Number: TypeAlias = Annotated[Int, np.int64]
Word: TypeAlias = Annotated[np.uint64, np.uint64]

OVERFLOW, PARITY, CREDIT_OVERFLOW, BAD_ROUTE = 1, 2, 4, 8
UNEXPECTED_RECEIVE, SEND_AND_RECEIVE, BAD_ROW, BAD_WRITE = 16, 32, 64, 128

CONTROL, READY, SENDING, ENDED, FAILED, EXPECT = range(6)
"""States of a sender. ``SENDING`` is router.md's header and payload, told apart by ``place``."""

NEVER = -2
"""A cycle that never comes: no alarm, no event yet."""
NOBODY = -1
NONE = (1 << 32) - 1
"""No channel and no lane, in a field of a record."""
HOURS = 1024
"""Lists of sleeping interfaces: one for each value of the lowest bits of their alarm cycle."""
BLOCK = 64
"""Bits in a word of a set."""

(
    CYCLE, ADVANCE, NOT_OVER, UNFINISHED, AWAKE,
    FRONTS, QUIET, EMPTIED, UNWRITTEN, ROWS, FLAGGED, CULPRIT, SOURCES,
) = range(13)  # fmt: skip
"""Indices of ``Registers.total``.

``AWAKE``, ``FRONTS`` and ``ROWS`` count entries in lists. ``QUIET`` counts the cycles without a
change. ``EMPTIED`` is the stage of the links that arrives at the end of this cycle. ``UNWRITTEN``
counts the flits that have left the router and whose words are not written yet. ``FLAGGED`` is the
first cycle in which a flag is seen, ``CULPRIT`` the lowest node that has one then. ``SOURCES`` is a
checksum of the source files that the loop was compiled from."""


class Buffer:
    """An input buffer of a router."""

    at_front_since: Number  # First cycle in which its front flit is at the front.
    wanted: Index  # Output channel that its packet requests, from first flit to tail.
    upstream: Index  # Output channel that feeds it, and gets its credits.
    stalled: Index  # Stalled flits that have left it.
    first: Byte  # Slot of its front flit.
    count: Byte  # Its flits.
    passing: Bool  # It holds a route: its packet's first flit has left, the tail has not.
    registers: Byte  # Registers of the link that feeds it.


class Output:
    """An output VC of a router, or a VC by which a sender injects."""

    holder: Index  # Input channel that holds it, or NONE.
    downstream: Index  # Input channel that it feeds.
    turn: Count  # Place in the order of turns.
    requests: Count  # Heads that request it and are not granted.
    credits: Byte  # At an ejection port, not used, and neither is the slot.
    slot: Byte  # Slot downstream for its next flit.
    registers: Byte  # Registers of the link behind it.


class Line:
    """An output port of a router; it has a ready VC if two sets of its VCs have one in common."""

    candidates: Byte  # Set of the VCs with a candidate.
    credited: Byte  # Set of the VCs with a credit; all at an ejection port.
    next_vc: Byte  # First VC in the order of the next grant; V means 0.
    port: Byte
    node: Index


class Row:
    """A row of a sender's table. One without values ends the last table."""

    start: Number  # First cycle in which it may begin.
    channel: Index  # Channel of the sender for its packet; NONE for a row that fails.
    first_header: Index  # First one of its header flits in Network.header.
    step: Index
    source: Index  # Address of the first payload word.
    length: Index  # Payload words.
    stream: Index  # Lane whose words it sends on, or NONE.
    lead: Index  # Words that it sends before those.
    headers: Byte  # Header flits.
    window: Byte  # Bits of an address inside its window of memory; 0: no window.


class Sender:
    """The sender of a lane."""

    row: Index
    place: Index  # Words read, or flits sent: before the table, of the row, of the packet.
    state: Byte  # CONTROL to EXPECT.
    waiting: Bool  # It waits for a credit.


class Receiver:
    """The receiver of a lane: the last word that it wrote, and the words of this step."""

    written_cycle: Number
    written_address: Number
    written_over: Word  # The word that was there before.
    come: Number  # Words of this step that have arrived.
    come_before: Number  # The same until the end of the cycle come_cycle.
    come_cycle: Number


class Packet:
    """The packet that a receiver gets by a VC: the fields of its delivery, and its next address."""

    address: Index
    step: Index
    operator: Index
    window: Index


class Delayed:
    """A flit that has left its router and is not written yet."""

    word: Word
    address: Index
    step: Index
    operator: Index
    lane: Index
    kind: Byte


class Interface:
    """The registers that the senders and receivers of a node share."""

    alarm: Number  # Cycle in which it wakes, or NEVER.
    coasting_since: Number  # Cycle since which its step rises by itself, or NEVER.
    received: Number  # Packets received that no step waits for.
    missing: Number  # Receives of all lanes still to come.
    stalled: Number  # Stalled flits of its senders.
    step: Index
    flags: Byte  # Flags of the node and its router.
    over: Bool  # Its step is over.
    finished: Bool
    awake: Bool  # It runs in the next cycle.


Record = TypeVar("Record")
Held_co = TypeVar("Held_co", covariant=True)


class Records(Protocol[Held_co]):
    """An array of records of one of the classes above."""

    def __getitem__(self, place: Int, /) -> Held_co:
        """Return a record, whose fields can be changed."""

    def __len__(self) -> int:
        """Return the number of records."""


def records(kind: type[Record], count: int, **columns: npt.ArrayLike) -> Records[Record]:
    """Return an array of records with the given values; other fields are 0."""
    fields = get_type_hints(kind, include_extras=True)
    types = [(name, field.__metadata__[0]) for name, field in fields.items()]
    made: Any = np.zeros(count, np.dtype(types, align=True))
    for name, values in columns.items():
        made[name] = values
    result: Records[Record] = made
    return result


class Network(NamedTuple):
    """Constants of a run: the network, and the rows of its tables.

    ``lanes``, ``lines``, ``buffers`` and ``link_buffers`` (those of links alone) count per node;
    ``lanes`` is None, for 1, in a network that is not all-port (``loops.lanes_of``). A turn is one
    of ``places``. ``exits[line]`` is the set of port codes, with the deliver code, that a packet
    from this line may request.
    ``line_rate`` is the rate of the link behind an output; some are above 1 if ``rated``.
    Links have ``stages``, one more than the most registers. After ``patience`` quiet cycles only an
    alarm can change anything.
    The senders feed the lanes: VC a of lane n is output channel
    ``nodes * buffers + (n << vc_bits | a)``, after those of all routers. Lane n has the rows
    ``first_row[n]`` up to ``first_row[n + 1]``. ``expected`` has a row for each lane.
    ``largest_word`` is a word of ones. ``leading_words`` lie before each table. A sender fails if
    it reads word ``slot_words`` or later. A node begins no row before ``held_until``. With
    ``damages``, message memories damage each word that is ``damaged_word``.

    ``operators`` has a code for each of ``operator_count`` operators, ``own_operators`` the address
    of each custom one, ``lane_widths`` the bits of its lanes; all take ``operator_latency`` cycles.
    ``notes`` has what was combined, if words are wide (:class:`.NotingOperators`).
    """

    ports: int
    lanes: int | None
    lines: int
    vcs: int
    buffers: int
    link_buffers: int
    places: int
    blocks: int
    depth: int
    port_bits: int
    hop_bits: int
    vc_bits: int
    step_bits: int
    address_bits: int
    operator_bits: int
    window_bits: int
    flit_width: int
    operator_count: int
    operator_latency: int
    control_words: int
    leading_words: int
    slot_words: int
    message_words: int
    stages: int
    patience: int
    barrier_registers: int
    largest_word: int
    damaged_word: np.uint64
    timed_rows: bool
    streams: bool
    rated: bool
    refuses: bool
    half_duplex: bool
    barrier: bool
    record_trace: bool
    damages: bool
    channel_node: Indices
    exits: Words
    line_rate: Bytes
    expected: Bools
    awaited: Ints
    refusal: npt.NDArray[np.uint16]
    held_until: Ints
    first_row: Ints
    rows: Records[Row]
    operators: Ints
    own_operators: Ints
    lane_widths: Ints
    notes: Words
    header: Words


class Registers(NamedTuple):
    """The state of the network: routers by line or channel, interfaces by lane or node.

    ``senders``, ``receivers`` and ``arrived`` are by lane, ``packets`` by lane and VC.

    Flit f of a channel's buffer is at ``channel * depth + f`` in ``data`` and ``kind``.
    ``requests[channel]`` is the set of the buffers whose head requests an output channel. Line l
    is in the set ``asked`` exactly if it has a ready VC: one with a candidate and a credit.
    Flits and credits on links are in stages, one for each cycle in which they may arrive;
    ``flights`` and ``returns`` count them by stage. The flits themselves are already in their slots
    of ``data`` and ``kind``. An output sends no flit before ``free_from``.
    In a network with operators, ``delayed`` counts the flits not yet written, by stage.
    ``ejected_address`` has the addresses of the last words that left for a node, ``ejected_cycle``
    their cycles, in slot ``cycle % operator_latency``.
    """

    data: Words
    kind: Bytes
    buffers: Records[Buffer]
    outputs: Records[Output]
    lines: Records[Line]
    requests: Ints
    asked: Ints
    free_from: Ints
    flights: Ints
    flight_channel: Indices
    returns: Ints
    return_channel: Indices
    interfaces: Records[Interface]
    senders: Records[Sender]
    receivers: Records[Receiver]
    packets: Records[Packet]
    arrived: Bools
    delayed: Ints
    delayed_flits: Records[Delayed]
    ejected_cycle: Ints
    ejected_address: Ints
    memory: Words
    step_end: Ints
    total: Ints


class Lists(NamedTuple):
    """Lists that a cycle fills; ``total`` says how many entries most of them hold.

    Sleeping nodes are linked lists: ``first_asleep`` by the lowest bits of the alarm, then
    ``next_asleep`` by node. ``fronts`` are input channels with a new first flit at their front,
    ``granted`` the output channels that are granted in this cycle, and ``free`` those of them that
    no buffer holds. All three have a spare entry, which may be overwritten.
    """

    awake_nodes: Indices
    first_asleep: Ints
    next_asleep: Ints
    fronts: Indices
    granted: Indices
    free: Indices


class Rows(NamedTuple):
    """The columns of a :class:`~eyecast.model.run.trace.Trace`; ``total[ROWS]`` rows are in use."""

    cycle: npt.NDArray[np.int64]
    node: npt.NDArray[np.int32]
    port: npt.NDArray[np.int16]
    vc: npt.NDArray[np.int16]
    kind: npt.NDArray[np.int8]
    data: Words


def reset_registers(network: Network, wired: dict[str, Any], memory: Words) -> Registers:
    """Make the registers after reset, with those of :func:`.wired`; ``memory`` is copied."""
    nodes, (lanes, steps) = len(network.awaited), network.expected.shape
    lines, channels = nodes * network.lines, nodes * network.buffers
    stages, begins = network.stages, EXPECT if network.leading_words else CONTROL
    total = np.zeros(SOURCES + 1, dtype=np.int64)
    total[[NOT_OVER, UNFINISHED, AWAKE]] = nodes
    total[FLAGGED] = NEVER
    return Registers(
        data=np.zeros(channels * network.depth, dtype=np.uint64),
        kind=np.zeros(channels * network.depth, dtype=np.uint8),
        **wired,
        requests=np.zeros(channels * network.blocks, dtype=np.int64),
        asked=np.zeros(-(-lines // BLOCK), dtype=np.int64),
        free_from=np.zeros(lines, dtype=np.int64),
        flights=np.zeros(stages, dtype=np.int64),
        flight_channel=np.zeros(stages * lines, dtype=np.uint32),
        returns=np.zeros(stages, dtype=np.int64),
        return_channel=np.zeros(stages * channels, dtype=np.uint32),
        interfaces=records(
            Interface,
            nodes,
            alarm=NEVER,
            coasting_since=NEVER,
            missing=network.expected.reshape(nodes, -1).sum(axis=1, dtype=np.int64),
            step=1,
            awake=True,
        ),
        senders=records(Sender, lanes, row=network.first_row[:-1], state=begins),
        receivers=records(Receiver, lanes, written_cycle=NEVER, come_cycle=NEVER),
        packets=records(Packet, lanes << network.vc_bits),
        arrived=np.zeros((lanes, steps), dtype=np.bool_),
        **_of_operators(network, nodes, lanes),
        memory=memory.copy(),
        step_end=np.zeros(steps, dtype=np.int64),
        total=total,
    )


def _of_operators(network: Network, nodes: int, lanes: int) -> dict[str, Any]:
    """Make the registers that only a network with operators has; empty in others."""
    stages = network.operator_latency + 1 if network.operator_count else 0
    recent = nodes * network.operator_latency
    return {
        "delayed": np.zeros(stages, dtype=np.int64),
        "delayed_flits": records(Delayed, stages * lanes),
        "ejected_cycle": np.zeros(recent, dtype=np.int64),
        # -1 is no address of a word.
        "ejected_address": np.full(recent, NOBODY, dtype=np.int64),
    }


def empty_lists(network: Network) -> Lists:
    """Make lists with room for a whole cycle; every node is awake."""
    nodes = len(network.awaited)
    channels = nodes * network.buffers
    return Lists(
        awake_nodes=np.arange(nodes, dtype=np.uint32),
        first_asleep=np.full(HOURS, NOBODY, dtype=np.int64),
        next_asleep=np.zeros(nodes, dtype=np.int64),
        fronts=np.zeros(channels + 1, dtype=np.uint32),
        granted=np.zeros(nodes * network.lines + 1, dtype=np.uint32),
        free=np.zeros(nodes * network.lines + 1, dtype=np.uint32),
    )


@inlined
def wake(now: Registers, lists: Lists, node: Int) -> None:
    """Look at the interface of ``node`` in the next cycle."""
    if not now.interfaces[node].awake:
        now.interfaces[node].awake = True
        lists.awake_nodes[now.total[AWAKE]] = node
        now.total[AWAKE] += 1


@inlined
def set_flag(now: Registers, lists: Lists, node: Int, flag: Int) -> None:
    """Set a sticky flag of ``node``."""
    if not now.interfaces[node].flags & flag:
        now.interfaces[node].flags |= flag
        seen = now.total[CYCLE] + 1
        if now.total[FLAGGED] == NEVER or (
            now.total[FLAGGED] == seen and node < now.total[CULPRIT]
        ):
            now.total[FLAGGED] = seen
            now.total[CULPRIT] = node
        wake(now, lists, node)
