"""Times in which packets occupy outputs, and a search for two packets at one output.

Flit j of a packet leaves router k of its path k (R + 1) cycles after it left router 0. A header
flit is dropped where its slots are used up. So a packet occupies an output of router k from the
header flit whose slot has hop k up to its tail::

    router 0   H0 H1 p0 p1 p2             begin + 1 ...
    router 1      H0 H1 p0 p1 p2          with R = 0
    router 2            H1 p0 p1 p2       H0 was used up, and is dropped here

All VCs of an output count together: packets on two VCs that share a link at the same time take
turns, so their flits wait.
"""

import numpy as np

from ..base.arrays import Numbers
from ..program.program import Program
from .declined import Declined
from .passages import Passages
from .timetable import Timetable


def first_cycles(program: Program, times: Timetable, there: Passages) -> Numbers:
    """Return the cycle in which each passage's first flit leaves."""
    way = there.place * (program.config.link_registers + 1)
    cycles: Numbers = times.begin[there.row] + 1 + there.flit + way
    return cycles


def last_cycles(program: Program, times: Timetable, there: Passages) -> Numbers:
    """Return the cycle in which each passage's tail leaves."""
    left = (program.row_hops[there.row] - there.place) * (program.config.link_registers + 1)
    cycles: Numbers = times.tail[there.row] - left
    return cycles


def require_no_meeting(program: Program, times: Timetable, there: Passages) -> None:
    """Decline if two packets occupy an output at the same time.

    An all-port network has an ejection port for each link of a node; packets that meet there have
    met on that link, so deliveries are not checked.
    """
    ports = program.config.topology.ports
    if program.config.all_port:
        there = Passages(*(column[there.port > 0] for column in there))
    line = there.node * ports + there.port
    first, last = first_cycles(program, times, there), last_cycles(program, times, there)
    span, longest = times.cycles + 1, int((last - first).max(initial=0)) + 1
    if program.nodes * ports * span * longest > np.iinfo(np.int64).max:
        raise Declined("the run is too long")
    # One sort of combined numbers is several times as fast as a sort by columns.
    line, rest = np.divmod(np.sort((line * span + first) * longest + last - first), span * longest)
    first, length = np.divmod(rest, longest)
    meeting = (line[1:] == line[:-1]) & (first[1:] <= (first + length)[:-1])
    for place in np.flatnonzero(meeting)[:1].tolist():
        node, port = divmod(int(line[place]), ports)
        raise Declined(f"flits meet at node {node}, port {port}")


def link_flits(program: Program, there: Passages) -> Numbers:
    """Count the flits that leave by each output: shape (nodes, ports); column 0 is deliveries."""
    ports = program.config.topology.ports
    flits = (program.header_flits + program.length)[there.row] - there.flit
    counts = np.bincount(there.node * ports + there.port, flits, program.nodes * ports)
    return counts.astype(np.int64).reshape(program.nodes, ports)
