"""Traffic as a program, and what a trace says of it.

Every packet becomes a timed row of its source's table, on the route of :func:`.routes.route`. Its
VC is drawn among those that the route may use: with ``lanes`` VCs for each dateline class, class c
of lane l is VC ``c * lanes + l``.

A packet's payload goes to the address that is its source's number, so that a delivered header says
where it came from. Packets of one source, target and VC take one way and stay in order: so the n-th
that arrives is the n-th that was sent, and a trace alone gives every packet's latency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .config import NetworkConfig
from .errors import InvalidInput
from .program import Program, Row, check_limits, encode_header
from .routes import route, segments_of_paths
from .topology import Topology
from .trace import HEAD_MARK, TAIL_MARK, Trace
from .traffic import Traffic


def traffic_program(traffic: Traffic, config: NetworkConfig, seed: int) -> Program:
    """The program that injects ``traffic`` into a network with timed rows.

    ``seed`` draws the VCs. Raises :class:`InvalidInput` for a packet shorter than its header, and
    for a network whose limits are too small, naming them.
    """
    topology = config.topology
    if not config.timed_rows:
        raise InvalidInput("the network must have timed rows to carry traffic")
    lane, lanes = packet_lanes(traffic, config, seed)
    offsets, nodes, classes = route(topology, traffic.source, traffic.target, config.vcs)
    hops = np.diff(offsets) - 1
    vcs = classes * lanes + np.repeat(lane, hops)
    routes = segments_of_paths(topology, offsets, nodes, vcs)
    rows: list[list[Row]] = [[] for _ in range(topology.nodes)]
    columns = (traffic.cycle, traffic.source, traffic.flits)
    for segments, cycle, source, flits in zip(
        routes, *(column.tolist() for column in columns), strict=True
    ):
        length = flits - len(encode_header(config, segments, 0, 0))
        if length < 0:
            raise InvalidInput.of("packet flits", f"at least {flits - length}, its header", flits)
        rows[source].append(Row(1, segments, 0, source, length, cycle))
    awaited = np.bincount(traffic.target, minlength=topology.nodes)
    program = Program(
        config,
        "full-duplex",
        tuple(map(tuple, rows)),
        ((),) * topology.nodes,
        tuple(awaited.tolist()),
    )
    check_limits(program)
    return program


def packet_lanes(
    traffic: Traffic, config: NetworkConfig, seed: int
) -> tuple[npt.NDArray[np.int64], int]:
    """The lane of each packet, drawn evenly, and the number of lanes."""
    classes = 2 if config.vcs > 1 and config.topology.wrapped else 1
    lanes = config.vcs // classes
    return np.random.default_rng(seed).integers(0, lanes, len(traffic)), lanes


def message_words_for(topology: Topology, longest: int) -> int:
    """Message memory that gives every source an address of its own for ``longest`` flits."""
    return max(256, topology.nodes + longest)


@dataclass(frozen=True, eq=False)
class Delivery:
    """Packets as they were delivered, in order of their last flit: columns of shape (packets,).

    ``source``, ``target``; ``started``: the cycle of the traffic, -1 for a packet that was not
    sent; ``arrived``: the cycle in which its tail left port 0.
    """

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    started: npt.NDArray[np.int64]
    arrived: npt.NDArray[np.int64]

    @property
    def latency(self) -> npt.NDArray[np.int64]:
        """Cycles from the one in which it might be injected to that of its tail's delivery."""
        return self.arrived - self.started


def deliveries(traffic: Traffic, config: NetworkConfig, trace: Trace, seed: int) -> Delivery:
    """When each packet of ``traffic_program(traffic, config, seed)`` arrived, from a trace."""
    lane, lanes = packet_lanes(traffic, config, seed)
    heads, tails = _delivered_packets(trace)
    shift = np.uint64(config.port_bits + config.step_bits)
    mask = np.uint64((1 << config.address_bits) - 1)
    source = (trace.data[heads] >> shift & mask).astype(np.int64)
    target = trace.node[tails].astype(np.int64)
    arrived = trace.cycle[tails]
    streams = config.topology.nodes * config.vcs
    delivered_stream = (source * streams + target * config.vcs) + trace.vc[tails] % lanes
    sent_stream = (traffic.source * streams + traffic.target * config.vcs) + lane
    started = _nth_of_stream(delivered_stream, arrived, sent_stream, traffic.cycle)
    order = np.argsort(arrived, kind="stable")
    return Delivery(source[order], target[order], started[order], arrived[order])


def _delivered_packets(trace: Trace) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows of the head and of the tail of each packet that was delivered to the end."""
    rows = np.flatnonzero(trace.port == 0)
    # On each node and VC whole packets follow each other.
    rows = rows[np.lexsort((trace.cycle[rows], trace.vc[rows], trace.node[rows]))]
    places = np.arange(len(rows))
    is_head = trace.kind[rows] & HEAD_MARK != 0
    last_head = np.maximum.accumulate(np.where(is_head, places, 0))
    is_tail = trace.kind[rows] & TAIL_MARK != 0
    return rows[last_head[is_tail]], rows[is_tail]


def _nth_of_stream(
    delivered: npt.NDArray[np.int64],
    arrived: npt.NDArray[np.int64],
    sent: npt.NDArray[np.int64],
    started: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """When each delivered packet was to start: the n-th of a stream is the n-th sent, else -1."""
    sent_order = np.lexsort((started, sent))
    in_stream = sent[sent_order]
    order = np.lexsort((arrived, delivered))
    streams, firsts, counts = np.unique(delivered[order], return_index=True, return_counts=True)
    nth = np.arange(len(order)) - np.repeat(firsts, counts)
    place = np.repeat(np.searchsorted(in_stream, streams), counts) + nth
    there = np.minimum(place, len(in_stream) - 1)
    found = (place < len(in_stream)) & (in_stream[there] == delivered[order])
    result = np.full(len(order), -1, dtype=np.int64)
    result[order[found]] = started[sent_order[there[found]]]
    return result
