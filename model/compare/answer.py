"""Answers to tasks: the schedule and, if the best was asked for, its candidates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..collectives.declared.request import Request
from ..collectives.task import Task
from ..network.config import Timing
from ..program.certified import Room
from ..schedule.schedule import Schedule

if TYPE_CHECKING:
    from .best import Choice, KeptRun


class Answer(NamedTuple):
    """A schedule, and the choices of the best by group number; key None for all nodes."""

    schedule: Schedule
    choices: Mapping[int | None, Choice] = {}

    @property
    def kept(self) -> KeptRun | None:
        """The chosen schedule as compiled and run during the choice; None without a choice."""
        return self.choices[None].kept if None in self.choices else None

    def facts(self) -> dict[str, object]:
        """Return the choices as JSON values under "best"; empty without a choice."""
        if None in self.choices:
            return {"best": self.choices[None].to_json()}
        groups = [{"group": place, **each.to_json()} for place, each in self.choices.items()]
        return {"best": groups} if groups else {}


def answer(
    task: Task,
    algorithm: str,
    room: Room,
    *,
    timing: Timing = Timing.BARRIER,
    seconds: float | None = None,
    advise: bool = True,
) -> Answer:
    """Make and prove the schedule of an algorithm, or the best one for the network of ``room``.

    The best has the fewest cycles with ``timing``. After ``seconds`` no further algorithm is tried.
    Other arguments and errors are those of :meth:`.Task.schedule`.
    """
    choices: dict[int | None, Choice] = {}

    def choose(collective: str, request: Request, number: int | None) -> Schedule:
        # Import late: it loads the compiled cycle model, and most refusals come before.
        from .best import choose_best  # noqa: PLC0415

        choices[number] = choose_best(
            collective,
            request,
            room.compile_one,
            timing=timing,
            seconds=seconds,
            circuits=bool(room.parameters.get("circuits")),
        )
        return choices[number].schedule

    return Answer(task.schedule(algorithm, choose, advise=advise), choices)
