"""Schedules of all algorithms for ``eyecast compare``, each of all nodes or of the same groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from ..model.base.errors import InvalidInput, one_of, with_article
from ..model.collectives.group_choice import Grouping
from ..model.collectives.registry import algorithms_for
from ..model.collectives.request import Ports, Request
from ..model.compare.side_by_side import Entry, SideBySide
from ..model.network.topology import Topology
from ..model.network.words import SizeLimit
from ..model.schedule.schedule import Schedule
from ..model.schedule.table import CUSTOM
from .console import progress
from .options.collective import (
    all_port_served,
    chosen_flits,
    chosen_request,
    chosen_root,
    with_block_words,
)
from .options.groups import chosen_groups, schedule_of_groups
from .options.network import chosen_topology
from .options.output import require_seen
from .options.values import OptionValues

Makers = Mapping[str, Callable[[], Schedule]]
"""Makers of schedules, by the names of their algorithms."""


class Subject(NamedTuple):
    """Options of a comparison, and what is in the files that they name, each of them read once.

    ``grouping`` is None where there is one collective of all nodes.
    """

    chosen: OptionValues
    topology: Topology
    grouping: Grouping | None

    def of_length(self, flits: int) -> Subject:
        """The same with messages of so many flits."""
        return self._replace(chosen={**self.chosen, "flits": flits})


def chosen_subject(chosen: OptionValues, limit: SizeLimit, report: str | None = None) -> Subject:
    """Read what the options name; refused if the network is too large, or for its ``report``."""
    topology = chosen_topology(chosen, limit)
    require_seen(report, topology)
    chosen = with_block_words(chosen)
    grouping = None if chosen["group"] is None else chosen_groups(chosen, topology)
    return Subject(chosen, topology, grouping)


def made_side_by_side(subject: Subject) -> SideBySide:
    """Make and prove the schedules of all algorithms; refused where none serves the network."""
    chosen, topology, grouping = subject
    if grouping is None:
        comparison, makers = _of_all(chosen, topology)
    else:
        comparison, makers = _of_groups(chosen, grouping)
    entries, refusals = [], {}
    with progress("generating and checking", len(makers), shown=True) as (say, advance):
        for name, make in makers.items():
            say(f"generating and checking {name}")
            try:
                schedule = make()
            except InvalidInput as error:
                refusals[name] = str(error)
            else:
                # A schedule that breaks a rule is no network that is not served.
                schedule.check()
                entries.append(Entry(schedule))
            advance()
    if not entries:
        raise _unserved(chosen, comparison.request, refusals)
    return replace(comparison, entries=entries, refusals=refusals)


def _of_all(chosen: OptionValues, topology: Topology) -> tuple[SideBySide, Makers]:
    """One collective of all nodes."""
    request = chosen_request(chosen, topology, chosen_root(chosen, topology))
    if request.source in topology.faulty_nodes:
        raise InvalidInput.of("--source", "a node that is not faulty", chosen["source"])
    makers = {
        algorithm.name: lambda algorithm=algorithm: algorithm.generate(request)
        for algorithm in algorithms_for(chosen["collective"])
    }
    return SideBySide(chosen["collective"], request, (), {}), makers


def _of_groups(chosen: OptionValues, grouping: Grouping) -> tuple[SideBySide, Makers]:
    """Collectives of groups: one algorithm for all that name none."""
    topology = grouping.topology
    if not grouping.algorithms:
        allowed = "groups of which at least one names no algorithm, to be compared"
        raise InvalidInput.of("--group", allowed, chosen["group"])

    def made(name: str) -> Schedule:
        schedule = schedule_of_groups({**chosen, "algorithm": name}, grouping)
        return replace(schedule, algorithm=name)

    collectives = grouping.collectives
    request = Request(
        topology=topology,
        words=chosen_flits(chosen),
        source=None if chosen["source"] is None else chosen_root(chosen, topology),
        all_port=chosen["ports"] == Ports.ALL,
        operator=chosen["operator"],
        block_words=chosen["block_words"],
    )
    comparison = SideBySide(
        collectives.pop() if len(collectives) == 1 else f"{CUSTOM} collective",
        request,
        (),
        {},
        groups=chosen["group"],
        alike=all(group.words is None and group.block_words is None for group in grouping.groups),
    )
    return comparison, {name: lambda name=name: made(name) for name in grouping.algorithms}


def _unserved(chosen: OptionValues, request: Request, refusals: Mapping[str, str]) -> InvalidInput:
    """The refusal of a network, or of groups, that no algorithm serves."""
    network = with_article(request.topology.label)
    if chosen["group"] is not None:
        name, why = next(iter(refusals.items()))
        return InvalidInput(f"no algorithm serves all groups: {name} does not, as {why}")
    if request.all_port:
        served = all_port_served(request, chosen["collective"])
        return InvalidInput(f"--ports all must be left out on {network}: {served}")
    served = one_of(refusals)
    return InvalidInput.of("network to compare on", f"one that {served} serves", network)
