"""Scatter and gather by direct messages: the root's port is busy from start to end."""

import pytest
from helpers.carried_out import cycles_of
from helpers.irregular_networks import drawn_networks
from helpers.refusals import refusal_of
from helpers.switch_networks import fat_tree

from eyecast.model.collectives.direct.rooted import direct_gather, direct_scatter
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, line, mesh, torus

NETWORKS = [fat_tree(4), torus((5, 3)), mesh((4, 5)), *drawn_networks(2, seed=2)]


@pytest.mark.parametrize("topology", NETWORKS, ids=lambda topology: topology.label)
def test_near_the_bound(topology: Topology) -> None:
    root = int(topology.working_nodes[len(topology.working_nodes) // 2])
    for made, most in (
        (direct_scatter(topology, root, 64), 1.10),
        (direct_gather(topology, root, 64), 1.05),
    ):
        bound = schedule_bound(made).value
        assert bound <= cycles_of(made) <= most * bound
        assert made.blocks.words.tolist() == [64] * len(topology.working_nodes)


def test_long_ways_are_hidden_behind_short_ones() -> None:
    """The root sends eight messages, each of 64 words and a header, one after another."""
    assert cycles_of(direct_scatter(line(9), 0, 64)) == 8 * (64 + 1 + 2) + 2
    assert cycles_of(direct_gather(line(9), 0, 64)) == 8 * (64 + 1) + 4


def test_what_is_refused() -> None:
    apart = with_faults(line(3), [1])
    assert (
        refusal_of(direct_scatter, apart, 1, 4) == "source must be a node that is not faulty, not 1"
    )
    unreached = "target of a route from node 2 must be a node that it can reach, not 0"
    assert refusal_of(direct_gather, apart, 0, 4) == unreached
    assert direct_scatter(with_faults(line(2), [1]), 0, 4).sends == 0
