"""All collectives on meshes and tori, by recursive doubling and by rings.

With N nodes, and sides n; the blocks are counted for each node that sends:

================ ==================================== ====================================
of               ``recursive_doubling``               ``ring``
================ ==================================== ====================================
sides            any; in an all-gather or all-to-all  any
                 powers of two up to 16
broadcast        sum of ceil(log2 n) steps            sum of ceil(n / 2) steps on wrapped
                                                      axes; n / 2 to n - 1 on others,
                                                      depending on the root
scatter, gather  sum of ceil(log2 n) steps            sum of n - 1 steps
all-gather       log2 N steps                         sum of n - 1 steps
all-to-all       log2 N steps, N / 2 blocks in each   sum of n - 1 steps, floor(n^2 / 4) N / n
                                                      blocks on each axis
VCs              1; in an all-gather or all-to-all    1
                 half the longest side
================ ==================================== ====================================

In a scatter, gather or all-gather no node sends or receives more than N - 1 blocks, with either
algorithm. :mod:`..lower_bounds` has lower bounds. The port model of a schedule is the strictest
that it keeps. :mod:`.recursive_doubling` and :mod:`.rings` explain the algorithms.
"""

from collections.abc import Callable

from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared
from ..streaming.rings import closed_ring
from .recursive_doubling import exchange_sends, halving_line, without_wrap_links
from .rings import all_gather_sends, all_to_all_sends, broadcast_line, scatter_line
from .sends import GRID_COLLECTIVES, GridCollective, grid_schedule, rooted_sends


def recursive_doubling(
    collective: str, topology: Topology, source: int | None, words: int
) -> Schedule:
    """Return a schedule with a logarithmic number of steps: see :mod:`.recursive_doubling`.

    ``source`` is the root of a broadcast, scatter or gather, and None for all-gather and
    all-to-all; each block has ``words`` words. Raises :class:`.InvalidInput` as
    :class:`~.sends.GridCollective` does, and for sides that exchanges do not serve.
    """
    asked = GridCollective(collective, "recursive-doubling", topology, source, words)
    if asked.rooted:
        return grid_schedule(asked, rooted_sends(asked, halving_line), topology)
    return grid_schedule(asked, exchange_sends(asked), without_wrap_links(topology))


def ring(collective: str, topology: Topology, source: int | None, words: int) -> Schedule:
    """Return a schedule from neighbour to neighbour: see :mod:`.rings`.

    Parameters and errors are those of :func:`recursive_doubling`; any sides are served.
    """
    asked = GridCollective(collective, "ring", topology, source, words)
    if asked.rooted:
        line = broadcast_line if collective == Collective.BROADCAST else scatter_line
        return grid_schedule(asked, rooted_sends(asked, line), topology)
    sends = all_gather_sends if collective == Collective.ALL_GATHER else all_to_all_sends
    return grid_schedule(asked, sends(asked), topology)


def _ring(collective: str, topology: Topology, source: int | None, words: int) -> Schedule:
    """Return the schedule of :func:`ring`; an all-gather is served on any network."""
    if collective == Collective.ALL_GATHER and not topology.whole_grid:
        return closed_ring(topology, words)
    return ring(collective, topology, source, words)


def _declared(
    collective: str,
    name: str,
    generate: Callable[[str, Topology, int | None, int], Schedule],
    networks: str,
    steps: str,
) -> Declared:
    return Declared(
        collective,
        name,
        lambda asked: generate(collective, asked.topology, asked.source, asked.words),
        networks=networks,
        steps=steps,
        paper="Thakur, Rabenseifner & Gropp 2005",
    )


_EXCHANGED = (Collective.ALL_GATHER, Collective.ALL_TO_ALL)
_RING_STEPS: dict[str, str] = {
    Collective.BROADCAST: "at most the sum of n − 1",
    Collective.ALL_GATHER: "sum of n − 1; N − 1 where there are no axes",
}

ALGORITHMS = tuple(
    algorithm
    for collective in GRID_COLLECTIVES
    for algorithm in (
        _declared(
            collective,
            "ring",
            _ring,
            "any network" if collective == Collective.ALL_GATHER else "meshes and tori",
            _RING_STEPS.get(collective, "sum of n − 1"),
        ),
        _declared(
            collective,
            "recursive-doubling",
            recursive_doubling,
            "meshes and tori of sides 2^k" if collective in _EXCHANGED else "meshes and tori",
            "log2 N" if collective in _EXCHANGED else "sum of ⌈log2 n⌉",
        ),
    )
)
