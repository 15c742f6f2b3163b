"""The algorithms by name. A new one is a module of its own and one entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..base.errors import InvalidInput, like, one_of
from ..network.topology import Topology
from ..schedule.collective import COLLECTIVES, Collective
from ..schedule.schedule import Schedule
from .algorithm import Algorithm
from .cube.broadcast_copies import nesbt_copies
from .cube.broadcast_other_ports import OTHER_PORTS
from .cube.collectives import COLLECTIVES_ON, cube_schedule
from .cube.scatter import gray_code_scatter
from .derived import barrier, derived
from .direct.rooted import direct_gather, direct_scatter
from .exchanges.circulant import circulant_all_gather
from .exchanges.partners import Partners, recursive_doubling_partners, swing_partners
from .exchanges.swing import exchanged_all_reduce, swing_all_gather
from .exchanges.trivance import trivance_all_gather
from .exchanges.trivance_whole import trivance_all_reduce
from .fault_blocks.broadcast import jiang_wu_broadcast, region_eyes, theorem_6_bounds
from .grid.all_ports import rings_all_gather
from .grid.collectives import recursive_doubling, ring
from .grid.sends import GRID_COLLECTIVES
from .halving.boxes import is_whole_grid
from .halving.eye import eye_broadcast, eyes
from .halving.minimum import best_sources, minimum_broadcast
from .halving.rectangle import rectangle_broadcast, rectangle_eyes
from .request import Request
from .row_column.all_to_all import row_column_all_to_all
from .streaming.chain import chain_broadcast, chain_multicast
from .streaming.combs import combs_all_reduce
from .streaming.rings import (
    closed_ring,
    hamiltonian,
    hamiltonian_reduce_scatter,
    stream_ring,
    stream_ring_reduce_scatter,
)
from .unicast_chain import (
    u_mesh_broadcast,
    u_mesh_multicast,
    u_torus_broadcast,
    u_torus_multicast,
    u_torus_open_broadcast,
    u_torus_open_multicast,
)


def _rooted(generate: Callable[[Topology, int, int], Schedule]) -> Callable[..., Schedule]:
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


def _packed_trees_multicast(request: Request) -> Schedule:
    from .streaming.trees import packed_trees_multicast  # noqa: PLC0415

    return packed_trees_multicast(request.topology, request.root, request.targets, request.words)


def _packed_chains(request: Request) -> Schedule:
    return _chained(request, gather=False)


def _packed_chains_gather(request: Request) -> Schedule:
    return _chained(request, gather=True)


def _chained(request: Request, *, gather: bool) -> Schedule:
    from .streaming.packed_chains import packed_chains  # noqa: PLC0415

    # What streams has equal blocks.
    streams = request.block_words is None
    return packed_chains(
        request.topology, request.root, request.words, gather=gather, streams=streams
    )


def _row_column(request: Request) -> Schedule:
    return row_column_all_to_all(request.topology, request.words, all_port=request.all_port)


def _direct(request: Request) -> Schedule:
    from .direct.all_to_all import direct_all_to_all  # noqa: PLC0415

    return direct_all_to_all(request.topology, request.words, all_port=request.all_port)


def _all_ports(
    collective: str,
    name: str,
    generate: Callable[[Request], Schedule],
    takes: tuple[str, ...] = (),
    copies: bool = False,
) -> Algorithm:
    """An algorithm for nodes that use all ports, and for no others."""

    def make(request: Request) -> Schedule:
        if not request.all_port:
            raise InvalidInput.of("ports", "all", "one", about=f" for {name}")
        return generate(request)

    return Algorithm(collective, name, make, takes=("all_port", *takes), copies=copies)


def _ring(collective: str, topology: Topology, source: int | None, words: int) -> Schedule:
    if collective == Collective.ALL_GATHER and not is_whole_grid(topology):
        return closed_ring(topology, words)
    return ring(collective, topology, source, words)


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


def _from_all(generate: Callable[[Topology, int], Schedule]) -> Callable[[Request], Schedule]:
    return lambda request: generate(request.topology, request.words)


def _stream_ring(request: Request) -> Schedule:
    # What runs round in windows has equal blocks.
    return stream_ring(request.topology, request.words, windows=request.block_words is None)


def _stream_ring_reduce_scatter(request: Request) -> Schedule:
    operator, windows = request.combining, request.block_words is None
    return stream_ring_reduce_scatter(request.topology, request.words, operator, windows=windows)


def _hamiltonian(request: Request) -> Schedule:
    # What streams has equal blocks.
    return hamiltonian(request.topology, request.words, streams=request.block_words is None)


def _hamiltonian_reduce_scatter(request: Request) -> Schedule:
    operator, streams = request.combining, request.block_words is None
    return hamiltonian_reduce_scatter(request.topology, request.words, operator, streams=streams)


def _greedy(request: Request) -> Schedule:
    from .streaming.greedy import greedy_all_gather  # noqa: PLC0415

    return greedy_all_gather(request.topology, request.words, request.block_words)


def _combining(generate: Callable[[Topology, int, str], Schedule]) -> Callable[[Request], Schedule]:
    return lambda request: generate(request.topology, request.words, request.combining)


def _exchanged(partners: Partners) -> Callable[[Request], Schedule]:
    def make(request: Request) -> Schedule:
        return exchanged_all_reduce(request.topology, request.words, request.combining, partners)

    return make


_CUBE_GRAPHS = dict.fromkeys(
    (collective, graph)
    for (collective, _), served in COLLECTIVES_ON.items()
    for graph in served.graphs
)

_COPYING = (
    Algorithm(Collective.BROADCAST, "eye", _rooted(eye_broadcast), eyes),
    Algorithm(Collective.BROADCAST, "minimum", _rooted(minimum_broadcast), best_sources),
    Algorithm(Collective.BROADCAST, "rectangle", _rooted(rectangle_broadcast), rectangle_eyes),
    Algorithm(
        Collective.BROADCAST,
        "jiang-wu",
        _rooted(jiang_wu_broadcast),
        region_eyes,
        leaves_out="disabled nodes of fault blocks",
        most=theorem_6_bounds,
    ),
    Algorithm(
        Collective.BROADCAST, "tree", _tree, takes=("partial",), leaves_out="no path leads to them"
    ),
    Algorithm(Collective.BROADCAST, "u-mesh", _rooted(u_mesh_broadcast)),
    Algorithm(Collective.BROADCAST, "u-torus", _rooted(u_torus_broadcast)),
    Algorithm(Collective.BROADCAST, "u-torus-open", _rooted(u_torus_open_broadcast)),
    Algorithm(Collective.MULTICAST, "u-mesh", _multicast(u_mesh_multicast)),
    Algorithm(Collective.MULTICAST, "u-torus", _multicast(u_torus_multicast)),
    Algorithm(Collective.MULTICAST, "u-torus-open", _multicast(u_torus_open_multicast)),
    Algorithm(Collective.MULTICAST, "tree", _tree_multicast),
    *(
        _on_a_grid(collective, name, generate)
        for collective in GRID_COLLECTIVES
        for name, generate in (("ring", _ring), ("recursive-doubling", recursive_doubling))
    ),
    Algorithm(Collective.BROADCAST, "chain", _rooted(chain_broadcast)),
    Algorithm(Collective.MULTICAST, "chain", _multicast(chain_multicast)),
    _all_ports(Collective.BROADCAST, "packed-trees", _packed_trees),
    _all_ports(Collective.MULTICAST, "packed-trees", _packed_trees_multicast),
    _all_ports(Collective.BROADCAST, "nesbt-copies", _nesbt_copies, copies=True),
    Algorithm(Collective.ALL_GATHER, "stream-ring", _stream_ring),
    Algorithm(Collective.ALL_TO_ALL, "row-column", _row_column, takes=("all_port",)),
    Algorithm(Collective.ALL_TO_ALL, "direct", _direct, takes=("all_port",)),
    Algorithm(Collective.SCATTER, "direct", _rooted(direct_scatter)),
    Algorithm(Collective.GATHER, "direct", _rooted(direct_gather)),
    _all_ports(Collective.ALL_GATHER, "hamiltonian", _hamiltonian),
    _all_ports(Collective.ALL_GATHER, "greedy", _greedy),
    Algorithm(Collective.ALL_GATHER, "circulant", _from_all(circulant_all_gather)),
    Algorithm(Collective.ALL_GATHER, "swing", _from_all(swing_all_gather)),
    _all_ports(Collective.ALL_GATHER, "trivance", _from_all(trivance_all_gather)),
    _all_ports(Collective.ALL_GATHER, "rings", _from_all(rings_all_gather)),
    _all_ports(Collective.SCATTER, "packed-chains", _packed_chains),
    _all_ports(Collective.GATHER, "packed-chains", _packed_chains_gather),
    Algorithm(Collective.SCATTER, "sbt-gray", _gray_code_scatter, takes=("packet",)),
    *(_on_a_cube(collective, graph) for collective, graph in _CUBE_GRAPHS),
)


def _turned(collective: str) -> list[Algorithm]:
    """The algorithms for ``collective`` of which reductions are made: those without copies."""
    return [each for each in _COPYING if each.collective == collective and not each.copies]


_SCATTERING = (
    Algorithm(
        Collective.REDUCE_SCATTER,
        "stream-ring",
        _stream_ring_reduce_scatter,
        takes=("operator",),
    ),
    _all_ports(
        Collective.REDUCE_SCATTER,
        "hamiltonian",
        _hamiltonian_reduce_scatter,
        takes=("operator",),
    ),
)

_REDUCING = (
    *derived(
        _turned(Collective.BROADCAST),
        _turned(Collective.ALL_GATHER),
        _SCATTERING,
    ),
    Algorithm(
        Collective.ALL_REDUCE,
        "recursive-doubling",
        _exchanged(recursive_doubling_partners),
        takes=("operator",),
    ),
    _all_ports(Collective.ALL_REDUCE, "combs", _combining(combs_all_reduce), takes=("operator",)),
    Algorithm(
        Collective.ALL_REDUCE, "swing-whole", _exchanged(swing_partners), takes=("operator",)
    ),
    _all_ports(
        Collective.ALL_REDUCE,
        "trivance-whole",
        _combining(trivance_all_reduce),
        takes=("operator",),
    ),
)
_BARRIERS = [
    barrier(each)
    for each in _REDUCING
    if each.collective == Collective.ALL_REDUCE and each.keeps_whole
]

ALGORITHMS = (*_COPYING, *_REDUCING, *_BARRIERS)


def algorithms_for(collective: str) -> list[Algorithm]:
    """All algorithms for ``collective``; refused, with those that there are, if it is unknown."""
    if collective not in COLLECTIVES:
        raise InvalidInput.of("collective", one_of(COLLECTIVES), like(collective, COLLECTIVES))
    return [algorithm for algorithm in ALGORITHMS if algorithm.collective == collective]


def find_algorithm(collective: str, name: str) -> Algorithm:
    """The algorithm ``name`` for ``collective``; refused, with those that are known, if unknown."""
    candidates = algorithms_for(collective)
    for algorithm in candidates:
        if algorithm.name == name:
            return algorithm
    names = one_of(algorithm.name for algorithm in candidates)
    raise InvalidInput.of(f"algorithm for {collective}", names, name)
