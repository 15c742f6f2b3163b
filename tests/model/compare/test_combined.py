"""Results of custom operators: they depend on the schedule's order of combinations."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.schedules import Send, build

import eyecast
from eyecast.model.compare import combined
from eyecast.model.compare.case import Case
from eyecast.model.network.operators import Operator
from eyecast.model.network.topology import Topology
from eyecast.model.program.certified import compile_certified
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.schedule import Schedule


def odd(there: Any, coming: Any, _bits: Any) -> Any:
    """Return a combination that is neither associative nor commutative."""
    return there * np.uint64(3) + (coming ^ (there >> np.uint64(5)))


ODD = Operator("odd", meaning=odd)
MESH, TORUS, CUBE = eyecast.mesh((4, 4)), eyecast.torus((4, 3)), eyecast.hypercube(3)


def case_of(schedule: Schedule, **parameters: Any) -> Case:
    compiled = compile_certified(schedule, {"operators": [ODD], **parameters})
    return Case.of(compiled, timing="barrier", seed=5)


def wrong_nodes(case: Case) -> int:
    """Return the nodes whose memories in the cycle model are not as expected."""
    right = case.payload.delivered(case.predicted.memory, case.schedule.topology)
    return len(case.schedule.blocks.served(case.schedule.topology)) - int(right.sum())


@pytest.mark.parametrize(
    ("network", "algorithm", "ports"),
    [
        (MESH, "eye", "one"),
        (MESH, "ring", "one"),
        (MESH, "recursive-doubling", "one"),
        (MESH, "greedy", "all"),
        # Streams in both directions at the same time.
        (MESH, "combs", "all"),
        (TORUS, "circulant", "one"),
        (TORUS, "trivance", "all"),
        (CUBE, "sbt", "all"),
    ],
)
def test_memories_are_what_the_schedule_combines(
    network: Topology, algorithm: str, ports: str
) -> None:
    made = eyecast.schedule(
        network, algorithm, collective="all-reduce", ports=ports, operator=ODD, words=7
    )
    case = case_of(made)
    assert wrong_nodes(case) == 0
    # Combining in the order of the nodes would give another result.
    in_order = ODD.reduce(case.payload.contributions[0], 32)
    assert not np.array_equal(case.payload.results[network.nodes - 1, 0], in_order)


def below_0(there: Any, coming: Any, _bits: Any) -> Any:
    return int(there) - int(coming)


def beyond_64_bits(there: Any, coming: Any, _bits: Any) -> Any:
    return int(there) * int(coming) * 11


@pytest.mark.parametrize("meaning", [below_0, beyond_64_bits])
def test_integers_of_python_are_words_of_so_many_bits(meaning: Any) -> None:
    """Numba computes with 64 bits, but Python's integers have no limit."""
    own = Operator("odd", meaning=meaning)
    made = eyecast.schedule(MESH, "eye", collective="all-reduce", operator=own, words=7)
    assert wrong_nodes(case_of(made, operators=[own])) == 0


def meeting(vcs: tuple[int, ...]) -> Schedule:
    """Return a reduce to node 3 of a line of 7, with two sends to node 3 in each step.

    In step 1 each of four sends shares two links with another one; ``vcs`` are their VCs.
    """
    paths = [[0, 1, 2, 3], [1, 2, 3, 4], [6, 5, 4, 3], [5, 4, 3, 2]]
    first = [Send(1, path, vcs=3 * [vc], combine=True) for path, vc in zip(paths, vcs, strict=True)]
    rest = [Send(2, [4, 3], combine=True), Send(2, [2, 3], combine=True)]
    blocks = Blocks.reduced_to(((3,),), 9, "odd")
    made = build((7,), [*first, *rest], blocks, "reduce", "all-port")
    return replace(made, root=3)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("vcs", [(0, 1, 0, 1), (1, 0, 0, 1), (0, 1, 1, 0)])
def test_of_two_that_meet_the_prediction_says_who_is_first(
    vcs: tuple[int, ...], depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flits wait for each other, and the other order of arrivals would give another result."""
    made = meeting(vcs)
    made.check()
    case = case_of(made, depth=depth, vcs=2)
    assert case.predicted.stalled_flits.any()
    assert wrong_nodes(case) == 0
    in_turn = combined._Combining._arrivals
    monkeypatch.setattr(
        combined._Combining, "_arrivals", lambda self, *these: in_turn(self, *these)[::-1]
    )
    assert wrong_nodes(case_of(made, depth=depth, vcs=2)) == 1


def test_an_operator_without_a_meaning_is_refused() -> None:
    made = eyecast.schedule(MESH, "eye", collective="all-reduce", operator=Operator("bare"))
    with pytest.raises(eyecast.InvalidInput, match="operator must be given with its meaning"):
        eyecast.predict(made, operators=[Operator("bare")])


def test_the_python_face_combines_by_the_operator_that_is_asked_for() -> None:
    made = eyecast.schedule(MESH, "eye", collective="all-reduce", operator="max")
    assert set(made.blocks.operator) == {"max"}
    (entry,) = eyecast.compare(
        MESH, collective="reduce-scatter", algorithms=["ring"], operator="or"
    )
    assert set(entry.schedule.blocks.operator) == {"or"}
    with pytest.raises(eyecast.InvalidInput, match=r"operator must be add, .*, or an Operator"):
        eyecast.schedule(MESH, "eye", collective="all-reduce", operator="sum")
