"""The registers of the cycle model, and the operations that all its parts share.

Everything is plain integers in flat arrays. A *line* is a port of a router, a *channel* is one VC
of a line. A *lane* is an injection port with its sender and the ejection port beside it with its
receiver. The lines of a router are its lanes, then its link ports::

    lane = node * lanes + 0 ... lanes - 1
    line = node * lines + place     channel = line * vcs + vc = node * buffers + number
    place:  0 ... lanes - 1 (lanes), lanes ... lines - 1 (ports 1 ... P - 1)

With one lane, port 0, places are ports and ``number`` is that of router.md. In an all-port network
lane l - 1 belongs to link port l. There too the buffers that request one output are in the order of
router.md: an output is requested by only one injection port, before the links.

Input and output ports share the numbering: ``buffered[channel]`` belongs to the input buffer,
``holder[channel]`` to the output VC. The names are those of docs/router.md.

A *mask* is a set of a router's buffers: ``blocks`` words of 64 bits, one bit for each buffer in the
order of turns: links by number, then lanes.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ..base.arrays import Words
from ..base.loops import Int, inlined

Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Counts: TypeAlias = npt.NDArray[np.uint16]
Indices: TypeAlias = npt.NDArray[np.uint32]
Ints: TypeAlias = npt.NDArray[np.int64]
Links: TypeAlias = npt.NDArray[np.int32]

OVERFLOW, PARITY, CREDIT_OVERFLOW, BAD_ROUTE = 1, 2, 4, 8
UNEXPECTED_RECEIVE, SEND_AND_RECEIVE, BAD_ROW, BAD_WRITE = 16, 32, 64, 128

CONTROL, READY, SENDING, ENDED, FAILED, EXPECT = range(6)
"""States of a sender. ``SENDING`` is router.md's header and payload, told apart by ``place``."""

NEVER = -2
"""A cycle that never comes: no alarm, no event yet."""
NOBODY = BAD = -1
HOURS = 1024
"""Lists of sleeping interfaces: one for each value of the lowest bits of their alarm cycle."""
BLOCK = 64
"""Bits in a word of a mask."""

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


