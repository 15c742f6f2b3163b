"""Paths of packets: the outputs that they leave by, each with its first header flit."""

from typing import NamedTuple

import numpy as np

from ..base.arrays import Numbers
from ..base.ragged import offsets_of
from ..network.topology import NO_LINK
from ..program.program import Program
from ..program.route_ends import Ends, hops_of
from .declined import Declined


class Passages(NamedTuple):
    """Packets at outputs, as columns: the links of all rows first, then the deliveries.

    row, place
        The row, and the index of the router on its path, from 0.
    node, port, vc
        The output: port 0 is delivery.
    flit
        The index of the first header flit that leaves there.
    """

    row: Numbers
    place: Numbers
    node: Numbers
    port: Numbers
    vc: Numbers
    flit: Numbers


def passages(program: Program) -> tuple[Passages, Ends]:
    """Follow all rows to their targets.

    Raises :class:`.Declined` for a route that no router accepts: back by the link that it came by,
    out of the network, or to a switch.
    """
    header, routes, topology = program.config.header, program.routes, program.config.topology
    slots = offsets_of(-(-routes.hops // header.reach))
    # For each segment, the header slots of its route before it.
    before = slots[:-1] - np.repeat(slots[routes.first[:-1]], np.diff(routes.first))
    rows = np.arange(len(program.step))
    came, node, vc = np.full((3, len(rows)), NO_LINK)
    found = []
    for place, hop in enumerate(hops_of(program, rows)):
        if (hop.ahead == NO_LINK).any() or (came[hop.place] == hop.port).any():
            raise Declined("a route is one that no router takes")
        slot = before[hop.segment] + (routes.hops[hop.segment] - 1 - hop.left) // header.reach
        number = np.full(len(hop.place), place)
        flit = slot // header.slots_per_flit
        found.append(Passages(hop.place, number, hop.node, hop.port, hop.vc, flit))
        came[hop.place] = topology.peer[hop.node, hop.port]
        node[hop.place], vc[hop.place] = hop.ahead, hop.vc
    if np.isin(node, topology.switches).any():
        raise Declined("a packet goes to a switch")
    out = Passages(rows, program.row_hops, node, np.zeros_like(rows), vc, program.header_flits - 1)
    there = Passages(*(np.concatenate(columns) for columns in zip(*found, out, strict=True)))
    return there, Ends(node, came if program.config.all_port else np.ones_like(came))
