"""Drawn programs of one step in which rows stream, with certificates of their words."""

from typing import Any

import numpy as np
from helpers.programs import DOWN, UP, put, simulated, words

from eyecast.model.base.graph_cycles import find_circle
from eyecast.model.certificate.packet_certificate import channel_order, rising_groups
from eyecast.model.network.topology import line, ring
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.program.stream_waits import waits
from eyecast.model.run.run import Run

READ = 32
"""Words of each memory that drawn programs use."""
COMES = 16
"""The address from which words come; a lead lies before it."""


def streamed_rows(draw: np.random.Generator, nodes: int = 6) -> dict[str, Any]:
    """Draw rows of one step, one to each of some nodes; return what makes a program of them."""
    topology = (line, ring)[draw.integers(2)](nodes)
    vcs = int(draw.integers(1, 3))
    sent: dict[int, list[tuple[int, int]]] = {node: [] for node in range(nodes)}
    receives = {}
    for target in range(nodes):
        port, hops = int(draw.choice((UP, DOWN))), int(draw.integers(1, 4))
        source = target - hops if port == UP else target + hops
        if draw.integers(6) and (topology.kind == "ring" or 0 <= source < nodes):
            sent[source % nodes].append((port, hops))
            receives[target] = [1]
    rows = {}
    for node, routes in sent.items():
        draw.shuffle(routes)
        rows[node] = [_row(draw, route, vcs, comes=node in receives) for route in routes]
    return {"rows": rows, "receives": receives, "topology": topology, "streams": True, "vcs": vcs}


def _row(draw: np.random.Generator, route: tuple[int, int], vcs: int, *, comes: bool) -> Row:
    length, lead = int(draw.choice((5, 5, 5, 5, 5, 4, 7))), int(draw.choice((0, 0, 0, 1, 2)))
    fields = {"length": length, "target": COMES, "source": 0}
    if comes and draw.integers(4):
        fields |= {"stream": 1, "lead": lead, "source": COMES - lead}
    elif not draw.integers(8):
        fields["source"] = COMES
    return put(1, (*route, int(draw.integers(vcs))), **fields)


def results(made: Program) -> tuple[Run, list[tuple[int, int, int, int]]]:
    """Run a program; return the run, and the node, address, origin and its address of each word."""
    memory = words(made)
    found = simulated(made, "barrier", cycle_limit=400)
    origin = np.divmod(found.memory[:, :READ].astype(np.int64) - 1, memory.shape[1])
    at = np.indices((len(memory), READ))
    return found, [*zip(*(each.ravel().tolist() for each in (*at, *origin)), strict=True)]


def certificate_of(made: Program, draw: np.random.Generator, owed: Any) -> dict[str, Any]:
    """Return a certificate of words that a run brought; its order ignores some waits in a circle.

    Raises :class:`.DeadlockError` if routes alone make a circle.
    """
    graph = waits(made)
    while circle := find_circle(graph.edges):
        place = draw.integers(len(circle))
        edge = circle[place], circle[(place + 1) % len(circle)]
        graph = graph._replace(edges=graph.edges[(graph.edges != edge).any(axis=1)])
    one = {"words": 1}
    return {
        **{"format": "eyecast-certificate", "version": 1, "links": [], "timing": "barrier"},
        "channel_order": channel_order(made),
        "stream_order": rising_groups(made, graph),
        "held": [
            one | {"node": node, "address": address, "value": node * READ + address}
            for node in range(made.config.topology.nodes)
            for address in range(READ)
        ],
        "owed": [
            one | {"node": node, "address": at, "values": [origin * READ + address], "operator": 0}
            for node, at, origin, address in owed
        ],
    }
