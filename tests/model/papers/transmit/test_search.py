"""The search against brute force and known burning numbers; wrong certificates are refused."""

from itertools import combinations
from math import isqrt

import pytest
from helpers.refusals import refusal_of
from helpers.topologies import neighbors
from helpers.transmit import drawn_graphs, least_cost, node_link

from eyecast.model.base.errors import InvalidInput
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree, de_bruijn, diagonal_mesh, star_tree
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.papers.transmit.certificate import BY_COUNT, SEEN, Certificate, check_certificate
from eyecast.model.papers.transmit.plan import Plan
from eyecast.model.papers.transmit.search import best_plan, greedy_plan

LONG = 60.0


def petersen() -> Topology:
    pairs = list(combinations(range(5), 2))
    edges = [(a, b) for a, b in combinations(range(10), 2) if not {*pairs[a]} & {*pairs[b]}]
    return node_link(10, edges)


def test_as_brute_force_on_small_graphs() -> None:
    for topology in drawn_graphs(150, 7, seed=3):
        answer = best_plan(topology, LONG)
        assert answer.proved
        assert answer.plan.cost == least_cost(neighbors(topology))


@pytest.mark.parametrize(
    "topology",
    [
        mesh((3, 3)),
        torus((3, 3)),
        star_tree(3, 2),
        binary_tree(8),
        de_bruijn(2, 3),
        de_bruijn(3, 2),
    ],
    ids=lambda topology: topology.label,
)
def test_as_brute_force_on_named_networks(topology: Topology) -> None:
    assert best_plan(topology, LONG).plan.cost == least_cost(neighbors(topology))


def test_faulty_nodes_need_no_message() -> None:
    faulty = with_faults(ring(7), [3])
    answer = best_plan(faulty, LONG)
    assert answer.proved
    assert answer.plan.cost == best_plan(line(6), LONG).plan.cost
    assert answer.plan.arrival[3] == -1


@pytest.mark.parametrize(
    ("topology", "burning_number"),
    [
        *((line(n), isqrt(n - 1) + 1) for n in (1, 2, 5, 16, 17, 36, 49, 60)),
        *((ring(n), isqrt(n - 1) + 1) for n in (3, 5, 16, 17, 36, 37)),
        (petersen(), 3),
        (graph([[-1, *(n for n in range(6) if n != node)] for node in range(6)]), 2),
        (star_tree(9, 1), 2),
        *((hypercube(n), -(-n // 2) + 1) for n in range(1, 7)),
    ],
    ids=lambda value: getattr(value, "label", str(value)),
)
def test_known_burning_numbers(topology: Topology, burning_number: int) -> None:
    """Compare with known numbers: paths and cycles of n nodes ceil(sqrt(n)), Petersen graph 3.

    Complete graphs and stars have 2 (Bonato, Janssen & Roshanbin, "How to Burn a Graph", 2016).
    Those of hypercubes are from Alon.
    """
    answer = best_plan(topology, LONG)
    assert answer.proved
    assert answer.plan.time == burning_number


@pytest.mark.parametrize(
    "topology",
    [mesh((7, 8)), torus((7, 8)), diagonal_mesh(8), binary_tree(60), star_tree(5, 11), line(60)],
    ids=lambda topology: topology.label,
)
def test_sixty_nodes_with_certificates(topology: Topology) -> None:
    answer = best_plan(topology, LONG)
    assert answer.proved
    time, work = answer.plan.cost
    proofs = {(proof.time, proof.sends) for proof in answer.certificates}
    assert proofs == {(time - 1, time - 1), (time, work - 1)}
    for proof in answer.certificates:
        check_certificate(topology, proof)


def test_without_time_it_says_what_it_knows() -> None:
    topology = mesh((8, 8))
    answer = best_plan(topology, 0)
    assert not answer.proved
    assert answer.plan.cost == greedy_plan(topology).cost
    assert answer.least_time == 5 < answer.plan.time
    assert answer.certificates == ()


def test_what_is_known_is_kept_unless_something_is_better() -> None:
    best = Plan(line(4), ((1, 1), (2, 3)), "mine")
    assert best_plan(line(4), LONG, known=[best]).plan is best
    slow = Plan(line(4), ((1, 0),), "slow")
    assert best_plan(line(4), LONG, known=[slow]).plan.cost == (2, 2)


def test_networks_that_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^network to transmit on must be connected, not a gr"):
        best_plan(node_link(3, [(0, 1)]), LONG)
    message = r"^nodes of the 65x65 mesh must be at most 4096 to be searched, not 4225$"
    with pytest.raises(InvalidInput, match=message):
        best_plan(mesh((65, 65)), LONG)


# ---- Certificates ---------------------------------------------------------------------------


def wrong(topology: Topology, time: int, sends: int, *entries: int) -> str:
    return refusal_of(check_certificate, topology, Certificate(time, sends, entries))


def test_a_certificate_by_hand() -> None:
    """With three arms of three nodes, (3, 3) is not enough, although Theorem 4 claims it.

    Some ball covers leaf 3. A ball of radius 2, best around 1, leaves four nodes for balls of 2 + 1
    nodes. A ball of radius 1, around 2, leaves seven for 5 + 1. With radius 0, some ball covers
    leaf 6: radius 2, around 4, leaves three nodes for 2; radius 1, around 5, leaves six for 5.
    """
    entries = (3, BY_COUNT, BY_COUNT, 6, BY_COUNT, BY_COUNT)
    check_certificate(star_tree(3, 3), Certificate(3, 3, entries))


def test_certificates_that_prove_nothing() -> None:
    topology = line(4)
    assert wrong(topology, 2, 2, BY_COUNT) == (
        "entry 0 of the certificate must be by count only where balls cover less than 4 nodes, "
        "not 4"
    )
    assert wrong(topology, 2, 2) == (
        "entry 0 of the certificate must be an uncovered node, not missing"
    )
    assert wrong(topology, 2, 2, 4) == "entry 0 of the certificate must be an uncovered node, not 4"
    assert wrong(topology, 2, 2, SEEN) == (
        "entry 0 of the certificate must be seen only where the case is refuted, not a new case"
    )
    assert wrong(topology, 1, 1, BY_COUNT, BY_COUNT) == (
        "certificate must be 1 entries long, not 2"
    )


@pytest.mark.parametrize("topology", [mesh((5, 5)), star_tree(3, 6), de_bruijn(2, 4)])
def test_no_entry_can_be_left_out_or_changed(topology: Topology) -> None:
    time = best_plan(topology, LONG).plan.time
    for proof in best_plan(topology, LONG).certificates:
        for place, entry in enumerate(proof.entries):
            before, after = proof.entries[:place], proof.entries[place + 1 :]
            assert wrong(topology, proof.time, proof.sends, *before, *after)
            if entry != BY_COUNT:
                assert wrong(topology, proof.time, proof.sends, *before, BY_COUNT, *after)
        assert wrong(topology, time, time, *proof.entries)
