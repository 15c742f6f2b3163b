"""Choice of the fastest algorithm for a collective, by the cycles that the model predicts.

All algorithms make their schedules, which are proved and estimated (:func:`.expected_cycles`).
Then the schedules are predicted, in order of their estimates. A schedule whose estimate is far from
the fastest, or that is too long for the cycle model, keeps its estimate.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..base.errors import InvalidInput, one_of, with_article
from ..base.texts import counted
from ..collectives.algorithm import CHOICES, Algorithm
from ..collectives.declared.request import Request
from ..collectives.limits import require_size
from ..collectives.registry import algorithms_for
from ..exact.arithmetic import ExactPrediction
from ..network.config import Timing
from ..program.checks import require_timing
from ..program.compiler import Compiled
from ..program.payload import Payload
from ..program.program import Program
from ..run.run import Prediction
from ..schedule.duration import expected_cycles
from ..schedule.schedule import Schedule
from .cycles import quick_run

NEAR = 1.5
"""Schedules with an estimate up to this many times the fastest prediction are predicted."""


@dataclass(frozen=True)
class Candidate:
    """A schedule and its cycles: ``predicted`` by the model, otherwise estimated."""

    schedule: Schedule
    cycles: int
    predicted: bool

    @property
    def rank(self) -> tuple[int, int]:
        """Sort key, lower is better: unserved nodes, then cycles."""
        return len(self.schedule.unserved), self.cycles

    @property
    def words(self) -> str:
        """Name and cycles: "chain (261 cycles)"."""
        about = "" if self.predicted else "about "
        return f"{self.schedule.algorithm} ({about}{counted(self.cycles, 'cycle')})"


class KeptRun(NamedTuple):
    """A compiled schedule, and its run if arithmetic predicted it, otherwise None.

    The run has the timing of the choice, barrier by default, and the payload of seed 0.
    """

    compiled: Compiled
    prediction: Prediction | None


@dataclass(frozen=True)
class Choice:
    """All candidates, the best first, and the algorithms left untried for lack of time.

    ``kept`` is the compiled best schedule with its run; None if the best was only estimated.
    """

    candidates: tuple[Candidate, ...]
    untried: tuple[str, ...]
    kept: KeptRun | None = None

    @property
    def schedule(self) -> Schedule:
        """The fastest schedule."""
        return self.candidates[0].schedule

    def describe(self) -> str:
        """Return one line: the best, the next best, and the algorithms that were not tried."""
        first, *others = self.candidates
        said = [f"best is {first.words}"]
        if others:
            said[0] += f", next best {others[0].words}"
        elif not self.untried:
            said[0] += ", no other algorithm works here"
        if self.untried:
            said.append(f"no time to try {', '.join(self.untried)}")
        return "; ".join(said)

    def to_json(self) -> dict[str, object]:
        """Return cycles by algorithm, and the untried algorithms, as JSON values."""
        tried = {each.schedule.algorithm: each.cycles for each in self.candidates}
        return {"cycles": tried, "untried": list(self.untried)}


def choose_best(
    collective: str,
    request: Request,
    compiled: Callable[[Schedule], Compiled],
    *,
    timing: Timing = Timing.BARRIER,
    seconds: float | None = None,
    circuits: bool = False,
) -> Choice:
    """Find the fastest schedule for ``request``.

    ``compiled`` compiles a schedule for the network, and refuses one that the network cannot carry
    out. In a network with ``circuits`` every schedule is predicted, as estimates are of packets.
    After ``seconds``, once one algorithm has served, no further one is tried or predicted.
    Raises :class:`.InvalidInput` if none serves.
    """
    end = _end(seconds)
    algorithms = algorithms_for(collective, circuits=circuits)
    made, untried = _schedules(algorithms, request, end)
    if not made:
        for algorithm in algorithms:
            require_size(algorithm, request)
        _require_heeded(collective, request, algorithms)
        names = one_of(algorithm.name for algorithm in algorithms)
        raise request.topology.refusal(collective, f"one that {names} serves")
    choice = _fastest(made, compiled, timing, end, circuits=circuits)
    return replace(choice, untried=tuple(untried))


def choose_among(
    schedules: Iterable[Schedule],
    compiled: Callable[[Schedule], Compiled],
    *,
    timing: Timing,
    seconds: float | None,
    circuits: bool,
) -> Choice:
    """Find the fastest of at least one checked schedule; arguments as in :func:`choose_best`.

    Raises :class:`.InvalidInput` if ``compiled`` refuses all of them.
    """
    made = [Candidate(each, expected_cycles(each), predicted=False) for each in schedules]
    return _fastest(made, compiled, timing, _end(seconds), circuits=circuits)


def _fastest(
    made: list[Candidate],
    compiled: Callable[[Schedule], Compiled],
    timing: Timing,
    end: float | None,
    *,
    circuits: bool,
) -> Choice:
    """Return the choice among estimated candidates; raise if ``compiled`` refuses all of them."""
    found: list[Candidate] = []
    kept: KeptRun | None = None
    refusal: InvalidInput | None = None
    for expected in sorted(made, key=lambda candidate: candidate.rank):
        candidate, now = expected, None
        predicted = sorted(each.cycles for each in found if each.predicted)
        # The best and the next are always predicted, if there is time.
        near = circuits or len(predicted) < 2 or candidate.cycles <= NEAR * predicted[0]
        try:
            if near and not (found and _over(end)):
                candidate, now = _predicted(expected, compiled, timing)
        except InvalidInput as error:
            refusal = error
            continue
        if all(candidate.rank < each.rank for each in found):
            kept = now
        found.append(candidate)
    if refusal is not None and not found:
        raise refusal
    return Choice(tuple(sorted(found, key=lambda each: each.rank)), (), kept)


def _require_heeded(collective: str, request: Request, algorithms: Sequence[Algorithm]) -> None:
    """Refuse a setting of the request if some algorithm would serve without it."""
    for name in ("duplex", "packet", "order", "operator"):
        parameter, setting, unset = CHOICES[name]
        changed: dict[str, Any] = {name: unset}
        without = replace(request, **changed)
        if without != request and _schedules(algorithms, without, end=0)[0]:
            served = with_article(request.topology.label)
            heeds = f"with best: no algorithm for {collective} on {served} heeds it"
            raise InvalidInput.must_be(parameter, "left out", heeds, setting)


def _end(seconds: float | None) -> float | None:
    """Return the time at which ``seconds`` are over."""
    return None if seconds is None else time.monotonic() + seconds


def _over(end: float | None) -> bool:
    """Tell whether the time is up."""
    return end is not None and time.monotonic() > end


def _schedules(
    algorithms: Iterable[Algorithm], request: Request, end: float | None
) -> tuple[list[Candidate], list[str]]:
    """Return the schedules of the algorithms that serve, and the names of untried algorithms."""
    made: list[Candidate] = []
    untried = []
    for algorithm in algorithms:
        if made and _over(end):
            untried.append(algorithm.name)
            continue
        try:
            schedule = algorithm.generate(request)
        except InvalidInput:
            continue
        schedule.check()
        made.append(Candidate(schedule, expected_cycles(schedule), predicted=False))
    return made, untried


def _predicted(
    candidate: Candidate, compiled: Callable[[Schedule], Compiled], timing: Timing
) -> tuple[Candidate, KeptRun]:
    """Return the candidate with predicted cycles, or as it was if it is too long to simulate."""
    one = compiled(candidate.schedule)
    program = one.program
    if isinstance(program, Program):
        require_timing(program, timing)
    memory = Payload.random(one, seed=0).memory(program.config)
    predicted = quick_run(program, memory, timing)
    if predicted is None:
        return candidate, KeptRun(one, None)
    # A simulated run here has no trace, so no one else can use it.
    exact = predicted if isinstance(predicted, ExactPrediction) else None
    if not predicted.finished:
        raise InvalidInput(f"{candidate.schedule.algorithm} does not finish")
    found = Candidate(candidate.schedule, predicted.cycles, predicted=True)
    return found, KeptRun(one, exact)
