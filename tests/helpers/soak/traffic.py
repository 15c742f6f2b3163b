"""Traffic for the soak: drawn networks, patterns and rates."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from helpers.soak.topologies import connected, graphs, one_in, with_links
from hypothesis import strategies as st

from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.network.config import (
    MOST_MEMORY_WORDS,
    MOST_PIECES,
    PARAMETERS,
    PIECE_BITS,
    NetworkConfig,
)
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.program.checks import require_table_room
from eyecast.model.traffic.patterns import patterns_for
from eyecast.model.traffic.program import message_words_for, traffic_program
from eyecast.model.traffic.traffic import draw_refusal, draw_traffic

TABLE_WORDS = 1 << 13
SHORTEST_PACKET, LONGEST_PACKET = 4, 12

NETWORKS = (
    *map(mesh, ((4, 4), (5, 3), (2, 2, 2), (1, 1), (1, 6), (2, 1, 3, 2))),
    *map(torus, ((4, 4), (5, 3), (2, 3), (3, 3, 2))),
    *(hypercube(4), line(5), ring(7)),
)
LARGE_NETWORKS = (mesh((8, 8)), torus((8, 8)), hypercube(6))
"""Networks that run most flits in a second: the simulator runs their 64 tiles together."""


class Longer(NamedTuple):
    """Factors by which traffic lasts longer than by default, and by which its packets are longer.

    ``large``: draw networks of 64 nodes and 32 bits with few buffers, of :data:`LARGE_NETWORKS`.
    """

    cycles: int = 1
    packets: int = 1
    large: bool = False


DEFAULT = Longer()


@st.composite
def traffic_networks(draw: st.DrawFn, longer: Longer = DEFAULT) -> NetworkConfig:
    """Draw a topology and every parameter of a network for traffic of this length.

    A sixth of the networks are graphs with switches. Large networks have no faults, no switches and
    no links that differ.
    """
    limits: dict[str, Any] = {}
    if longer.large:
        topology = draw(st.sampled_from(LARGE_NETWORKS))
        limits = {"vcs": draw(st.integers(1, 2)), "depth": draw(st.integers(2, 4))}
        limits |= {"flit_width": 32, "link_registers": 0}
    else:
        whole = draw(graphs() if draw(one_in(6)) else st.sampled_from(NETWORKS))
        topology = draw(connected(draw(with_links(whole))))
    limits["signature"] = draw(st.booleans())
    return draw(
        configs(
            topology,
            message_words=message_words_for(topology, LONGEST_PACKET * longer.packets),
            table_words=min(TABLE_WORDS * longer.cycles, MOST_MEMORY_WORDS),
            steps=1,
            timed_rows=True,
            **limits,
        )
    )


@st.composite
def configs(draw: st.DrawFn, topology: Topology, **given: Any) -> NetworkConfig:
    """Draw the parameters not ``given`` until they make a network; none has a controller."""
    given = {"programs": 0, **given}
    # Only numbers are drawn: flags decide which run this is.
    numbers = {
        name: st.integers(*parameter.limits)
        for name, parameter in PARAMETERS.items()
        if parameter.limits is not None and parameter.help and name not in given
    }
    if "flit_width" in numbers:
        wide = st.integers(2, MOST_PIECES).map(PIECE_BITS.__mul__)
        numbers["flit_width"] = st.integers(8, PIECE_BITS) | wide
    while True:
        drawn: dict[str, Any] = draw(st.fixed_dictionaries(numbers))
        try:
            return NetworkConfig(topology=topology, **drawn, **given)
        except InvalidInput:
            # A field was too narrow, or a contention-free network too shallow.
            continue


@dataclass(frozen=True)
class DrawnTraffic:
    """Drawn traffic for a network; the lengths and cycles are those of ``eyecast traffic``."""

    config: NetworkConfig
    pattern: str
    rate: float
    packet_flits: int
    cycles: int
    burst: int
    reply_flits: int
    back_pressure: float
    seed: int

    def build(self) -> TrafficCase:
        """Generate, compile and predict the traffic."""
        topology = self.config.topology
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
        program = traffic_program(traffic, self.config, self.seed)
        require_table_room(program)
        return TrafficCase.of(traffic, program, seed=self.seed, refusal=refusal)


def traffic(config: NetworkConfig, longer: Longer = DEFAULT) -> st.SearchStrategy[DrawnTraffic]:
    """Draw a pattern, rate, length and back-pressure that a network can carry."""
    lengths = st.integers(SHORTEST_PACKET, LONGEST_PACKET)
    replies = st.sampled_from([0, 0, SHORTEST_PACKET, LONGEST_PACKET])
    return st.builds(
        DrawnTraffic,
        st.just(config),
        pattern=st.sampled_from(patterns_for(config.topology)),
        rate=st.integers(10, 900).map(lambda rate: rate / 1000),
        packet_flits=lengths.map(lambda flits: flits * longer.packets),
        cycles=st.integers(20, 1199).map(lambda cycles: cycles * longer.cycles),
        burst=st.sampled_from([0, 0, 20, 200]),
        reply_flits=replies.map(lambda flits: flits * longer.packets),
        back_pressure=st.sampled_from([0, 0, 0.2, 0.5, 0.8]),
        seed=st.integers(0, (1 << 31) - 1),
    )
