"""The certificate that a program cannot deadlock, from its channel dependency graph.

A *channel* is a VC of a directed link, and the buffer at its end. A packet that holds a channel may
wait for the next channel of its route, so the graph has an edge from each channel of a route to the
one after it. Four packets that each go two links around a ring of four nodes on one VC::

    [0] --a--> [1]           holds a, waits for b           a -> b
     ^          |            holds b, waits for c           ^    |
     d          b            holds c, waits for d           |    v
     |          v            holds d, waits for a           d <- c    a cycle: all wait forever
    [3] <--c-- [2]

**Theorem** (W. J. Dally and C. L. Seitz, "Deadlock-Free Message Routing in Multiprocessor
Interconnection Networks", IEEE Trans. Computers C-36(5), 1987, Theorem 1). Wormhole routing by a
routing function is free of deadlock if, and only if, its channel dependency graph has no cycle.

The theorem's assumptions hold in the network of docs/router.md:

* a route is fixed when its packet is sent, and so is the VC on each of its links;
* every channel has its own buffer, is held by one packet from head flit to tail flit, and a packet
  waits only for the next channel of its route (a packet that streams also waits for words:
  :mod:`.stream_waits`);
* a packet that waits for a channel which becomes free again and again gets it in the end, because
  other packets pass it only a bounded number of times (section 3);
* ejection always drains: the interface takes a flit in every cycle, or with refusals (timed rows)
  in at least one of 16, unless it is told to refuse all. So a packet in the channel out of port 0
  never waits in a circle. Only packets not yet in the network wait for the channel into port 0.

A program is a fixed set of routes, not a function that routes any packet anywhere. For it the "if"
remains: without a cycle it cannot deadlock, whatever the timing. With a cycle it can, if the
packets of the cycle may be in flight at the same time. The graph has all rows of all steps, because
self-timed nodes may be steps apart.
"""

from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import Int32s
from ..base.errors import InvalidInput
from ..base.graph_cycles import find_circle
from ..base.ragged import offsets_of
from ..network.route_layers import layered_vcs
from ..network.routes import (
    Offsets,
    dateline_vcs,
    dimension_order,
    route,
    segments_of_paths,
)
from ..network.topology import NO_LINK, mesh
from ..network.up_down_routes import up_down_paths
from .checks import require_hops
from .program import Program
from .route_ends import hops_of
from .stream_waits import waiting_packets

Channels = npt.NDArray[np.int64]
"""Channels by number: ``(node * ports + port) * vcs + vc``."""


class Channel(NamedTuple):
    """VC ``vc`` of the link that leaves ``node`` by ``port``."""

    node: int
    port: int
    vc: int


class DeadlockError(InvalidInput):
    """The error for packets of a program that may wait for each other in a circle.

    ``cycle`` has the channels of the circle. A packet may hold each of them while it waits for the
    next one, and the last while it waits for the first. The message shows them with their nodes:
    "0 -> 1 -> 0 on VC 0" or, on several VCs, "0 -> 1 (VC 0) -> 0 (VC 1)"; and ``remedy``, if any.
    """

    def __init__(self, cycle: list[Channel], remedy: str = "") -> None:
        one_vc = len({channel.vc for channel in cycle}) == 1
        vcs = ["" if one_vc else f" (VC {channel.vc})" for channel in cycle]
        ends = [channel.node for channel in cycle[1:] + cycle[:1]]
        links = "".join(f" -> {end}{vc}" for end, vc in zip(ends, vcs, strict=True))
        on = f" on VC {cycle[0].vc}" if one_vc else ""
        found = f"these routes can deadlock: {cycle[0].node}{links}{on}"
        super().__init__("; ".join(filter(None, (found, remedy))))
        self.cycle = cycle


class StreamDeadlockError(DeadlockError):
    """The error for packets of a step with streams that may wait for each other in a circle.

    The message names their rows; ``cycle`` is empty.
    """

    def __init__(self, packets: list[str]) -> None:
        InvalidInput.__init__(
            self,
            "packets that stream must be free of deadlock, not wait for each other in a circle: "
            f"{', '.join(packets)}",
        )
        self.cycle = []


def certify(program: Program) -> None:
    """Raise :class:`DeadlockError` unless ``program`` is free of deadlock.

    The theorem and its assumptions are at the top of this module. ``program`` must keep the limits
    of its network (``check_program``). Raises :class:`.InvalidInput` for a route that
    leaves the network or has a segment of no hops.
    """
    cycle = find_cycle(program)
    if cycle:
        raise DeadlockError(cycle, remedy(program))
    require_no_waiting_streams(program)


def require_no_waiting_streams(program: Program) -> None:
    """Raise :class:`StreamDeadlockError` if packets of a step with streams may wait in a circle."""
    waiting = waiting_packets(program)
    if waiting:
        raise StreamDeadlockError([program.row_name(row) for row in waiting])


