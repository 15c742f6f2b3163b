"""Drawn programs of packets for a package's bench: any routes, lengths, steps and mistakes."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import permutations, product

import numpy as np

from ..model.network.config import NetworkConfig
from ..model.network.port_model import PortModel
from ..model.network.segment import Segment
from ..model.network.topology import NO_LINK
from ..model.program.program import Program
from ..model.program.row import Row
from .ways import (
    Link,
    Place,
    end_of,
    links_between_nodes,
    links_into,
    places_of,
    shortest_way,
    through,
    way_from,
    way_to,
)

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

    def send(
        self, way: Sequence[Link], out: Link | None, vcs: tuple[int, int], step: int, length: int
    ) -> None:
        """Add a packet over a way, and from there by a link, to a node; on one VC, then another."""
        source, _ = [*way, out or (0, 0)][0]
        links = [*way, *(way_from(self.config.topology, out, source) if out else ())]
        route = tuple(
            Segment(port, 1, vcs[number >= len(way)]) for number, (_, port) in enumerate(links)
        )
        end, entry = end_of(self.config.topology, links[-1])
        half = self.config.message_words // 2
        length = min(length, max(half, 2), 2 * self.config.depth + 6)
        row = Row(step, route, 0, min(half, self.config.message_words - length), length)
        self.rows.setdefault(source, []).append(row)
        receive = step, entry * self.config.all_port
        if receive not in self.receives.setdefault(end, []):
            self.receives[end].append(receive)

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
    """Yield programs in which every node is the last to end a step, and every step is awaited.

    A packet of one word each goes between the addresses 0, the last one, and those of one bit.
    """
    ways = {(target, lane): way for way, target, lane in _from_neighbors(config)}
    ends, last = [*ways.items()], config.message_words - 1
    places = [last, 0, *(1 << bit for bit in range(config.address_bits) if 1 << bit < last)]
    number = max(config.steps, len(ends), len(places)) if ends else 0
    most = _fitting(config)
    drawn, step = Drawn(np.random.default_rng(0), config), 0
    for at in range(number):
        (target, lane), (node, port) = ends[at % len(ends)]
        here, there = (places[place % len(places)] for place in (at, at + 1))
        step += 1
        row = Row(step, (Segment(port, 1, 0),), here, there, 1)
        drawn.rows.setdefault(node, []).append(row)
        drawn.receives.setdefault(target, []).append((step, lane))
        full = max(map(len, drawn.rows.values())) >= most
        if full or step == config.steps or at == number - 1:
            yield f"Each node last, up to node {target}", True, drawn.program()
            drawn, step = Drawn(np.random.default_rng(0), config), step % config.steps


def _fitting(config: NetworkConfig) -> int:
    """Return the rows of one header flit that fit into a table before its end row, or 1."""
    row_words = config.table.control_words + 1
    return max(1, (config.table_words - config.leading_words) // row_words - 1)


def _from_neighbors(config: NetworkConfig) -> Iterator[tuple[Link, int, int]]:
    """Yield (link, target, lane) of every link between nodes that are not switches."""
    topology, nodes = config.topology, {*config.topology.working_nodes.tolist()}
    for node in nodes:
        for port in np.flatnonzero(topology.neighbor[node] != NO_LINK).tolist():
            target, entry = end_of(topology, (node, port))
            if port and target in nodes:
                yield (node, port), target, entry * config.all_port


def before(config: NetworkConfig, place: Place) -> Iterator[tuple[str, int, list[int], list[int]]]:
    """Yield what packets from inputs to an output can do, alone and when they meet.

    Each is a point, the VC of the output, the inputs of its packets, and the VCs by which an input
    has its packets one after the other.
    """
    vcs = range(config.vcs)
    for vc in vcs:
        at = f"at output {place.out}, VC {vc}"
        if at_once(config, place):
            yield f"two packets at once {at}", vc, [], [vc]
        for pair in () if config.contention_free else sorted(place.pairs):
            for one, two in (pair, pair[::-1]):
                yield f"{one} before {two} {at}", vc, [one, two], [vc]
        for entry in place.ways:
            yield f"turn {entry} to {place.out}", vc, [entry], [vc]
            if place.out:
                yield f"turn {entry} to {place.out} on VC {vc}", vc, [entry], [vc]
            waits = place.out and not config.contention_free
            for one, two in permutations(vcs if waits else (), 2):
                yield f"VC {one} before {two} of input {entry} {at}", vc, [entry], [one, two]


def meetings(config: NetworkConfig, left: Set[str]) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs in which packets of all links of a router meet at one output, for each output.

    Each link sends several packets, of other lengths each time, so that every order of turns comes.
    Before that, one packet of each link comes in the same cycle. What is still ``left`` then has
    programs of its own.
    """
    places = [*places_of(config.topology, all_port=config.all_port)]
    for place in places:
        where = f"at output {place.out} of node {place.router}"
        ways = [*place.ways.values()]
        if len(ways) < 2 or config.contention_free:
            continue
        for vc in range(config.vcs):
            drawn = _crowd(config, place, ([], ways), (vc, [vc]), (1, 99))
            yield f"Packets at once {where}", False, drawn.program()
        # Of three that send long packets through an output, two always wait for their turn.
        orders = [[*ways, *_own(config, place)], ways[::-1], *map(list, permutations(ways, 2))]
        for vc, links in product(range(config.vcs), orders):
            yield f"Packets that meet {where}", False, _meeting(config, place, links, vc).program()
    for place in places:
        own, ways = _own(config, place), [*place.ways.values()]
        for point, vc, entries, order in before(config, place):
            these = [place.ways[entry] for entry in entries]
            others = [way for way in ways if way not in these]
            crowds = [(own, ways), ([], ways)]
            crowds += [
                (long, these) for long in ([], own, others, these[1:], [*others, *own, *own])
            ]
            for crowd, words, steps in product(
                crowds if entries else (), (99, 0), {1, config.steps}
            ):
                if point in left:
                    drawn = _crowd(config, place, crowd, (vc, order), (steps, words))
                    yield f"Packets for {point}", False, drawn.program()
            if " at once " in point and point in left:
                drawn = Drawn(np.random.default_rng(0), config)
                for way, step in at_once(config, place):
                    drawn.send(way, _link(place), (vc, vc), step, 0)
                yield f"Packets for {point}", False, drawn.program()


