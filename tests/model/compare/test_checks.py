"""The judge of a measured run, algorithms side by side, the best, and what a schedule combines."""

from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.generated import generated
from helpers.programs import changed, ring_of_packets
from helpers.schedules import Send, build

import eyecast
from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.compare import combined
from eyecast.model.compare.best import Choice, choose_best
from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import compare, compare_runs, flags_check
from eyecast.model.compare.side_by_side import Entry, SideBySide
from eyecast.model.cycle.model import run
from eyecast.model.network.config import Timing
from eyecast.model.network.operators import Operator
from eyecast.model.network.topology import Topology, hypercube, mesh
from eyecast.model.program.certified import Room, compile_certified
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.memory.layout import held_words
from eyecast.model.program.payload import empty_memory
from eyecast.model.run.run import HardwareRun, Run
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.schedule import Schedule


def as_measured(run: Run, nodes: int) -> HardwareRun:
    """Return a run of the hardware that is as predicted."""
    return HardwareRun(
        **{field.name: getattr(run, field.name) for field in fields(Run)},
        sender_state=np.zeros((nodes, 1), np.int64),
        signature=np.zeros(nodes, np.uint32),
        seconds=0,
    )


@pytest.mark.parametrize(
    ("topology", "collective", "algorithm"),
    [
        (mesh((4, 4)), "broadcast", "eye"),
        # Blocks of a send are not adjacent, so it takes further rows.
        (hypercube(3), "all-gather", "nesbt"),
        (hypercube(3), "all-to-all", "ring"),
    ],
)
def test_a_trace_has_the_steps_and_the_tcd_of_its_schedule(
    topology: Topology, collective: str, algorithm: str
) -> None:
    source = 0 if collective == "broadcast" else None
    schedule = generated(collective, algorithm, topology, words=3, source=source)
    case = Case.of(Room().compile_one(schedule), timing=Timing.BARRIER, seed=0)
    # The words of blocks are read.
    words = held_words(schedule, case.payload.layout).shape[1]
    memory = case.predicted.memory[:, :words]
    measured = replace(as_measured(case.predicted, topology.nodes), memory=memory)
    found = compare(case, measured)
    assert found.agrees
    values = {check.name: check.measured for check in found.checks}
    assert values["steps"] == schedule.steps
    again = int(case.program.row_hops[case.program.continued].sum())
    assert (again > 0) == (collective != "broadcast")
    assert values["TCD"] == schedule.tcd + again
    # Without its last packets the trace has fewer steps, and crosses fewer links.
    early = measured.trace.first_rows(len(measured.trace) // 2)
    fewer = compare(case, replace(measured, trace=early))
    assert {check.name for check in fewer.checks if not check.agrees} >= {"TCD", "trace rows"}


def test_a_run_that_does_not_finish_is_a_case_without_a_controller_too() -> None:
    schedule = generated("broadcast", "eye", mesh((4, 4)), words=3, source=0)
    one = Room().compile_one(schedule)
    lacking = one._replace(program=changed(one.program, rows=((), *one.program.rows[1:])))
    case = Case.of(lacking, timing=Timing.BARRIER, seed=0)
    assert not case.predicted.finished
    assert case.limit < case.predicted.cycles


def test_flits_that_stand_in_a_deadlock_are_stalled() -> None:
    program = ring_of_packets(5, 2)
    predicted = run(program, empty_memory(program.config), timing="self-timed")
    checks, difference = compare_runs(program, predicted, as_measured(predicted, 5))
    assert difference is None
    assert all(check.agrees for check in checks)
    stalls = next(check for check in checks if check.name == "stalled flits")
    assert int(str(stalls.predicted)) > int(predicted.stalled_flits.sum())


@pytest.mark.parametrize("flag", [1, 2])
def test_a_flag_on_either_side_is_wrong(flag: int) -> None:
    program = ring_of_packets(5, 2)
    good = run(program, empty_memory(program.config), timing="self-timed")
    flags = good.flags.copy()
    flags[3] = flag
    bad = replace(good, flags=flags)
    agree = [
        flags_check(predicted, as_measured(measured, 5)).agrees
        for predicted, measured in ((good, good), (good, bad), (bad, good), (bad, bad))
    ]
    assert agree == [True, False, False, False]


# ---- Algorithms side by side ---------------------------------------------------------------------


@pytest.mark.parametrize(("sides", "busiest"), [((1, 1), 0), ((2, 2), 1)])
def test_the_busiest_link_of_a_network_without_links_carries_nothing(
    sides: tuple[int, int], busiest: int
) -> None:
    schedule = generated("broadcast", "eye", mesh(sides), words=2, source=0)
    assert Entry(schedule).busiest_link == busiest


def test_the_winners_are_the_fastest_of_those_that_serve_most_nodes() -> None:
    unserved = {"slow": [3], "fast": [3], "as fast": [3], "less": [2, 3], "refused": [3]}
    cycles: dict[str, dict[str, int]] = {
        "slow": {"barrier": 30, "self-timed": 21},
        "fast": {"barrier": 25, "self-timed": 20},
        "as fast": {"barrier": 20},
        "less": {"barrier": 10},
        "refused": {},
    }
    schedules: dict[str, Any] = {
        name: SimpleNamespace(algorithm=name, unserved=nodes, topology=mesh((2, 2)))
        for name, nodes in unserved.items()
    }
    entries = [Entry(schedules[name], cycles=cycles[name]) for name in unserved]
    task: Any = None
    assert SideBySide(task, entries, {}).winners == ["fast, 3 of 4 nodes", "as fast, 3 of 4 nodes"]


# ---- The best algorithm --------------------------------------------------------------------------


REQUEST = Request(topology=mesh((3, 3)), words=4, source=0)


def chosen(*refused: str, seconds: float | None = None) -> Choice:
    """Choose a broadcast on a network that refuses these algorithms."""

    def compiled(schedule: Schedule) -> Compiled:
        if "all" in refused or schedule.algorithm in refused:
            raise InvalidInput(f"{schedule.algorithm} is refused")
        return Room().compile_one(schedule)

    return choose_best("broadcast", REQUEST, compiled, seconds=seconds)


def names(choice: Choice) -> list[str]:
    return [each.schedule.algorithm for each in choice.candidates]


def test_an_algorithm_that_the_network_refuses_is_no_candidate() -> None:
    best, *others = names(chosen())
    assert names(chosen(best))[0] == others[0]
    assert best not in names(chosen(best))


def test_if_the_network_refuses_all_algorithms_one_refusal_is_the_reason() -> None:
    with pytest.raises(InvalidInput, match="is refused"):
        chosen("all")


def test_without_time_the_first_algorithm_that_serves_is_predicted_alone() -> None:
    choice = chosen(seconds=0)
    (candidate,) = choice.candidates
    assert candidate.predicted
    assert choice.untried
    assert candidate.schedule.algorithm not in choice.untried
    assert choice.describe().startswith(f"best is {candidate.words}; no time to try ")
    assert {*names(chosen())} <= {candidate.schedule.algorithm, *choice.untried}


# ---- What a schedule combines --------------------------------------------------------------------


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
