"""Every algorithm of every collective, beside its lower bounds: none is below them."""

from __future__ import annotations

import pytest

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.collectives.shown_bounds import least_counts, word_measures
from eyecast.model.network.topology import Topology, hypercube, mesh, ring, torus
from eyecast.model.schedule.collective import Collective

# Blocks that can be cut into halves and quarters, blocks that cannot, and single words.
WORDS = (16, 3, 1)
NETWORKS = (mesh((4, 4)), torus((4, 4)), mesh((3, 2)), hypercube(3), ring(4))


@pytest.mark.parametrize("collective", list(Collective))
@pytest.mark.parametrize("topology", NETWORKS, ids=lambda network: network.label)
def test_no_algorithm_is_below_the_bounds(collective: Collective, topology: Topology) -> None:
    served = 0
    for algorithm in algorithms_for(collective):
        for words in WORDS:
            for all_port in (False, True):
                request = Request(
                    topology=topology,
                    words=1 if collective == Collective.BARRIER else words,
                    source=0 if collective.rooted else None,
                    targets=(1, 3) if collective == Collective.MULTICAST else None,
                    all_port=all_port,
                )
                try:
                    schedule = algorithm.generate(request)
                except InvalidInput:
                    continue
                counted = {"steps": schedule.steps, "tcd": schedule.tcd}
                counted |= word_measures(schedule)
                for name, least in least_counts(schedule).items():
                    assert counted[name] >= least, (algorithm.name, words, all_port, name)
                served += 1
    assert served
