"""Titles of schedules, and notes on a schedule from the algorithm that it names."""

import numpy as np

from ..base.errors import with_article
from ..base.texts import counted_range
from ..network.node_names import node_name
from ..network.port_model import PortModel
from ..network.topology import Topology
from ..schedule.blocks import CUSTOM
from ..schedule.collective import COLLECTIVES, Collective
from ..schedule.schedule import Schedule
from .algorithm import Algorithm
from .groups import SEVERAL
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


def first_choice(schedule: Schedule) -> str:
    """Return how the algorithm of ``schedule`` describes the root's first target; may be empty."""
    algorithm = _algorithm_of(schedule)
    return "" if algorithm is None else algorithm.first


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


def origin_name(topology: Topology, collective: str, root: int | None) -> str:
    """Return the root as part of a title, such as " from (1,0)"; empty without a root."""
    if root is None:
        return ""
    towards = collective in (Collective.GATHER, Collective.REDUCE)
    return f" {'to' if towards else 'from'} {node_name(topology, root)}"


def _words(schedule: Schedule) -> str:
    """Return the words of each requested block as part of a title; empty without requests."""
    requests = [each for each in schedule.requests if each.collective != Collective.BARRIER]
    words = [int(each) for request in requests for each in np.ravel(np.array(request.words))]
    return f" of {counted_range(words, 'word')}" if words else ""


def schedule_title(schedule: Schedule) -> str:
    """Return one line: collective, words, root, operators, network, algorithm, nodes left out."""
    origin = origin_name(schedule.topology, schedule.collective, schedule.root)
    what = "custom collective" if schedule.collective == CUSTOM else schedule.collective
    lack = left_out(schedule)
    names = dict.fromkeys(name for name in schedule.blocks.operator if name is not None)
    combined = f" by {' and '.join(names)}" if names else ""
    network = with_article(schedule.topology.label)
    ports = ", all ports" if schedule.port_model == PortModel.ALL_PORT else ""
    name = schedule.algorithm
    made = "several algorithms" if name == SEVERAL else f"algorithm {name}"
    title = f"{what.capitalize()}{_words(schedule)}{origin}{combined} on {network}{ports}, {made}"
    return f"{title} ({lack})" if lack else title
