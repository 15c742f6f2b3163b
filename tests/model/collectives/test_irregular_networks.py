"""Collectives with one port on any network: their largest ratio of cycles to the bound."""

import numpy as np
import pytest
from helpers.carried_out import carried_out
from helpers.irregular_networks import drawn_networks
from helpers.switch_networks import fat_tree

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, mesh

LIMITS = (
    ("all-gather", "ring", 64, 1.20),
    ("all-gather", "stream-ring", 64, 1.10),
    ("reduce-scatter", "stream-ring", 64, 1.10),
    ("broadcast", "chain", 1024, 1.20),
    ("multicast", "chain", 1024, 1.20),
    ("reduce", "chain", 1024, 1.20),
    ("all-reduce", "stream-ring", 1024, 1.10),
    ("scatter", "direct", 64, 1.10),
    ("gather", "direct", 64, 1.10),
)


def require_near(topology: Topology, draw: np.random.Generator) -> None:
    """Require of each collective that it is carried out, within its limit of the bound."""
    working = topology.working_nodes
    root, *targets = draw.permutation(working)[: len(working) // 2 + 1].tolist()
    for collective, algorithm, words, most in LIMITS:
        rootless = collective in ("all-gather", "reduce-scatter", "all-reduce")
        request = Request(
            topology=topology,
            words=words,
            source=None if rootless else root,
            targets=tuple(targets) if collective == "multicast" else None,
        )
        made = find_algorithm(collective, algorithm).generate(request)
        cycles = carried_out(made).predicted.cycles
        bound = schedule_bound(made).value
        assert bound <= cycles <= most * bound, (topology.label, collective)


@pytest.mark.parametrize(
    "topology",
    [
        with_faults(mesh((4, 4)), [5, 11], [(0, 1), (1, 0)]),
        fat_tree(4),
    ],
    ids=lambda topology: topology.label,
)
def test_near_the_bound(topology: Topology) -> None:
    require_near(topology, np.random.default_rng(1))


@pytest.mark.slow
def test_drawn_networks() -> None:
    draw = np.random.default_rng(27)
    for topology in drawn_networks(60, seed=27):
        require_near(topology, draw)
