"""The end of the warm-up, found in measured values.

MSER-5: K. P. White, M. J. Cobb and S. C. Spratt, "A Comparison of Five Steady-State Truncation
Heuristics for Simulation", Proceedings of the 2000 Winter Simulation Conference; the rule itself:
K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation
69(6), 1997. The rule groups a series in batches of five, and leaves out as many first batches as
minimise the estimated variance of the mean of the others.
"""

import numpy as np
import numpy.typing as npt

BATCH = 5
LEAST_BATCHES = 10
"""Fewer batches allow no decision."""


def warm_up_end(series: npt.NDArray[np.int64]) -> int | None:
    """Return how many of the first values of ``series`` to leave out; None if it is not steady.

    A series is not steady if the rule would leave out half of its batches or more, because it is
    too short or keeps rising, or if it has fewer than :data:`LEAST_BATCHES` batches.
    """
    batches = len(series) // BATCH
    if batches < LEAST_BATCHES:
        return None
    means = series[: batches * BATCH].reshape(batches, BATCH).mean(axis=1)
    # For the last k batches, k = 1 to all: number, mean and sum of squared deviations.
    count = np.arange(1, batches + 1)
    backwards = means[::-1] - means.mean()
    total, squares = np.cumsum(backwards), np.cumsum(backwards**2)
    deviations = np.maximum(squares - total**2 / count, 0)
    # Start from "none is left out"; a few last batches always look steady.
    rule = (deviations / count.astype(np.float64) ** 2)[::-1][: batches // 2 + 1]
    left_out = int(rule.argmin())
    return None if left_out >= batches // 2 else left_out * BATCH
