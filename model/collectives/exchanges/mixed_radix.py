"""All-reduce of whole messages by recursive doubling, on a grid of any sides.

On an axis of side 2^k m, m odd, exchanges across k bits of the coordinate give the nodes of each
run of 2^k neighbors the same sum; m runs are left. A node holds only one sum, so it cannot gather
others beside its own. But each sum exists twice: at *even* and *odd* coordinates, on this axis or
another one of even side. The even nodes hold sums of x runs and the odd ones of y, until x + y = m,
when each gets what it lacks::

    m = 3                   even   odd         m = 5                   even   odd
                              1      1                                   1      1
    odd add an even sum       1      2         odd add an even sum       1      2
    exchange                  3      3         even add an odd sum       3      2
                                               exchange                  5      5

So a torus of 3x2 takes ⌈log2 6⌉ rounds. If all sides are odd, the last node of each line of one
axis first adds its message to its neighbor's, and gets the result in the end. (With two sums at
each node, ⌈log2 N⌉ rounds are always enough: A. Bar-Noy, S. Kipnis and B. Schieber, "An optimal
algorithm for computing census functions in message-passing systems", Parallel Processing Letters
3(1), 1993.)
"""

from collections.abc import Iterator
from itertools import count, product
from math import prod

import numpy as np

from ...base.arrays import Numbers
from ...base.errors import require_range
from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.rounds import RoundSend
from ...schedule.schedule import Schedule
from ..declared.algorithm import ALL, ONE, Declared
from .rounds import all_reduce_of_rounds, summed

NAME = "recursive-doubling"
EVEN, ODD = 0, 1

Adds = tuple[int | None, int | None]
"""Whose sum the even nodes add to theirs in a round, and whose the odd nodes; None for no one's."""
ADDS: list[Adds] = [
    (even, odd) for even, odd in product((None, EVEN, ODD), repeat=2) if even != odd
]
"""All choices in which no node sends twice."""


def doubled_all_reduce(
    topology: Topology, words: int, operator: str, *, all_port: bool = False
) -> Schedule:
    """All-reduce ``words`` words in ⌈log2 N⌉ rounds, or some more where sides have odd factors.

    Raises :class:`.InvalidInput` for what is no grid without faults, and for no words.
    """
    require_range("words", words, 1)
    if not topology.whole_grid:
        raise topology.refusal(NAME, "a grid without faults")
    rounds = _rounds(topology)
    return all_reduce_of_rounds(NAME, topology, words, operator, rounds, all_port=all_port)


def _rounds(topology: Topology) -> list[list[RoundSend]]:
    sides, at = [*topology.dims], topology.coordinates(np.arange(topology.nodes))
    strides = np.array([prod(topology.dims[:axis]) for axis in range(len(sides))])
    before: list[list[RoundSend]] = []
    after: list[list[RoundSend]] = []
    if topology.nodes > 1 and all(side % 2 for side in sides):
        axis = sides.index(min(side for side in sides if side > 1))
        sides[axis] -= 1
        last = at[at[:, axis] == sides[axis]] @ strides
        before = [summed(last, last - strides[axis])]
        after = [summed(last - strides[axis], last, combine=False)]
        at = at[at[:, axis] < sides[axis]]
    return [*before, *_doubling(sides, strides, at), *_growing(sides, strides, at), *after]


def _twos(side: int) -> int:
    """Return how often 2 divides a side."""
    return (side & -side).bit_length() - 1


def _doubling(sides: list[int], strides: Numbers, at: Numbers) -> Iterator[list[RoundSend]]:
    """Yield exchanges of the nodes ``at`` some coordinates across each bit of the even factors."""
    for axis, side in enumerate(sides):
        for bit in range(_twos(side)):
            other = at.copy()
            other[:, axis] ^= 1 << bit
            yield summed(at @ strides, other @ strides)


def _growing(sides: list[int], strides: Numbers, at: Numbers) -> Iterator[list[RoundSend]]:
    """Yield the rounds in which the sums of runs grow, on one axis after another."""
    for axis, side in enumerate(sides):
        twos = _twos(side)
        runs = side >> twos
        run, place = np.divmod(at[:, axis], 1 << twos)
        # The axis on which each sum is there twice.
        twin = next(
            each for each in (axis, *range(len(sides))) if sides[each] % 2 == 0 or runs == 1
        )
        # A node of run r has the sum of the runs r + first, ... r + first + length - 1.
        first, length = [0, 0], [1, 1]
        for adds in _growth(runs):
            sends, begin = [], [*first]
            for kind, other in enumerate(adds):
                if other is None:
                    continue
                behind, ahead = first[kind] - length[other], first[kind] + length[kind]
                begin[kind], added = min(
                    ((behind, behind), (first[kind], ahead)),
                    key=lambda way: min(
                        (way[1] - first[other]) % runs, (first[other] - way[1]) % runs
                    ),
                )
                here = at[:, twin] % 2 == kind
                source = at[here]
                source[:, axis] = (run[here] + added - first[other]) % runs << twos | place[here]
                source[:, twin] ^= kind != other
                sends += summed(source @ strides, at[here] @ strides)
            first, length = begin, [*_grown(length, adds)]
            yield sends


def _grown(length: list[int] | tuple[int, int], adds: Adds) -> tuple[int, int]:
    """Return the lengths of the sums after a round."""
    even, odd = (
        own + (0 if other is None else length[other])
        for own, other in zip(length, adds, strict=True)
    )
    return even, odd


def _growth(runs: int) -> list[Adds]:
    """Return the fewest rounds in which both sums grow from one run to all."""
    for rounds in count((runs - 1).bit_length()):
        found: dict[tuple[int, int], list[Adds]] = {(1, 1): []}
        for left in reversed(range(rounds)):
            # Both sums together at most double in a round.
            found = {
                length: [*before, adds]
                for shorter, before in found.items()
                for adds in ADDS
                if max(length := _grown(shorter, adds)) <= runs and sum(length) << left >= 2 * runs
            }
        if (runs, runs) in found:
            return found[runs, runs]
    raise AssertionError


ALGORITHM = Declared(
    Collective.ALL_REDUCE,
    NAME,
    lambda asked: doubled_all_reduce(
        asked.topology, asked.words, asked.combining, all_port=asked.all_port
    ),
    networks="meshes and tori",
    steps="log2 N rounds, or some more unless sides are 2^k",
    paper="Thakur, Rabenseifner & Gropp 2005",
    ports=(ONE, ALL),
    takes=("operator", "all_port"),
)
