"""Algorithms of reductions that follow from those that copy, one for each of them.

=============== ==================================== ==========================================
collective      of                                   called
=============== ==================================== ==========================================
reduce          every broadcast, backwards           as the broadcast
reduce-scatter  every all-gather, backwards, if      as the all-gather
                there is no other of its name
all-reduce      every all-gather, after the same     as the all-gather (``recursive-halving`` for
                backwards                            ``recursive-doubling``)
all-reduce      every broadcast, after the same      as the broadcast, with ``-rooted`` where an
                backwards                            all-gather is called so too
barrier         every all-reduce of whole messages   as that
=============== ==================================== ==========================================
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..network.topology import Topology
from ..schedule.collective import Collective
from ..schedule.schedule import Schedule
from .algorithm import Algorithm
from .halving.boxes import is_whole_grid
from .reductions.all_reduce import rooted_all_reduce, scattered_all_reduce
from .reductions.backwards import (
    against,
    reduce_backwards,
    reduce_scatter_backwards,
    require_reached,
)
from .request import Request, combining_operator

RENAMED = {"recursive-doubling": "recursive-halving"}
"""Names of all-reduces by all-gathers whose own name another all-reduce has."""


def derived(
    broadcasts: Iterable[Algorithm],
    all_gathers: Iterable[Algorithm],
    reduce_scatters: Iterable[Algorithm],
) -> list[Algorithm]:
    """All reductions that are made of ``broadcasts`` and ``all_gathers``, but for the barriers.

    Those of ``reduce_scatters`` are no all-gathers backwards, and there already.
    """
    broadcasts, all_gathers = list(broadcasts), list(all_gathers)
    given = {each.name: each for each in reduce_scatters}
    taken = {each.name for each in all_gathers}
    scatters = [given.get(each.name) or _reduce_scatter(each) for each in all_gathers]
    return [
        *map(_reduce, broadcasts),
        *scatters,
        *(_scattered(*pair) for pair in zip(scatters, all_gathers, strict=True)),
        *(
            _rooted(each, f"{each.name}-rooted" if each.name in taken else each.name)
            for each in broadcasts
        ),
    ]


def barrier(all_reduce: Algorithm) -> Algorithm:
    """The barrier that is ``all_reduce`` of one word, by ``and`` if nothing else is asked for."""

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
        if not request.partial and not is_whole_grid(topology):
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
        # Where the words cannot be shared evenly, blocks are not equal.
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
    # Who leaves nodes out only where it is asked for leaves none out here.
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
    """The root of an all-reduce: where the algorithm is best, or else about in the middle."""
    marked = [node for node in broadcast.landmarks(topology) if node not in topology.faulty_nodes]
    working = topology.working_nodes
    if marked or not working.size:
        return min(marked, default=0)
    places = topology.coordinates(working)
    away = np.abs(2 * places - (np.asarray(topology.dims or (topology.nodes,)) - 1)).sum(axis=1)
    return int(working[np.argmin(away)])
