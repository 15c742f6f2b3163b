"""Drawn programs of packets for a package's bench: any routes, lengths, steps and mistakes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..model.network.config import NetworkConfig
from ..model.network.port_model import PortModel
from ..model.network.segment import Segment
from ..model.network.topology import NO_LINK
from ..model.program.program import Program
from ..model.program.row import Row
from .draft import Draft
from .ways import end_of_route

MOST_SEGMENTS = 6
"""Most straight parts of a drawn route; more fill several header flits."""


@dataclass(kw_only=True)
class Drawn(Draft):
    """A draft with drawn packets; words go from one half of memories to the other.

    draw
        The source of all choices.
    upper
        Words go from the upper half to the lower half, otherwise the other way.
    plain
        No row combines or streams, so that no barrier is needed.
    """

    draw: np.random.Generator
    upper: bool
    plain: bool

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


def drawn_programs(config: NetworkConfig, number: int) -> Iterator[tuple[str, bool, Program]]:
    """Yield drawn programs: a name, whether a barrier separates its steps, and the program."""
    for seed in range(number):
        draw = np.random.default_rng((25, seed))
        barrier = seed % 3 != 2
        drawn = Drawn(config, draw=draw, upper=bool(seed % 2), plain=not barrier)
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
                target, entry = end_of_route(config.topology, source, row.route)
                drawn.forward(row, target, entry * config.all_port)
