"""A checker of proofs that clauses contradict each other: reverse unit propagation (RUP).

Every lemma of a proof must follow from the clauses before it: if all its literals are false, unit
propagation finds a clause without a true or open literal. Deleted clauses are kept, which is sound.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from ..model.base.loops import compiled_loop, inlined

FALSE, OPEN, TRUE = 0, 1, 2


def is_refutation(clauses: Iterable[Sequence[int]], lemmas: Iterable[Sequence[int]]) -> bool:
    """Tell whether every lemma follows, and the clauses with the lemmas lead to a contradiction.

    A literal is the number of a variable, from 1 on; negative, if the variable is false.
    """
    given = list(clauses)
    all_clauses = [*given, *lemmas]
    lengths = np.array([len(each) for each in all_clauses], dtype=np.int64)
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    flat = np.fromiter(chain.from_iterable(all_clauses), dtype=np.int64, count=int(starts[-1]))
    literals = 2 * np.abs(flat) + (flat < 0)
    variables = int(np.abs(flat).max(initial=0)) + 1
    values = np.full(2 * variables, OPEN, dtype=np.int8)
    heads = np.full(2 * variables, -1, dtype=np.int64)
    following = np.full(2 * len(all_clauses), -1, dtype=np.int64)
    trail = np.zeros(variables, dtype=np.int64)
    return bool(_check(len(given), literals, starts, values, heads, following, trail))


@inlined
def _set_true(literal: int, values: np.ndarray, trail: np.ndarray, count: int) -> int:
    """Make a literal true; return the new length of the trail."""
    values[literal] = TRUE
    values[literal ^ 1] = FALSE
    trail[count] = literal
    return count + 1


@compiled_loop
def _propagate(
    begin: int,
    count: int,
    literals: np.ndarray,
    starts: np.ndarray,
    values: np.ndarray,
    heads: np.ndarray,
    following: np.ndarray,
    trail: np.ndarray,
) -> tuple[bool, int]:
    """Propagate the trail from ``begin`` on; return whether a clause is false, and its length.

    A clause watches its first two literals. ``heads`` and ``following`` are the lists of watches of
    each literal; watch w of clause c has the number 2c + w.
    """
    while begin < count:
        false = trail[begin] ^ 1
        begin += 1
        before, watch = -1, heads[false]
        while watch >= 0:
            after = following[watch]
            first = starts[watch >> 1]
            own, other = first + (watch & 1), first + 1 - (watch & 1)
            moved = False
            if values[literals[other]] != TRUE:
                for place in range(first + 2, starts[(watch >> 1) + 1]):
                    if values[literals[place]] != FALSE:
                        literals[own], literals[place] = literals[place], literals[own]
                        moved = True
                        break
                if not moved:
                    if values[literals[other]] == FALSE:
                        return True, count
                    count = _set_true(literals[other], values, trail, count)
            if moved:
                if before < 0:
                    heads[false] = after
                else:
                    following[before] = after
                following[watch] = heads[literals[own]]
                heads[literals[own]] = watch
            else:
                before = watch
            watch = after
    return False, count


@inlined
def _choose_watches(first: int, end: int, literals: np.ndarray, values: np.ndarray) -> int:
    """Move up to two literals that are not false to a clause's begin; return how many there are."""
    watched = 0
    for place in range(first, end):
        if watched < 2 and values[literals[place]] != FALSE:
            other = literals[first + watched]
            literals[first + watched] = literals[place]
            literals[place] = other
            watched += 1
    return watched


@compiled_loop
def _follows(
    first: int,
    end: int,
    kept: int,
    literals: np.ndarray,
    starts: np.ndarray,
    values: np.ndarray,
    heads: np.ndarray,
    following: np.ndarray,
    trail: np.ndarray,
) -> bool:
    """Tell whether a clause follows from those before it; all literals are then as before."""
    count, follows = kept, False
    for place in range(first, end):
        literal = literals[place]
        if values[literal] == TRUE:
            follows = True
            break
        if values[literal] == OPEN:
            count = _set_true(literal ^ 1, values, trail, count)
    if not follows:
        follows, count = _propagate(kept, count, literals, starts, values, heads, following, trail)
    for place in range(kept, count):
        values[trail[place]] = OPEN
        values[trail[place] ^ 1] = OPEN
    return follows


@compiled_loop
def _check(
    given: int,
    literals: np.ndarray,
    starts: np.ndarray,
    values: np.ndarray,
    heads: np.ndarray,
    following: np.ndarray,
    trail: np.ndarray,
) -> bool:
    """Add one clause after the other, each lemma after its check, until one is false."""
    kept = 0
    for clause in range(len(starts) - 1):
        first, end = starts[clause], starts[clause + 1]
        if clause >= given and not _follows(
            first, end, kept, literals, starts, values, heads, following, trail
        ):
            return False
        watched = _choose_watches(first, end, literals, values)
        if watched == 0:
            return True
        if watched == 1:
            if values[literals[first]] == OPEN:
                before = kept
                kept = _set_true(literals[first], values, trail, kept)
                false, kept = _propagate(
                    before, kept, literals, starts, values, heads, following, trail
                )
                if false:
                    return True
            continue
        for watch in range(2):
            literal = literals[first + watch]
            following[2 * clause + watch] = heads[literal]
            heads[literal] = 2 * clause + watch
    return False
