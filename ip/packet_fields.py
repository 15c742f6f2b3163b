"""Programs of packets that give every field of rows and headers its values, and cross each link."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from ..model.network.config import NetworkConfig
from ..model.network.port_model import PortModel
from ..model.network.segment import Segment
from ..model.network.topology import NO_LINK, Topology
from ..model.program.program import Program
from ..model.program.row import Row
from .draft import Draft
from .ways import Link, end_of, links_between_nodes, shortest_way, through, way_from

LONGEST = 300
"""Most cycles that the packets of three header flits of a program are on their way."""


def last_nodes(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs in which every node is the last to end a step, and every step is awaited.

    A packet of one word each goes between the addresses 0, the last one, and those of one bit.
    """
    ways = {(target, lane): link for link, target, lane in _from_neighbors(config)}
    ends, last = [*ways.items()], config.message_words - 1
    places = [last, 0, *(1 << bit for bit in range(config.address_bits) if 1 << bit < last)]
    number = max(config.steps, len(ends), len(places)) if ends else 0
    most = fitting_rows(config)
    draft, step = Draft(config), 0
    for at in range(number):
        (target, _), (node, port) = ends[at % len(ends)]
        here, there = (places[place % len(places)] for place in (at, at + 1))
        step += 1
        entry = int(config.topology.peer[node, port])
        draft.put(node, Row(step, (Segment(port, 1, 0),), here, there, 1), target, entry)
        full = max(map(len, draft.rows.values())) >= most
        if full or step == config.steps or at == number - 1:
            yield f"Each node last, up to node {target}", True, draft.program()
            draft, step = Draft(config), step % config.steps


