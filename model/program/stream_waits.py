"""The certificate against deadlock for steps in which packets stream.

A packet that streams holds the channels of its route while it waits for words. So it breaks an
assumption of Dally and Seitz (:mod:`.deadlock`): that a packet waits only for its next channel. The
graph of channels therefore gets a node for each packet of such a step, which means "all words of
this packet arrive". Its edges are::

    a channel  ─► the next one of the route          held by a packet that waits for the next
    a channel  ─► the feeder of a packet that        held by a packet that waits for words
                  holds it
    a packet   ─► each channel of its route that     it may have to wait for that channel
                  packets of other senders take too
    a packet   ─► the one before it at its sender    which is sent first
    a packet   ─► its feeder                         whose words it waits for

Without a circle nothing waits forever. A ring of packets, each the feeder of the next, is a circle
too, with only the last kind of edge. It does not lock if some lead is not 0: word i of a packet
waits for word i - lead of its feeder and so, around the ring, for an earlier word of its own.
:func:`.streams.require_streams` has proved that a lead exists. So a ring is one node of the graph,
and only edges of another kind that lead out of the ring and back to it make a circle. If no other
packet takes a channel of the ring, there is no circle.

Port 0 of a node, by which packets leave the network, is a channel here too, because packets from
several links may want it.
"""

from typing import NamedTuple

import numpy as np

from ..base.arrays import Numbers
from ..base.graph_cycles import find_circle
from .program import Program
from .route_ends import hops_of
from .streams import NO_FEEDER, feeders


class Waits(NamedTuple):
    """The graph at the top of this module, for the packets of steps with streams.

    ``rows`` are these packets, ``names`` their numbers in the graph, ``channels`` the numbers of
    their channels, all of shape (count,). ``edges`` has shape (edges, 2): waiting, awaited.
    """

    rows: Numbers
    names: Numbers
    channels: Numbers
    edges: Numbers


def waiting_packets(table: Program) -> list[int]:
    """Return the rows of packets that may wait for each other in a circle; empty without one.

    Routes must follow links, and rows must stream as :func:`.streams.require_streams` allows.
    """
    if not table.stream.any():
        return []
    return [each for each in find_circle(waits(table).edges) if each < len(table.step)]


def waits(table: Program) -> Waits:
    """Return what the packets of steps with streams may wait for.

    Routes must follow links, and rows must stream as :func:`.streams.require_streams` allows.
    """
    feeder = feeders(table)
    # A row whose lead is its whole message waits for nothing.
    feeder = np.where(table.length > table.lead, feeder, NO_FEEDER)
    rows = np.flatnonzero(np.isin(table.step, np.unique(table.step[table.stream > 0])))
    name = _ring_names(feeder)
    fed = rows[feeder[rows] != NO_FEEDER]
    channel, row = _channels(table, rows)
    follows = row[1:] == row[:-1]
    row_fed = feeder[row] != NO_FEEDER
    shared = _shared(channel, table.sender[row])
    former = _former(table)
    behind = rows[former[rows] != NO_FEEDER]
    between_rings = name[fed] != name[feeder[fed]]
    fed = fed[between_rings]
    edges = [
        (channel[:-1][follows], channel[1:][follows]),
        (channel[row_fed], name[feeder[row[row_fed]]]),
        (name[row[shared]], channel[shared]),
        (name[behind], name[former[behind]]),
        (name[fed], name[feeder[fed]]),
    ]
    graph = np.concatenate([np.stack(pair, axis=1) for pair in edges])
    return Waits(rows, name[rows], np.unique(channel), graph)


def channel_parts(table: Program, channels: Numbers) -> Numbers:
    """Return the step, node, port and VC of channels in :class:`Waits`: shape (channels, 4)."""
    ports, vcs = table.config.topology.ports, table.config.vcs
    lines, vc = np.divmod(channels - len(table.step), vcs)
    lines, port = np.divmod(lines, ports)
    step, node = np.divmod(lines, table.config.topology.nodes)
    return np.stack((step, node, port, vc), axis=1)


def _channels(table: Program, rows: Numbers) -> tuple[Numbers, Numbers]:
    """Return the channels of all ``rows``, row by row, and the row of each.

    Their numbers are above those of all rows, and differ from step to step.
    """
    config, ports = table.config, table.config.topology.ports
    in_step = config.topology.nodes * ports * config.vcs
    found: list[tuple[Numbers, Numbers]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for hop in hops_of(table, rows):
        row = rows[hop.place]
        base = len(table.step) + table.step[row] * in_step
        found.append((base + (hop.node * ports + hop.port) * config.vcs + hop.vc, row))
        if not config.all_port:
            out = base + hop.ahead * ports * config.vcs + hop.vc
            found.append((out[hop.last], row[hop.last]))
    channel, row = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(row, kind="stable")
    return channel[order], row[order]


def _shared(channel: Numbers, sender: Numbers) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell which entries have a channel that packets of another sender take too."""
    kinds, which = np.unique(channel, return_inverse=True)
    least = np.full(len(kinds), np.iinfo(np.int64).max)
    most = np.full(len(kinds), -1)
    np.minimum.at(least, which, sender)
    np.maximum.at(most, which, sender)
    return (least < most)[which]


def _former(table: Program) -> Numbers:
    """Return the row that each row's sender sends before it in the same step, or ``NO_FEEDER``."""
    order, sender = table.sender_order, table.sender
    former = np.full(len(order), NO_FEEDER)
    before, after = order[:-1], order[1:]
    same = (sender[before] == sender[after]) & (table.step[before] == table.step[after])
    former[after[same]] = before[same]
    return former


def _ring_names(feeder: Numbers) -> Numbers:
    """Return a name for each row: the lowest row of its ring of feeders, otherwise the row."""
    count = len(feeder)
    ahead = np.append(np.where(feeder == NO_FEEDER, count, feeder), count)
    lowest, far = np.arange(count + 1), ahead
    for _ in range(count.bit_length()):
        lowest = np.minimum(lowest, lowest[far])
        far = far[far]
    in_ring = np.zeros(count + 1, dtype=np.bool_)
    in_ring[far] = True
    in_ring[count] = False
    return np.where(in_ring, lowest, np.arange(count + 1))[:count]
