"""The proof of reductions: small handwritten ones, right and wrong, and their messages."""

from dataclasses import replace

import numpy as np
import pytest
from helpers.schedules import Send, build, complaint

from eyecast.model.base.ragged import offsets_of, ranges
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import Topology, mesh, ring
from eyecast.model.schedule import streamed_moves
from eyecast.model.schedule.blocks import NO_OWNER, Blocks
from eyecast.model.schedule.reduction import contributions_gained
from eyecast.model.schedule.rounds import RoundSend, schedule_of_rounds
from eyecast.model.schedule.schedule import Schedule

pytestmark = pytest.mark.usefixtures("_both_proofs")

LINE = mesh((4, 1))
TO_ALL = (None,)


def reduction(
    sends: list[Send],
    owed: tuple[tuple[int, ...] | None, ...] = ((0,),),
    replaced: tuple[int, ...] = (),
    contributors: tuple[int, ...] | None = None,
) -> Schedule:
    """Return a reduction on a line of four, in which all sends combine except ``replaced``."""
    every = (contributors,) * len(owed)
    owner, words = np.full(len(owed), NO_OWNER), np.full(len(owed), 2)
    blocks = Blocks(owner, owed, words, every, ("add",) * len(owed))
    made = build(LINE, sends, blocks, "custom", "full-duplex")
    combine = ~np.isin(np.arange(len(sends)), replaced)
    return replace(made, root=None, combine=combine)


def to_the_first() -> list[Send]:
    return [Send(1, [1, 0]), Send(1, [3, 2]), Send(2, [2, 1, 0])]


def everywhere() -> list[Send]:
    """Return recursive doubling: every node exchanges at distance 1, then at distance 2."""
    near = [Send(1, [a, b]) for a, b in ((0, 1), (1, 0), (2, 3), (3, 2))]
    far = [[0, 1, 2], [1, 2, 3], [2, 1, 0], [3, 2, 1]]
    return near + [Send(2, path, vcs=[path[0] % 2] * 2) for path in far]


def test_right_ones() -> None:
    reduction(to_the_first()).check()
    reduction(everywhere(), TO_ALL).check()
    there_and_back = [*to_the_first(), Send(3, [0, 1, 2]), Send(4, [0, 1]), Send(4, [2, 3])]
    reduction(there_and_back, TO_ALL, replaced=(3, 4, 5)).check()
    reduction([Send(1, [3, 2]), Send(2, [2, 1])], ((1,),), contributors=(1, 2, 3)).check()


def test_a_contribution_that_is_left_out() -> None:
    line = "node 0 is left out: its block 0 lacks what node 1 contributes"
    assert complaint(reduction(to_the_first()[1:])) == line
    nobody = reduction(to_the_first()[1:2], ((1,),), contributors=(2, 3))
    assert complaint(nobody) == "node 1 is left out: no send brings it block 0"


def test_a_contribution_that_comes_after_it_was_sent_on() -> None:
    late = [Send(2, [1, 0]), Send(1, [3, 2]), Send(1, [2, 1])]
    line = "node 0 is left out: its block 0 lacks what node 3 contributes"
    assert complaint(reduction(late)) == line


def test_a_contribution_that_is_combined_twice() -> None:
    again = [*to_the_first(), Send(3, [1, 0])]
    line = "send 3 (step 3, 1 -> 0): what node 1 contributes to block 0 is combined twice"
    assert complaint(reduction(again)) == line
    bruck = [Send(1, [3, 2]), Send(2, [2, 1]), Send(2, [3, 2])]
    assert "what node 3 contributes to block 0 is combined twice" in complaint(reduction(bruck))


def test_to_replace_where_it_must_be_combined() -> None:
    line = "node 0 is left out: its block 0 lacks what node 1 contributes"
    assert complaint(reduction(to_the_first(), replaced=(0,))).startswith("node 0 is left out")
    assert complaint(reduction(to_the_first(), replaced=(2,))) == line.replace("1 c", "0 c")


def test_to_combine_where_it_must_replace() -> None:
    back = [*to_the_first(), Send(3, [0, 1])]
    twice = "send 3 (step 3, 0 -> 1): what node 1 contributes to block 0 is combined twice"
    assert complaint(reduction(back)) == twice


def test_to_combine_with_nothing_and_to_send_nothing() -> None:
    nothing = reduction([Send(1, [3, 2])], ((2,),), contributors=(3,))
    line = "send 0 (step 1, 3 -> 2): it combines with nothing: node 2 has nothing of block 0"
    assert complaint(nothing) == line
    empty = reduction([Send(1, [1, 0])], contributors=(0, 3))
    assert complaint(empty) == "send 0 (step 1, 1 -> 0): node 1 never gets block 0"
    early = reduction([Send(1, [1, 0]), Send(2, [2, 1])], contributors=(0, 2), replaced=(1,))
    said = "send 0 (step 1, 1 -> 0): node 1 gets block 0 only by send 1 (step 2, 2 -> 1)"
    assert complaint(early) == said


