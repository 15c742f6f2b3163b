"""Traffic for the soak: drawn networks, patterns and rates.

A draw on a network that has a size as typed can be repeated from its parameters, except signatures
and barrier registers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from helpers.soak.topologies import draw_connected, draw_graph, draw_links

from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.network.config import MOST_MEMORY_WORDS, PARAMETERS, NetworkConfig
from eyecast.model.network.kinds import KINDS
from eyecast.model.network.topology import Topology, hypercube, mesh, torus
from eyecast.model.program.checks import require_table_room
from eyecast.model.traffic.patterns import patterns_for
from eyecast.model.traffic.program import message_words_for, traffic_program
from eyecast.model.traffic.traffic import draw_refusal, draw_traffic

TABLE_WORDS = 1 << 13
SHORTEST_PACKET, LONGEST_PACKET = 4, 12

NETWORKS: tuple[tuple[tuple[str, str], Callable[[], Topology]], ...] = tuple(
    ((kind.name, kind.separator.join(map(str, size))), partial(kind.network, size))
    for kind in KINDS.values()
    for size in kind.samples
)
"""Networks to draw from: kind and size as on the command line, and a function for the topology."""


LARGE_NETWORKS: tuple[tuple[tuple[str, str], Callable[[], Topology]], ...] = (
    (("mesh", "8x8"), partial(mesh, (8, 8))),
    (("torus", "8x8"), partial(torus, (8, 8))),
    (("hypercube", "6"), partial(hypercube, 6)),
)
"""Networks that run most flits in a second: the simulator runs their 64 tiles together."""


class Longer(NamedTuple):
    """Factors by which traffic lasts longer than by default, and by which its packets are longer.

    ``large``: draw networks of 64 nodes and 32 bits with few buffers, of :data:`LARGE_NETWORKS`.
    """

    cycles: int = 1
    packets: int = 1
    large: bool = False


DEFAULT = Longer()


@dataclass(frozen=True)
class DrawnNetwork:
    """A drawn network: its kind and size as typed, and its configuration.

    ``words`` is None for a network with faults, switches or links that differ.
    """

    words: tuple[str, str] | None
    config: NetworkConfig

    @classmethod
    def draw(cls, draw: np.random.Generator, longer: Longer = DEFAULT) -> DrawnNetwork:
        """Draw a topology and every parameter of a network for traffic of this length."""
        words, topology = cls._draw_topology(draw, longer)
        limits: dict[str, Any] = {}
        if longer.large:
            limits = {"vcs": int(draw.integers(1, 3)), "depth": int(draw.integers(2, 5))}
            limits |= {"flit_width": 32, "link_registers": 0}
        config = draw_config(
            draw,
            topology,
            message_words=message_words_for(topology, LONGEST_PACKET * longer.packets),
            table_words=min(TABLE_WORDS * longer.cycles, MOST_MEMORY_WORDS),
            steps=1,
            timed_rows=True,
            signature=bool(draw.integers(2)),
            **limits,
        )
        return cls(words, config)

    @staticmethod
    def _draw_topology(
        draw: np.random.Generator, longer: Longer
    ) -> tuple[tuple[str, str] | None, Topology]:
        """Draw a kind and size; a sixth of the networks are other graphs, with switches.

        Large networks have no faults, no switches and no links that differ.
        """
        networks = LARGE_NETWORKS if longer.large else NETWORKS
        words, make = networks[draw.integers(len(networks))]
        whole = make()
        if longer.large:
            return words, whole
        begin = draw_graph(draw) if draw.integers(6) == 0 else whole
        topology = draw_connected(draw, draw_links(draw, begin))
        typed = topology.kind in KINDS and topology.without_faults is None
        return words if typed and not topology.links_differ else None, topology


def draw_config(draw: np.random.Generator, topology: Topology, **given: Any) -> NetworkConfig:
    """Draw the parameters not ``given`` until they make a network; none has a controller."""
    given = {"programs": 0, **given}
    numbers = {
        name: parameter.limits
        for name, parameter in PARAMETERS.items()
        if parameter.limits is not None and parameter.help and name not in given
    }
    while True:
        try:
            # Only numbers are drawn: flags decide which run this is.
            drawn: dict[str, Any] = {
                name: int(draw.integers(limits[0], limits[1] + 1))
                for name, limits in numbers.items()
            }
            return NetworkConfig(topology=topology, **drawn, **given)
        except InvalidInput:
            # A field was too narrow, or a contention-free network too shallow.
            continue


@dataclass(frozen=True)
class DrawnCase:
    """Drawn traffic for a network."""

    network: DrawnNetwork
    pattern: str
    rate: float
    packet_flits: int
    cycles: int
    burst: int
    reply_flits: int
    back_pressure: float
    seed: int

    @classmethod
    def draw(
        cls, network: DrawnNetwork, draw: np.random.Generator, longer: Longer = DEFAULT
    ) -> DrawnCase:
        """Draw a pattern, rate, length and back-pressure that ``network`` can carry."""
        patterns = patterns_for(network.config.topology)
        return cls(
            network,
            pattern=patterns[draw.integers(len(patterns))],
            rate=round(float(draw.uniform(0.01, 0.9)), 3),
            packet_flits=int(draw.integers(SHORTEST_PACKET, LONGEST_PACKET + 1)) * longer.packets,
            cycles=int(draw.integers(20, 1200)) * longer.cycles,
            burst=int(draw.choice([0, 0, 20, 200])),
            reply_flits=int(draw.choice([0, 0, SHORTEST_PACKET, LONGEST_PACKET])) * longer.packets,
            back_pressure=float(draw.choice([0, 0, 0.2, 0.5, 0.8])),
            seed=int(draw.integers(1 << 31)),
        )

    def build(self) -> TrafficCase:
        """Generate, compile and predict the traffic."""
        topology = self.network.config.topology
        traffic = draw_traffic(
            topology,
            self.pattern,
            rate=self.rate,
            flits=self.packet_flits,
            cycles=self.cycles,
            seed=self.seed,
            burst=self.burst,
            reply_flits=self.reply_flits,
        )
        refusal = draw_refusal(topology, self.back_pressure, self.seed)
        program = traffic_program(traffic, self.network.config, self.seed)
        require_table_room(program)
        return TrafficCase.of(traffic, program, seed=self.seed, refusal=refusal)

    def parameters(self) -> dict[str, object]:
        """Return the options of random traffic that repeat the draw, by name.

        Without the option of the network if that has no size as typed.
        """
        config, words = self.network.config, self.network.words
        limited = {
            name: getattr(config, name)
            for name, parameter in PARAMETERS.items()
            if parameter.for_traffic and parameter.limits is not None
        }
        drawn = {each.name: getattr(self, each.name) for each in fields(self)[1:]}
        network = {} if words is None else dict([words])
        return {**network, **limited, **drawn}
