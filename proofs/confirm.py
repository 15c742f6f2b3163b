"""The confirmation of an invariant, without the engine that found it.

An invariant proves a claim if it holds at the start, if each step keeps it, and if it excludes all
states in which the claim can be broken. A SAT solver refutes the opposite of the last two, and
:mod:`.rup` checks the solver's proofs.
"""

from collections.abc import Iterator, Sequence

from pysat.solvers import Solver

from .question import Clause, Question
from .rup import is_refutation

SOLVER = "cadical195"


class Unconfirmed(Exception):
    """An invariant does not prove its claim; the message says why."""


def confirm(question: Question, invariant: Sequence[Clause]) -> int:
    """Return the number of lemmas that confirm an invariant.

    Raises :class:`Unconfirmed` if it does not hold at the start, is not kept, or is too weak.
    """
    # All registers start with 0.
    if any(all(literal > 0 for literal in clause) for clause in invariant):
        raise Unconfirmed("the invariant does not hold at the start")
    latches = [_literal(2 * latch) for latch, _ in question.circuit.latches]
    now = [[_of(latches, each) for each in clause] for clause in invariant]
    known = [*_gates(question), *now]
    breaks = [[_literal(question.answer)]]
    return _refute([*known, *breaks], "the invariant does not imply the claims") + _refute(
        [*known, *_not_kept(question, invariant)], "a step does not keep the invariant"
    )


def _gates(question: Question) -> Iterator[list[int]]:
    """Yield the clauses of all gates."""
    yield [-_literal(0)]
    for gate, *inputs in question.circuit.gates:
        output, first, second = (_literal(each) for each in (2 * gate, *inputs))
        yield from ([-output, first], [-output, second], [output, -first, -second])


def _not_kept(question: Question, invariant: Sequence[Clause]) -> Iterator[list[int]]:
    """Yield clauses that demand that a clause of the invariant does not hold in the next cycle."""
    following = [_literal(each) for _, each in question.circuit.latches]
    first = question.circuit.variables + 2
    for number, clause in enumerate(invariant, first):
        yield from ([-number, -_of(following, each)] for each in clause)
    yield [*range(first, first + len(invariant))]


def _literal(literal: int) -> int:
    """Return a circuit's literal as a clause has it; variable 1 is false."""
    return (literal // 2 + 1) * (-1 if literal % 2 else 1)


def _of(registers: Sequence[int], literal: int) -> int:
    """Return a literal of an invariant as one of the gates'."""
    value = registers[abs(literal) - 1]
    return value if literal > 0 else -value


def _refute(clauses: list[list[int]], why: str) -> int:
    """Return the number of lemmas of a checked proof that clauses contradict each other."""
    with Solver(SOLVER, bootstrap_with=clauses, with_proof=True) as solver:
        if solver.solve():
            raise Unconfirmed(why)
        lines = [line.split() for line in solver.get_proof()]
    lemmas = [[int(word) for word in line[:-1]] for line in lines if line[0] != "d"]
    if not is_refutation(clauses, lemmas):
        raise Unconfirmed(f"a lemma of the solver does not follow, where {why}")
    return len(lemmas)
