"""Scatter and gather on all ports: proved, carried out in the cycle model, and near their bound."""

from collections.abc import Callable

import numpy as np
import pytest
from helpers.carried_out import cycles_of
from helpers.generated import generated
from helpers.irregular_networks import KINDS, drawn_network
from helpers.refusals import refusal_of
from helpers.schedules import listed
from helpers.switch_networks import fat_tree, switch_star

from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.collectives.streaming.packed_chains import packed_chains
from eyecast.model.network.faults import with_faults
from eyecast.model.network.topology import Topology, hypercube, line, mesh, torus
from eyecast.model.schedule.duration import expected_cycles
from eyecast.model.schedule.schedule import Schedule

FAULTY = with_faults(mesh((6, 6)), [8, 21], [(0, 1)])


def words_of(made: Schedule) -> dict[tuple[int, int], int]:
    """Return words by the node that has them and the node that gets them."""
    found: dict[tuple[int, int], int] = {}
    blocks = made.blocks
    for owner, owed, words in zip(
        blocks.owner.tolist(), blocks.owed, blocks.words.tolist(), strict=True
    ):
        assert owed is not None
        found[owner, owed[0]] = found.get((owner, owed[0]), 0) + words
    return found


@pytest.mark.parametrize("gather", [False, True], ids=["scatter", "gather"])
@pytest.mark.parametrize(
    ("topology", "root", "most"),
    [
        (mesh((6, 6)), 0, 1.12),
        (torus((5, 5)), 7, 1.10),
        (hypercube(4), 3, 1.10),
        (FAULTY, 35, 1.15),
        (fat_tree(4), 20, 1.05),
    ],
    ids=lambda value: getattr(value, "label", value),
)
def test_cycles_beside_the_bound(topology: Topology, root: int, most: float, gather: bool) -> None:
    made = packed_chains(topology, root, 64, gather=gather)
    assert all(len({*send.path}) == len(send.path) for send in listed(made))
    ends = ((node, root) if gather else (root, node) for node in topology.working_nodes.tolist())
    assert words_of(made) == {(owner, goal): 64 for owner, goal in ends if owner != goal}
    cycles = cycles_of(made)
    assert cycles <= most * schedule_bound(made).value
    assert abs(cycles - expected_cycles(made)) <= 2 * made.steps


@pytest.mark.parametrize("gather", [False, True], ids=["scatter", "gather"])
@pytest.mark.parametrize(
    ("topology", "words"),
    [(line(2), 1), (line(5), 3), (switch_star(3), 2), (mesh((3, 2)), 33), (FAULTY, 1)],
    ids=lambda value: getattr(value, "label", value),
)
def test_small_ones(topology: Topology, words: int, gather: bool) -> None:
    root = int(topology.working_nodes[-1])
    made = packed_chains(topology, root, words, gather=gather)
    assert {*words_of(made).values()} == {words}
    cycles_of(made)


@pytest.mark.parametrize("collective", ["scatter", "gather"])
def test_unequal_blocks(collective: str) -> None:
    words = tuple(int(word) for word in np.random.default_rng(3).integers(0, 50, 36))
    words = tuple(0 if node in (8, 21, 0) else word for node, word in enumerate(words))
    made = generated(
        collective, "packed-chains", FAULTY, words=1, source=0, all_port=True, block_words=words
    )
    found = words_of(made)
    for node in range(1, 36):
        assert found.get((0, node) if collective == "scatter" else (node, 0), 0) == words[node]
    cycles_of(made)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_drawn_networks(kind: str, seed: int) -> None:
    topology = drawn_network(kind, seed)
    root = int(np.random.default_rng(seed).choice(topology.working_nodes))
    for gather in (False, True):
        made = packed_chains(topology, root, 64, gather=gather)
        assert cycles_of(made) <= 1.6 * schedule_bound(made).value


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: packed_chains(with_faults(line(3), [1]), 0, 4),
            "network for packed-chains must be one with paths by which it reaches all others, not "
            "a line of 3 with 1 faulty node",
        ),
        (
            lambda: packed_chains(with_faults(line(2), [], [(1, 0)]), 0, 4, gather=True),
            "network for packed-chains must be one with paths by which all others reach the "
            "source, not a line of 2 with 1 faulty link",
        ),
        (
            lambda: packed_chains(mesh((32, 32)), 0, 4),
            "nodes for packed-chains must be 2 to 512, not 1024",
        ),
    ],
)
def test_what_is_refused(make: Callable[[], Schedule], words: str) -> None:
    assert refusal_of(make) == words
