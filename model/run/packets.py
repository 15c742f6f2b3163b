"""Packets put together from the flits of a trace, and their headers.

A broken rule of a trace raises :class:`TraceError`, which names the flit.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..network.config import NetworkConfig
from .trace import HEAD_MARK, TAIL_MARK, Trace


class TraceError(InvalidInput):
    """A trace breaks ``rule``; the message names it and the cycle, node, port and VC."""

    def __init__(self, rule: str, place: tuple[int, int, int, int], what: str) -> None:
        cycle, node, port, vc = place
        super().__init__(f"{rule}: cycle {cycle}, node {node}, port {port}, VC {vc}: {what}")
        self.rule = rule


@dataclass(frozen=True, eq=False)
class Packets:
    """Flits in order of (node, port, VC, cycle), put together into packets.

    Packet i is flits ``begin[i]`` to ``end[i]`` - 1; its header flits end before ``header_end[i]``;
    ``whole[i]`` tells whether its tail is there. ``channel[i]`` numbers its (node, port, VC).
    ``row[j]`` is the index of flit j in the trace.
    """

    flits: Trace
    row: Numbers
    channel: Numbers
    begin: Numbers
    header_end: Numbers
    end: Numbers
    whole: npt.NDArray[np.bool_]


def packet_order(trace: Trace) -> Numbers:
    """Return the rows of ``trace`` in the order of :class:`Packets`."""
    return np.lexsort((trace.cycle, trace.vc, trace.port, trace.node))


def packets_of(config: NetworkConfig, trace: Trace) -> Packets:
    """Group flits: a packet begins with its channel's first flit and after each tail flit."""
    order = packet_order(trace)
    flits = Trace(*(column[order] for column in trace.columns))
    channel = _channel(config, flits.node.astype(np.int64), flits.port, flits.vc)
    tail = flits.kind & TAIL_MARK != 0
    starts = np.ones(len(flits), dtype=bool)
    starts[1:] = (channel[1:] != channel[:-1]) | tail[:-1]
    begin = np.flatnonzero(starts)
    end = np.append(begin, len(flits))[1:]
    heads = np.concatenate(([0], np.cumsum(flits.kind & HEAD_MARK != 0)))
    header_end = begin + heads[end] - heads[begin]
    return Packets(flits, order, channel[begin], begin, header_end, end, tail[end - 1])


def routed(
    config: NetworkConfig, arrivals: Packets
) -> tuple[Numbers, Numbers, Numbers, npt.NDArray[np.uint64]]:
    """Route each arriving packet as the router that it enters does.

    Return the router, the first flit that is not dropped there, the channel number of its output
    VC (-1 if none), and that flit as it leaves.
    """
    flits, topology, ports = arrivals.flits, config.topology, config.topology.ports
    node, port, vc = (column[arrivals.begin] for column in (flits.node, flits.port, flits.vc))
    router = np.where(port != 0, topology.neighbor[node, port], node).astype(np.int64)
    entry = np.where(port != 0, topology.peer[node, port], 0)
    header, data = config.header, np.append(flits.header_data, np.uint64(0))
    dropping = (header.port(flits.header_data) == 0) & (flits.kind == HEAD_MARK)
    dropping = np.append(dropping, False)
    front = arrivals.begin.copy()
    while (drop := dropping[front] & (front < arrivals.end)).any():
        front += drop
    first = data[front]
    code = header.port(first)
    deliver = code == header.deliver_code
    exit_port = np.where(deliver, 0, np.minimum(code, ports - 1))
    exit_vc = np.where(deliver, vc, header.vc(first))
    leaves = (front < arrivals.header_end) & (code > 0) & (code <= ports) & (exit_port != entry)
    leaves &= deliver | (topology.neighbor[router, exit_port] >= 0)
    leaves &= exit_vc < config.vcs
    channel = np.where(leaves, _channel(config, router, exit_port, exit_vc), -1)
    return router, front, channel, np.where(deliver, first, header.drop_first(first))


def flit_error(rule: str, flits: Trace, index: int, what: str) -> TraceError:
    """Return the error that names flit ``index``."""
    flit = flits[index]
    return TraceError(rule, (flit.cycle, flit.node, flit.port, flit.vc), what)


def _channel(
    config: NetworkConfig, node: Numbers, port: npt.NDArray[np.integer], vc: npt.NDArray[np.integer]
) -> Numbers:
    """Return one number for each node, port and VC."""
    number: Numbers = (node * config.topology.ports + port) * config.vcs + vc
    return number
