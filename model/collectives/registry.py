"""The algorithms by name. A new one is a module of its own and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from ..base.errors import InvalidInput, one_of
from ..network.port_model import PortModel
from ..network.topology import Topology
from ..schedule.collective import COLLECTIVES, Collective
from ..schedule.schedule import Schedule
from .cube.broadcast_copies import nesbt_copies
from .cube.broadcast_other_ports import OTHER_PORTS
from .cube.collectives import COLLECTIVES_ON, cube_schedule
from .cube.scatter import gray_code_scatter
from .fault_blocks.broadcast import jiang_wu_broadcast, region_eyes, theorem_6_bounds
from .grid.collectives import recursive_doubling, ring
from .grid.sends import GRID_COLLECTIVES
from .halving.eye import eye_broadcast, eyes
from .halving.minimum import best_sources, minimum_broadcast
from .halving.rectangle import rectangle_broadcast, rectangle_eyes
from .streaming.chain import chain_broadcast
from .streaming.greedy import greedy_all_gather
from .streaming.rings import hamiltonian, stream_ring
from .unicast_chain import (
    u_mesh_broadcast,
    u_mesh_multicast,
    u_torus_broadcast,
    u_torus_multicast,
    u_torus_open_broadcast,
    u_torus_open_multicast,
)


class Ports(StrEnum):
    """The ports that a node may use in a step, as a user asks for them."""

    ONE = "one"
    HALF_DUPLEX = PortModel.HALF_DUPLEX.value
    FULL_DUPLEX = PortModel.FULL_DUPLEX.value
    ALL = "all"

    @property
    def duplex(self) -> PortModel | None:
        """Return the port model that is asked for; None for that of the algorithm, or all ports."""
        return None if self in (Ports.ONE, Ports.ALL) else PortModel(self.value)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A collective to schedule.

    topology, words
        The network, and the words of each block: of the message in a broadcast.
    source
        The root; None for the collectives that are :data:`~.promises.ROOTLESS`.
    targets
        Who gets a multicast; None for any other collective.
    partial
        Serve the nodes that can be reached, where some cannot.
    all_port
        For nodes that send and receive on all ports at once.
    duplex
        Half-duplex for nodes that send or receive in a step, full-duplex for nodes that do both
        with any partners; None for what the algorithm does.
    order
        In which order blocks leave, where the algorithm has several.
    packet
        The most words that a send may carry; None for any number.
    """

    topology: Topology
    words: int
    source: int | None = None
    targets: tuple[int, ...] | None = None
    partial: bool = False
    all_port: bool = False
    duplex: PortModel | None = None
    order: str | None = None
    packet: int | None = None

    @property
    def root(self) -> int:
        """The source of a collective that has one."""
        assert self.source is not None
        return self.source


@dataclass(frozen=True)
class Algorithm:
    """One way to carry out a collective.

    ``make(request)`` makes the schedule; it raises :class:`InvalidInput` for a topology that the
    algorithm does not serve. ``landmarks(topology)`` are the nodes that its papers give a name and
    a picture marks. ``takes`` names the parts of a request, of ``CHOICES``, that it heeds.
    ``leaves_out`` says of which kind the working nodes are that it may give nothing;
    ``most(topology)`` are the upper bounds of its paper on some measures.
    """

    collective: str
    name: str
    make: Callable[[Request], Schedule]
    landmarks: Callable[[Topology], tuple[int, ...]] = lambda _topology: ()
    takes: tuple[str, ...] = ()
    leaves_out: str = ""
    most: Callable[[Topology], dict[str, int]] = lambda _topology: {}

    def generate(self, request: Request) -> Schedule:
        """The schedule; refused where something is asked for that the algorithm does not heed."""
        for name, (option, unset) in CHOICES.items():
            if getattr(request, name) != unset and name not in self.takes:
                raise InvalidInput(f"{option} must be left out with {self.name} {self.collective}")
        return self.make(request)


CHOICES = {
    "partial": ("--partial", False),
    "all_port": ("--ports all", False),
    "duplex": ("--ports half-duplex or full-duplex", None),
    "order": ("--order", None),
    "packet": ("--packet", None),
}
"""Parts of a request that not every algorithm heeds: what they are called, and not asked for."""


def _broadcast(generate: Callable[[Topology, int, int], Schedule]) -> Callable[..., Schedule]:
    return lambda request: generate(request.topology, request.root, request.words)


def _multicast(
    generate: Callable[[Topology, int, Iterable[int] | None, int], Schedule],
) -> Callable[..., Schedule]:
    return lambda request: generate(request.topology, request.root, request.targets, request.words)


def _tree(request: Request) -> Schedule:
    # What is compiled takes long to import, and few commands need it.
    from .tree.broadcast import partial_tree_broadcast, tree_broadcast  # noqa: PLC0415

    generate = partial_tree_broadcast if request.partial else tree_broadcast
    return generate(request.topology, request.root, request.words)


def _tree_multicast(request: Request) -> Schedule:
    from .tree.broadcast import tree_multicast  # noqa: PLC0415

    return tree_multicast(request.topology, request.root, request.targets, request.words)


def _packed_trees(request: Request) -> Schedule:
    from .streaming.trees import packed_trees_broadcast  # noqa: PLC0415

    return packed_trees_broadcast(request.topology, request.root, request.words)