def fitting_rows(config: NetworkConfig, flits: int = 1) -> int:
    """Return the rows with so many header flits that fit into a table before its end row, or 1."""
    row_words = config.table.control_words + flits
    return max(1, (config.table_words - config.leading_words) // row_words - 1)


def _from_neighbors(config: NetworkConfig) -> Iterator[tuple[Link, int, int]]:
    """Yield (link, target, lane) of every link between nodes that are not switches."""
    topology, nodes = config.topology, {*config.topology.working_nodes.tolist()}
    for node in nodes:
        for port in np.flatnonzero(topology.neighbor[node] != NO_LINK).tolist():
            target, entry = end_of(topology, (node, port))
            if port and target in nodes:
                yield (node, port), target, entry * config.all_port


def each_link(config: NetworkConfig, left: Set[str]) -> Iterator[tuple[str, bool, Program]]:
    """Yield a program for each VC of each link that is still ``left``."""
    for link, vc in product(links_between_nodes(config.topology), range(config.vcs)):
        if (point := link_point(link, vc)) in left:
            draft = Draft(config)
            draft.send(through(config.topology, link), None, (vc, vc), 1, 1)
            yield f"A packet over {point}", True, draft.program()


def link_point(link: Link, vc: int) -> str:
    """Return the point of a link's VC."""
    return f"link {link[0]}:{link[1]}, VC {vc}"


def headers(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs whose packets have one header flit, two or three, and up to two words."""
    short = [*_routes(config, 1, 1).values()][:1]
    ways = [("one header flit", 1, way) for way in short]
    ways += [("two header flits", 2, way) for way in long_routes(config, 2).values()]
    ways += [("three header flits", 3, way) for way in long_routes(config, 3).values()]
    for kind, flits, (node, route, end, entry) in ways:
        rows = min(4, config.steps, fitting_rows(config, flits))
        for first in range(5 - rows):
            draft = Draft(config)
            for step, words in enumerate((0, 1, 2, 1)[first : first + rows], 1):
                there = min(config.message_words // 2, config.message_words - words)
                draft.put(node, Row(step, route, 0, there, words), end, entry)
            yield f"Packets with {kind}", True, draft.program()


_Way = tuple[int, tuple[Segment, ...], int, int]
"""A node, a route, its end, and the port by which it gets there."""


def long_routes(config: NetworkConfig, flits: int) -> dict[tuple[int, int], _Way]:
    """Return routes that need this many header flits, two at least, by first port and last input.

    They can lead over a link twice if the buffers between hold more than a packet of two words, and
    not at depth 1. There is none of three if its packets take longer than :data:`LONGEST` cycles.
    """
    header = config.header
    fitting = (header.flit_width - header.delivery_bits) // header.slot_bits
    fitting += (flits - 2) * (header.flit_width // header.slot_bits)
    roomy = config.depth > 1 and not config.contention_free
    cycles = 4 * (fitting + 1) * (1 + int(config.registers_of_links.max()))
    short = cycles <= LONGEST and fitting_rows(config, flits) >= min(2, config.steps)
    fits = flits < 3 or short
    apart = (flits + 2) // config.depth + 1
    return _routes(config, fitting + 1, apart) if roomy and fits else {}


def _routes(config: NetworkConfig, least: int, apart: int) -> dict[tuple[int, int], _Way]:
    """Return routes of ``least`` segments or little more, by first port and last input.

    They come to the same link again after ``apart`` hops at least.
    """
    topology, found = config.topology, dict[tuple[int, int], _Way]()
    nodes = topology.working_nodes.tolist()
    for node, hops, turn in product(nodes, range(least, least + 3), range(topology.ports - 1)):
        route, end, entry = _walk(topology, node, hops, turn, apart)
        if len(route) == hops and end != node and end in nodes:
            found.setdefault((route[0].port, entry), (node, route, end, entry))
    return found


def _walk(
    topology: Topology, node: int, hops: int, turn: int, apart: int
) -> tuple[tuple[Segment, ...], int, int]:
    """Return a route of segments of one hop, its end, and the port by which it gets there.

    The first hop leaves by the port of number ``turn`` among those that lead on. A link comes again
    after ``apart`` hops at least.
    """
    entry = 0
    links: list[Link] = []
    while len(links) < hops:
        ports = np.flatnonzero(topology.neighbor[node] != NO_LINK).tolist()
        before = links[max(0, len(links) + 1 - apart) :]
        ways = [port for port in ports if port and port != entry and (node, port) not in before]
        if not ways:
            break
        links.append((node, ways[(len(links) + turn) % len(ways)]))
        node, entry = end_of(topology, links[-1])
    return tuple(Segment(port, 1, 0) for _, port in links), node, entry


def in_turns(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield a half-duplex program in which two nodes send to each other, one after the other."""
    for (node, port), target, _ in _from_neighbors(config) if config.steps > 1 else ():
        back = int(config.topology.peer[node, port])
        if config.topology.neighbor[target, back] == node:
            draft = Draft(config, port_model=PortModel.HALF_DUPLEX)
            draft.put(node, Row(1, (Segment(port, 1, 0),), 0, 0, 1), target, back)
            draft.put(target, Row(2, (Segment(back, 1, 0),), 0, 0, 1), node, port)
            yield "A send and a receive in two steps, half-duplex", True, draft.program()
            return


def streams(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs whose packets are sent on while they arrive, and go round every window."""
    way = shortest_way(config.topology)
    if not config.streams or not way:
        return
    (middle, entry), words = end_of(config.topology, way[-1]), min(4, config.message_words // 2)
    for port in range(1, config.topology.ports):
        onward = way_from(config.topology, (middle, port), middle)
        if config.topology.neighbor[middle, port] != NO_LINK and onward:
            draft = Draft(config)
            draft.send(way, None, (0, 0), 1, words)
            draft.send(onward, None, (0, 0), 1, words)
            (row,) = draft.rows[middle]
            begin = config.message_words // 2 - 1
            draft.rows[middle] = [
                replace(
                    row,
                    stream=entry if config.all_port else 1,
                    lead=1,
                    source_address=begin,
                    target_address=0,
                    length=words + 1,
                )
            ]
            yield "A packet that is sent on while it arrives", True, draft.program()
    lasts = {window: (1 << window) - 1 for window in range(1, config.most_window + 1)}
    windows = [
        {"source_address": last, "target_address": last, "window": window}
        for window, last in lasts.items()
    ]
    yield from _each_row(config, "Messages that go round their windows", windows)


def operators(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs in which a packet combines by each operator, in place and across."""
    numbers = [{"operator": 1 + number} for number in range(2 * len(config.operators))]
    yield from _each_row(config, "Packets that combine", numbers)


def _each_row(
    config: NetworkConfig, name: str, fields: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs of one way, in which a packet of two words has each of the given fields."""
    way = shortest_way(config.topology)
    most = min(config.steps, fitting_rows(config))
    for first in range(0, len(fields) if way else 0, most):
        draft = Draft(config)
        for step, given in enumerate(fields[first : first + most], 1):
            draft.send(way, None, (0, 0), step, 2)
            rows = draft.rows[way[0][0]]
            rows[-1] = replace(rows[-1], **given)
        yield name, True, draft.program()
