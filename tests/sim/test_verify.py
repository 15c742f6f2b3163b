"""The hardware against the cycle model: every source, both timings, bit for bit."""

import pytest
from helpers.verified import verified

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.collectives.halving.eye_tcd import grid_source_tcd
from eyecast.model.compare.case import Case
from eyecast.model.network.config import TIMINGS, NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import Compiled
from eyecast.sim.verify import verify

SLOW = pytest.mark.slow


def cases(dims, flits, vcs, sources, **limits):
    """Return the broadcasts from these sources, each with both timings."""
    topology = mesh(dims)
    config = NetworkConfig(topology=topology, vcs=vcs, **limits)
    return [
        Case.of(
            Compiled.of(eye_broadcast(topology, source, flits), config), timing=timing, seed=source
        )
        for source in sources
        for timing in TIMINGS
    ]


def test_cases_of_different_networks_are_refused():
    different = [*cases((2, 2), 4, 1, [0]), *cases((4, 4), 4, 2, [0])]
    words = "network of case 2 must be that of case 0, not one with another topology and vcs"
    with pytest.raises(InvalidInput, match=words):
        next(verify(different))


def assert_as_the_paper_says(result):
    """Require steps, TCD and, in barrier timing, cycles by formulas, without the model."""
    schedule, hardware = result.case.schedule, result.measured
    dims = schedule.topology.dims
    k = dims[0].bit_length() - 1
    measured = {check.name: check.measured for check in result.checks}
    assert measured["nodes delivered"] == schedule.topology.nodes
    assert measured["steps"] == len(dims) * k
    assert measured["TCD"] == grid_source_tcd(k, schedule.topology.coordinates(schedule.root))
    if result.case.timing == "barrier":
        flits = schedule.blocks.words[0]
        control_words = result.case.program.config.table.control_words
        # docs/router.md, section 5.
        expected = control_words + sum(h + flits + 4 for h in schedule.longest_per_step) - 2
        assert hardware.cycles == expected
        assert measured["stalled flits"] == 0


# ``make demo`` runs 8x8 with one VC.
@pytest.mark.parametrize(
    ("side", "vcs", "flits"),
    [(4, 1, 64), pytest.param(4, 2, 1, marks=SLOW), pytest.param(8, 2, 4, marks=SLOW)],
)
def test_every_source(side, vcs, flits):
    for result in verified(cases((side, side), flits, vcs, range(side * side))):
        assert_as_the_paper_says(result)


@SLOW
def test_the_largest_network_32x32():
    """Building its simulator from an empty cache takes seven minutes of CPU time and 1.3 GB."""
    in_barrier_timing, _ = cases((32, 32), 16, 1, [0])
    for result in verified([in_barrier_timing]):
        assert_as_the_paper_says(result)


def test_headers_of_two_flits():
    """A router drops the first header flit; the line is halved three times."""
    list(verified(cases((8,), 5, 1, range(8), flit_width=9, message_words=16, steps=7)))


@pytest.mark.parametrize("side", [pytest.param(1, marks=SLOW), 2])
def test_a_single_node_and_a_pair_of_rows(side):
    list(verified(cases((side, side), 4, 1, range(side * side))))