def _all_ports(collective: str, name: str, generate: Callable[[Request], Schedule]) -> Algorithm:
    """An algorithm for nodes that use all ports, and for no others."""

    def make(request: Request) -> Schedule:
        if not request.all_port:
            raise InvalidInput.of(f"--ports for {name}", "all", "one")
        return generate(request)

    return Algorithm(collective, name, make, takes=("all_port",))


def _on_a_grid(
    collective: str, name: str, generate: Callable[[str, Topology, int | None, int], Schedule]
) -> Algorithm:
    def make(request: Request) -> Schedule:
        return generate(collective, request.topology, request.source, request.words)

    return Algorithm(collective, name, make)


def _on_a_cube(collective: str, graph: str) -> Algorithm:
    def make(request: Request) -> Schedule:
        return cube_schedule(
            collective,
            request.topology,
            request.source,
            request.words,
            graph=graph,
            all_port=request.all_port,
            packet=request.packet,
            duplex=request.duplex,
            order=request.order,
        )

    takes = ["all_port", "packet"]
    if (collective, graph) in OTHER_PORTS:
        takes.append("duplex")
    if collective == Collective.ALL_TO_ALL:
        takes.append("order")
    return Algorithm(collective, graph, make, takes=tuple(takes))


def _gray_code_scatter(request: Request) -> Schedule:
    return gray_code_scatter(request.topology, request.source, request.words, packet=request.packet)


def _nesbt_copies(request: Request) -> Schedule:
    return nesbt_copies(request.topology, request.root, request.words)


def _stream_ring(request: Request) -> Schedule:
    return stream_ring(request.topology, request.words)


def _hamiltonian(request: Request) -> Schedule:
    return hamiltonian(request.topology, request.words)


def _greedy(request: Request) -> Schedule:
    return greedy_all_gather(request.topology, request.words)


_CUBE_GRAPHS = dict.fromkeys(
    (collective, graph)
    for (collective, _), served in COLLECTIVES_ON.items()
    for graph in served.graphs
)

ALGORITHMS = (
    Algorithm(Collective.BROADCAST, "eye", _broadcast(eye_broadcast), eyes),
    Algorithm(Collective.BROADCAST, "minimum", _broadcast(minimum_broadcast), best_sources),
    Algorithm(Collective.BROADCAST, "rectangle", _broadcast(rectangle_broadcast), rectangle_eyes),
    Algorithm(
        Collective.BROADCAST,
        "jiang-wu",
        _broadcast(jiang_wu_broadcast),
        region_eyes,
        leaves_out="disabled nodes of fault blocks",
        most=theorem_6_bounds,
    ),
    Algorithm(
        Collective.BROADCAST, "tree", _tree, takes=("partial",), leaves_out="no path leads to them"
    ),
    Algorithm(Collective.BROADCAST, "u-mesh", _broadcast(u_mesh_broadcast)),
    Algorithm(Collective.BROADCAST, "u-torus", _broadcast(u_torus_broadcast)),
    Algorithm(Collective.BROADCAST, "u-torus-open", _broadcast(u_torus_open_broadcast)),
    Algorithm(Collective.MULTICAST, "u-mesh", _multicast(u_mesh_multicast)),
    Algorithm(Collective.MULTICAST, "u-torus", _multicast(u_torus_multicast)),
    Algorithm(Collective.MULTICAST, "u-torus-open", _multicast(u_torus_open_multicast)),
    Algorithm(Collective.MULTICAST, "tree", _tree_multicast),
    *(
        _on_a_grid(collective, name, generate)
        for collective in GRID_COLLECTIVES
        for name, generate in (("ring", ring), ("recursive-doubling", recursive_doubling))
    ),
    Algorithm(Collective.BROADCAST, "chain", _broadcast(chain_broadcast)),
    _all_ports(Collective.BROADCAST, "packed-trees", _packed_trees),
    _all_ports(Collective.BROADCAST, "nesbt-copies", _nesbt_copies),
    Algorithm(Collective.ALL_GATHER, "stream-ring", _stream_ring),
    _all_ports(Collective.ALL_GATHER, "hamiltonian", _hamiltonian),
    _all_ports(Collective.ALL_GATHER, "greedy", _greedy),
    Algorithm(Collective.SCATTER, "sbt-gray", _gray_code_scatter, takes=("packet",)),
    *(_on_a_cube(collective, graph) for collective, graph in _CUBE_GRAPHS),
)


def algorithms_for(collective: str) -> list[Algorithm]:
    """All algorithms for ``collective``; refused, with those that there are, if it is unknown."""
    if collective not in COLLECTIVES:
        raise InvalidInput.of("collective", one_of(COLLECTIVES), collective)
    return [algorithm for algorithm in ALGORITHMS if algorithm.collective == collective]


def find_algorithm(collective: str, name: str) -> Algorithm:
    """The algorithm ``name`` for ``collective``; refused, with those that are known, if unknown."""
    candidates = algorithms_for(collective)
    for algorithm in candidates:
        if algorithm.name == name:
            return algorithm
    names = one_of(algorithm.name for algorithm in candidates)
    raise InvalidInput.of(f"algorithm for {collective}", names, name)
