"""The schedules of all algorithms that serve a collective on a network."""

from collections.abc import Iterator
from typing import Any

from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.network.topology import Topology
from eyecast.model.schedule.collective import Collective
from eyecast.model.schedule.schedule import Schedule


def every_schedule(
    topology: Topology,
    collective: str,
    *,
    source: int = 1,
    targets: tuple[int, ...] = (2,),
    **parts: Any,
) -> Iterator[Schedule]:
    """Generate the schedule of each algorithm that serves a request.

    ``source`` is the root of a collective that has one, ``targets`` are those of a multicast, and
    ``parts`` are further parts of the request.
    """
    request = Request(
        topology=topology,
        source=source if Collective(collective).rooted else None,
        targets=targets if collective == Collective.MULTICAST else None,
        **parts,
    )
    for algorithm in algorithms_for(collective):
        try:
            yield algorithm.generate(request)
        except InvalidInput:
            continue