def at_once(config: NetworkConfig, place: Place) -> list[tuple[list[Link], int]]:
    """Return two ways by which packets reach an output in one cycle, and their steps, if any do.

    A step takes a cycle, so that a packet of a later one can come over a shorter way. A node with
    one port sends a packet after the other.
    """
    for pair in () if config.contention_free else permutations(place.ways.values(), 2):
        one, two = pair
        if not config.all_port and one[0][0] == two[0][0]:
            two = way_to(config.topology, two[-1], besides=one[0][0])
        cycles = [
            sum(int(config.registers_of_links[link]) + 1 for link in way) for way in (one, two)
        ]
        early = cycles[0] - cycles[1]
        if two and abs(early) < config.steps:
            return [(one, 1 + max(0, -early)), (two, 1 + max(0, early))]
    return []


def _link(place: Place) -> Link | None:
    """Return the link of an output; None if the output is that to the node."""
    return (place.router, place.out) if place.out else None


def _own(config: NetworkConfig, place: Place) -> list[list[Link]]:
    """Return the way of no link by which a router's own node sends to an output."""
    return [[]] if place.out and place.router in config.topology.working_nodes else []


def _meeting(config: NetworkConfig, place: Place, ways: Sequence[list[Link]], vc: int) -> Drawn:
    """Return a program whose packets come over some ways, in turn, to an output's ``vc``."""
    drawn = Drawn(np.random.default_rng(0), config)
    out = _link(place)
    for step in range(1, min(config.steps, 4 * config.vcs * len(ways)) + 1):
        arriving = (step - 1) // len(ways) % config.vcs if out else vc
        length = 2 * config.depth + 4 + step % 3
        if len(ways) == 2 and step % 2 == 0:
            # Several short packets of a link wait behind a long one of the other.
            length = min(1, config.depth - 1)
        drawn.send(ways[step % len(ways)], out, (arriving, vc), step, length)
    return drawn


def _crowd(
    config: NetworkConfig,
    place: Place,
    ways: tuple[Sequence[list[Link]], Sequence[list[Link]]],
    vcs: tuple[int, Sequence[int]],
    limits: tuple[int, int],
) -> Drawn:
    """Return a program whose packets come over ways together, and so for further VCs.

    Before those that come over the second ``ways``, a long packet comes over each of the first.
    ``vcs`` are the VC from the output on and those before it, ``limits`` the most steps, and words
    of a packet. Packets share the last step, and the run fails with the second one of it; otherwise
    a second step without a packet keeps it from an end.
    """
    (steps, most), (vc, order) = limits, vcs
    drawn = Drawn(np.random.default_rng(0), config)
    out = _link(place)
    packets = [(way, order[0], 99) for way in ways[0]]
    packets += [(way, arriving, most) for arriving, way in product(order, ways[1])]
    for number, (way, arriving, words) in enumerate(packets, 1):
        drawn.send(way, out, (arriving, vc), min(number, steps), words)
    if steps < config.steps:
        for receives in drawn.receives.values():
            receives.append((steps + 1, receives[-1][1]))
    return drawn


