"""Words that the spanning balanced n-tree moves in each step, one-port (1986, sections 3.6, 5, 6).

1986 is Johnsson & Ho. The address c of a node relative to the source has the bases J, the right
rotations that make it least: n/P of them, P its period. SBnTc has a path from each base j to it,
with P/n of its data; SBnT only the path from the least base, with all. The path crosses dimension j
first, then its other ones from bit j upwards, cyclically. Rule: what a path from base j sends
across dimension d goes in step j + ((d - j) mod n), 0 first. Then each step uses one dimension, and
none is after step j + n - 1: 2n - 1 steps in all. (With the exception that section 6 makes for
links to leaves, n steps later, it would be more; the exception is the nESBT's alone.)

A scatter by SBnT takes only 2n - 2: the one node n links away, all ones, is reached from base 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ....base.errors import require_range
from .rows import Steps

LARGEST_BALANCED = 16
"""The largest dimension for which the paths to all nodes are followed one by one."""


@dataclass(frozen=True)
class BalancedSteps:
    """The shares of M that the steps move on the busiest link: a scatter by SBnT, else SBnTc."""

    scatter: Steps
    all_gather: Steps
    all_to_all: Steps


@cache
def balanced_steps(n: int) -> BalancedSteps:
    """Follow all paths, for the three collectives that have a row for this graph.

    In a scatter each link has its own load. In the others the loads of a dimension's links are
    equal: all links of one graph that are used in a step fall on each of them (Lemmas 3.3, 3.5).
    """
    require_range("dimension for sbnt, one-port", n, 1, LARGEST_BALANCED)
    on_link: Counter[tuple[int, int]] = Counter()
    arriving, passing = Counter[int](), Counter[int]()
    for path, share, is_first in _paths(n):
        for step, sender in path:
            on_link[step, sender] += is_first
            passing[step] += share
        arriving[path[-1][0]] += share
    steps = range(2 * n - 1)
    busiest: Counter[int] = Counter()
    for (step, _), load in on_link.items():
        busiest[step] = max(busiest[step], load)
    return BalancedSteps(
        Steps([busiest[step] for step in steps if busiest[step]]),
        Steps([arriving[step] for step in steps], n),
        Steps([passing[step] for step in steps], n),
    )


def _paths(n: int) -> Iterator[tuple[list[tuple[int, int]], int, bool]]:
    """Yield each path, as (step, sender), the n-ths of M on it, and if it is the SBnT's."""
    for address in range(1, 1 << n):
        rotations = [(address | address << n) >> j & (1 << n) - 1 for j in range(n)]
        bases = [j for j in range(n) if rotations[j] == min(rotations)]
        for base in bases:
            path, node = [], 0
            for step in range(base, base + n):
                bit = 1 << step % n
                if address & bit:
                    path.append((step, node))
                    node |= bit
            yield path, n // len(bases), base == bases[0]