def test_two_that_meet_in_one_step() -> None:
    """On all ports two sends may combine at one node, but their order must not matter."""
    both = reduction([Send(1, [0, 1]), Send(1, [2, 1])], ((1,),), contributors=(0, 1, 2))
    replace(both, port_model="all-port").check()
    mixed = replace(both, port_model="all-port", combine=np.array([True, False]))
    line = (
        "send 1 (step 1, 2 -> 1): node 1 gets block 0 in the same step by send 0 (step 1, 0 -> 1), "
        "and one of the two replaces it"
    )
    assert complaint(mixed) == line


def test_to_combine_what_has_an_owner_and_by_two_operators() -> None:
    sends, blocks = [Send(1, [0, 1])], Blocks([0], ((1,),), [4])
    owned = replace(build(LINE, sends, blocks, "custom"), combine=np.ones(1))
    assert complaint(owned).endswith("it combines block 0, which has an owner")
    two = reduction([Send(1, [1, 0], [0, 1])], ((0,), (0,)), contributors=(0, 1))
    two = replace(two, blocks=replace(two.blocks, operator=("add", "min")))
    assert complaint(two).endswith("it combines by one operator alone, not add or min")


@pytest.mark.parametrize("node", [0, 63, 64, 129])
def test_more_results_than_marks_go_back_at_once(node: int) -> None:
    """Each of 130 nodes gets the contribution of the node before it: 130 different results."""
    nodes = 130
    once = [Send(1, [place, (place + 1) % nodes]) for place in range(nodes)]
    again = replace(once[node], step=2)
    blocks = Blocks.reduced_to(((),), 1, "add")
    for sends, right in ((once, True), ([*once, again], False)):
        made = build(ring(nodes), sends, blocks, "custom", "full-duplex")
        made = replace(made, root=None, combine=np.ones(len(sends), np.bool_))
        if right:
            made.check()
        else:
            assert f"what node {node} contributes to block 0 is combined twice" in complaint(made)


@pytest.mark.parametrize("nodes", [5, 66])
def test_idempotent_operators_combine_overlapping_values(nodes: int) -> None:
    """Dissemination: after the last round, nodes have some contributions more than once."""
    distances = [1 << number for number in range((nodes - 1).bit_length())]
    for operator in ("max", "add"):
        made = disseminated(ring(nodes), distances, operator)
        if operator == "max":
            made.check()
            moves, gained = contributions_gained(made)
            assert np.bincount(moves.target, gained).tolist() == [nodes - 1] * nodes
        else:
            assert "is combined twice" in complaint(made)
    for left_out in distances[:1] + distances[-1:]:
        fewer = [each for each in distances if each != left_out]
        lacks = complaint(disseminated(ring(nodes), fewer, "max"))
        assert lacks.startswith("node 0 is left out: its block 0 lacks what node ")


def disseminated(topology: Topology, distances: list[int], operator: str) -> Schedule:
    """Return the schedule in which each node sends over each of these distances in a round."""
    nodes = topology.nodes
    rounds = [
        [RoundSend(node, (node + far) % nodes, [0], combine=True) for node in range(nodes)]
        for far in distances
    ]
    ports, blocks = PortModel.FULL_DUPLEX, Blocks.reduced_to((None,), 1, operator)
    return schedule_of_rounds(topology, "all-reduce", "own", ports, None, blocks, rounds)


def test_parts_of_the_blocks_have_the_errors_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged all-reduce breaks the same rule first, whether blocks are checked in parts."""
    request = Request(topology=ring(5), words=5)
    made = find_algorithm("all-reduce", "ring").generate(request)
    for left_out in range(made.sends):
        damaged = without(made, left_out)
        monkeypatch.setattr(streamed_moves, "AT_ONCE", 1 << 20)
        whole = complaint(damaged)
        monkeypatch.setattr(streamed_moves, "AT_ONCE", 1)
        assert complaint(damaged) == whole
    assert len([*streamed_moves.parts_of(made)]) == 5
    made.check()


def without(schedule: Schedule, send: int) -> Schedule:
    """Return the schedule without one of its sends."""
    kept = np.delete(np.arange(schedule.sends), send)
    counts = np.diff(schedule.block_offsets)[kept]
    carried = schedule.block_ids[ranges(schedule.block_offsets[kept], counts)]
    return schedule.with_sends(kept, schedule.step[kept], offsets_of(counts), carried)
