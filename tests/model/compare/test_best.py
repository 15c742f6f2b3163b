"""The choice of the fastest algorithm: refused algorithms, and those without time."""

import pytest

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.compare.best import Choice, choose_best
from eyecast.model.network.topology import mesh
from eyecast.model.program.certified import Room
from eyecast.model.program.compiler import Compiled
from eyecast.model.schedule.schedule import Schedule

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
