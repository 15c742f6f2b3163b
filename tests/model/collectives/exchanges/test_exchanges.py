"""Exchanges with distant partners: rounds, distances, and results from the literature."""

import numpy as np
import pytest
from helpers.drawn_reductions import case_of, wrong_nodes
from helpers.generated import generated

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.exchanges.circulant import circulant_all_gather
from eyecast.model.collectives.exchanges.partners import swing_distance, swing_partners
from eyecast.model.collectives.exchanges.swing import swing_all_gather
from eyecast.model.collectives.exchanges.trivance import trivance_all_gather
from eyecast.model.collectives.halving.eye import eye_tcd
from eyecast.model.collectives.halving.eye_tcd import line_eye_tcd
from eyecast.model.network.faults import with_faults
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import hypercube, mesh, ring, torus


def complete(nodes: int) -> object:
    """Return a network in which every node has a link to every other."""
    return graph([[-1, *(other for other in range(nodes) if other != n)] for n in range(nodes)])


def swing_broadcast_tcd(side: int, axes: int) -> int:
    """Return the TCD of a broadcast from node 0 by Swing's partners, the farthest first."""
    topology = torus((side,) * axes) if axes > 1 else ring(side)
    reached, total = {0}, 0
    for partner in reversed(swing_partners(topology)[1]):
        for node in sorted(reached):
            other = int(partner[node])
            ends = topology.coordinates(np.array([node, other]))
            away = np.abs(ends[0] - ends[1])
            total += int(np.minimum(away, side - away).sum())
            reached.add(other)
    assert len(reached) == side**axes
    return total


def test_distances_are_those_of_the_eyes() -> None:
    eyes = [(2**k - (-1) ** k) // 3 for k in range(1, 20)]
    assert [abs(swing_distance(number)) for number in range(19)] == eyes


@pytest.mark.parametrize("k", range(1, 6))
def test_a_broadcast_by_swings_partners_costs_what_the_eyes_does(k: int) -> None:
    line = ((3 * k + 1) * 2**k - (-1) ** k) // 9
    assert swing_broadcast_tcd(2**k, 1) == line == line_eye_tcd(k)
    assert swing_broadcast_tcd(2**k, 2) == eye_tcd(k) == [3, 15, 69, 291, 1197][k - 1]


@pytest.mark.parametrize("nodes", range(2, 12))
def test_any_number_of_nodes_in_the_fewest_rounds(nodes: int) -> None:
    """With a link between every two nodes, each round is one step."""
    schedule = circulant_all_gather(complete(nodes), 1)
    schedule.check()
    assert schedule.steps == (nodes - 1).bit_length()
    assert np.bincount(schedule.target, np.diff(schedule.block_offsets)).max() == nodes - 1


def test_a_circulant_on_what_faults_have_left() -> None:
    topology = with_faults(mesh((4, 4)), [5, 10], [(0, 1)])
    schedule = circulant_all_gather(topology, 2)
    schedule.check()
    assert schedule.pairs_sharing_links == 0


@pytest.mark.parametrize("nodes", range(3, 15))
def test_trivance_triples_in_each_round(nodes: int) -> None:
    schedule = trivance_all_gather(ring(nodes), 1)
    schedule.check()
    # Rounds, not steps: at distance h each link carries h messages, one step after another.
    rounds, held = 0, 1
    while held < nodes:
        rounds, held = rounds + 1, 3 * held
    distances = {int(distance) for distance in schedule.distances}
    assert len(distances) <= rounds
    if nodes <= 3:
        assert schedule.steps == rounds


def test_swing_on_a_torus() -> None:
    swing_all_gather(torus((4, 8)), 2).check()
    with pytest.raises(InvalidInput, match="must be of sides that are powers of two, not a 3x4"):
        swing_all_gather(torus((3, 4)), 2)
    with pytest.raises(InvalidInput, match="must be a torus or ring without faults, not 4x4 mesh"):
        swing_all_gather(mesh((4, 4)), 2)


@pytest.mark.parametrize(
    ("topology", "algorithm", "steps"),
    [
        (hypercube(4), "recursive-doubling", 4),
        (torus((4, 4)), "swing-whole", 4),
        (torus((8, 8)), "swing-whole", None),
        (mesh((8, 2)), "recursive-doubling", None),
    ],
    ids=str,
)
def test_whole_messages_are_exchanged(topology: object, algorithm: str, steps: int | None) -> None:
    schedule = generated("all-reduce", algorithm, topology, words=5)
    schedule.check()
    assert schedule.port_model == "exchange"
    assert schedule.pairs_sharing_links == 0
    assert steps in (None, schedule.steps)
    case = case_of(schedule, 1)
    assert wrong_nodes(case, case.predicted.memory) == []


def test_what_is_exchanged_changes_halves_and_ends_at_its_own_address() -> None:
    """In three exchanges, the words move from the upper half down, up and down again."""
    schedule = generated("all-reduce", "recursive-doubling", hypercube(3), words=4)
    case = case_of(schedule, 1)
    half = 1 << (case.program.config.address_bits - 1)
    assert half >= 4
    by_step = [case.program.target_address[case.program.step == step] for step in (1, 2, 3)]
    assert [set(each.tolist()) for each in by_step] == [{0}, {half}, {0}]
    assert set(case.program.operator.tolist()) == {2}
    assert {address for _, address, _ in case.payload.loads(case.program.config)} == {half}


def test_where_nothing_is_sent_while_it_is_combined_it_stays_in_place() -> None:
    schedule = generated("all-reduce", "ring", mesh((4, 2)), words=16)
    case = case_of(schedule, 1)
    assert not case.payload.layout.halves.any
    assert set(case.program.operator.tolist()) == {0, 1}
