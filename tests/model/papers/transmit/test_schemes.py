"""The paper's schemes: their claims, the counts of their plans, and the optimum."""

from itertools import chain, combinations
from math import isqrt

import pytest
from helpers.refusals import refusal_of
from helpers.topologies import neighbors
from helpers.transmit import drawn_graphs, least_cost, node_link

from eyecast.model.base.errors import InvalidInput, with_article
from eyecast.model.network.faults import with_faults
from eyecast.model.network.named_graphs import binary_tree, de_bruijn, diagonal_mesh, star_tree
from eyecast.model.network.neighbor_table import graph
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.papers.transmit.certificate import BY_COUNT, SEEN, Certificate, check_certificate
from eyecast.model.papers.transmit.cubes_and_de_bruijn import (
    antipodal_plan,
    hypercube_plan,
    theorem_6_plan,
)
from eyecast.model.papers.transmit.lines import path_plan, theorem_1_plan
from eyecast.model.papers.transmit.plan import Plan
from eyecast.model.papers.transmit.schemes import SCHEMES, transmit
from eyecast.model.papers.transmit.search import best_plan, greedy_plan
from eyecast.model.papers.transmit.trees import (
    binary_tree_bound,
    corollary_2_plan,
    odd_partition,
    star_bound,
    star_plan,
    theorem_3_lines_plan,
    theorem_4_plan,
)

LONG = 60.0


def optimum(topology: Topology) -> tuple[int, int]:
    answer = best_plan(topology, LONG)
    assert answer.proved
    return answer.plan.cost


# ---- Lines and rings ------------------------------------------------------------------------


@pytest.mark.parametrize("make", [line, ring])
def test_theorem_1_and_corollary_1_are_reached(make: type) -> None:
    for nodes in chain(range(1, 150), (1000, 1023, 1024, 1025)):
        root = isqrt(nodes - 1) + 1
        plan = theorem_1_plan(make(nodes))
        assert plan.cost == plan.claim == (root, root)


@pytest.mark.parametrize("make", [line, ring])
def test_theorem_1_and_corollary_1_are_optimal_for_squares_alone(make: type) -> None:
    """The optimal s is less by floor(sqrt(m^2 - n)); for n = 2 it is (2, 1), not (2, 2)."""
    for nodes in range(1, 40):
        root = isqrt(nodes - 1) + 1
        best = optimum(make(nodes))
        assert best == path_plan(make(nodes)).cost == (root, root - isqrt(root * root - nodes))
        assert (best == (root, root)) == (root * root == nodes)
    assert least_cost(neighbors(make(2))) == (2, 1)


# ---- Binary trees ---------------------------------------------------------------------------


def test_theorem_2_and_corollary_2_are_reached_and_optimal() -> None:
    for nodes in range(1, 48):
        plan = corollary_2_plan(binary_tree(nodes))
        assert plan.cost == plan.claim == optimum(binary_tree(nodes))
        assert binary_tree_bound(binary_tree(nodes)) <= plan.cost
    assert corollary_2_plan(binary_tree(511)).cost == (9, 1)


def test_corollary_2_on_large_trees() -> None:
    for nodes in chain(range(64, 1100, 13), (2**14 - 3, 2**14 - 2, 2**13)):
        plan = corollary_2_plan(binary_tree(nodes))
        assert plan.cost == plan.claim
        assert (plan.time - 1, 1) <= binary_tree_bound(binary_tree(nodes)) <= plan.cost


# ---- Star trees -----------------------------------------------------------------------------


