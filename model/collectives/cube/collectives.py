"""The collectives of a hypercube by name, each with its spanning graphs and its generator.

(Johnsson & Ho, Tables 4, 5, 7, 11, 13, 15, 17; :mod:`.spanning_graphs` has the graphs.)
"""

from collections.abc import Callable
from dataclasses import dataclass

from ...base.errors import InvalidInput, one_of
from ...network.port_model import PortModel
from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from ..declared.request import Request
from .all_gather import ALL_PORT_ALL_GATHER, ONE_PORT_ALL_GATHER, cube_all_gather
from .all_to_all import ALL_PORT_ALL_TO_ALL, ONE_PORT_ALL_TO_ALL, cube_all_to_all
from .broadcast import ALL_PORT_BROADCAST, ONE_PORT_BROADCAST, cube_broadcast
from .broadcast_other_ports import OTHER_PORTS, other_ports_schedule
from .scatter import ALL_PORT_SCATTER, ONE_PORT_SCATTER, cube_gather, cube_scatter


@dataclass(frozen=True)
class CubeCollective:
    """The spanning graphs that serve a collective with one port or n ports, and its generator."""

    graphs: tuple[str, ...]
    generate: Callable[[Request, str], Schedule]


COLLECTIVES_ON: dict[tuple[str, bool], CubeCollective] = {
    (Collective.BROADCAST, False): CubeCollective(ONE_PORT_BROADCAST, cube_broadcast),
    (Collective.BROADCAST, True): CubeCollective(ALL_PORT_BROADCAST, cube_broadcast),
    (Collective.SCATTER, False): CubeCollective(ONE_PORT_SCATTER, cube_scatter),
    (Collective.SCATTER, True): CubeCollective(ALL_PORT_SCATTER, cube_scatter),
    (Collective.GATHER, False): CubeCollective(ONE_PORT_SCATTER, cube_gather),
    (Collective.GATHER, True): CubeCollective(ALL_PORT_SCATTER, cube_gather),
    (Collective.ALL_GATHER, False): CubeCollective(ONE_PORT_ALL_GATHER, cube_all_gather),
    (Collective.ALL_GATHER, True): CubeCollective(ALL_PORT_ALL_GATHER, cube_all_gather),
    (Collective.ALL_TO_ALL, False): CubeCollective(ONE_PORT_ALL_TO_ALL, cube_all_to_all),
    (Collective.ALL_TO_ALL, True): CubeCollective(ALL_PORT_ALL_TO_ALL, cube_all_to_all),
}
"""The graphs and generator by (collective, whether a node uses all ports at the same time)."""


def cube_schedule(
    collective: str,
    topology: Topology,
    source: int | None,
    words: int,
    *,
    graph: str,
    all_port: bool,
    packet: int | None = None,
    duplex: PortModel | None = None,
    order: str | None = None,
) -> Schedule:
    """Return the schedule of ``collective`` on the spanning graph ``graph`` of a hypercube.

    ``source`` is None for an all-gather and an all-to-all. ``duplex`` is a port model of
    :mod:`.broadcast_other_ports`; ``order`` is that of an all-to-all. Raises :class:`InvalidInput`
    for a collective that is not in :data:`COLLECTIVES_ON`, and as its generator does.
    """
    asked = Request(
        topology=topology,
        source=source,
        words=words,
        all_port=all_port,
        packet=packet,
        duplex=duplex,
        order=order,
    )
    return _generated(collective, asked, graph)


def _generated(collective: str, asked: Request, graph: str) -> Schedule:
    """Return the schedule of a request on one spanning graph."""
    if asked.duplex is not None:
        return other_ports_schedule(collective, asked, graph, asked.duplex)
    found = COLLECTIVES_ON.get((collective, asked.all_port))
    if found is None:
        known = dict.fromkeys(name for name, _ in COLLECTIVES_ON)
        raise InvalidInput.of("collective", one_of(known), collective)
    return found.generate(asked, graph)


_TABLES = {
    Collective.BROADCAST: "Table 4, with all ports Table 5",
    Collective.SCATTER: "Table 7",
    Collective.GATHER: "Table 7",
    Collective.ALL_GATHER: "Table 11, with all ports Table 13",
    Collective.ALL_TO_ALL: "Table 15, with all ports Table 17",
}
"""Tables of the paper with the steps of each graph."""


def _declared(collective: str, graph: str) -> Declared:
    """Return the algorithm for ``collective`` on one spanning graph."""
    takes = ["all_port", "packet"]
    if (collective, graph) in OTHER_PORTS:
        takes.append("duplex")
    if collective == Collective.ALL_TO_ALL:
        takes.append("order")
    return Declared(
        collective,
        graph,
        lambda asked: _generated(collective, asked, graph),
        networks="hypercubes",
        steps=_TABLES[Collective(collective)],
        paper="Johnsson & Ho",
        ports=tuple(
            ports
            for ports, all_port in ((ONE, False), (ALL, True))
            if graph in COLLECTIVES_ON[collective, all_port].graphs
        ),
        takes=tuple(takes),
    )


ALGORITHMS = tuple(
    _declared(collective, graph)
    for collective, graph in dict.fromkeys(
        (collective, graph)
        for (collective, _), served in COLLECTIVES_ON.items()
        for graph in served.graphs
    )
)
