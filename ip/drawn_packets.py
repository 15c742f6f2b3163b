"""Drawn programs of packets for a package's bench: any routes, lengths, steps and mistakes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, permutations, product

import numpy as np

from ..model.network.config import NetworkConfig
from ..model.network.port_model import PortModel
from ..model.network.segment import Segment
from ..model.network.topology import NO_LINK
from ..model.program.program import Program
from ..model.program.row import Row
from .circuits import links_of, nearest_pair

MOST_SEGMENTS = 6
"""Most straight parts of a drawn route; more fill several header flits."""

Receives = dict[int, list[tuple[int, int]]]
"""Steps and ports of each node's receives."""


@dataclass
class Drawn:
    """A program that grows by a packet at a time; words go from one half of memories to the other.

    draw
        The source of all choices.
    config
        The network.
    upper
        Words go from the upper half to the lower half, otherwise the other way.
    plain
        No row combines or streams, so that no barrier is needed.
    """

    draw: np.random.Generator
    config: NetworkConfig
    upper: bool = False
    plain: bool = True
    rows: dict[int, list[Row]] = field(default_factory=dict)
    receives: Receives = field(default_factory=dict)
    port_model: PortModel = PortModel.FULL_DUPLEX

    def number(self, least: int, most: int) -> int:
        """Draw an integer from ``least`` to ``most``."""
        return int(self.draw.integers(least, most + 1))

    @property
    def nodes(self) -> list[int]:
        """The nodes that send and receive."""
        nodes: list[int] = self.config.topology.working_nodes.tolist()
        return nodes

    def add(self, step: int, source: int, length: int) -> Row | None:
        """Add a packet from ``source`` over a drawn route; None if its target has one already."""
        route, target, entry = self._route(source)
        lane = entry if self.config.all_port else 0
        taken = self.receives.setdefault(target, [])
        if target == source or target not in self.nodes or (step, lane) in taken:
            return None
        taken.append((step, lane))
        half = self.config.message_words // 2
        length = min(length, half)
        here, there = (
            self._place(half, length) + half * side for side in (self.upper, not self.upper)
        )
        operator = 0 if self.plain else self.number(0, 2 * len(self.config.operators))
        row = Row(step, route, here, there, length, operator=operator)
        self.rows.setdefault(source, []).append(row)
        return row

    def _place(self, half: int, length: int) -> int:
        """Draw an address within a half: its first one, its last one, or any."""
        return (0, half - length, self.number(0, half - length))[self.number(0, 2)]

    def _route(self, node: int) -> tuple[tuple[Segment, ...], int, int]:
        """Draw a route; return its segments, its end, and the port by which it gets there."""
        topology, entry = self.config.topology, 0
        segments: list[Segment] = []
        for _ in range(self.number(1, self.number(1, MOST_SEGMENTS))):
            ports = np.flatnonzero(topology.neighbor[node] != NO_LINK).tolist()
            ways = [port for port in ports if port and port != entry]
            if not ways:
                break
            port, hops = ways[self.number(0, len(ways) - 1)], 0
            most = self.number(1, self.config.header.reach + 1)
            while hops < most and port != entry and topology.neighbor[node, port] != NO_LINK:
                entry = int(topology.peer[node, port])
                node = int(topology.neighbor[node, port])
                hops += 1
            segments.append(Segment(port, hops, self.number(0, self.config.vcs - 1)))
        return tuple(segments), node, entry

    def walk(self, node: int, hops: int) -> tuple[tuple[Segment, ...], int, int]:
        """Return a route of segments of one hop, its end, and the port by which it gets there."""
        topology, entry = self.config.topology, 0
        segments: list[Segment] = []
        while len(segments) < hops:
            ports = np.flatnonzero(topology.neighbor[node] != NO_LINK).tolist()
            ways = [port for port in ports if port and port != entry]
            if not ways:
                break
            port = ways[len(segments) % len(ways)]
            segments.append(Segment(port, 1, 0))
            entry = int(topology.peer[node, port])
            node = int(topology.neighbor[node, port])
        return tuple(segments), node, entry

    def forward(self, row: Row, node: int, lane: int) -> None:
        """Let ``node`` send on the packet of ``row`` while it arrives."""
        mine = self.add(row.step, node, row.length)
        if mine is not None:
            lead = self.number(0, min(2, row.target_address))
            begin = row.target_address - lead
            length = min(row.length + lead, self.config.message_words // 2)
            there = min(mine.target_address, self.config.message_words - length)
            self.rows[node][-1] = replace(
                mine,
                stream=max(lane, 1),
                lead=lead,
                source_address=begin,
                length=length,
                target_address=there,
            )

    def mistake(self, kind: int) -> None:
        """Make the program wrong: a packet too many, a word beyond the memory, a hop too far."""
        senders = [node for node, rows in self.rows.items() if rows]
        if not senders:
            return
        node = senders[self.number(0, len(senders) - 1)]
        place = self.number(0, len(self.rows[node]) - 1)
        row, last = self.rows[node][place], self.config.message_words - 1
        if kind == 0:
            receiving = [steps for steps in self.receives.values() if steps]
            receiving[self.number(0, len(receiving) - 1)].pop()
        elif kind == 1:
            self.port_model = PortModel.HALF_DUPLEX
        elif kind == 2:
            row = replace(row, source_address=last, length=max(2, row.length))
        elif kind == 3:
            row = replace(row, target_address=last, length=max(2, row.length))
        else:
            port = self.number(1, self.config.topology.ports - 1)
            row = replace(row, route=(*row.route, Segment(port, self.number(1, 3), 0)))
        self.rows[node][place] = row

    def program(self) -> Program:
        """Return the program."""
        nodes = range(self.config.topology.nodes)
        receives = [sorted(self.receives.get(node, [])) for node in nodes]
        return Program.from_rows(
            self.config,
            PortModel.ALL_PORT if self.config.all_port else self.port_model,
            [self.rows.get(node, []) for node in nodes],
            [[step for step, _ in each] for each in receives],
            receive_ports=[[port for _, port in each] for each in receives],
        )


def drawn_programs(config: NetworkConfig, number: int) -> Iterator[tuple[str, bool, Program]]:
    """Yield drawn programs: a name, whether a barrier separates its steps, and the program."""
    for seed in range(number):
        draw = np.random.default_rng((25, seed))
        barrier = seed % 3 != 2
        drawn = Drawn(draw, config, upper=bool(seed % 2), plain=not barrier)
        _fill(drawn, dense=seed % 4 != 1)
        if mistaken := seed % 5 == 4:
            drawn.mistake(seed // 5 % 5)
        kind = "with a mistake" if mistaken else "on any routes"
        yield f"Drawn packets {kind}, {seed}", barrier, drawn.program()


def _fill(drawn: Drawn, *, dense: bool) -> None:
    """Add packets: many in few steps, so that they meet, or a few in each of many steps."""
    config, nodes = drawn.config, drawn.nodes
    steps = drawn.number(1, 3) if dense else config.steps
    room = config.table_words // 8 * config.lanes
    for step in sorted({drawn.number(1, config.steps) for _ in range(steps)}):
        senders = [*nodes] * (1 + (dense and room > steps)) if dense else [nodes[step % len(nodes)]]
        for source in drawn.draw.permutation(senders).tolist():
            row = drawn.add(step, source, drawn.number(0, min(12, 2 * config.depth + 5)))
            if row and config.streams and not drawn.plain and drawn.number(0, 2) == 0:
                target, lane = _end(config, source, row)
                drawn.forward(row, target, lane)


def _end(config: NetworkConfig, node: int, row: Row) -> tuple[int, int]:
    """Return the node at the end of a row's route, and the lane by which its packet arrives."""
    entry = 0
    for port, hops, _ in row.route:
        for _ in range(hops):
            entry = int(config.topology.peer[node, port])
            node = int(config.topology.neighbor[node, port])
    return node, entry if config.all_port else 0


def last_nodes(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs in which every node is the last to end a step, and every step is awaited."""
    topology = config.topology
    waiting = [
        (node, port, int(topology.neighbor[node, port]))
        for node in range(topology.nodes)
        for port in range(1, topology.ports)
        if topology.neighbor[node, port] != NO_LINK
        and not {node, int(topology.neighbor[node, port])} & {*topology.switches}
    ]
    lanes = {
        (target, int(topology.peer[node, port])): (node, port) for node, port, target in waiting
    }
    if not config.all_port:
        lanes = {(target, 0): way for (target, _), way in lanes.items()}
    ends = [*lanes.items()]
    for first in range(0, len(ends), config.steps):
        drawn = Drawn(np.random.default_rng(0), config)
        number = config.steps if first == 0 else min(config.steps, len(ends) - first)
        for step in range(1, number + 1):
            (target, lane), (node, port) = ends[(first + step - 1) % len(ends)]
            row = Row(step, (Segment(port, 1, 0),), step % 2, config.message_words - 1, 1)
            drawn.rows.setdefault(node, []).append(row)
            drawn.receives.setdefault(target, []).append((step, lane))
        yield f"Each node last, from node {ends[first][0][0]}", True, drawn.program()


def meetings(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs in which packets of all links of a router meet at one output, for each output.

    Each link sends several packets, of other lengths each time, so that every order of turns comes.
    Before that, one packet of each link comes in the same cycle.
    """
    topology = config.topology
    nodes = config.topology.working_nodes.tolist()
    for out, middle in _middles(config):
        ways = [way for way in _ways(config, middle, out) if way[0] in nodes]
        end = middle if not out else int(topology.neighbor[middle, out])
        if len(ways) < 2 or end not in nodes:
            continue
        for vc in range(config.vcs):
            drawn = _at_once(config, (middle, out, end), ways, vc)
            yield f"Packets at once at output {out} of node {middle}", False, drawn.program()
        # Of three that send long packets through an output, two always wait for their turn.
        own = [(middle, 0, 0)] * (out > 0 and middle in nodes)
        orders = [[*ways, *own], ways[::-1], *permutations(ways, 2)]
        for vc, order in product(range(config.vcs), orders):
            drawn = _meeting(config, (middle, out, end), order, vc)
            yield f"Packets that meet at output {out} of node {middle}", False, drawn.program()


def _meeting(
    config: NetworkConfig, way: tuple[int, int, int], links: Sequence[tuple[int, int, int]], vc: int
) -> Drawn:
    """Return a program whose packets go over some links, in turn, and then by an output on ``vc``.

    ``way`` is the router, its output, and the end of the packets. Links are as in :func:`_ways`.
    """
    middle, out, end = way
    drawn = Drawn(np.random.default_rng(0), config)
    entered = int(config.topology.peer[middle, out]) if out else 0
    for step in range(1, min(config.steps, 4 * config.vcs * len(links)) + 1):
        node, port, entry = links[step % len(links)]
        arriving = (step - 1) // len(links) % config.vcs if out else vc
        leg = [Segment(out, 1, vc)] if out else []
        length = min(2 * config.depth + 4 + step % 3, config.message_words // 2)
        if len(links) == 2 and step % 2 == 0:
            # Several short packets of a link wait behind a long one of the other.
            length = min(1, config.depth - 1)
        there = [Segment(port, 1, arriving)] if port else []
        row = Row(step, (*there, *leg), 0, config.message_words // 2, length)
        drawn.rows.setdefault(node, []).append(row)
        lane = config.all_port * (entered or entry)
        drawn.receives.setdefault(end, []).append((step, lane))
    return drawn


def _at_once(
    config: NetworkConfig, way: tuple[int, int, int], links: Sequence[tuple[int, int, int]], vc: int
) -> Drawn:
    """Return a program whose packets come over some links in one cycle; otherwise as _meeting."""
    _, out, end = way
    drawn = Drawn(np.random.default_rng(0), config)
    for node, port, _ in links:
        leg = [Segment(out, 1, vc)] if out else []
        drawn.rows[node] = [Row(1, (Segment(port, 1, vc), *leg), 0, 0, 2 * config.depth + 4)]
    entered = int(config.topology.peer[way[0], out]) if out else 0
    # Of a second step there is no packet: the run fails with the second packet of the first.
    drawn.receives = {
        end: [(step, config.all_port * entered) for step in range(1, min(2, config.steps) + 1)]
    }
    return drawn


def _middles(config: NetworkConfig) -> Iterator[tuple[int, int]]:
    """Yield (output, node) so that any two inputs that can share an output do so at some node."""
    for out in range(config.topology.ports):
        met: set[tuple[int, int]] = set()
        entries = [
            (node, sorted({entry for _, _, entry in _ways(config, node, out)}))
            for node in config.topology.working_nodes.tolist()
        ]
        for node, own in sorted(entries, key=lambda each: -len(each[1])):
            pairs = {*combinations(own, 2)}
            if pairs - met:
                met |= pairs
                yield out, node


def _ways(config: NetworkConfig, node: int, out: int) -> list[tuple[int, int, int]]:
    """Return (neighbor, port, input) of the links by which packets for an output can come."""
    topology = config.topology
    if out and topology.neighbor[node, out] == NO_LINK:
        return []
    links = np.argwhere(topology.neighbor == node).tolist()
    ways = [(there, port, int(topology.peer[there, port])) for there, port in links if port]
    return [way for way in ways if way[2] != out]


def culprits(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs that fail at a node, and that never end at a node, for each node."""
    last = config.message_words - 1
    nodes = config.topology.working_nodes.tolist()
    for node in nodes:
        ports = np.flatnonzero(config.topology.neighbor[node, 1:] != NO_LINK) + 1
        if not len(ports):
            continue
        wrong = Drawn(np.random.default_rng(0), config)
        wrong.rows = {node: [Row(1, (Segment(int(ports[0]), 1, 0),), last, 0, 2)]}
        yield f"A failure of node {node}", True, wrong.program()
        endless = Drawn(np.random.default_rng(0), config)
        endless.receives = {node: [(1, int(ports[0]) if config.all_port else 0)]}
        yield f"A run that node {node} does not end", True, endless.program()


def failures(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs whose packets from a node to one near by set a flag."""
    last = config.message_words - 1
    path = nearest_pair(config.topology)
    if not path:
        return
    links = [*links_of(config.topology, path)]
    node, target, (*_, entry) = path[0], path[-1], links[-1]
    right = Row(1, tuple(Segment(port, 1, 0) for _, port, _ in links), 0, 0, 1)
    for name, rows in {
        "Two packets of one step": [right, right, replace(right, step=2, length=2)],
        "A packet that ends beyond the memory": [replace(right, target_address=last, length=2)],
    }.items():
        drawn = Drawn(np.random.default_rng(0), config)
        drawn.rows = {node: [row for row in rows if row.step <= config.steps]}
        lane = entry if config.all_port else 0
        drawn.receives = {target: [(step, lane) for step in sorted({row.step for row in rows})]}
        yield name, False, drawn.program()


def wrong_turns(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs whose packets turn to an output that their node does not have.

    All nodes at which a packet can turn wrong from one input to one output do so in the same cycle.
    """
    for (entry, out), ways in no_ways(config).items():
        drawn = Drawn(np.random.default_rng(0), config)
        for node, port in ways:
            row = Row(1, (Segment(port, 1, 0), Segment(out, 1, 0)), 0, 0, 1)
            drawn.rows[node] = [row]
            # The next node does not finish before the packet is there; a switch has no receives.
            there, lane = int(config.topology.neighbor[node, port]), entry
            if there in config.topology.switches:
                there, lane = node, port
            drawn.receives[there] = [(1, config.all_port * lane)]
        yield f"Packets that turn from input {entry} to no output {out}", False, drawn.program()


def no_ways(config: NetworkConfig) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """Return by input and output the (node, port) of links to nodes without this way.

    A node has no way to an output without a link, and none back.
    """
    topology, ways = config.topology, dict[tuple[int, int], list[tuple[int, int]]]()
    for node in config.topology.working_nodes.tolist():
        for port, out in product(range(1, topology.ports), repeat=2):
            there, entry = int(topology.neighbor[node, port]), int(topology.peer[node, port])
            if there != NO_LINK and (out == entry or topology.neighbor[there, out] == NO_LINK):
                ways.setdefault((entry, out), []).append((node, port))
    return ways


def headers(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs whose packets have one header flit, or several, and up to two words."""
    for kind, way in (("one header flit", 1), ("several header flits", _long(config))):
        nodes = config.topology.working_nodes.tolist()
        for node, hops in product(nodes, range(way, way + 3)):
            drawn = Drawn(np.random.default_rng(0), config)
            route, end, entry = drawn.walk(node, hops)
            if len(route) < hops or end == node or end not in drawn.nodes:
                continue
            for step, words in enumerate((0, 1, 2, 1)[: config.steps], 1):
                row = Row(step, route, 0, config.message_words // 2, words)
                drawn.rows.setdefault(node, []).append(row)
                drawn.receives.setdefault(end, []).append((step, entry * config.all_port))
            yield f"Packets with {kind}", True, drawn.program()
            break


def _long(config: NetworkConfig) -> int:
    """Return the least slots of a route that need a second header flit."""
    header = config.header
    return (header.flit_width - header.delivery_bits) // header.slot_bits + 1


def has_long_ways(config: NetworkConfig) -> bool:
    """Tell whether a route can be so long that it needs a second header flit."""
    return any("several" in name for name, _, _ in headers(config))
