"""The links that packets cross, and the nodes and lanes at which they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..network.topology import NO_LINK
from .table import RowTable


class Hop(NamedTuple):
    """The next link of the routes of some rows: columns, an entry for each route not ended yet.

    place
        Index of the row in the ``rows`` of :func:`hops_of`.
    node, port, vc
        The link, and the VC on it.
    ahead
        The node that the link leads to; ``NO_LINK`` if there is no link and the route ends here.
    last
        True if it is the last link of the route.
    segment, left
        The segment of the route, and its hops after this one.
    """

    place: Numbers
    node: Numbers
    port: Numbers
    vc: Numbers
    ahead: Numbers
    last: npt.NDArray[np.bool_]
    segment: Numbers
    left: Numbers


def hops_of(table: RowTable, rows: Numbers) -> Iterator[Hop]:
    """Follow the routes of ``rows``, all at the same time, link by link."""
    topology, routes = table.config.topology, table.routes
    segment, end = routes.first[table.route[rows]], routes.first[table.route[rows] + 1]
    place = np.flatnonzero(segment < end)
    node, segment, end = table.row_node[rows[place]], segment[place], end[place]
    left = routes.hops[segment] - 1
    while place.size:
        port = routes.port[segment]
        ahead = topology.neighbor[node, port].astype(np.int64)
        last = (left == 0) & (segment + 1 == end)
        yield Hop(place, node, port, routes.vc[segment], ahead, last, segment, left)
        on = ~last & (ahead != NO_LINK)
        segment = segment + (left == 0)
        place, node, segment, end, left = (
            column[on] for column in (place, ahead, segment, end, left)
        )
        left = np.where(left == 0, routes.hops[segment], left) - 1


class Ends(NamedTuple):
    """Ends of packets, an entry for each: -1 for a route that follows a missing link.

    node
        The target.
    lane
        The ejection port there, from 1, as a row that streams names it; 1 if there is only one.
    """

    node: Numbers
    lane: Numbers


def ends_of(table: RowTable, rows: Numbers) -> Ends:
    """Return the ends of the routes of ``rows``."""
    ends = Ends(np.full(len(rows), NO_LINK), np.full(len(rows), NO_LINK))
    for hop in hops_of(table, rows):
        over = hop.last & (hop.ahead != NO_LINK)
        place = hop.place[over]
        ends.node[place] = hop.ahead[over]
        entered = table.config.topology.peer[hop.node[over], hop.port[over]]
        ends.lane[place] = entered if table.config.all_port else 1
    return ends
