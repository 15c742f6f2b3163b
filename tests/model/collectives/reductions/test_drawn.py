"""Drawn reductions in the cycle model: every memory ends with NumPy's reduction."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from helpers.drawn_reductions import draw_cases, wrong_nodes

from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.compare.case import Case
from eyecast.model.cycle.model import run
from eyecast.model.schedule.collective import REDUCTIONS


def check_cases(seed: int, count: int) -> Counter[tuple[str, str]]:
    """Carry out drawn cases; count them by collective and algorithm."""
    seen: Counter[tuple[str, str]] = Counter()
    for case in draw_cases(np.random.default_rng(seed), count):
        assert case.predicted.finished, case
        assert wrong_nodes(case, case.predicted.memory) == [], case
        assert not case.predicted.flags.any(), case
        schedule = case.schedule
        seen[schedule.collective, schedule.algorithm.removesuffix("-rooted")] += 1
    return seen


def test_drawn_cases() -> None:
    seen = check_cases(0, 100)
    assert {collective for collective, _ in seen} >= set(REDUCTIONS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_ten_thousand_drawn_cases(seed: int) -> None:
    seen = check_cases(seed, 1980)
    drawn = {(collective, name) for collective, name in seen if collective != "custom"}
    for collective in REDUCTIONS:
        names = {
            each.name.removesuffix("-rooted") for each in algorithms_for(collective, circuits=False)
        }
        assert len([1 for of, _ in drawn if of == collective]) > 0.8 * len(names)


def wrongly_run(case: Case, operator: int) -> Case:
    """Return the case with another operator in all combining rows."""
    column = np.where(case.program.operator > 0, operator, 0)
    program = replace(case.program, operator=column)
    after = run(program, case.payload.memory(program.config), timing="barrier")
    return replace(case, predicted=after)


def test_a_wrong_sum_is_noticed() -> None:
    """A word that replaces instead of combining leaves contributions out of the result."""
    (case,) = draw_cases(np.random.default_rng(3), 1)
    assert wrong_nodes(case, case.predicted.memory) == []
    wrong = wrongly_run(case, 0)
    assert wrong_nodes(wrong, wrong.predicted.memory) != []
