"""Who has which output of the routers when, and whether two packets ever want one.

Flit j of a packet leaves router k of its way k (R + 1) cycles after the first one. A header flit is
dropped where its slots are used up, so a packet has an output of router k from the flit in whose
slot hop k is, to its tail, with the words between::

    router 0   H0 H1 p0 p1 p2             begin + 1 ...
    router 1      H0 H1 p0 p1 p2          with R = 0
    router 2            H1 p0 p1 p2       H0 was used up, and is dropped here

Outputs are counted as one for all of their VCs: where packets on two VCs share a link at the same
time, flits take turns, and wait.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..base.pieces import offsets_of
from ..network.topology import NO_LINK
from ..program.ends import hops_of
from ..program.table import Numbers, ProgramTable
from .declined import Declined
from .timetable import Timetable


class Passages(NamedTuple):
    """Packets at outputs: columns, the links of all rows first, then the ways out.

    row, place
        The row, and the number of the router on its way, from 0.
    node, port, vc
        The output: port 0 is out of the network.
    flit
        The first header flit that leaves there.
    """

    row: Numbers
    place: Numbers
    node: Numbers
    port: Numbers
    vc: Numbers
    flit: Numbers


def passages(program: ProgramTable, target: Numbers) -> Passages:
    """Follow all rows to their targets.

    Raises :class:`.Declined` for a route that no router takes: back by the link that it came by, or
    out of the network.
    """
    header, routes = program.config.header, program.routes
    slots = -(-routes.hops // header.reach)
    before = offsets_of(slots)[:-1]
    # Slots of a route before each segment.
    before = before - np.repeat(
        before[routes.first[:-1]] if len(before) else before, np.diff(routes.first)
    )
    rows = np.arange(len(program.step))
    came = np.full(len(rows), NO_LINK)
    last_vc = np.zeros(len(rows), dtype=np.int64)
    found = []
    for place, hop in enumerate(hops_of(program, rows)):
        if (hop.ahead == NO_LINK).any() or (came[hop.place] == hop.port).any():
            raise Declined("a route is one that no router takes")
        slot = before[hop.segment] + (routes.hops[hop.segment] - 1 - hop.left) // header.reach
        number = np.full(len(hop.place), place)
        flit = slot // header.slots_per_flit
        found.append(Passages(hop.place, number, hop.node, hop.port, hop.vc, flit))
        came[hop.place] = program.config.topology.peer[hop.node, hop.port]
        last_vc[hop.place] = hop.vc
    if np.isin(target, program.config.topology.switches).any():
        raise Declined("a packet goes to a switch")
    out = Passages(
        rows, program.row_hops, target, np.zeros_like(rows), last_vc, program.header_flits - 1
    )
    return Passages(*(np.concatenate(columns) for columns in zip(*found, out, strict=True)))


def first_cycles(program: ProgramTable, times: Timetable, there: Passages) -> Numbers:
    """The cycle in which each passage's first flit leaves."""
    way = there.place * (program.config.link_registers + 1)
    cycles: Numbers = times.begin[there.row] + 1 + there.flit + way
    return cycles


def last_cycles(program: ProgramTable, times: Timetable, there: Passages) -> Numbers:
    """The cycle in which each passage's tail leaves."""
    left = (program.row_hops[there.row] - there.place) * (program.config.link_registers + 1)
    cycles: Numbers = times.tail[there.row] - left
    return cycles


def require_no_meeting(program: ProgramTable, times: Timetable, there: Passages) -> None:
    """Decline where two packets have an output at the same time.

    In an all-port network the ways out of a node are one for each of its links, of which the packet
    alone comes that has the link: they meet there if they meet on it.
    """
    ports = program.config.topology.ports
    if program.config.all_port:
        there = Passages(*(column[there.port > 0] for column in there))
    line = there.node * ports + there.port
    first, last = first_cycles(program, times, there), last_cycles(program, times, there)
    span = times.cycles + 1
    order = np.argsort(line * span + first)
    line, first, last = line[order], first[order], last[order]
    meeting = (line[1:] == line[:-1]) & (first[1:] <= last[:-1])
    for place in np.flatnonzero(meeting)[:1].tolist():
        node, port = divmod(int(line[place]), ports)
        raise Declined(f"flits meet at node {node}, port {port}")


def link_flits(program: ProgramTable, there: Passages) -> Numbers:
    """Flits that leave by each output: shape (nodes, ports); column 0 is deliveries."""
    ports = program.config.topology.ports
    flits = (program.header_flits + program.length)[there.row] - there.flit
    counts = np.bincount(there.node * ports + there.port, flits, program.nodes * ports)
    return counts.astype(np.int64).reshape(program.nodes, ports)
