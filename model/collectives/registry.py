"""All algorithms by name. Each is declared in its module; add a new one as one entry here."""

from ..base.errors import InvalidInput
from ..schedule.collective import COLLECTIVES, Collective
from . import unicast_chain
from .algorithm import Algorithm
from .circuits import joining_trees, light_rings, light_trees
from .cube import broadcast_copies, scatter
from .cube import collectives as cube
from .derived import barrier, derived
from .direct import all_to_all, rooted, symmetric
from .exchanges import (
    aligned,
    circulant,
    dissemination,
    gossip,
    hierarchy,
    mixed_radix,
    scan,
    swing,
    trivance,
    trivance_whole,
)
from .fault_blocks import broadcast as fault_blocks
from .grid import all_ports
from .grid import collectives as grid
from .halving import eye, minimum, rectangle
from .row_column import all_to_all as row_column
from .solved import cycles, steps
from .streaming import chain, combs, greedy, overlapped, packed_chains, rings, trees
from .tree import algorithms as tree

_COPYING = tuple(
    Algorithm.of(declared)
    for declared in (
        eye.ALGORITHM,
        minimum.ALGORITHM,
        rectangle.ALGORITHM,
        fault_blocks.ALGORITHM,
        tree.BROADCAST,
        *unicast_chain.ALGORITHMS,
        tree.MULTICAST,
        *grid.ALGORITHMS,
        *chain.ALGORITHMS,
        *trees.ALGORITHMS,
        broadcast_copies.ALGORITHM,
        row_column.ALGORITHM,
        *all_to_all.ALGORITHMS,
        symmetric.ALGORITHM,
        *gossip.EXCHANGES,
        *rooted.ALGORITHMS,
        *rings.ALGORITHMS,
        greedy.ALGORITHM,
        greedy.BROADCAST,
        circulant.ALGORITHM,
        *hierarchy.ALGORITHMS,
        swing.ALGORITHM,
        trivance.ALGORITHM,
        all_ports.ALGORITHM,
        *packed_chains.ALGORITHMS,
        gossip.ALL_GATHER,
        scatter.GRAY_CODE,
        *cube.ALGORITHMS,
        *light_trees.ALGORITHMS,
        light_rings.ALGORITHM,
    )
)


def _turned(collective: str) -> list[Algorithm]:
    """Return the algorithms for ``collective`` that reductions derive from.

    They make no copies, and none is for circuits: of a fork at a node, a join could be too large.
    """
    return [
        each
        for each in _COPYING
        if each.collective == collective and not (each.copies or each.circuits)
    ]


_REDUCING = (
    *derived(
        [*_turned(Collective.BROADCAST), Algorithm.of(aligned.BROADCAST)],
        [*_turned(Collective.ALL_GATHER), Algorithm.of(aligned.ALL_GATHER)],
        map(Algorithm.of, rings.REDUCE_SCATTERS),
        # Gossip of whole messages is faster, and has the name.
        [gossip.NAME],
    ),
    Algorithm.of(mixed_radix.ALGORITHM),
    Algorithm.of(combs.ALGORITHM),
    Algorithm.of(overlapped.ALGORITHM),
    Algorithm.of(swing.SWING_WHOLE),
    Algorithm.of(dissemination.ALGORITHM),
    Algorithm.of(gossip.ALL_REDUCE),
    *map(Algorithm.of, scan.ALGORITHMS),
    Algorithm.of(trivance_whole.ALGORITHM),
    *map(Algorithm.of, joining_trees.ALGORITHMS),
)
_BARRIERS = [
    barrier(each)
    for each in _REDUCING
    if each.collective == Collective.ALL_REDUCE and each.keeps_whole
]

ALGORITHMS = (*_COPYING, *_REDUCING, *_BARRIERS)


def _solved() -> list[Algorithm]:
    """Return the algorithms by a solver: those of the solver's models, and two backwards."""
    modelled = {each.collective: Algorithm.of(each) for each in steps.ALGORITHMS}
    turned = derived([modelled[Collective.BROADCAST]], [modelled[Collective.ALL_GATHER]], ())
    return [
        *modelled.values(),
        *(each for each in turned if each.collective not in modelled),
        *map(Algorithm.of, cycles.ALGORITHMS),
    ]


SOLVED = tuple(_solved())
"""Algorithms that take so long that the best of all is chosen without them."""


def algorithms_for(collective: str, *, circuits: bool = True) -> list[Algorithm]:
    """Return all algorithms for ``collective``; raise :class:`InvalidInput` if it is unknown.

    ``circuits`` False leaves out those that need a network with circuits.
    """
    if collective not in COLLECTIVES:
        raise InvalidInput.unknown("collective", COLLECTIVES, collective)
    return [
        algorithm
        for algorithm in ALGORITHMS
        if algorithm.collective == collective and (circuits or not algorithm.circuits)
    ]


def find_algorithm(collective: str, name: str) -> Algorithm:
    """Return algorithm ``name`` for ``collective``; raise :class:`InvalidInput` if unknown."""
    candidates = [
        *algorithms_for(collective),
        *(each for each in SOLVED if each.collective == collective),
    ]
    for algorithm in candidates:
        if algorithm.name == name:
            return algorithm
    names = (algorithm.name for algorithm in candidates)
    raise InvalidInput.unknown(f"algorithm for {collective}", names, name)
