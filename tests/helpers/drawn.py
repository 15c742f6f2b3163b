"""Drawn programs that combine, stream and use windows, and whose result no order changes."""

from dataclasses import replace
from typing import Any

import numpy as np
from helpers.untimed import wrapped

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.operators import BUILT_IN, Operator
from eyecast.model.network.routes import route, segments_of_paths
from eyecast.model.network.topology import hypercube, mesh, torus
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row

HALF = 128
REGION = 16
"""The half of a lane's words that an arriving packet is written to."""
MESSAGE_WORDS = 2 * HALF

NETWORKS = [mesh((4,)), mesh((3, 2)), torus((5,)), torus((3, 3)), hypercube(3)]


def slow_sum(there: Any, coming: Any, _bits: Any) -> Any:
    return there * np.uint64(5) + coming


def draw_network(draw: np.random.Generator) -> NetworkConfig:
    all_port = bool(draw.integers(2))
    operators = draw.choice([*BUILT_IN], int(draw.integers(0, 4)), replace=False).tolist()
    if draw.integers(2):
        operators.append(Operator("slow-sum", 0 if all_port else int(draw.integers(5)), slow_sum))
    return NetworkConfig(
        topology=NETWORKS[draw.integers(len(NETWORKS))],
        vcs=int(draw.integers(2, 4)),
        depth=int(draw.integers(1, 5)),
        flit_width=int(draw.choice([24, 32, 64])),
        message_words=MESSAGE_WORDS,
        table_words=1 << 12,
        link_registers=int(draw.integers(3)),
        barrier_registers=int(draw.integers(3)),
        all_port=all_port,
        operators=tuple(operators),
        streams=bool(draw.integers(4)),
    )


class Drawn:
    """A program that grows by a packet at a time; in a step words go from one half to the other."""

    def __init__(self, draw: np.random.Generator, config: NetworkConfig) -> None:
        self.draw, self.config = draw, config
        self.rows: dict[int, list[Row]] = {n: [] for n in range(config.topology.nodes)}
        self.receives: dict[int, list[tuple[int, int]]] = {n: [] for n in self.rows}
        self.came: dict[tuple[int, int], Row] = {}
        """Packets of the step that a node may send on, by node and lane."""

    def number(self, least: int, most: int) -> int:
        return int(self.draw.integers(least, most + 1))

    def add_packet(self, step: int) -> None:
        """Draw a packet, unless its target already gets another one in this step."""
        topology = self.config.topology
        source, target = self.draw.choice(topology.nodes, 2, replace=False).tolist()
        offsets, nodes, vcs = route(topology, np.array([source]), np.array([target]), 2)
        segments = segments_of_paths(topology, offsets, nodes, vcs)[0]
        if not topology.wrapped:
            vcs = self.draw.integers(self.config.vcs, size=len(segments)).tolist()
            segments = tuple(each._replace(vc=vc) for each, vc in zip(segments, vcs, strict=True))
        before = int(nodes[-2])
        port = int(topology.peer[before, segments[-1].port]) if self.config.all_port else 0
        if (step, port) in self.receives[target]:
            return
        self.receives[target].append((step, port))
        row = self._streamed(source, step) or self._own(step)
        there = HALF * (step % 2) + REGION * max(port, 1)
        place = 8 * self.number(0, 1) + self.number(0, 7) if row.window else self.number(3, 4)
        row = replace(row, step=step, route=segments, target_address=there + place)
        if not row.window and not row.stream and row.length > 1 and self.number(0, 4) == 0:
            first = self.number(0, row.length)
            self.rows[source].append(replace(row, length=first, continued=True))
            row = replace(
                row,
                length=row.length - first,
                source_address=row.source_address + first,
                target_address=row.target_address + first,
            )
        else:
            self.came[target, max(port, 1)] = row
        self.rows[source].append(row)

    def _own(self, step: int) -> Row:
        """Return a row that sends words of the half that no packet writes to."""
        window = 3 if self.config.streams and self.number(0, 1) else 0
        here = HALF * (1 - step % 2) + self.number(0, HALF - 16)
        operator = self.number(0, 2 * len(self.config.operators))
        return Row(0, (), here, 0, self.number(0, 8), operator=operator, window=window)

    def _streamed(self, source: int, step: int) -> Row | None:
        """Return a row that sends on a packet while ``source`` receives it."""
        lanes = [lane for node, lane in self.came if node == source]
        if not lanes or not self.config.streams or self.number(0, 3) == 0:
            return None
        lane = int(self.draw.choice(lanes))
        fed = self.came[source, lane]
        lead = self.number(0, 8 - fed.length if fed.window else 3)
        begin = wrapped(fed.target_address, -lead, fed.window)
        operator = self.number(0, 2 * len(self.config.operators))
        length = self.number(0, min(lead + fed.length, 8))
        window = fed.window
        return Row(0, (), begin, 0, length, None, False, operator, lane, lead, window)

    def program(self) -> Program:
        ports = {node: sorted(own) for node, own in self.receives.items()}
        return Program.from_rows(
            self.config,
            "full-duplex",
            [self.rows[node] for node in self.rows],
            [[step for step, _ in ports[node]] for node in ports],
            receive_ports=[[port for _, port in ports[node]] for node in ports],
        )


def drawn_program(
    draw: np.random.Generator, config: NetworkConfig, steps: int, packets: tuple[int, int]
) -> Program:
    """Draw a program with this many steps, and in each a number of packets from a range."""
    drawn = Drawn(draw, config)
    for step in range(1, steps + 1):
        drawn.came = {}
        for _ in range(drawn.number(*packets)):
            drawn.add_packet(step)
    return drawn.program()
