"""Words that the spanning balanced n-tree moves in each step, one-port (1986, sections 3.6, 5, 6).

1986 is Johnsson & Ho. Let c be the address of a node relative to the source. Its bases J are the
right rotations that make c least: n/P of them, where P is its period. SBnTc has a path from each
base j to the node, with P/n of its data. SBnT has only the path from the least base, with all data.
The path crosses dimension j first, then the other set bits of c from bit j upwards, cyclically.
Rule: a path from base j crosses dimension d in step j + ((d - j) mod n), counted from 0. So each
step uses one dimension and the last is step 2n - 2: 2n - 1 steps in all. (Section 6 delays links to
leaves by n steps; that exception is only for the nESBT.)

A scatter by SBnT takes only 2n - 2: the one node n links away, all ones, is reached from base 0.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from ...base.errors import require_range
from .rows import Steps

LARGEST_BALANCED = 16
"""Largest dimension n for which all paths are followed."""


@dataclass(frozen=True)
class BalancedSteps:
    """Shares of M on the busiest link in each step; the scatter by SBnT, the others by SBnTc."""

    scatter: Steps
    all_gather: Steps
    all_to_all: Steps


@cache
def balanced_steps(n: int) -> BalancedSteps:
    """Follow all paths and count the steps of the three collectives with a row for this graph.

    In a scatter each link has its own load. In the others all links of a dimension have the same
    load: that of all links which one graph uses in the step (Lemmas 3.3, 3.5).
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
    """Yield each path, as (step, sender), its n-ths of M, and whether it belongs to the SBnT."""
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
