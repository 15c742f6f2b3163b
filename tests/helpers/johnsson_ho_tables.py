"""Drawn arguments of the cost tables of Johnsson & Ho."""

import numpy as np


def drawn(count: int) -> list[tuple[int, int, int, int]]:
    """Draw values of M, B, τ and t_c."""
    random = np.random.default_rng(500)
    return [
        (int(m), int(random.integers(1, 3 * m + 1)), int(tau), int(tc))
        for m, tau, tc in zip(
            random.integers(1, 200, count),
            random.integers(1, 2000, count),
            random.integers(1, 30, count),
            strict=True,
        )
    ]
