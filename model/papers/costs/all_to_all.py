"""The cost of all-gather and all-to-all on a hypercube: Tables 11 to 18 of 1986, sections 6, 7.

1986 is Johnsson & Ho; :mod:`.rows` explains terms and symbols. All rows are by step. The sources'
graphs are translations of each other. So in an all-gather each link of a dimension moves as much as
all links that one graph uses there in the step (Lemma 3.3), in an all-to-all as much as all their
subtrees (Lemma 3.5). TCBT has no row: the paper only bounds it.
"""

from math import comb

from .balanced_tree import balanced_steps
from .rows import Cost, Steps, by_step


def _rotated_all_gather(n: int) -> Steps:
    """Count the nRSBT's links: in step i tree j is in its step i - j, with 1, 2, 4 ... N/2."""
    filling = [2 ** (i + 1) - 1 for i in range(n)]
    return Steps([*filling, *(2**n - 2 ** (i - n + 1) for i in range(n, 2 * n - 1))], n)


def _disjoint_all_gather(n: int) -> Steps:
    """Count as for the broadcast (Theorem 4.1): a tree uses 1, 1, 2, 4 ... links, then leaves."""
    filling = [2**i for i in range(n)]
    return Steps([*filling, *(2**n - 1 - 2 ** (i - n) for i in range(n, 2 * n))], n)


def _balanced_all_gather(n: int) -> Steps:
    """Return the levels of n rotated greedy trees; every link carries an n-th of each level."""
    return Steps([comb(n, level) for level in range(1, n + 1)], n)


def _disjoint_levels(n: int) -> Steps:
    """Return the levels of the nESBT (Lemma 3.24)."""
    return Steps([1, n - 1, *(comb(n, level) for level in range(2, n + 1))], n)


def _rotated_all_to_all(n: int) -> Steps:
    """Count N/2 words for each active tree: 1, 2 ... n ... 2, 1 trees are active."""
    under_way = [*range(1, n), *range(n, 0, -1)]
    return Steps([trees * 2 ** (n - 1) for trees in under_way], n)


def _disjoint_all_to_all(n: int) -> Steps:
    """Count for each tree N - 1 words, then n - 1 times N/2, then N/2 - 1 for its leaves."""
    half = 2 ** (n - 1)
    filling = [(i + 2) * half - 1 for i in range(n)]
    return Steps([*filling, *((2 * n - i) * half - 1 for i in range(n, 2 * n))], n)


def _binomial_all_to_all(n: int) -> Steps:
    """Return for each level the largest subtrees below links of one dimension (Lemma 3.18)."""
    near = [comb(2 * level, level) << (n - 2 * level - 1) for level in range((n + 1) // 2)]
    return Steps([*near, *(comb(n - 1, level) for level in range((n + 1) // 2, n))])


def _balanced_all_to_all(n: int) -> Steps:
    """Count the nodes at each level and below; every link carries an n-th (Lemma 3.28)."""
    return Steps([sum(comb(n, i) for i in range(level, n + 1)) for level in range(1, n + 1)], n)


def _disjoint_all_port_all_to_all(n: int) -> Steps:
    """Count as for the SBnT, except at the nESBT's levels 0 and 1 (Lemma 3.25)."""
    beyond = [sum(comb(n, i) for i in range(level, n + 1)) for level in range(2, n + 1)]
    return Steps([2**n - 1, 2**n - 2, *beyond], n)


ALL_GATHER_ROWS: tuple[Cost, ...] = (
    by_step("all-gather", "brg", "one-port", "Table 11", lambda n: Steps([1] * (2**n - 1))),
    by_step("all-gather", "sbt", "one-port", "Table 11", lambda n: Steps([2**i for i in range(n)])),
    by_step("all-gather", "nrsbt", "one-port", "Table 11", _rotated_all_gather),
    by_step("all-gather", "nesbt", "one-port", "Table 11", _disjoint_all_gather, 2),
    by_step("all-gather", "sbnt", "one-port", "counted", lambda n: balanced_steps(n).all_gather),
    by_step("all-gather", "nrbrg", "n-port", "Table 13", lambda n: Steps([1] * (2**n - 1), n)),
    by_step(
        "all-gather",
        "sbt",
        "n-port",
        "Table 13",
        lambda n: Steps([comb(n - 1, level) for level in range(n)]),
    ),
    by_step("all-gather", "nrsbt", "n-port", "Table 13", _balanced_all_gather),
    by_step("all-gather", "nesbt", "n-port", "Table 13", _disjoint_levels, 2),
    by_step("all-gather", "sbnt", "n-port", "Table 13", _balanced_all_gather),
)

ALL_TO_ALL_ROWS: tuple[Cost, ...] = (
    by_step(
        "all-to-all", "brg", "one-port", "Table 15", lambda n: Steps([*range(2**n - 1, 0, -1)])
    ),
    by_step("all-to-all", "sbt", "one-port", "Table 15", lambda n: Steps([2 ** (n - 1)] * n)),
    by_step("all-to-all", "nrsbt", "one-port", "Table 15", _rotated_all_to_all),
    by_step("all-to-all", "nesbt", "one-port", "7.1", _disjoint_all_to_all, 2),
    by_step("all-to-all", "sbnt", "one-port", "counted", lambda n: balanced_steps(n).all_to_all),
    by_step(
        "all-to-all", "nrbrg", "n-port", "Table 17", lambda n: Steps([*range(2**n - 1, 0, -1)], n)
    ),
    by_step("all-to-all", "sbt", "n-port", "Table 17", _binomial_all_to_all),
    by_step("all-to-all", "nrsbt", "n-port", "Table 17", lambda n: Steps([2 ** (n - 1)] * n, n)),
    by_step("all-to-all", "nesbt", "n-port", "Table 17", _disjoint_all_port_all_to_all, 2),
    by_step("all-to-all", "sbnt", "n-port", "Table 17", _balanced_all_to_all),
)


ROWS: tuple[Cost, ...] = (*ALL_GATHER_ROWS, *ALL_TO_ALL_ROWS)
