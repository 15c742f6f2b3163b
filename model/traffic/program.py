"""Traffic as a program, and its deliveries in a trace.

Every packet becomes a timed row of its source's table, on the route of
:func:`.traffic_routes`. Its VC set is drawn: with ``sets`` VCs for each VC class of the routes,
class c of set s is VC ``c * sets + s``. The packets of one source, target and VC set are a
*stream*: they have the same path, VCs and header, so they stay in order. On the wrapped axes of a
grid without faults each stream draws its classes (:func:`.balanced_vcs`).

The target address of a packet is its source's number, so a delivered header names the source. The
n-th packet of a stream that arrives is the n-th that was sent. So a trace alone gives every
packet's latency. The streams of one source and target arrive on different VCs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, require_range
from ..base.ragged import offsets_of
from ..network.config import MOST_MEMORY_WORDS, NetworkConfig
from ..network.port_model import PortModel
from ..network.routes import balanced_vcs, segments_of_paths
from ..network.segment import Routes
from ..network.table_format import MOST_HEADER_FLITS
from ..network.topology import Topology
from ..program.program import Program
from ..program.row import no_additions
from ..run.trace import HEAD_MARK, TAIL_MARK, Trace
from .routes import traffic_routes
from .traffic import Traffic

Numbers64 = npt.NDArray[np.int64]


def traffic_program(traffic: Traffic, config: NetworkConfig, seed: int) -> Program:
    """Return the program that injects ``traffic`` into a network with timed rows.

    ``seed`` draws the VCs. Raises :class:`InvalidInput` for a packet shorter than its header, and
    for a network with too small a limit, naming it. The size of the table memories is not checked,
    because the cycle model does not need it (:func:`.require_table_room`).
    """
    streams = _Streams.of(traffic, config, seed)
    header_flits = config.header.flits(streams.routes)[streams.of_packet]
    _require_room(traffic, config, header_flits)
    order = _row_order(traffic)
    nodes, rows = config.topology.nodes, len(traffic)
    none = np.zeros(0, dtype=np.int64)
    return Program(
        config=config,
        port_model=PortModel.FULL_DUPLEX,
        first_row=offsets_of(np.bincount(traffic.source, minlength=nodes)),
        step=np.broadcast_to(np.int64(1), rows),
        start=traffic.cycle[order],
        source_address=np.broadcast_to(np.int64(0), rows),
        target_address=traffic.source[order],
        length=(traffic.flits - header_flits)[order],
        continued=np.broadcast_to(np.bool_(False), rows),
        **no_additions(rows),
        route=streams.of_packet[order],
        routes=streams.routes,
        first_receive=np.zeros(nodes + 1, dtype=np.int64),
        receive_step=none,
        receive_port=none,
        awaited=np.bincount(traffic.target, minlength=nodes),
    )


def _row_order(traffic: Traffic) -> Numbers64:
    """Return the packet of each row: rows are in order of node, those of a node of packet."""
    return np.argsort(traffic.source, kind="stable")


@dataclass(frozen=True, eq=False)
class _Streams:
    """Streams of some traffic, in order of source, target and VC set.

    ``of_packet``: the stream of each packet, shape (packets,). ``routes``: the route of each.
    """

    of_packet: Numbers64
    routes: Routes

    @classmethod
    def of(cls, traffic: Traffic, config: NetworkConfig, seed: int) -> _Streams:
        """Draw VC sets and classes, and find the routes of the streams."""
        topology = config.topology
        _require_nodes(traffic, topology)
        pair = traffic.source * topology.nodes + traffic.target
        pairs, of_pair = np.unique(pair, return_inverse=True)
        found = traffic_routes(topology, *np.divmod(pairs, topology.nodes), config.vcs)
        sets = config.vcs // found.classes
        key = of_pair * sets + np.random.default_rng(seed).integers(0, sets, len(traffic))
        used = np.bincount(key, minlength=len(pairs) * sets) > 0
        of_packet = (np.cumsum(used) - 1)[key]
        pairs, vc_set = np.divmod(np.flatnonzero(used), sets)
        offsets, nodes, vcs, _ = found.of(pairs)
        if config.vcs > 1 and topology.wrapped and topology.without_faults is None:
            # The VC sets are drawn from ``seed`` alone; the classes are a second sequence of draws.
            vcs = balanced_vcs(topology, offsets, nodes, np.random.default_rng((seed, 1)))
        vcs = vcs * np.int32(sets) + np.repeat(vc_set, np.diff(offsets) - 1).astype(np.int32)
        return cls(of_packet, segments_of_paths(topology, offsets, nodes, vcs))


def _require_nodes(traffic: Traffic, topology: Topology) -> None:
    """Refuse the first packet whose source or target is no node, or both the same node."""
    for name, ends in (("source", traffic.source), ("target", traffic.target)):
        for node in ends[(ends < 0) | (ends >= topology.nodes)][:1].tolist():
            require_range(name, node, 0, topology.nodes - 1)
        for node in ends[np.isin(ends, topology.switches)][:1].tolist():
            topology.require_interface(name, node)
    for node in traffic.source[traffic.source == traffic.target][:1].tolist():
        raise InvalidInput.of("target", "another node than the source", node)


def _require_room(traffic: Traffic, config: NetworkConfig, header_flits: Numbers64) -> None:
    """Refuse the first packet that does not fit a row, or whose payload does not fit a memory."""
    if not config.timed_rows:
        raise InvalidInput.must_be("timed_rows", "given", "to carry traffic")
    # The target writes the payload from the address that equals the source's number.
    longest = config.message_words - traffic.source + header_flits
    for name, value, lowest, highest, allowed in (
        ("cycle", traffic.cycle, 0, (1 << config.start_bits) - 2, "{} to {}"),
        ("header flits", header_flits, 1, MOST_HEADER_FLITS, "{} to {}"),
        ("flits", traffic.flits, header_flits, longest, "{} (its header) to {} (the memory)"),
    ):
        least, most = (np.broadcast_to(end, value.shape) for end in (lowest, highest))
        for packet in np.flatnonzero((value < least) | (value > most))[:1]:
            ends = f"{traffic.source[packet]} -> {traffic.target[packet]}"
            raise InvalidInput.of(
                f"{name} of the packet {ends} in cycle {traffic.cycle[packet]}",
                allowed.format(least[packet], most[packet]),
                value[packet],
            )


def message_words_for(topology: Topology, longest: int) -> int:
    """Return the message memory, in words, that gives each source an address for ``longest`` flits.

    Raises :class:`InvalidInput` if no message memory is large enough for the longest packet.
    """
    require_range("flits of the longest packet", longest, 0, MOST_MEMORY_WORDS - topology.nodes)
    return max(256, topology.nodes + longest)


@dataclass(frozen=True, eq=False)
class Delivery:
    """Delivered packets in order of their last flit, as columns of shape (packets,).

    ``source``, ``target``; ``started`` and ``flits``: the cycle and the length in the traffic, -1
    and 0 for a packet that was not sent; ``arrived``: the cycle in which its tail left port 0.
    """

    source: Numbers64
    target: Numbers64
    started: Numbers64
    flits: Numbers64
    arrived: Numbers64

    @property
    def latency(self) -> Numbers64:
        """Cycles from a packet's start cycle to its tail's delivery."""
        return self.arrived - self.started


def deliveries(traffic: Traffic, program: Program, trace: Trace) -> Delivery:
    """Find in a trace of ``program``, made from ``traffic``, when each packet arrived."""
    config, routes = program.config, program.routes
    heads, tails = _delivered_packets(trace)
    source = config.header.address(trace.header_data[heads])
    target = trace.node[tails].astype(np.int64)
    arrived = trace.cycle[tails]
    streams = config.topology.nodes * config.vcs
    delivered_stream = (source * streams + target * config.vcs) + trace.vc[tails]
    last_vc = np.empty(len(traffic), np.int64)
    last_vc[_row_order(traffic)] = routes.vc[routes.first[1:] - 1][program.route]
    sent_stream = (traffic.source * streams + traffic.target * config.vcs) + last_vc
    packet = _nth_of_stream(delivered_stream, arrived, sent_stream, traffic.cycle)
    # Index -1, for a packet that was not sent, finds the values appended here.
    started, flits = np.append(traffic.cycle, -1)[packet], np.append(traffic.flits, 0)[packet]
    order = np.argsort(arrived, kind="stable")
    return Delivery(*(column[order] for column in (source, target, started, flits, arrived)))


def _delivered_packets(trace: Trace) -> tuple[Numbers64, Numbers64]:
    """Return the rows of the head and the tail of each packet that was delivered whole."""
    rows = np.flatnonzero(trace.port == 0)
    # On each node and VC, whole packets follow one after the other.
    rows = rows[np.lexsort((trace.cycle[rows], trace.vc[rows], trace.node[rows]))]
    places = np.arange(len(rows))
    is_head = trace.kind[rows] & HEAD_MARK != 0
    last_head = np.maximum.accumulate(np.where(is_head, places, 0))
    is_tail = trace.kind[rows] & TAIL_MARK != 0
    return rows[last_head[is_tail]], rows[is_tail]


def _nth_of_stream(
    delivered: Numbers64,
    arrived: Numbers64,
    sent: Numbers64,
    started: Numbers64,
) -> Numbers64:
    """Return the index of each delivered packet: n-th delivered is n-th sent; -1 if not sent."""
    sent_order = np.lexsort((started, sent))
    in_stream = sent[sent_order]
    order = np.lexsort((arrived, delivered))
    streams, firsts, counts = np.unique(delivered[order], return_index=True, return_counts=True)
    nth = np.arange(len(order)) - np.repeat(firsts, counts)
    place = np.repeat(np.searchsorted(in_stream, streams), counts) + nth
    there = np.minimum(place, len(in_stream) - 1)
    found = (place < len(in_stream)) & (in_stream[there] == delivered[order])
    result = np.full(len(order), -1, dtype=np.int64)
    result[order[found]] = sent_order[there[found]]
    return result
