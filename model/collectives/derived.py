"""Reduction algorithms, derived from the algorithms that copy.

=============== ==================================== ==========================================
collective      derived from                         name
=============== ==================================== ==========================================
reduce          every broadcast, run backwards       that of the broadcast
reduce-scatter  every all-gather, run backwards,     that of the all-gather
                unless one of this name is given
all-reduce      every all-gather, after the          that of the all-gather
                reduce-scatter of its name, unless   (``recursive-halving`` for
                one of this name is given            ``recursive-doubling``)
all-reduce      every broadcast, after its reduce    that of the broadcast, with ``-rooted`` if
                                                     an all-gather has this name too
barrier         every all-reduce of whole messages   that of the all-reduce
=============== ==================================== ==========================================
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from ..network.topology import Topology
from ..schedule.collective import Collective
from ..schedule.schedule import Schedule
from .algorithm import Algorithm
from .declared.request import Request, combining_operator
from .reductions.all_reduce import rooted_all_reduce, scattered_all_reduce
from .reductions.backwards import (
    against,
    reduce_backwards,
    reduce_scatter_backwards,
    require_reached,
)

RENAMED = {"recursive-doubling": "recursive-halving"}
"""New names of all-reduces where another all-reduce already has the all-gather's name."""


def derived(
    broadcasts: Iterable[Algorithm],
    all_gathers: Iterable[Algorithm],
    reduce_scatters: Iterable[Algorithm],
    all_reduces: Collection[str] = (),
) -> list[Algorithm]:
    """Return all reductions made from ``broadcasts`` and ``all_gathers``, except the barriers.

    An algorithm in ``reduce_scatters`` replaces the backward all-gather of the same name. No
    all-reduce is made of an all-gather whose name is in ``all_reduces``.
    """
    broadcasts, all_gathers = list(broadcasts), list(all_gathers)
    given = {each.name: each for each in reduce_scatters}
    taken = {each.name for each in all_gathers}
    scatters = [given.get(each.name) or _reduce_scatter(each) for each in all_gathers]
    return [
        *map(_reduce, broadcasts),
        *scatters,
        *(
            _scattered(*pair)
            for pair in zip(scatters, all_gathers, strict=True)
            if pair[1].name not in all_reduces
        ),
        *(
            _rooted(each, f"{each.name}-rooted" if each.name in taken else each.name)
            for each in broadcasts
        ),
    ]


def barrier(all_reduce: Algorithm) -> Algorithm:
    """Return the barrier made of an ``all_reduce`` of one word; the default operator is ``and``."""

    def make(request: Request) -> Schedule:
        one = replace(
            request, words=1, operator=combining_operator(Collective.BARRIER, request.operator)
        )
        made = all_reduce.make(one)
        named = made.collective == Collective.ALL_REDUCE
        return replace(made, collective=Collective.BARRIER) if named else made

    return replace(all_reduce, collective=Collective.BARRIER, make=make)


def _reduce(broadcast: Algorithm) -> Algorithm:
    def make(request: Request) -> Schedule:
        topology = request.topology
        if not request.partial and not topology.whole_grid:
            require_reached(topology, request.root)
        there = broadcast.make(replace(request, topology=against(topology)))
        return reduce_backwards(there, topology, request.combining)

    takes = (*broadcast.takes, "operator")
    return replace(broadcast, collective=Collective.REDUCE, make=make, takes=takes)


def _reduce_scatter(all_gather: Algorithm) -> Algorithm:
    def make(request: Request) -> Schedule:
        topology = request.topology
        there = all_gather.make(replace(request, topology=against(topology)))
        return reduce_scatter_backwards(there, topology, request.combining)

    takes = (*all_gather.takes, "operator")
    return replace(all_gather, collective=Collective.REDUCE_SCATTER, make=make, takes=takes)


def _scattered(backwards: Algorithm, all_gather: Algorithm) -> Algorithm:
    name = RENAMED.get(all_gather.name, all_gather.name)

    def make(request: Request) -> Schedule:
        nodes = max(1, request.topology.working_nodes.size)
        words = -(-request.words // nodes)
        # If the words cannot be shared evenly, the blocks are unequal.
        unequal = (words,) * request.topology.nodes if request.words % nodes else None
        each = replace(request, words=words, block_words=unequal)
        made = scattered_all_reduce(backwards.make(each), all_gather.make(each), request.words)
        return replace(made, algorithm=name)

    return replace(
        backwards,
        collective=Collective.ALL_REDUCE,
        name=name,
        make=make,
        steps="those of reduce-scatter, then of all-gather",
        keeps_whole=False,
    )


def _rooted(broadcast: Algorithm, name: str) -> Algorithm:
    backwards = _reduce(broadcast)

    def make(request: Request) -> Schedule:
        asked = replace(request, source=_middle(broadcast, request.topology))
        made = rooted_all_reduce(backwards.make(asked), broadcast.make(asked))
        return replace(made, algorithm=name)

    takes = tuple(name for name in backwards.takes if name != "partial")
    # The all-reduce does not take "partial", so such an algorithm leaves no node out here.
    leaves_out = "" if "partial" in backwards.takes else backwards.leaves_out
    return replace(
        backwards,
        collective=Collective.ALL_REDUCE,
        name=name,
        make=make,
        steps="those of reduce, then of broadcast",
        takes=takes,
        leaves_out=leaves_out,
    )


def _middle(broadcast: Algorithm, topology: Topology) -> int:
    """Return the root of an all-reduce: a landmark of the algorithm or a node near the middle."""
    marked = [node for node in broadcast.landmarks(topology) if node not in topology.faulty_nodes]
    working = topology.working_nodes
    if marked or not working.size:
        return min(marked, default=0)
    places = topology.coordinates(working)
    away = np.abs(2 * places - (np.asarray(topology.dims or (topology.nodes,)) - 1)).sum(axis=1)
    return int(working[np.argmin(away)])
