"""All-to-all by messages that go straight from each node to every other node, without steps.

An exchange among neighbors, or of halos, is the same among fewer pairs.

On a grid without faults every message takes a shortest route, so the links in the middle of a mesh
carry only words that must cross it. On other networks the routes share the links evenly
(:mod:`...network.spread_routes`). The messages are packed into time so that each port and link
carries one message at a time (:mod:`...schedule.packing`). The schedule is timed and keeps this
order (:mod:`...schedule.timetable`)::

    link in the middle   |0->4 |1->5 |0->5 |3->4 |...      messages follow each other, no barrier

With w words each, a link in the middle of a k x k mesh is busy for k^3 / 4 (w + 1) cycles; the + 1
is the header. On 8x8 these are 640 cycles for w = 4 and 8,320 for w = 64. As few as k^3 / 4 steps
without shared links are possible (D. S. Scott, "Efficient All-to-All Communication Patterns in
Hypercube and Mesh Topologies", Proc. 6th Distributed Memory Computing Conference, 1991). This
schedule has some more steps, but they overlap in time, and it serves any network.

All-port networks have no timed rows. There the messages are packed into steps instead of cycles,
and only links are shared.

Where links have rates, the messages are packed into steps too, and the timetable keeps their order.
A message keeps all its places as long as its slowest link needs, so the messages over slow links
are equally long, and steps without gaps leave few cycles unused.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import require_range
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.blocks import Blocks
from ...schedule.collective import Collective
from ...schedule.duration import TIMED_ROW_CYCLES
from ...schedule.exchanged import exchanged_pairs
from ...schedule.resources import resources_of
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..declared.request import Request

MOST_WORDS = 32
"""Most words of a message for the packing: longer messages are packed as if they had this many."""
MOST_TRIES = 24
TRIED_FLITS = 500_000
"""Flits packed in all tries together, about; one try is always made."""


def direct_all_to_all(
    topology: Topology,
    words: int,
    *,
    all_port: bool = False,
    collective: Collective = Collective.ALL_TO_ALL,
) -> Schedule:
    """Send ``words`` words from each working node to every other one, on any network.

    With one port on a timetable, with all ports in steps. Another ``collective`` of ``EXCHANGES``
    has fewer pairs. Raises :class:`.InvalidInput` for fewer than 2 working nodes, for none that
    are neighbors, and if two nodes have no path between them.
    """
    # Compiled code takes long to import, and few commands need it.
    from ...schedule.packing import Packets, pack, steps_of  # noqa: PLC0415

    require_range("words", words, 1)
    working = topology.working_nodes
    require_range("nodes for direct", len(working), 2)
    source, target = exchanged_pairs(topology, collective, working)
    if not source.size:
        raise topology.refusal(collective, "one with links between nodes that have an interface")
    by_port = 0 if all_port else int(np.bincount(source).max())
    made = _all_in_step_1(topology, collective, words, source, target, by_port)
    flits = 1 if all_port else 1 + min(words, MOST_WORDS)
    if all_port:
        first, number = made.path_offsets - np.arange(len(source) + 1), topology.neighbor.size
        packets = Packets(first, made.links, number, flits, gap=0, hop_cycles=0)
    elif topology.links_differ:
        packets = Packets(*resources_of(made), 1, gap=0, hop_cycles=0)
    else:
        packets = Packets(*resources_of(made), flits, TIMED_ROW_CYCLES, hop_cycles=1)
    begin = pack(packets, max(1, min(MOST_TRIES, TRIED_FLITS // (flits * len(source)))))
    step = begin + 1 if all_port else steps_of(packets, begin)
    ports = PortModel.ALL_PORT if all_port else PortModel.FULL_DUPLEX
    order = np.argsort(begin, kind="stable")
    made = made.with_sends(order, step[order], made.block_offsets, order)
    return replace(made, port_model=ports, timed=not all_port)


def _all_in_step_1(
    topology: Topology,
    collective: Collective,
    words: int,
    source: Numbers,
    target: Numbers,
    by_port: int,
) -> Schedule:
    """Return a schedule of one message from each ``source`` to its ``target``, not packed yet.

    Each port carries ``by_port`` messages, so a link with at most this many delays nothing.
    """
    from ...network.spread_routes import spread_routes  # noqa: PLC0415

    path_offsets, path_nodes, vcs = spread_routes(topology, source, target, by_port)
    messages = len(source)
    return Schedule(
        topology=topology,
        collective=collective,
        algorithm="direct",
        port_model=PortModel.FULL_DUPLEX,
        root=None,
        blocks=Blocks(
            source.astype(np.int32),
            tuple((node,) for node in target.tolist()),
            np.full(messages, words, np.int32),
        ),
        step=np.ones(messages, np.int32),
        source=source.astype(np.int32),
        target=target.astype(np.int32),
        path_offsets=path_offsets,
        path_nodes=path_nodes,
        vcs=vcs,
        block_offsets=np.arange(messages + 1),
        block_ids=np.arange(messages, dtype=np.int32),
    )


def exchanges(
    name: str, generate: Callable[..., Schedule], *, steps: str, paper: str = ""
) -> tuple[Declared, ...]:
    """Return an algorithm for each exchange, with one port or all.

    ``generate`` makes the schedule of a network and words, with ``all_port`` and ``collective``.
    """

    def make(collective: Collective, asked: Request) -> Schedule:
        words, all_port = asked.words, asked.all_port
        return generate(asked.topology, words, all_port=all_port, collective=collective)

    return tuple(
        Declared(
            collective,
            name,
            partial(make, collective),
            networks=networks,
            steps=steps,
            paper=paper,
            ports=(ONE, ALL),
            takes=("all_port",),
        )
        for collective, networks in (
            (Collective.ALL_TO_ALL, "any network"),
            (Collective.NEIGHBOR, "any network with linked nodes"),
            (Collective.HALO, "grids of 1 to 3 axes, also with faults"),
        )
    )


ALGORITHMS = exchanges(
    "direct",
    direct_all_to_all,
    steps="about those of the busiest link; a timetable with one port",
    paper="Scott 1991",
)
