"""Collective points: a schedule is made, proved, compiled and predicted."""

from typing import Any

import numpy as np

from ..model.collectives.shown_bounds import least_counts
from ..model.collectives.task import Task
from ..model.compare.answer import answer
from ..model.compare.case import Case
from ..model.network.config import Timing
from ..model.network.network_text import node_in_words
from ..model.network.node_names import node_coordinates
from ..model.network.topology import Topology
from ..model.program.certified import Room, compile_certified
from ..model.run.run import Run
from ..model.schedule.collective import Collective
from ..model.schedule.schedule import Schedule
from .facts import given_parameters, run_facts
from .layout import DRAWN
from .networks import topology_of

RESULTS = {
    "root": str,
    "steps": int,
    "least_steps": int,
    "tcd": int,
    "least_tcd": int,
    "least_cycles": int,
    "sends": int,
    "links_used": int,
    "largest_link_load": int,
}
"""Columns of the table that only collectives have, besides the keys of their grids."""


def prepare(values: dict[str, Any]) -> Case:
    """Make the schedule of a point, and predict it.

    Raises :class:`.InvalidInput` if the algorithm does not serve the network, if the network's
    limits are too small, and if routes may deadlock.
    """
    compiled = compile_certified(_schedule(values), given_parameters(values))
    # Use the same payload seed as every command.
    return Case.of(compiled, timing=Timing.named(values["timing"]), seed=0)


def results(case: Case, run: Run) -> dict[str, Any]:
    """Measure a run and its schedule."""
    schedule = case.schedule
    least = least_counts(schedule)
    return {
        **run_facts(case.program.config, run),
        "root": _root(schedule),
        "steps": schedule.steps,
        "least_steps": least.get("steps"),
        "tcd": schedule.tcd,
        "least_tcd": least.get("tcd"),
        "least_cycles": case.bound.value,
        "sends": schedule.sends,
        "links_used": schedule.links_used,
        "largest_link_load": schedule.largest_link_load,
    }


def _schedule(values: dict[str, Any]) -> Schedule:
    """Make and prove a schedule."""
    topology = topology_of(values)
    barrier = values["collective"] == Collective.BARRIER
    task = Task(
        topology=topology,
        collective=values["collective"],
        source=_source(topology, values),
        targets=_targets(topology, values),
        words=None if barrier else values["words"],
        ports=values["ports"],
        operator=values["operator"],
    )
    return answer(task, values["algorithm"], Room(), advise=False).schedule


def _source(topology: Topology, values: dict[str, Any]) -> int | None:
    """Return the number of the source; a drawn source works and is the same for all algorithms."""
    if values["source"] is None:
        return None
    if values["source"] != DRAWN:
        return node_in_words(topology, values["source"], "source")
    # Use a sequence of random numbers that differs from that of the faults.
    return int(np.random.default_rng((values["seed"], 1)).choice(topology.working_nodes))


def _targets(topology: Topology, values: dict[str, Any]) -> tuple[int, ...] | None:
    if values["targets"] is None:
        return None
    return tuple(node_in_words(topology, text, "targets") for text in values["targets"].split())


def _root(schedule: Schedule) -> str | None:
    """Return the root in the form of an option: "3,4"."""
    place = node_coordinates(schedule.topology, schedule.root)
    return ",".join(map(str, place)) if isinstance(place, list) else place
