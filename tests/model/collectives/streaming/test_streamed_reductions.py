"""Reductions that stream: proved, with NumPy's sums in the cycle model, and near their bound."""

from collections import Counter

import numpy as np
import pytest
from helpers.drawn_reductions import case_of, wrong_nodes
from helpers.switch_networks import fat_tree

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.collectives.streaming.greedy import greedy_all_gather, greedy_broadcast
from eyecast.model.collectives.streaming.overlapped import overlapped_all_reduce
from eyecast.model.network.chiplets import chiplets
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.schedule.duration import expected_cycles
from eyecast.model.schedule.schedule import Schedule

FAULTY = with_faults(mesh((5, 5)), draw_faults(mesh((5, 5)), 0.1, seed=1, keep=(0,)))


def reduction(
    collective: str, algorithm: str, topology: Topology, words: int, operator: str = "add"
) -> Schedule:
    found = find_algorithm(collective, algorithm)
    request = Request(
        topology=topology,
        words=words,
        source=0 if collective == "reduce" else None,
        all_port="all_port" in found.takes,
        operator=operator,
    )
    return found.generate(request)


def carried_out(schedule: Schedule) -> int:
    """Return a schedule's cycles; require correct sums."""
    assert schedule.stream.any()
    schedule.check()
    case = case_of(schedule, 1)
    assert case.predicted.finished
    assert not case.predicted.flags.any()
    assert wrong_nodes(case, case.predicted.memory) == []
    return case.predicted.cycles


@pytest.mark.parametrize(
    ("collective", "algorithm", "topology", "words", "most"),
    [
        ("reduce", "chain", mesh((4, 4)), 1024, 1.10),
        ("reduce", "packed-trees", torus((4, 4)), 1024, 2.0),
        ("reduce-scatter", "stream-ring", mesh((8, 8)), 16, 1.05),
        ("reduce-scatter", "hamiltonian", torus((4, 4)), 64, 1.05),
        ("all-reduce", "stream-ring", mesh((4, 4)), 1024, 1.05),
        ("all-reduce", "stream-ring", FAULTY, 1000, 1.03),
        ("all-reduce", "hamiltonian", torus((4, 4)), 1024, 1.05),
        ("all-reduce", "combs", mesh((4, 4)), 4096, 1.25),
    ],
)
def test_cycles_beside_the_bound(
    collective: str, algorithm: str, topology: Topology, words: int, most: float
) -> None:
    schedule = reduction(collective, algorithm, topology, words)
    cycles, bound = carried_out(schedule), schedule_bound(schedule).value
    assert bound <= cycles <= most * bound
    assert abs(cycles - expected_cycles(schedule)) <= 2 + schedule.steps


@pytest.mark.parametrize(
    ("collective", "algorithm", "topology", "words"),
    [
        *(("reduce", "chain", net, 40) for net in (FAULTY, ring(7), line(3))),
        *(("reduce", "packed-trees", net, 70) for net in (FAULTY, mesh((3, 5)), hypercube(4))),
        *(("all-reduce", "packed-trees", net, 90) for net in (mesh((3, 3)), ring(5))),
        *(("reduce-scatter", "stream-ring", net, 4) for net in (mesh((2, 4)), ring(8))),
        *(("all-reduce", "stream-ring", net, 32) for net in (torus((4, 2)), line(8))),
        *(("reduce-scatter", "stream-ring", net, 3) for net in (FAULTY, line(3), fat_tree(4))),
        *(("all-reduce", "stream-ring", net, 29) for net in (FAULTY, line(3), fat_tree(4))),
        *(("all-reduce", "stream-ring", mesh((4, 4)), words) for words in (16, 60)),
        ("all-reduce", "hamiltonian", mesh((4, 4)), 64),
        *(("all-reduce", "combs", mesh(sides), 200) for sides in ((4, 4), (3, 5), (2, 7), (6, 2))),
        *(("all-reduce", "combs", net, 9) for net in (line(4), mesh((1, 3)), mesh((3, 3)))),
    ],
)
def test_sums_are_right(collective: str, algorithm: str, topology: Topology, words: int) -> None:
    carried_out(reduction(collective, algorithm, topology, words, operator="min-signed"))


def test_what_joins_waits_and_goes_on_in_the_next_step() -> None:
    """Make the tree drawn in the module: 0 - 1 - 2 - 3 - 4, and 7 at node 2."""
    tree = with_faults(mesh((5, 2)), [5, 6, 8, 9])
    schedule = reduction("reduce", "packed-trees", tree, 16)
    sends = zip(schedule.source.tolist(), schedule.step.tolist(), schedule.stream, strict=True)
    found = {source: (step, bool(streams)) for source, step, streams in sends}
    assert found == {4: (1, False), 3: (1, True), 7: (1, False), 2: (2, False), 1: (2, True)}
    carried_out(schedule)