def find_cycle(program: Program) -> list[Channel]:
    """Return a cycle of the channel dependency graph of ``program``, from its lowest channel on.

    Each channel depends on the next one, and the last on the first. The list is empty without a
    cycle. Raises :class:`.InvalidInput` as :func:`.certify` does.
    """
    numbers = find_circle(dependencies(program))
    lines, vcs = np.divmod(numbers, program.config.vcs)
    nodes, ports = np.divmod(lines, program.config.topology.ports)
    return [Channel(*each) for each in np.stack((nodes, ports, vcs), axis=1).tolist()]


def remedy(program: Program) -> str:
    """Return advice to use more VCs if they free ``program`` from deadlock, otherwise "".

    Each ring of a whole grid gets a dateline, as :func:`.dateline_vcs` does, which takes two VCs.
    On another network each route gets one of as many VCs as are needed (:func:`.layered_vcs`).
    """
    topology = program.config.topology
    offsets, nodes = _paths(program)
    if not topology.whole_grid:
        needed = int(layered_vcs(offsets, nodes).max()) + 1
        told = f"with {needed} VCs (each route on one) these routes are free of deadlock"
        if up_down_paths(topology, nodes[offsets[:-1]], nodes[offsets[1:] - 1]) is None:
            told += ", and up*/down* routes do not reach all targets, as links work one way"
        return told
    if program.config.vcs > 1 or not topology.wrapped:
        return ""
    freed = _rerouted(program, offsets, nodes, dateline_vcs(topology, offsets, nodes), 2)
    told = "with 2 VCs (VC 1 behind each ring's dateline) these routes are free of deadlock"
    return "" if find_cycle(freed) else told


def other_routes(program: Program) -> str:
    """Return advice to take other routes, on VC 0, if they free ``program`` from deadlock, or "".

    A whole torus or ring contains a mesh, whose routes cross no wrap link. Other networks have
    their shortest routes.
    """
    topology = program.config.topology
    offsets, nodes = _paths(program)
    ends = nodes[offsets[:-1]], nodes[offsets[1:] - 1]
    if topology.wrapped and topology.without_faults is None:
        offsets, nodes = dimension_order(mesh(topology.dims), *ends)
        told = "routes that cross no wrap link, though longer, are free of deadlock"
    else:
        offsets, nodes, _ = route(topology, *ends, 1)
        told = "the shortest routes of the network are free of deadlock"
    first = np.zeros(nodes.size - len(ends[0]), dtype=np.int32)
    freed = _rerouted(program, offsets, nodes, first, program.config.vcs)
    return "" if find_cycle(freed) else told


def _paths(program: Program) -> tuple[Offsets, Int32s]:
    """Return the path of each row, as :func:`.route` does."""
    paths: list[list[int]] = [[node] for node in program.row_node.tolist()]
    for hop in hops_of(program, np.arange(len(paths))):
        for place, ahead in zip(hop.place.tolist(), hop.ahead.tolist(), strict=True):
            paths[place].append(ahead)
    return offsets_of([*map(len, paths)]), np.array([*chain(*paths)], dtype=np.int32)


def _rerouted(
    program: Program, offsets: Offsets, nodes: Int32s, path_vcs: Int32s, vcs: int
) -> Program:
    """Return ``program`` with a path for each row, in a network with ``vcs`` VCs."""
    routes = segments_of_paths(program.config.topology, offsets, nodes, path_vcs)
    config = replace(program.config, vcs=vcs)
    return replace(program, config=config, route=np.arange(len(program.step)), routes=routes)


def dependencies(program: Program) -> Channels:
    """Return the distinct pairs of consecutive channels on all routes: (pairs, 2), ascending."""
    require_hops(program)
    config, topology = program.config, program.config.topology
    # Each pair is kept as one number, because numbers are sorted much faster than rows.
    most = topology.neighbor.size * config.vcs
    # The first row of each node for each of its routes.
    keys = program.row_node * len(program.routes) + program.route
    rows = np.unique(keys, return_index=True)[1]
    held = np.full(len(rows), NO_LINK)
    pairs = [np.empty(0, dtype=np.int64)]
    for hop in hops_of(program, rows):
        lost = np.flatnonzero(hop.ahead == NO_LINK)
        if lost.size:
            place = lost[np.argmin(rows[hop.place[lost]])]
            raise InvalidInput.of(
                f"{program.row_name(int(rows[hop.place[place]]))}: route",
                "along links",
                f"out of node {hop.node[place]} by port {hop.port[place]}",
            )
        before = held[hop.place]
        wanted = (hop.node * topology.ports + hop.port) * config.vcs + hop.vc
        pairs.append(np.unique((before * most + wanted)[before != NO_LINK]))
        held[hop.place] = wanted
    return np.stack(np.divmod(np.unique(np.concatenate(pairs)), most), axis=1)
