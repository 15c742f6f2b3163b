"""Programs of packets that fail, or never end."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from ..model.network.config import NetworkConfig
from ..model.network.segment import Segment
from ..model.network.topology import NO_LINK
from ..model.program.program import Program
from ..model.program.row import Row
from .draft import Draft
from .ways import Link, end_of, end_of_route, links_into, shortest_way


def culprits(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs that fail at a node, and that never end at a node, for each node."""
    last, topology = config.message_words - 1, config.topology
    for node in topology.working_nodes.tolist():
        ports = (np.flatnonzero(topology.neighbor[node, 1:] != NO_LINK) + 1).tolist()
        entries = [end_of(topology, link)[1] for link in links_into(topology, node)]
        if ports:
            wrong = Draft(config)
            wrong.rows = {node: [Row(1, (Segment(ports[0], 1, 0),), last, 0, 2)]}
            yield f"A failure of node {node}", True, wrong.program()
        if ports or entries:
            endless = Draft(config)
            endless.receives = {node: [(1, [*ports, *entries][0] * config.all_port)]}
            yield f"A run that node {node} does not end", True, endless.program()


def failures(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs whose packets from a node to one near by set a flag."""
    last = config.message_words - 1
    links = shortest_way(config.topology)
    if not links:
        return
    node, (target, entry) = links[0][0], end_of(config.topology, links[-1])
    right = Row(1, tuple(Segment(port, 1, 0) for _, port in links), 0, 0, 1)
    for name, rows in {
        "Two packets of one step": [right, right, replace(right, step=2, length=2)],
        "A packet that ends beyond the memory": [replace(right, target_address=last, length=2)],
    }.items():
        draft = Draft(config)
        for row in rows:
            if row.step <= config.steps:
                draft.put(node, row, target, entry)
        yield name, False, draft.program()


def wrong_turns(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs whose packets turn to an output that their node does not have.

    All nodes at which a packet can turn wrong from one input to one output do so in the same cycle.
    """
    for (entry, out), ways in no_ways(config).items():
        draft = Draft(config)
        for node, port in ways:
            row = Row(1, (Segment(port, 1, 0), Segment(out, 1, 0)), 0, 0, 1)
            draft.rows[node] = [row]
            # The next node does not finish before the packet is there; a switch has no receives.
            there, lane = int(config.topology.neighbor[node, port]), entry
            if there in config.topology.switches:
                there, lane = node, port
            draft.receives[there] = [(1, config.all_port * lane)]
        yield f"Packets that turn from input {entry} to no output {out}", False, draft.program()


def no_ways(config: NetworkConfig) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return by input and output the (node, port) of links to nodes without this way.

    A node has no way to an output without a link, and none back.
    """
    topology, ways = config.topology, dict[tuple[int, int], list[tuple[int, int]]]()
    for node in config.topology.working_nodes.tolist():
        for port, out in product(range(1, topology.ports), repeat=2):
            there, entry = end_of(topology, (node, port))
            if there != NO_LINK and (out == entry or topology.neighbor[there, out] == NO_LINK):
                ways.setdefault((entry, out), []).append((node, port))
    return ways


def far_turns(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs whose packet has as many hops before it behind an input as a slot can count.

    The run fails if the nodes in this direction end before.
    """
    for entry, (node, route) in far_routes(config).items():
        end, lane = end_of_route(config.topology, node, route)
        if end in config.topology.switches:
            end, lane = node, route[-1].port
        draft = Draft(config)
        draft.put(node, Row(1, route, 0, 0, 1), end, lane)
        yield f"A packet of {far_point(entry, route[-1].hops)}", False, draft.program()


def far_point(entry: int, hops: int) -> str:
    """Return the point of a packet that has some hops in one direction before it at an input."""
    return f"{hops} hops in one direction from input {entry}"


def far_routes(config: NetworkConfig) -> dict[int, tuple[int, tuple[Segment, ...]]]:
    """Return, by input, a node and a route that goes from this input as far as a slot can count.

    A packet never comes back to its own node, so that it can go less far in a small ring.
    """
    topology, found = config.topology, dict[int, tuple[int, tuple[Segment, ...]]]()
    nodes = topology.working_nodes.tolist()
    starts: list[tuple[int, Link, tuple[Segment, ...]]] = [(node, (node, 0), ()) for node in nodes]
    for node, port in product(nodes, range(1, topology.ports)):
        if topology.neighbor[node, port] != NO_LINK:
            starts.append((node, end_of(topology, (node, port)), (Segment(port, 1, 0),)))
    far = range(config.header.reach, 1, -1)
    for hops, (node, (at, entry), way), out in product(far, starts, range(1, topology.ports)):
        route = (*way, Segment(out, hops, 0))
        is_way = topology.neighbor[at, out] != NO_LINK and out != entry
        if is_way and end_of_route(topology, node, route)[0] != node:
            found.setdefault(entry, (node, route))
    return found
