"""Every algorithm of every collective, beside its lower bounds: none is below them."""

import pytest
from helpers.every_schedule import every_schedule

from eyecast.model.collectives.shown_bounds import least_counts, schedule_bound, word_measures
from eyecast.model.compare.cycles import schedule_cycles
from eyecast.model.network.named_graphs import binary_tree, de_bruijn, diagonal_mesh, star_tree
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.schedule.collective import Collective

# Blocks that can be cut into halves and quarters, blocks that cannot, and single words.
WORDS = (16, 3, 1)
NETWORKS = (
    *(mesh((4, 4)), torus((4, 4)), mesh((3, 2)), hypercube(3), ring(4), line(3)),
    *(binary_tree(6), star_tree(3, 2), diagonal_mesh(3), de_bruijn(2, 3)),
)


@pytest.mark.parametrize("collective", list(Collective))
@pytest.mark.parametrize("topology", NETWORKS, ids=lambda network: network.label)
def test_no_algorithm_is_below_the_bounds(collective: Collective, topology: Topology) -> None:
    asked = {"source": 0, "targets": (1, 3)}
    served = 0
    for words in (1,) if collective == Collective.BARRIER else WORDS:
        for all_port in (False, True):
            for schedule in every_schedule(
                topology, collective, **asked, words=words, all_port=all_port
            ):
                counted = {"steps": schedule.steps, "tcd": schedule.tcd}
                counted |= word_measures(schedule)
                for name, least in least_counts(schedule).items():
                    assert counted[name] >= least, (schedule.algorithm, words, all_port, name)
                assert schedule_cycles(schedule).value >= schedule_bound(schedule).value
                served += 1
    assert served
