"""Schedules of the registered algorithms."""

from typing import Any

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.network.topology import Topology
from eyecast.model.schedule.schedule import Schedule


def generated(collective: str, algorithm: str, topology: Topology, **asked: Any) -> Schedule:
    """Return the schedule of an algorithm for the request with the fields ``asked``."""
    return find_algorithm(collective, algorithm).generate(Request(topology=topology, **asked))
