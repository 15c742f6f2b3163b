"""Tables 4 to 18 of Johnsson & Ho as printed, formula by formula, for tests.

A table is a function of n, M, B, τ, t_c that gives, for each graph, (start-ups, words) of T, or
(B_opt, T_min). Signs that the scan has lost are restored here; ``docs/errata.md`` lists them. All
tables need n >= 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import ceil, comb, log2, pi, sqrt

import numpy as np

Table = Callable[[int, int, int, int, int], dict[str, tuple[object, object]]]


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


def over(number: int, divisor: int) -> int:
    return ceil(Fraction(number, divisor))


def up(shares: Iterable[int], m: int, b: int) -> int:
    """Return the sum of ceil(share M / b)."""
    return sum(over(share * m, b) for share in shares)


# ---- One-to-all broadcast ---------------------------------------------------------------------


def table_4_time(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    return {
        "brg": (2 * over(m, b) + nodes - 3, 2 * m + (nodes - 3) * b),
        "sbt": (over(m, b) * n, m * n),
        "nrsbt": (2 * sum(over(m * i, n * b) for i in range(1, n)) + over(m, b), n * m),
        "tcbt": (3 * over(m, b) + 2 * n - 5, 3 * m + (2 * n - 5) * b),
        "nesbt": (over(m, b) + n, m + n * b),
    }


def table_4_best(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    return {
        "brg": (
            sqrt(2 * m * t / ((nodes - 3) * c)),
            (sqrt(2 * m * c) + sqrt((nodes - 3) * t)) ** 2,
        ),
        "sbt": (m, n * (m * c + t)),
        "nrsbt": (m, n * m * c + (2 * n - 1) * t),
        "tcbt": (
            sqrt(3 * m * t / ((2 * n - 5) * c)),
            (sqrt(3 * m * c) + sqrt((2 * n - 5) * t)) ** 2,
        ),
        "nesbt": (sqrt(m * t / (n * c)), (sqrt(m * c) + sqrt(n * t)) ** 2),
    }


def table_5_time(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    pipelined = (over(m, b) + n - 1, m + (n - 1) * b)
    return {
        "nrbrg": (over(m, n * b) * (nodes - 1), Fraction(m * (nodes - 1), n)),
        "sbt": pipelined,
        "nrsbt": (over(m, n * b) * n, m),
        "tcbt": pipelined,
        "nesbt": (over(m, b * n) + n, Fraction(m, n) + n * b),
    }


def table_5_best(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    pipelined = (sqrt(m * t / ((n - 1) * c)), (sqrt(m * c) + sqrt((n - 1) * t)) ** 2)
    return {
        "nrbrg": (Fraction(m, n), (Fraction(m, n) * c + t) * (nodes - 1)),
        "sbt": pipelined,
        "nrsbt": (Fraction(m, n), m * c + n * t),
        "tcbt": pipelined,
        "nesbt": (sqrt(m * t / c) / n, (sqrt(m * c / n) + sqrt(n * t)) ** 2),
    }


# ---- One-to-all personalized communication ----------------------------------------------------


def table_7_one_port(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    rotated = sum(over(m * (nodes - 2**i), n * b) for i in range(1, n))
    rotated += sum(over(m * (2**i - 1), n * b) for i in range(1, n + 1))
    packets = 2 * over((nodes - 1) * m, b) - m // b
    return {
        "brg": (max(packets, 2 * nodes - 3), (2 * nodes - 3) * m),
        "sbt": (up((2**i for i in range(n)), m, b), (nodes - 1) * m),
        "nrsbt": (rotated, m * (nodes - 1)),
        "tcbt": (2 * up((2**i - 1 for i in range(1, n)), m, b), (2 * nodes - 2 * n - 1) * m),
        "sbnt": (
            n * over(nodes * m, n * b) + ceil(2 * nodes * log2(n) * m / (n * b)),
            nodes * (1 + 2 * log2(n) / n) * m,
        ),
    }


def table_8(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    subtree = Fraction((nodes - 1) * m, n)
    return {
        "brg": (m, (2 * nodes - 3) * m * c + (2 * nodes - 3) * t),
        "sbt": (nodes * m // 2, (nodes - 1) * m * c + n * t),
        "tcbt": (nodes * m // 2, (2 * nodes - 2 * n - 1) * m * c + (2 * n - 2) * t),
        "nrsbt": (subtree, (nodes - 1) * m * c + (2 * n - 1) * t),
        "sbnt": (subtree, nodes * (1 + 2 * log2(n) / n) * m * c + (2 * n - 2) * t),
    }


def table_7_all_port(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    balanced = (
        up((comb(n, i) for i in range(n)), m, n * b),
        Fraction((nodes - 1) * m, n),
    )
    halves = over(nodes * m, 4 * b) + sum(over(nodes * m, 2**i * b) for i in range(2, n + 1))
    return {
        "nrbrg": (up(range(1, nodes), m, n * b), Fraction(nodes * (nodes - 1) * m, 2 * n)),
        "sbt": (up((comb(n - 1, i) for i in range(n)), m, b), nodes * m // 2),
        "nrsbt": balanced,
        "tcbt": (halves, (3 * nodes // 4 - 1) * m),
        "sbnt": balanced,
    }


def table_9(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    paths, share = Fraction(nodes * (nodes - 1) * m, 2 * n), Fraction((nodes - 1) * m, n)
    balanced = (sqrt(2 / pi) * nodes * m / n**1.5, share * c + n * t)
    return {
        "nrbrg": (share, paths * c + (nodes - 1) * t),
        "sbt": (nodes * m / sqrt(2 * pi * (n - 1)), nodes * m // 2 * c + n * t),
        "tcbt": (nodes * m // 4, (3 * nodes // 4 - 1) * m * c + n * t),
        "nrsbt": balanced,
        "sbnt": balanced,
    }


# ---- All-to-all broadcasting ------------------------------------------------------------------


def table_11(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    words = (nodes - 1) * m
    rotated = up((2 ** (i + 1) - 1 for i in range(n)), m, n * b)
    rotated += up((nodes - 2 ** (i - n + 1) for i in range(n, 2 * n - 1)), m, n * b)
    disjoint = up((2**i for i in range(n)), m, n * b)
    disjoint += up((nodes - 1 - 2 ** (i - n) for i in range(n, 2 * n)), m, n * b)
    return {
        "brg": (over(m, b) * (nodes - 1), words),
        "sbt": (up((2**i for i in range(n)), m, b), words),
        "nrsbt": (rotated, words),
        "nesbt": (disjoint, words),
        "sbnt": (max(2 * n - 1, Fraction(words, b)), words),
    }


def table_12(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    words = (nodes - 1) * m * c
    return {
        "brg": (m, words + (nodes - 1) * t),
        "sbt": (nodes * m // 2, words + n * t),
        "nrsbt": (Fraction((nodes - 1) * m, n), words + (2 * n - 1) * t),
        "nesbt": (Fraction((nodes - 2) * m, n), words + 2 * n * t),
        "sbnt": (Fraction((nodes - 1) * m, n), words + (2 * n - 1) * t),
    }


def table_13(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    share = Fraction((nodes - 1) * m, n)
    balanced = up((comb(n, i) for i in range(1, n + 1)), m, n * b)
    disjoint = up((comb(n, i) for i in range(2, n + 1)), m, n * b)
    disjoint += over(m, n * b) + over((n - 1) * m, n * b)
    return {
        "nrbrg": (over(m, n * b) * (nodes - 1), share),
        "sbt": (up((comb(n - 1, i) for i in range(n)), m, b), nodes * m // 2),
        "nrsbt": (balanced, share),
        "nesbt": (disjoint, share),
        "sbnt": (balanced, share),
    }


def table_14(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    words, packet = Fraction((nodes - 1) * m, n) * c, sqrt(2 / pi) * nodes * m / n**1.5
    return {
        "nrbrg": (Fraction(m, n), words + (nodes - 1) * t),
        "sbt": (nodes * m / sqrt(2 * pi * (n - 1)), nodes * m // 2 * c + n * t),
        "nrsbt": (packet, words + n * t),
        "nesbt": (packet, words + (n + 1) * t),
        "sbnt": (packet, words + n * t),
    }


# ---- All-to-all personalized communication ----------------------------------------------------


def table_15(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    words = n * nodes * m // 2
    rotated = up(((i + 1) * nodes for i in range(n)), m, 2 * n * b)
    rotated += up(((2 * n - i - 1) * nodes for i in range(n, 2 * n - 1)), m, 2 * n * b)
    disjoint = up(((i + 2) * nodes // 2 - 1 for i in range(n)), m, n * b)
    disjoint += up((i * nodes // 2 - 1 for i in range(1, n + 1)), m, n * b)
    return {
        "brg": (up(range(1, nodes), m, b), (nodes - 1) * nodes * m // 2),
        "sbt": (over(nodes * m, 2 * b) * n, words),
        "nrsbt": (rotated, words),
        "nesbt": (disjoint, (Fraction(nodes, 2 * n) + nodes - 2) * m),
        "sbnt": (max(2 * n - 1, Fraction(words, b)), words),
    }


def table_16(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    words = n * nodes * m // 2 * c
    return {
        "brg": ((nodes - 1) * m, (nodes - 1) * nodes * m // 2 * c + (nodes - 1) * t),
        "sbt": (nodes * m // 2, words + n * t),
        "nrsbt": (nodes * m // 2, words + (2 * n - 1) * t),
        "nesbt": (
            Fraction(m, n) * (nodes * (n - 1) // 2 - 1),
            (n * nodes // 2 + nodes - 2) * m * c + 2 * n * t,
        ),
        "sbnt": (nodes * m // 2, words + (2 * n - 1) * t),
    }


def table_17(n: int, m: int, b: int, t: int, c: int) -> dict:
    nodes = 2**n
    near = [comb(2 * i, i) * 2 ** (n - 2 * i - 1) for i in range((n - 1) // 2 + 1)]
    far = [comb(n - 1, i) for i in range((n + 1) // 2, n)]
    beyond = [sum(comb(n, j) for j in range(i, n + 1)) for i in range(1, n + 1)]
    disjoint = up(beyond[1:], m, n * b)
    disjoint += over((nodes - 2) * m, n * b) + over((nodes - 1) * m, n * b)
    return {
        "nrbrg": (up(range(1, nodes), m, n * b), Fraction((nodes - 1) * nodes * m, 2 * n)),
        "sbt": (up(near, m, b) + up(far, m, b), (sum(near) + sum(far)) * m),
        "nrsbt": (over(nodes * m, 2 * n * b) * n, nodes * m // 2),
        "nesbt": (disjoint, (nodes // 2 + Fraction(nodes - 2, n)) * m),
        "sbnt": (up(beyond, m, n * b), nodes * m // 2),
    }


def table_18(n: int, m: int, b: int, t: int, c: int) -> dict:
    """Return Table 18 without SBT's T_min, for which the table gives only the order."""
    nodes = 2**n
    share = Fraction((nodes - 1) * m, n)
    return {
        "nrbrg": (share, share * nodes / 2 * c + (nodes - 1) * t),
        "nrsbt": (Fraction(nodes * m, 2 * n), nodes * m // 2 * c + n * t),
        "nesbt": (share, (nodes // 2 + Fraction(nodes - 2, n)) * m * c + (n + 1) * t),
        "sbnt": (share, nodes * m // 2 * c + n * t),
    }


TIMES: dict[tuple[str, str], Table] = {
    ("broadcast", "one-port"): table_4_time,
    ("broadcast", "n-port"): table_5_time,
    ("scatter", "one-port"): table_7_one_port,
    ("scatter", "n-port"): table_7_all_port,
    ("all-gather", "one-port"): table_11,
    ("all-gather", "n-port"): table_13,
    ("all-to-all", "one-port"): table_15,
    ("all-to-all", "n-port"): table_17,
}

BEST: dict[tuple[str, str], Table] = {
    ("broadcast", "one-port"): table_4_best,
    ("broadcast", "n-port"): table_5_best,
    ("scatter", "one-port"): table_8,
    ("scatter", "n-port"): table_9,
    ("all-gather", "one-port"): table_12,
    ("all-gather", "n-port"): table_14,
    ("all-to-all", "one-port"): table_16,
    ("all-to-all", "n-port"): table_18,
}