def each_link(config: NetworkConfig, left: Set[str]) -> Iterator[tuple[str, bool, Program]]:
    """Yield a program for each VC of each link that is still ``left``."""
    for link, vc in product(links_between_nodes(config.topology), range(config.vcs)):
        if (point := link_point(link, vc)) in left:
            drawn = Drawn(np.random.default_rng(0), config)
            drawn.send(through(config.topology, link), None, (vc, vc), 1, 1)
            yield f"A packet over {point}", True, drawn.program()


def link_point(link: Link, vc: int) -> str:
    """Return the point of a link's VC."""
    return f"link {link[0]}:{link[1]}, VC {vc}"


def culprits(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs that fail at a node, and that never end at a node, for each node."""
    last, topology = config.message_words - 1, config.topology
    for node in topology.working_nodes.tolist():
        ports = (np.flatnonzero(topology.neighbor[node, 1:] != NO_LINK) + 1).tolist()
        entries = [end_of(topology, link)[1] for link in links_into(topology, node)]
        if ports:
            wrong = Drawn(np.random.default_rng(0), config)
            wrong.rows = {node: [Row(1, (Segment(ports[0], 1, 0),), last, 0, 2)]}
            yield f"A failure of node {node}", True, wrong.program()
        if ports or entries:
            endless = Drawn(np.random.default_rng(0), config)
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
            there, entry = end_of(topology, (node, port))
            if there != NO_LINK and (out == entry or topology.neighbor[there, out] == NO_LINK):
                ways.setdefault((entry, out), []).append((node, port))
    return ways


def headers(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs whose packets have one header flit, or several, and up to two words."""
    steps = min(4, config.steps)
    for kind, way in (("one header flit", 1), ("several header flits", _long(config))):
        nodes = config.topology.working_nodes.tolist()
        for node, hops in product(nodes, range(way, way + 3)):
            route, end, entry = Drawn(np.random.default_rng(0), config).walk(node, hops)
            if len(route) < hops or end == node or end not in nodes:
                continue
            for first in range(5 - steps):
                drawn = Drawn(np.random.default_rng(0), config)
                for step, words in enumerate((0, 1, 2, 1)[first : first + steps], 1):
                    there = min(config.message_words // 2, config.message_words - words)
                    drawn.rows.setdefault(node, []).append(Row(step, route, 0, there, words))
                    drawn.receives.setdefault(end, []).append((step, entry * config.all_port))
                yield f"Packets with {kind}", True, drawn.program()
            break


def streams(config: NetworkConfig) -> Iterator[tuple[str, bool, Program]]:
    """Yield programs whose packets are sent on while they arrive, and go round every window."""
    way = shortest_way(config.topology)
    if not config.streams or not way:
        return
    (middle, entry), words = end_of(config.topology, way[-1]), min(4, config.message_words // 2)
    for port in range(1, config.topology.ports):
        onward = way_from(config.topology, (middle, port), middle)
        if config.topology.neighbor[middle, port] != NO_LINK and onward:
            drawn = Drawn(np.random.default_rng(0), config, upper=True)
            drawn.send(way, None, (0, 0), 1, words)
            drawn.send(onward, None, (0, 0), 1, words)
            (row,) = drawn.rows[middle]
            begin = config.message_words // 2 - 1
            drawn.rows[middle] = [
                replace(
                    row,
                    stream=entry if config.all_port else 1,
                    lead=1,
                    source_address=begin,
                    target_address=0,
                    length=words + 1,
                )
            ]
            yield "A packet that is sent on while it arrives", True, drawn.program()
    most = min(config.steps, _fitting(config))
    for first in range(1, config.most_window + 1, most):
        drawn = Drawn(np.random.default_rng(0), config)
        for window in range(first, min(first + most, config.most_window + 1)):
            drawn.send(way, None, (0, 0), window - first + 1, 2)
            last, rows = (1 << window) - 1, drawn.rows[way[0][0]]
            rows[-1] = replace(rows[-1], source_address=last, target_address=last, window=window)
        yield "Messages that go round their windows", True, drawn.program()


def _long(config: NetworkConfig) -> int:
    """Return the least slots of a route that need a second header flit."""
    header = config.header
    return (header.flit_width - header.delivery_bits) // header.slot_bits + 1


def has_long_ways(config: NetworkConfig) -> bool:
    """Tell whether a route can be so long that it needs a second header flit.

    It can lead over a link twice, where small buffers leave a packet no room.
    """
    roomy = config.depth > 1 and not config.contention_free
    return roomy and any("several" in name for name, _, _ in headers(config))
