"""Notes on a schedule from its algorithm, found by the schedule's algorithm name."""

from __future__ import annotations

from ..schedule.blocks import CUSTOM
from ..schedule.collective import COLLECTIVES
from ..schedule.schedule import Schedule
from .algorithm import Algorithm
from .registry import ALGORITHMS


def _algorithm_of(schedule: Schedule) -> Algorithm | None:
    """Return the algorithm that made ``schedule``, by its name; None if the name is unknown."""
    names = [(schedule.collective, schedule.algorithm)]
    if schedule.collective == CUSTOM:
        names = [(collective, schedule.algorithm) for collective in COLLECTIVES]
    for algorithm in ALGORITHMS:
        if (algorithm.collective, algorithm.name) in names:
            return algorithm
    return None


def landmarks(schedule: Schedule) -> tuple[int, ...]:
    """Return the nodes that a picture of ``schedule`` marks.

    Empty if the algorithm is unknown, or if it marks all nodes, as on a torus.
    """
    algorithm = _algorithm_of(schedule)
    marked = () if algorithm is None else algorithm.landmarks(schedule.topology)
    return () if len(marked) == schedule.topology.nodes else marked


def upper_bounds(schedule: Schedule) -> dict[str, int]:
    """Return upper bounds on measures of ``schedule`` from its algorithm's paper, by name."""
    algorithm = _algorithm_of(schedule)
    return {} if algorithm is None else algorithm.most(schedule.topology)


def left_out(schedule: Schedule) -> str:
    """Return a text on the working nodes that get nothing, and why; empty if there are none."""
    if not schedule.unserved:
        return ""
    algorithm = _algorithm_of(schedule)
    why = algorithm.leaves_out if algorithm is not None else ""
    working = schedule.topology.working_nodes.size
    return (
        f"{len(schedule.unserved)} of {working} working nodes get nothing: "
        f"{why or 'the schedule owes them nothing'}"
    )
