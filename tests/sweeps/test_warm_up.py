"""The end of the warm-up, against the rule's definition and on known series."""

import numpy as np
import pytest

from eyecast.sweeps.warm_up import BATCH, LEAST_BATCHES, warm_up_end


def by_definition(series: np.ndarray) -> int | None:
    """Return the truncation by MSER-5's definition: the least squared error of the rest's mean."""
    batches = len(series) // BATCH
    means = [float(np.mean(series[BATCH * i : BATCH * i + BATCH])) for i in range(batches)]
    rule = []
    for left_out in range(batches // 2 + 1):
        kept = means[left_out:]
        mean = sum(kept) / len(kept)
        rule.append(sum((each - mean) ** 2 for each in kept) / len(kept) ** 2)
    best = rule.index(min(rule))
    return None if best >= batches // 2 else best * BATCH


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_rule(seed: int) -> None:
    draw = np.random.default_rng(seed)
    length = int(draw.integers(BATCH * LEAST_BATCHES, 400))
    series = draw.integers(5, 60, length) + np.maximum(0, 80 - np.arange(length))
    assert warm_up_end(series) == by_definition(series)


def test_a_warm_up_is_left_out_and_little_more() -> None:
    draw = np.random.default_rng(1)
    steady = draw.normal(40, 3, 2000)
    steady[:300] -= np.linspace(30, 0, 300)
    end = warm_up_end(steady.astype(np.int64))
    assert end is not None and 150 <= end <= 400


def test_what_goes_on_rising_has_no_end() -> None:
    assert warm_up_end(np.arange(500)) is None


def test_of_a_short_series_nothing_is_said() -> None:
    assert warm_up_end(np.full(BATCH * LEAST_BATCHES - 1, 7)) is None
    assert warm_up_end(np.full(BATCH * LEAST_BATCHES, 7)) == 0
