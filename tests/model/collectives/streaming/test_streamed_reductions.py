"""Reductions that stream: proved, with NumPy's sums in the cycle model, and near their bound."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.drawn_reductions import case_of, wrong_nodes
from helpers.refusals import refusal_of
from helpers.schedules import Send, build
from helpers.switch_networks import fat_tree

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.topology import Topology, hypercube, line, mesh, ring, torus
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.duration import expected_cycles
from eyecast.model.schedule.schedule import Schedule

FAULTY = with_faults(mesh((5, 5)), draw_faults(mesh((5, 5)), 0.1, seed=1, keep=(0,)))


def made(
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
        ("all-reduce", "stream-ring", mesh((8, 8)), 1024, 1.05),
        ("all-reduce", "stream-ring", FAULTY, 1000, 1.03),
        ("all-reduce", "hamiltonian", torus((4, 4)), 1024, 1.05),
        ("all-reduce", "combs", mesh((4, 4)), 4096, 1.25),
    ],
)
def test_cycles_beside_the_bound(
    collective: str, algorithm: str, topology: Topology, words: int, most: float
) -> None:
    schedule = made(collective, algorithm, topology, words)
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
    ids=lambda value: getattr(value, "label", value),
)
def test_sums_are_right(collective: str, algorithm: str, topology: Topology, words: int) -> None:
    carried_out(made(collective, algorithm, topology, words, operator="min-signed"))


def test_what_joins_waits_and_goes_on_in_the_next_step() -> None:
    """Make the tree drawn in the module: 0 - 1 - 2 - 3 - 4, and 7 at node 2."""
    tree = with_faults(mesh((5, 2)), [5, 6, 8, 9])
    schedule = made("reduce", "packed-trees", tree, 16)
    sends = zip(schedule.source.tolist(), schedule.step.tolist(), schedule.stream, strict=True)
    found = {source: (step, bool(streams)) for source, step, streams in sends}
    assert found == {4: (1, False), 3: (1, True), 7: (1, False), 2: (2, False), 1: (2, True)}
    carried_out(schedule)


def test_pieces_of_a_long_message_follow_each_other() -> None:
    short, long = (made("reduce", "packed-trees", mesh((4, 4)), words) for words in (16, 2048))
    assert (len(short.blocks), short.steps) == (2, 3)
    assert len(long.blocks) > 8
    # Every link carries each piece of its tree once, one piece in a step.
    assert np.unique(long.links).size * len(long.blocks) // 2 == long.sends


def test_combs_use_all_links_alike() -> None:
    """On any mesh, the busiest link carries little more than its share of 2 (N - 1) words."""
    for sides, most in (((4, 4), 1.01), ((8, 8), 1.01), ((8, 4), 1.06), ((6, 3), 1.06)):
        schedule = made("all-reduce", "combs", mesh(sides), 128 * max(sides))
        words = np.bincount(
            schedule.links, weights=schedule.send_words[schedule.hop_sends].astype(float)
        )
        used = words[words > 0]
        assert used.max() <= most * used.mean()
        assert words.sum() == 2 * (sides[0] * sides[1] - 1) * 128 * max(sides)


def test_what_comes_back_needs_no_other_half_of_memory() -> None:
    """The first node of a line sends its words, and their sums return to the same addresses."""
    schedule = made("all-reduce", "combs", line(4), 32)
    program = case_of(schedule, 1).program
    assert program.config.message_words == 32


def test_a_long_line_is_a_spine_without_teeth() -> None:
    schedule = made("all-reduce", "combs", line(400), 3)
    schedule.check()
    assert (schedule.steps, schedule.sends) == (1, 2 * 399)


def test_what_else_is_combined_there_is_not_lost() -> None:
    """Refuse a node that sends its words, gets them back, and gets other words as well."""
    blocks = Blocks.reduced_to(((1,),), 2, "add")
    sends = [Send(1, [1, 2]), Send(1, [2, 1]), Send(1, [0, 1])]
    schedule = replace(
        build(line(3), sends, blocks, "custom", "all-port"),
        root=None,
        combine=np.array([True, False, True]),
        stream=np.array([False, True, False]),
    )
    with pytest.raises(InvalidInput, match="one of the two replaces it"):
        schedule.check()
    with pytest.raises(InvalidInput, match="their order would decide"):
        case_of(schedule, 1)


@pytest.mark.parametrize(
    ("algorithm", "topology", "words", "line"),
    [
        (
            "combs",
            torus((4, 4)),
            16,
            "network for combs must be a mesh of one or two axes without ",
        ),
        (
            "combs",
            mesh((64, 64)),
            16,
            "nodes for combs times the longer side must be 1 to 131072, not 262144",
        ),
        (
            "packed-trees",
            with_faults(mesh((3, 3)), [4], [(0, 1)]),
            16,
            "network for packed-trees must be one whose links lead both ways, not a 3x3 mesh with ",
        ),
        ("stream-ring", mesh((4, 4)), 15, "flits must be at least 16 for stream-ring, not 15"),
    ],
)
def test_what_is_refused(algorithm: str, topology: Topology, words: int, line: str) -> None:
    assert refusal_of(made, "all-reduce", algorithm, topology, words).startswith(line)


@pytest.mark.slow
def test_all_reduces_of_16384_words_on_64_nodes() -> None:
    for algorithm, topology, most in (
        ("stream-ring", mesh((8, 8)), 1.01),
        ("combs", mesh((8, 8)), 1.31),
        ("hamiltonian", torus((8, 8)), 1.01),
    ):
        schedule = made("all-reduce", algorithm, topology, 16384)
        assert carried_out(schedule) <= most * schedule_bound(schedule).value