def test_pieces_of_a_long_message_follow_each_other() -> None:
    short, long = (reduction("reduce", "packed-trees", mesh((4, 4)), words) for words in (16, 2048))
    assert (len(short.blocks), short.steps) == (2, 3)
    assert len(long.blocks) > 8
    # Every link carries each piece of its tree once, one piece in a step.
    assert np.unique(long.links).size * len(long.blocks) // 2 == long.sends


def test_combs_use_all_links_alike() -> None:
    """On any mesh, the busiest link carries little more than its share of 2 (N - 1) words."""
    for sides, most in (((4, 4), 1.01), ((8, 8), 1.01), ((8, 4), 1.06), ((6, 3), 1.06)):
        schedule = reduction("all-reduce", "combs", mesh(sides), 128 * max(sides))
        words = np.bincount(
            schedule.links, weights=schedule.send_words[schedule.hop_sends].astype(float)
        )
        used = words[words > 0]
        assert used.max() <= most * used.mean()
        assert words.sum() == 2 * (sides[0] * sides[1] - 1) * 128 * max(sides)


def test_what_comes_back_needs_no_other_half_of_memory() -> None:
    """The first node of a line sends its words, and their sums return to the same addresses."""
    schedule = reduction("all-reduce", "combs", line(4), 32)
    program = case_of(schedule, 1).program
    assert program.config.message_words == 32


def test_a_long_line_is_a_spine_without_teeth() -> None:
    schedule = reduction("all-reduce", "combs", line(400), 3)
    schedule.check()
    assert (schedule.steps, schedule.sends) == (1, 2 * 399)


@pytest.mark.slow
def test_all_reduces_of_16384_words_on_64_nodes() -> None:
    for algorithm, topology, most in (
        ("stream-ring", mesh((8, 8)), 1.01),
        ("combs", mesh((8, 8)), 1.31),
        ("hamiltonian", torus((8, 8)), 1.01),
    ):
        schedule = reduction("all-reduce", algorithm, topology, 16384)
        assert carried_out(schedule) <= most * schedule_bound(schedule).value


# ---- All-reduces whose pieces are combined and copied at the same time, over slow links ---------


SLOW = chiplets((2, 2), (2, 2), latency=8, rate=4)


@pytest.fixture(scope="module")
def made() -> Schedule:
    return overlapped_all_reduce(SLOW, 512, "add")


def test_every_piece_crosses_the_fewest_slow_links_both_ways(made: Schedule) -> None:
    """Four chiplets are joined by three slow links: three sends combine, three copy."""
    made.check()
    assert (made.distances == 1).all()
    sends = made.block_sends
    slow = made.send_rates[sends] == 4
    for combine in (True, False):
        chosen = slow & (made.combine[sends] == combine)
        assert {*Counter(made.block_ids[chosen].tolist()).values()} == {3}
    every = np.bincount(made.block_ids, minlength=len(made.blocks))
    assert (every == 2 * 15).all()


def test_a_slow_link_carries_one_piece_a_step_and_others_up_to_four(made: Schedule) -> None:
    carried = np.diff(made.block_offsets)
    assert carried[made.send_rates == 4].max() == 1
    assert 1 < carried[made.send_rates == 1].max() <= 4


def test_slow_links_are_about_equally_busy(made: Schedule) -> None:
    uses = np.unique(made.links[made.send_rates == 4], return_counts=True)[1]
    assert len(uses) == 16
    assert uses.max() - uses.min() <= 4


def test_pieces_are_combined_while_others_are_copied(made: Schedule) -> None:
    combining, copying = made.step[made.combine], made.step[~made.combine]
    assert np.intersect1d(combining, copying).size > made.steps / 2


def test_few_steps_leave_a_slow_link_idle() -> None:
    """Four chiplets need six crossings of a piece; 32 slow links share them."""
    made = overlapped_all_reduce(chiplets((2, 2), (4, 4), latency=8, rate=4), 4096, "add")
    slow = made.topology.rates.ravel()[made.links] == 4
    # All other steps are short: a link brings one piece.
    long = np.unique(made.step[made.hop_sends][slow])
    assert len(long) <= 6 * len(made.blocks) / 32 + 12
    short = ~np.isin(made.step, long)
    assert short.any()
    assert (np.diff(made.block_offsets)[short] == 1).all()


def test_a_message_of_one_word_is_one_piece() -> None:
    made = overlapped_all_reduce(SLOW, 1, "add")
    made.check()
    assert len(made.blocks) == 1


# ---- Greedy schedules where links differ --------------------------------------------------------


TWO_CHIPLETS = chiplets((2, 1), (2, 2), latency=8, rate=4)


def most_blocks(made: Schedule, rate: int) -> int:
    """The most blocks that a send carries over a link of this rate."""
    carried = np.diff(made.block_offsets)
    return int(carried[made.send_rates == rate].max())


def test_a_slow_link_brings_one_piece_while_others_bring_four() -> None:
    for made in (greedy_all_gather(TWO_CHIPLETS, 64), greedy_broadcast(TWO_CHIPLETS, 0, 512)):
        made.check()
        assert (made.distances == 1).all()
        assert most_blocks(made, 4) == 1
        assert 1 < most_blocks(made, 1) <= 4