class Network(NamedTuple):
    """Constants of a run: the network, and the rows of its tables.

    ``lanes``, ``lines``, ``buffers`` and ``link_buffers`` (those of links alone) count per node;
    ``lanes`` is None, for 1, in a network that is not all-port (``loops.lanes_of``). A turn is one
    of ``places``. ``exits[line]`` is the set of port codes, with the deliver code, that a packet
    from this line may request.
    ``downstream[channel]`` is the input channel that an output channel feeds, ``upstream[channel]``
    the output channel that feeds an input channel; -1 if none. ``channel_registers`` are those of
    the link that feeds an input channel, and ``line_rate`` the rate of the link behind an output.
    Links have ``stages``, one more than the most registers. After ``patience`` quiet cycles only an
    alarm can change anything.
    The senders feed the lanes: VC a of lane n is channel ``nodes * buffers + n * vcs + a``, after
    the channels of all routers, with a credit counter like an output. Lane n has the rows
    ``first_row[n]`` up to ``first_row[n + 1]``, row r the header flits ``first_header[r]`` up to
    ``first_header[r + 1]``; ``row_channel`` is the input channel of its packet, ``BAD`` for a row
    that the sender refuses. ``expected`` has a row for each lane. ``largest_word`` is a word of
    ones. ``leading_words`` lie before each table. A sender fails if it reads word ``slot_words`` or
    later. A node begins no row before ``held_until``. With ``damages``, message memories damage
    each word that is ``damaged_word``.

    ``operators`` has a code for each of ``operator_count`` operators, ``own_operators`` the address
    of each custom one; all take ``operator_latency`` cycles. ``row_stream`` is the lane whose words
    a row sends on, ``NOBODY`` if it does not stream. ``row_stream``, ``row_lead`` and
    ``row_window`` are empty in a network without ``streams``.
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
    refuses: bool
    half_duplex: bool
    barrier: bool
    record_trace: bool
    damages: bool
    channel_node: Indices
    channel_place: Bytes
    line_node: Indices
    line_port: Bytes
    exits: Words
    downstream: Links
    upstream: Links
    channel_registers: Bytes
    line_rate: Bytes
    expected: Bools
    awaited: Ints
    refusal: npt.NDArray[np.uint16]
    held_until: Ints
    first_row: Ints
    row_channel: Links
    row_step: Ints
    row_start: Ints
    row_source: Ints
    row_length: Ints
    row_stream: Ints
    row_lead: Ints
    row_window: Ints
    operators: Ints
    own_operators: Ints
    first_header: Ints
    header: Words


class Registers(NamedTuple):
    """The state of the network: routers by line or channel, interfaces by lane or node.

    ``sender`` to ``waiting``, ``arrived`` and ``written_*`` are by lane; ``receive_*`` are by lane
    and VC. ``missing`` counts the receives still to come of all lanes of a node.

    Flit f of a channel's buffer is at ``channel * depth + f`` in ``data`` and ``kind``.
    ``wanted[channel]`` is the output channel that its packet requests, from first flit to tail;
    ``passing[channel]`` tells whether that first flit has left. ``holder[channel]`` is the input
    channel that holds an output channel, or ``NOBODY``; ``requests[channel]`` is the mask of the
    buffers whose first flit requests it. ``requested[line]`` counts the packets that request an
    output line or hold one of its VCs; bit l of the set ``asked`` is 1 if line l has such a packet.
    Flits and credits on links are in stages, one for each cycle in which they may arrive;
    ``flights`` and ``returns`` count them by stage. An output sends no flit before ``free_from``.
    In a network with operators, ``delayed`` counts the flits not yet written, by stage.
    ``ejected_address`` has the addresses of the last words that left for a node, ``ejected_cycle``
    their cycles, in slot ``cycle % operator_latency``.
    ``come`` of a lane counts the words of this step; until the end of ``come_cycle`` it was
    ``come_before``.
    """

    data: Words
    kind: Bytes
    first: Bytes
    buffered: Bytes
    at_front_since: Ints
    wanted: Indices
    passing: Bools
    requests: Ints
    requested: Counts
    asked: Ints
    holder: Links
    credits: Bytes
    turn: Counts
    next_vc: Bytes
    free_from: Ints
    flights: Ints
    flight_channel: Indices
    flight_kind: Bytes
    flight_data: Words
    returns: Ints
    return_channel: Indices
    sender: Bytes
    row: Ints
    place: Ints
    waiting: Bools
    alarm: Ints
    step: Ints
    coasting_since: Ints
    over: Bools
    finished: Bools
    arrived: Bools
    missing: Ints
    received: Ints
    receive_address: Ints
    receive_step: Ints
    receive_operator: Ints
    receive_window: Ints
    delayed: Ints
    delayed_lane: Indices
    delayed_address: Ints
    delayed_kind: Bytes
    delayed_step: Ints
    delayed_operator: Ints
    delayed_data: Words
    ejected_cycle: Ints
    ejected_address: Ints
    come: Ints
    come_before: Ints
    come_cycle: Ints
    memory: Words
    written_cycle: Ints
    written_address: Ints
    written_over: Words
    flags: npt.NDArray[np.uint8]
    stalled_flits: Ints
    step_end: Ints
    awake: Bools
    total: Ints


class Lists(NamedTuple):
    """Lists that a cycle fills; ``total`` says how many entries most of them hold.

    Sleeping nodes are linked lists: ``first_asleep`` by the lowest bits of the alarm, then
    ``next_asleep`` by node. ``fronts`` are input channels with a new first flit at their front, and
    one spare entry that :func:`~.router.note_front` may overwrite.
    """

    awake_nodes: Indices
    first_asleep: Ints
    next_asleep: Ints
    fronts: Indices


class Rows(NamedTuple):
    """The columns of a :class:`~eyecast.model.run.trace.Trace`; ``total[ROWS]`` rows are in use."""

    cycle: npt.NDArray[np.int64]
    node: npt.NDArray[np.int32]
    port: npt.NDArray[np.int16]
    vc: npt.NDArray[np.int16]
    kind: npt.NDArray[np.int8]
    data: Words


def reset_registers(network: Network, memory: Words) -> Registers:
    """Make the registers after reset; ``memory`` is copied."""
    nodes, (lanes, steps) = len(network.awaited), network.expected.shape
    lines, channels = nodes * network.lines, nodes * network.buffers
    stages = network.stages
    total = np.zeros(SOURCES + 1, dtype=np.int64)
    total[[NOT_OVER, UNFINISHED, AWAKE]] = nodes
    total[FLAGGED] = NEVER
    return Registers(
        data=np.zeros(channels * network.depth, dtype=np.uint64),
        kind=np.zeros(channels * network.depth, dtype=np.uint8),
        first=np.zeros(channels, dtype=np.uint8),
        buffered=np.zeros(channels, dtype=np.uint8),
        at_front_since=np.zeros(channels, dtype=np.int64),
        wanted=np.zeros(channels, dtype=np.uint32),
        passing=np.zeros(channels, dtype=np.bool_),
        requests=np.zeros(channels * network.blocks, dtype=np.int64),
        requested=np.zeros(lines, dtype=np.uint16),
        asked=np.zeros(-(-lines // BLOCK), dtype=np.int64),
        holder=np.full(channels, NOBODY, dtype=np.int32),
        credits=np.full(channels + lanes * network.vcs, network.depth, dtype=np.uint8),
        turn=np.full(channels, network.link_buffers, dtype=np.uint16),
        next_vc=np.zeros(lines, dtype=np.uint8),
        free_from=np.zeros(lines, dtype=np.int64),
        flights=np.zeros(stages, dtype=np.int64),
        flight_channel=np.zeros(stages * lines, dtype=np.uint32),
        flight_kind=np.zeros(stages * lines, dtype=np.uint8),
        flight_data=np.zeros(stages * lines, dtype=np.uint64),
        returns=np.zeros(stages, dtype=np.int64),
        return_channel=np.zeros(stages * channels, dtype=np.uint32),
        sender=np.full(lanes, EXPECT if network.leading_words else CONTROL, dtype=np.uint8),
        row=network.first_row[:-1].copy(),
        place=np.zeros(lanes, dtype=np.int64),
        waiting=np.zeros(lanes, dtype=np.bool_),
        alarm=np.full(nodes, NEVER, dtype=np.int64),
        step=np.ones(nodes, dtype=np.int64),
        coasting_since=np.full(nodes, NEVER, dtype=np.int64),
        over=np.zeros(nodes, dtype=np.bool_),
        finished=np.zeros(nodes, dtype=np.bool_),
        arrived=np.zeros((lanes, steps), dtype=np.bool_),
        missing=network.expected.reshape(nodes, -1).sum(axis=1, dtype=np.int64),
        received=np.zeros(nodes, dtype=np.int64),
        receive_address=np.zeros(lanes * network.vcs, dtype=np.int64),
        receive_step=np.zeros(lanes * network.vcs, dtype=np.int64),
        receive_operator=np.zeros(lanes * network.vcs, dtype=np.int64),
        receive_window=np.zeros(lanes * network.vcs, dtype=np.int64),
        **_of_operators(network, nodes, lanes),
        come=np.zeros(lanes, dtype=np.int64),
        come_before=np.zeros(lanes, dtype=np.int64),
        come_cycle=np.full(lanes, NEVER, dtype=np.int64),
        memory=memory.copy(),
        written_cycle=np.full(lanes, NEVER, dtype=np.int64),
        written_address=np.zeros(lanes, dtype=np.int64),
        written_over=np.zeros(lanes, dtype=np.uint64),
        flags=np.zeros(nodes, dtype=np.uint8),
        stalled_flits=np.zeros(nodes, dtype=np.int64),
        step_end=np.zeros(steps, dtype=np.int64),
        awake=np.ones(nodes, dtype=np.bool_),
        total=total,
    )


def _of_operators(network: Network, nodes: int, lanes: int) -> dict[str, Any]:
    """Make the registers that only a network with operators has; empty in others."""
    stages = network.operator_latency + 1 if network.operator_count else 0
    recent = nodes * network.operator_latency
    entries = stages * lanes
    return {
        "delayed": np.zeros(stages, dtype=np.int64),
        "delayed_lane": np.zeros(entries, dtype=np.uint32),
        "delayed_address": np.zeros(entries, dtype=np.int64),
        "delayed_kind": np.zeros(entries, dtype=np.uint8),
        "delayed_step": np.zeros(entries, dtype=np.int64),
        "delayed_operator": np.zeros(entries, dtype=np.int64),
        "delayed_data": np.zeros(entries, dtype=np.uint64),
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
    )


@inlined
def wake(now: Registers, lists: Lists, node: Int) -> None:
    """Look at the interface of ``node`` in the next cycle."""
    if not now.awake[node]:
        now.awake[node] = True
        lists.awake_nodes[now.total[AWAKE]] = node
        now.total[AWAKE] += 1


@inlined
def set_flag(now: Registers, lists: Lists, node: Int, flag: Int) -> None:
    """Set a sticky flag of ``node``."""
    if not now.flags[node] & flag:
        now.flags[node] |= flag
        seen = now.total[CYCLE] + 1
        if now.total[FLAGGED] == NEVER or (
            now.total[FLAGGED] == seen and node < now.total[CULPRIT]
        ):
            now.total[FLAGGED] = seen
            now.total[CULPRIT] = node
        wake(now, lists, node)
