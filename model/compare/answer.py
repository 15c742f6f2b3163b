"""Answers to tasks: the schedule and, if the best was asked for, its candidates."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from ..base.errors import InvalidInput
from ..base.notices import LOG
from ..collectives.declared.request import Request
from ..collectives.registry import find_algorithm
from ..collectives.task import BEST, MOST_NODES, Task
from ..network.config import Timing
from ..program.certified import Room
from ..schedule.collective import Collective
from ..schedule.duration import expected_cycles
from ..schedule.groups import share_nodes
from ..schedule.rules import ScheduleError
from ..schedule.schedule import Schedule
from .cycles import schedule_cycles

QUICKER = 1.5
"""A default that takes at least this many times the cycles of another algorithm is slow."""
QUICK = {False: "chain", True: "light-tree"}
"""The broadcast beside which the default is judged, by whether the network has circuits."""
MOST_TRIED = 1 << 10
"""Most nodes of a network in which that broadcast is made."""

if TYPE_CHECKING:
    from .best import Choice, KeptRun


class Answer(NamedTuple):
    """A schedule, and the choices of the best by group number.

    The key is None for all nodes, and for groups that share nodes, which are chosen together.
    """

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
    algorithm: str | None,
    room: Room,
    *,
    timing: Timing = Timing.BARRIER,
    seconds: float | None = None,
    advise: bool = True,
) -> Answer:
    """Make and prove the schedule of an algorithm, or the best one for the network of ``room``.

    None stands for the task's default, and logs a line if a much quicker one is known. The best
    has the fewest cycles with ``timing``. After ``seconds`` no further algorithm is tried.
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
            circuits=room.circuits,
        )
        return choices[number].schedule

    name = algorithm or task.usual_algorithm
    made = task.schedule(name, choose, advise=advise)
    if algorithm is None and name != BEST:
        _say_quicker(task, made, timing, circuits=room.circuits)
    if choices and share_nodes(task.members):
        # The groups take turns, so the best of one may be in the way of the others.
        chosen = _best_together(task, made, choices, room, timing, seconds)
        return Answer(chosen.schedule, {None: chosen})
    return Answer(made, choices)


def _best_together(
    task: Task,
    made: Schedule,
    choices: Mapping[int | None, Choice],
    room: Room,
    timing: Timing,
    seconds: float | None,
) -> Choice:
    """Return the best of ``made`` and of the schedules in which all groups use one algorithm.

    The algorithms are the candidates of the groups' own ``choices``.
    """
    from .best import choose_among  # noqa: PLC0415

    tried = [each.schedule.algorithm for choice in choices.values() for each in choice.candidates]
    schedules = [made]
    for name in dict.fromkeys(tried):
        if name == made.algorithm:
            continue
        try:
            schedules.append(answer(task, name, room, advise=False).schedule)
        except ScheduleError:
            # A broken rule is a bug of the algorithm, not a refusal of the groups.
            raise
        except InvalidInput:
            continue
    return choose_among(
        schedules, room.compile_one, timing=timing, seconds=seconds, circuits=room.circuits
    )


def _say_quicker(task: Task, made: Schedule, timing: Timing, *, circuits: bool) -> None:
    """Log a line if a usual algorithm is known to be slow, or was not compared with others.

    One other broadcast is tried, which takes a tenth of a second in a network of 1,024 nodes.
    """
    name, network = made.algorithm, made.topology
    if made.collective != Collective.BROADCAST:
        others = f"the algorithm best tries all, which takes long above {MOST_NODES} nodes"
        LOG.info("%s is the default, and may be slow: %s", name, others)
        return
    if network.nodes > MOST_TRIED or timing != Timing.BARRIER or task.packet is not None:
        return
    request = Request(topology=network, words=task.block_length, source=task.source)
    with suppress(InvalidInput):
        other = find_algorithm(made.collective, QUICK[circuits]).generate(request)
        slow, quick = (_about(each, circuits=circuits) for each in (made, other))
        if quick and slow >= QUICKER * quick:
            cycles = f"takes about {slow:,} cycles, {other.algorithm} about {quick:,}"
            LOG.info("%s, the default, %s: the algorithm best is the fastest", name, cycles)


def _about(schedule: Schedule, *, circuits: bool) -> int:
    """Estimate the cycles of a schedule with packets; count them with circuits, which is quick."""
    if circuits:
        return schedule_cycles(schedule, circuits=True).value
    return expected_cycles(schedule)
