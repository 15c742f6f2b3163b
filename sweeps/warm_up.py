"""The end of the warm-up, found in what was measured.

MSER-5: K. P. White, M. J. Cobb and S. C. Spratt, "A Comparison of Five Steady-State Truncation
Heuristics for Simulation", Proceedings of the 2000 Winter Simulation Conference; the rule itself:
K. P. White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output", Simulation
69(6), 1997. Of a series it leaves out so many of the first batches of five as make the estimated
variance of the mean of the others the least.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

BATCH = 5
LEAST_BATCHES = 10
"""Of fewer batches nothing can be said."""


def warm_up_end(series: npt.NDArray[np.int64]) -> int | None:
    """Find how many of the first values of ``series`` to leave out; None if it is not steady.

    A series is not steady where the rule would leave out half of it or more: it is too short, or
    goes on rising.
    """
    batches = len(series) // BATCH
    if batches < LEAST_BATCHES:
        return None
    means = series[: batches * BATCH].reshape(batches, BATCH).mean(axis=1)
    # Of the last k batches, for k = 1 to all: their number, mean and sum of squared deviations.
    count = np.arange(1, batches + 1)
    backwards = means[::-1] - means.mean()
    total, squares = np.cumsum(backwards), np.cumsum(backwards**2)
    deviations = np.maximum(squares - total**2 / count, 0)
    # From "none is left out" on; the last batches alone always look steady.
    rule = (deviations / count.astype(np.float64) ** 2)[::-1][: batches // 2 + 1]
    left_out = int(rule.argmin())
    return None if left_out >= batches // 2 else left_out * BATCH