def test_lemma_1() -> None:
    for n in range(1, 130):
        for parts in (parts for parts in range(1, n) if n % parts == 0):
            lists = odd_partition(parts, n)
            assert sorted(chain(*lists)) == list(range(1, 2 * n, 2))
            assert [sum(numbers) for numbers in lists] == [n * n // parts] * parts


def test_lemma_1_needs_a_multiple() -> None:
    for parts, n in ((3, 3), (3, 4), (2, 0), (1, 1)):
        assert refusal_of(odd_partition, parts, n) == (
            f"n of the odd numbers must be a multiple of {parts}, and more, not {n}"
        )
    assert refusal_of(odd_partition, 0, 3) == "parts of the odd numbers must be at least 1, not 0"


def test_theorem_3_is_reached_and_optimal() -> None:
    for n in range(2, 31):
        for parts in (parts for parts in range(1, n) if n % parts == 0):
            lines = theorem_3_lines_plan(parts, n)
            # Balls of 1, 3, ... nodes cover at most n^2 nodes.
            assert lines.cost == lines.claim == (n, n)
            if parts > 1:
                star = theorem_4_plan(star_tree(parts, n * n // parts + n))
                assert star.cost == star.claim == (n + 1, n + 1)
                assert star_bound(parts, n * n // parts + n) == star.cost
    assert optimum(star_tree(3, 18)) == (7, 7)


def test_star_bound_is_below_what_is_possible() -> None:
    for arms in range(1, 7):
        for length in range(1, 40 // arms):
            best = optimum(star_tree(arms, length))
            assert star_bound(arms, length) <= best <= star_plan(star_tree(arms, length)).cost


@pytest.mark.parametrize(
    ("arms", "length", "claim", "best"),
    [
        (3, 3, (3, 3), (4, 1)),  # the smallest: 10 nodes
        (4, 3, (3, 3), (4, 1)),  # px = 2 is an integer, where the paper has equality
        (3, 6, (4, 4), (5, 3)),  # px = 3, equal to the number of arms
        (5, 6, (5, 5), (6, 5)),
    ],
)
def test_theorem_4_claims_too_much(
    arms: int, length: int, claim: tuple[int, int], best: tuple[int, int]
) -> None:
    plan = theorem_4_plan(star_tree(arms, length))
    assert plan.claim == claim < best == optimum(star_tree(arms, length)) <= plan.cost


def test_no_smaller_star_tree_breaks_theorem_4() -> None:
    for arms in range(2, 10):
        for length in range(1, 8 // arms + 1):
            tree = star_tree(arms, length)
            assert (arms, length) != (3, 3)
            assert least_cost(neighbors(tree)) <= (theorem_4_plan(tree).claim or (0, 0))


def test_star_plans_of_large_trees() -> None:
    for arms, length in ((2, 300), (7, 200), (50, 40), (10, 1000)):
        time, work = star_plan(star_tree(arms, length)).cost
        least, least_work = star_bound(arms, length)
        assert time == least
        assert least_work <= work <= time


# ---- Hypercubes and de Bruijn graphs --------------------------------------------------------


def test_alons_two_sends() -> None:
    for dimension in range(1, 13):
        plan = antipodal_plan(hypercube(dimension))
        assert plan.cost == plan.claim == (-(-dimension // 2) + 1, 2)
        # In one dimension the second send is useless.
        best = hypercube_plan(hypercube(dimension)).cost
        assert best == ((2, 1) if dimension == 1 else plan.cost)
        assert SCHEMES["hypercube"].bound(hypercube(dimension)) == best


def test_theorem_6_is_reached_and_optimal() -> None:
    sizes = [(1, 1), (1, 5), (2, 1), (3, 1), (2, 2), (2, 9), (3, 2), (3, 6), (4, 4), (7, 2)]
    for base, length in sizes:
        topology = de_bruijn(base, length)
        plan = theorem_6_plan(topology)
        assert plan.cost == plan.claim == SCHEMES["de-bruijn"].bound(topology)
    for base, length in ((1, 1), (2, 1), (2, 2), (3, 1)):
        topology = de_bruijn(base, length)
        assert least_cost(neighbors(topology)) == theorem_6_plan(topology).cost


def test_de_bruijn_second_send_in_any_later_step() -> None:
    """Theorem 6: the second send goes to node 0 in any of the steps 2 to n."""
    plan = theorem_6_plan(de_bruijn(2, 6))
    for step in range(2, 7):
        assert type(plan)(plan.topology, ((1, 1), (step, 0)), "later").cost == (6, 2)


def test_plans_want_their_networks() -> None:
    for make, topology, wanted in (
        (theorem_1_plan, mesh((3, 1)), "a line or ring"),
        (path_plan, with_faults(line(4), [0]), "a line or ring"),
        (corollary_2_plan, line(3), "a binary-tree"),
        (star_plan, line(3), "a star-tree"),
        (theorem_6_plan, line(3), "a de-bruijn"),
        (antipodal_plan, with_faults(hypercube(2), [0]), "a hypercube"),
    ):
        expected = f"network must be {wanted} without faults, not {with_article(topology.label)}"
        assert refusal_of(make, topology) == expected


# ---- All together ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topology", "schemes", "cost", "proved"),
    [
        (line(9), ["Theorem 1", "intervals"], (3, 3), True),
        (line(8), ["Theorem 1", "intervals"], (3, 2), True),
        (star_tree(3, 3), ["Theorem 4"], (4, 1), True),
        (star_tree(1, 4), ["intervals"], (3, 1), True),
        (star_tree(3, 5), ["Theorem 4", "intervals", "search"], (4, 4), True),
        (hypercube(1), ["Alon", "single send"], (2, 1), True),
        (binary_tree(1000), ["Corollary 2"], (9, 6), False),
        (diagonal_mesh(10), ["Algorithm TA"], (5, 4), True),
        (with_faults(line(6), [5]), ["greedy"], (3, 1), True),
        (mesh((4, 4)), ["greedy"], (4, 2), True),
        (node_link(3, [(1, 0), (1, 2)], directed=True), ["greedy"], (2, 1), True),
    ],
)
def test_findings(
    topology: Topology, schemes: list[str], cost: tuple[int, int], proved: bool
) -> None:
    findings = transmit(topology, LONG)
    assert [plan.scheme for plan in findings.plans] == schemes
    assert (findings.best.cost, findings.proved) == (cost, proved)
    assert findings.bound <= cost
    assert min(plan.cost for plan in findings.plans) == cost
    assert findings.plans[-1] is findings.best


def test_what_the_paper_cannot_do_is_said() -> None:
    findings = transmit(diagonal_mesh(147), 0)
    assert [plan.scheme for plan in findings.plans] == ["covering"]
    assert findings.refusals == (
        "steps of Algorithm TA must be enough for the 51 x 51 nodes left, which have no m (step "
        "5), not 4",
    )


# ---- The search against brute force and known burning numbers; wrong certificates are refused ---


def petersen() -> Topology:
    pairs = list(combinations(range(5), 2))
    edges = [(a, b) for a, b in combinations(range(10), 2) if not {*pairs[a]} & {*pairs[b]}]
    return node_link(10, edges)


def test_as_brute_force_on_small_graphs() -> None:
    named = (torus((3, 3)), star_tree(3, 2), binary_tree(8), de_bruijn(2, 3), de_bruijn(3, 2))
    for topology in chain(drawn_graphs(75, 7, seed=3), named):
        answer = best_plan(topology, LONG)
        assert answer.proved
        assert answer.plan.cost == least_cost(neighbors(topology))


def test_faulty_nodes_need_no_message() -> None:
    faulty = with_faults(ring(7), [3])
    answer = best_plan(faulty, LONG)
    assert answer.proved
    assert answer.plan.cost == best_plan(line(6), LONG).plan.cost
    assert answer.plan.arrival[3] == -1


@pytest.mark.parametrize(
    ("topology", "burning_number"),
    [
        *((line(n), isqrt(n - 1) + 1) for n in (1, 5, 16, 17, 60)),
        *((ring(n), isqrt(n - 1) + 1) for n in (3, 16, 17)),
        (petersen(), 3),
        (graph([[-1, *(n for n in range(6) if n != node)] for node in range(6)]), 2),
        (star_tree(9, 1), 2),
        *((hypercube(n), -(-n // 2) + 1) for n in range(1, 6)),
    ],
)
def test_known_burning_numbers(topology: Topology, burning_number: int) -> None:
    """Compare with known numbers: paths and cycles of n nodes ceil(sqrt(n)), Petersen graph 3.

    Complete graphs and stars have 2 (Bonato, Janssen & Roshanbin, "How to Burn a Graph", 2016).
    Those of hypercubes are from Alon.
    """
    answer = best_plan(topology, LONG)
    assert answer.proved
    assert answer.plan.time == burning_number


@pytest.mark.parametrize("topology", [mesh((7, 8)), diagonal_mesh(8), binary_tree(60)])
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
