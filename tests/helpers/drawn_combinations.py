"""Drawn programs that combine and stream on one network, with many packets that meet.

:mod:`helpers.untimed` computes the memories that these programs must leave.
"""

from __future__ import annotations

import random
from itertools import pairwise

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Segment
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row


class Drawing:
    """A drawer of programs for a 2-D mesh; the memories' size must be a power of two."""

    def __init__(self, config: NetworkConfig, seed: int) -> None:
        self.config, self.draw = config, random.Random(seed)
        self.half = config.message_words // 2
        self.rows: list[list[Row]] = [[] for _ in range(config.topology.nodes)]
        self.receives: list[list[tuple[int, int]]] = [[] for _ in self.rows]

    def program(self, steps: int) -> Program:
        """Draw a program with this many steps, each of any kind that the network supports."""
        kinds = [self._meetings if self.config.all_port else self._pairs]
        if self.config.streams:
            kinds += [self._there_and_back] if self.config.all_port else [self._chain, self._ring]
        for step in range(1, steps + 1):
            self.draw.choice(kinds)(step)
        return Program.from_rows(
            self.config,
            "full-duplex",
            self.rows,
            [[step for step, _ in received] for received in self.receives],
            receive_ports=[[port for _, port in received] for received in self.receives],
        )

    def _put(self, source: int, target: int, **fields: int) -> None:
        """Add a row and its receive."""
        route = self._route(source, target)
        fields = {"operator": 0, "stream": 0, "lead": 0, "window": 0, **fields}
        self.rows[source].append(Row(route=route, start=None, continued=False, **fields))
        port = _port_into(route) if self.config.all_port else 0
        self.receives[target].append((fields["step"], port))

    def _route(self, source: int, target: int) -> tuple[Segment, ...]:
        """Return a route along axis 0, then along axis 1, on any VC."""
        width = self.config.topology.dims[0]
        vc = self.draw.randrange(self.config.vcs)
        ways = (target % width - source % width, target // width - source // width)
        return tuple(
            Segment(1 + 2 * axis + (way < 0), abs(way), vc) for axis, way in enumerate(ways) if way
        )

    def _operator(self, *, across: bool = True) -> int:
        code = self.draw.randrange(2 * len(self.config.operators) + 1)
        return code if across or not code else code - 1 + code % 2

    def _pairs(self, step: int) -> None:
        """Let each node send to another, from the half that nobody writes in this step."""
        nodes = [node for node in range(len(self.rows)) if self.draw.random() < 0.9]
        to = self.draw.sample(nodes, len(nodes))
        base = self.half * (step % 2)
        for source, target in zip(nodes, to, strict=True):
            if source != target:
                length = self.draw.randrange(self.half // 2)
                first = [self.draw.randrange(self.half - length) for _ in range(2)]
                self._put(
                    source,
                    target,
                    step=step,
                    source_address=base + first[0],
                    target_address=(self.half - base) + first[1],
                    length=length,
                    operator=self._operator(),
                )

    def _chain(self, step: int) -> None:
        """Send a message along a chain; each node may combine it and sends it on."""
        nodes = self.draw.sample(range(len(self.rows)), self.draw.randrange(2, len(self.rows) + 1))
        window = self.draw.choice([0, self.config.address_bits - 2])
        length = self.draw.randrange(1, self.half // 2 + 1)
        ends = list(pairwise(nodes))
        # In one half, with the same address at all nodes, so that they send on nothing else.
        first = self.half * self.draw.randrange(2)
        if not window:
            first += self.draw.randrange(self.half - length)
        else:
            first += self.draw.randrange(1 << window)
        for place_in_chain, (source, target) in enumerate(ends):
            self._put(
                source,
                target,
                step=step,
                source_address=first,
                target_address=first,
                length=length,
                operator=self._operator(),
                stream=int(place_in_chain > 0),
                window=window,
            )

    def _there_and_back(self, step: int) -> None:
        """Combine a message from node to node, and send the result back the same way.

        The first node sends all its words before any returns, and waits for none: it streams
        nothing, or the returning words with a lead of all its words.
        """
        nodes = self._line()
        streams = self.draw.random() < 0.5
        length = self.draw.randrange(1, self.half + 1)
        first = self.half * self.draw.randrange(2) + self.draw.randrange(self.half - length + 1)
        ways = [*pairwise(nodes), *pairwise(reversed(nodes))]
        lanes = [_port_into(self._route(*way)) for way in ways]
        for number, (source, target) in enumerate(ways):
            self._put(
                source,
                target,
                step=step,
                source_address=first,
                target_address=first,
                length=length,
                operator=self._operator(across=False) if number < len(nodes) - 1 else 0,
                stream=lanes[number - 1] if number or streams else 0,
                lead=length if streams and not number else 0,
            )

    def _line(self) -> list[int]:
        """Draw a line of nodes; each can send to the next and back, by ports that no other uses."""
        while True:
            count = self.draw.randrange(2, len(self.rows) + 1)
            nodes = self.draw.sample(range(len(self.rows)), count)
            ways = [*pairwise(nodes), *pairwise(reversed(nodes))]
            routes = [self._route(*way) for way in ways]
            out = {(way[0], route[0].port) for way, route in zip(ways, routes, strict=True)}
            into = {(way[1], _port_into(route)) for way, route in zip(ways, routes, strict=True)}
            if len(out) == len(into) == len(ways):
                return nodes

    def _ring(self, step: int) -> None:
        """Let each node send its own words and then the arriving ones, all round a window."""
        window = self.draw.randrange(2, self.config.address_bits)
        count = min(len(self.rows), 1 << window)
        nodes = self.draw.sample(range(len(self.rows)), self.draw.randrange(2, count + 1))
        lead = self.draw.randrange(1, (1 << window) // len(nodes) + 1)
        base = self.draw.randrange(self.config.message_words >> window) << window
        turn, size = self.draw.randrange(1 << window), 1 << window
        own = [base + (turn - number * lead) % size for number in range(len(nodes))]
        for number, source in enumerate(nodes):
            following = (number + 1) % len(nodes)
            self._put(
                source,
                nodes[following],
                step=step,
                source_address=own[number],
                # Arriving words come after the words that a node sends first.
                target_address=base + (own[following] + lead) % size,
                length=lead * (len(nodes) - 1),
                operator=0,
                stream=1,
                lead=lead,
                window=window,
            )

    def _meetings(self, step: int) -> None:
        """Let all ports write at once: one operator on the same words, or each lane on its own."""
        topology, lanes = self.config.topology, self.config.lanes
        base = self.half * (step % 2)
        shared = self._operator(across=False)
        together = shared > 0 and self.draw.random() < 0.6
        room = self.half if together else self.half // lanes
        for port in range(1, lanes + 1):
            hops = 1 + self.draw.randrange(2)
            for source in range(topology.nodes):
                target, peer = source, 0
                for _ in range(hops):
                    if target >= 0:
                        target, peer = topology.neighbor[target, port], topology.peer[target, port]
                if target < 0 or self.draw.random() < 0.2:
                    continue
                length = self.draw.randrange(room)
                first = [self.draw.randrange(room - length) for _ in range(2)]
                lane = 0 if together else room * (int(peer) - 1)
                row = Row(
                    step,
                    (Segment(port, hops, self.draw.randrange(self.config.vcs)),),
                    base + first[0],
                    self.half - base + lane + first[1],
                    length,
                    operator=shared if together else self._operator(),
                )
                self.rows[source].append(row)
                self.receives[target].append((step, int(peer)))


def _port_into(route: tuple[Segment, ...]) -> int:
    """Return the port by which a route enters its last node, on a mesh."""
    port = route[-1].port
    return port + 1 if port % 2 else port - 1


def drawn_program(config: NetworkConfig, seed: int, steps: int) -> Program:
    """Draw a program with this many steps, each of any kind that the network supports."""
    return Drawing(config, seed).program(steps)
