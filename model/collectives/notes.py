"""Notes on a schedule from its algorithm, which is found by its name."""

from __future__ import annotations

from ..schedule.collective import COLLECTIVES
from ..schedule.schedule import Schedule
from ..schedule.table import CUSTOM
from .algorithm import Algorithm
from .registry import ALGORITHMS


def _algorithm_of(schedule: Schedule) -> Algorithm | None:
    """Find the algorithm that made ``schedule``, by its name; None where that is not ours."""
    names = [(schedule.collective, schedule.algorithm)]
    if schedule.collective == CUSTOM:
        names = [(collective, schedule.algorithm) for collective in COLLECTIVES]
    for algorithm in ALGORITHMS:
        if (algorithm.collective, algorithm.name) in names:
            return algorithm
    return None


def landmarks(schedule: Schedule) -> tuple[int, ...]:
    """The nodes that a picture of ``schedule`` marks; none where its algorithm is not ours.

    Nor any where all are alike, as on a torus.
    """
    algorithm = _algorithm_of(schedule)
    marked = () if algorithm is None else algorithm.landmarks(schedule.topology)
    return () if len(marked) == schedule.topology.nodes else marked


def upper_bounds(schedule: Schedule) -> dict[str, int]:
    """Upper bounds on measures of ``schedule`` from its algorithm's paper, by name."""
    algorithm = _algorithm_of(schedule)
    return {} if algorithm is None else algorithm.most(schedule.topology)


def left_out(schedule: Schedule) -> str:
    """Words on the working nodes that ``schedule`` gives nothing, and why; none if all get it."""
    if not schedule.unserved:
        return ""
    algorithm = _algorithm_of(schedule)
    why = algorithm.leaves_out if algorithm is not None else ""
    working = schedule.topology.working_nodes.size
    return (
        f"{len(schedule.unserved)} of {working} working nodes get nothing: "
        f"{why or 'the schedule owes them nothing'}"
    )
