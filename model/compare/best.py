"""The fastest of all algorithms that serve a collective, by the cycles that the model predicts.

All algorithms make their schedules, which are proved; each is about so many cycles
(:func:`.expected_cycles`). From the fastest on they are compiled and run on the cycle model, until
none of those that are left can be expected to come near; one that is too long for the model keeps
what is expected of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..base.errors import InvalidInput, one_of, with_article
from ..base.texts import counted
from ..collectives.algorithm import CHOICES
from ..collectives.registry import algorithms_for
from ..collectives.request import Request
from ..exact.model import ExactPrediction
from ..network.config import Timing
from ..program.checks import require_timing
from ..program.compiler import Compiled
from ..program.payload import Payload
from ..run.run import Prediction
from ..schedule.duration import expected_cycles
from ..schedule.schedule import Schedule
from .cycles import quick_run

NEAR = 1.5
"""How many times as long as the fastest a schedule may be expected to take, to be predicted."""


@dataclass(frozen=True)
class Candidate:
    """A schedule that serves, and its cycles: ``predicted`` by the model, or else expected."""

    schedule: Schedule
    cycles: int
    predicted: bool

    @property
    def rank(self) -> tuple[int, int]:
        """Rank of a way, less being better: first that all are served, then cycles."""
        return len(self.schedule.unserved), self.cycles

    @property
    def words(self) -> str:
        """Name and cycles: "chain (261 cycles)"."""
        about = "" if self.predicted else "about "
        return f"{self.schedule.algorithm} ({about}{counted(self.cycles, 'cycle')})"


class Kept(NamedTuple):
    """A schedule as it was compiled, and its run where no flit waits in it, else None.

    The run is with barrier timing or another that was asked for, of the payload of seed 0.
    """

    compiled: Compiled
    prediction: Prediction | None


@dataclass(frozen=True)
class Choice:
    """All candidates, the best first, and the algorithms that there was no time to try.

    ``kept`` is what was found of the best; None where it was only expected to be.
    """

    candidates: tuple[Candidate, ...]
    untried: tuple[str, ...]
    kept: Kept | None = None

    @property
    def schedule(self) -> Schedule:
        """The fastest schedule."""
        return self.candidates[0].schedule

    def describe(self) -> str:
        """One line on what was chosen, what would have been next, and what was not tried."""
        first, *others = self.candidates
        said = [f"best is {first.words}"]
        if others:
            said[0] += f", next best {others[0].words}"
        elif not self.untried:
            said[0] += ", nothing else serves"
        if self.untried:
            said.append(f"no time to try {', '.join(self.untried)}")
        return "; ".join(said)

    def to_json(self) -> dict[str, object]:
        """Return the same as JSON values."""
        tried = {each.schedule.algorithm: each.cycles for each in self.candidates}
        return {"cycles": tried, "untried": list(self.untried)}


def choose_best(
    collective: str,
    request: Request,
    compiled: Callable[[Schedule], Compiled],
    *,
    timing: Timing = Timing.BARRIER,
    seconds: float | None = None,
) -> Choice:
    """Find the fastest schedule for ``request``.

    ``compiled`` compiles a schedule for the network in question, and refuses what it cannot carry
    out. After ``seconds`` no further algorithm is tried, nor predicted, once one has served.
    Raises :class:`.InvalidInput` where none serves.
    """
    end = None if seconds is None else time.monotonic() + seconds
    made, untried = _schedules(collective, request, end)
    made.sort(key=lambda candidate: candidate.rank)
    found: list[Candidate] = []
    kept: Kept | None = None
    refusal: InvalidInput | None = None
    for expected in made:
        candidate, now = expected, None
        predicted = sorted(each.cycles for each in found if each.predicted)
        # The best and the next are always predicted, if there is time.
        near = len(predicted) < 2 or candidate.cycles <= NEAR * predicted[0]
        try:
            if near and not (found and _over(end)):
                candidate, now = _predicted(expected, compiled, timing)
        except InvalidInput as error:
            refusal = error
            continue
        if all(candidate.rank < each.rank for each in found):
            kept = now
        found.append(candidate)
    if not found:
        if refusal is not None:
            raise refusal
        _require_heeded(collective, request)
        names = one_of(algorithm.name for algorithm in algorithms_for(collective))
        served = with_article(request.topology.label)
        raise InvalidInput.of(f"network for {collective}", f"one that {names} serves", served)
    return Choice(tuple(sorted(found, key=lambda each: each.rank)), tuple(untried), kept)


def _require_heeded(collective: str, request: Request) -> None:
    """Refuse the part of a request without which an algorithm serves it."""
    for name in ("duplex", "packet", "order"):
        parameter, setting, unset = CHOICES[name]
        changed: dict[str, Any] = {name: unset}
        without = replace(request, **changed)
        if without != request and _schedules(collective, without, end=0)[0]:
            served = with_article(request.topology.label)
            heeds = f"with best: no algorithm for {collective} on {served} heeds it"
            raise InvalidInput.must_be(parameter, "left out", heeds, setting)


def _over(end: float | None) -> bool:
    """Tell whether the time is up."""
    return end is not None and time.monotonic() > end


def _schedules(
    collective: str, request: Request, end: float | None
) -> tuple[list[Candidate], list[str]]:
    """The schedules of all algorithms that serve, and the names of those that were not tried."""
    made: list[Candidate] = []
    untried = []
    for algorithm in algorithms_for(collective):
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
) -> tuple[Candidate, Kept]:
    """The candidate with the cycles of the model, if it is not too long for it."""
    one = compiled(candidate.schedule)
    program = one.program
    require_timing(program, timing)
    memory = Payload.random(one, seed=0).memory(program.config)
    predicted = quick_run(program, memory, timing)
    if predicted is None:
        return candidate, Kept(one, None)
    # Without a trace it is no run that anybody else could use.
    exact = predicted if isinstance(predicted, ExactPrediction) else None
    if not predicted.finished:
        raise InvalidInput(f"{candidate.schedule.algorithm} does not finish")
    found = Candidate(candidate.schedule, predicted.cycles, predicted=True)
    return found, Kept(one, exact)
