"""Algorithms side by side on one network: measures of each, and why the others do not serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..base.errors import with_article
from ..base.texts import counted_range
from ..collectives.notes import origin_name
from ..collectives.shown_bounds import least_counts, schedule_bound
from ..collectives.task import Task
from ..network.config import TIMINGS, Timing
from ..network.node_names import node_coordinates
from ..network.port_model import PortModel
from ..papers.costs.tables import COLLECTIVES, find_costs
from ..schedule.cost import ScheduleCost, count_cost, message_words
from ..schedule.schedule import Schedule

if TYPE_CHECKING:
    from ..bounds.cycles import CycleBound
    from .case import Case
    from .checks import Verification


@dataclass(frozen=True)
class Entry:
    """Measures of one algorithm.

    Attributes
    ----------
    schedule
        The algorithm's schedule.
    cycles
        Predicted cycles, by timing.
    refusals
        The reason why a timing has no cycles, by timing.
    cases
        The finished predictions, by timing; empty if they are not kept.
    verified
        Comparisons with hardware runs, by timing; empty without runs.
    """

    schedule: Schedule
    cycles: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    cases: dict[str, Case] = field(default_factory=dict)
    verified: dict[str, Verification] = field(default_factory=dict)

    def note(self, case: Case, *, keep: bool = False) -> None:
        """Record the prediction of the schedule with one timing; ``keep`` its case."""
        predicted = case.predicted
        if predicted.finished:
            self.cycles[case.timing] = predicted.cycles
            if keep:
                self.cases[case.timing] = case
        else:
            self.refusals[case.timing] = f"does not finish: stopped after {predicted.cycles} cycles"

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return self.schedule.algorithm

    @property
    def label(self) -> str:
        """The name and, unless it is all working nodes, the number of nodes served."""
        working = self.schedule.topology.working_nodes.size
        served = working - len(self.schedule.unserved)
        return self.name if served == working else f"{self.name}, {served} of {working} nodes"

    @property
    def busiest_link(self) -> int:
        """The most sends, or trees of sends, that cross one directed link, over all steps."""
        links = self.schedule.links[self.schedule.crossings]
        return int(np.unique(links, return_counts=True)[1].max(initial=0))

    @cached_property
    def bound(self) -> CycleBound:
        """Lower bound on the cycles of any schedule for the same promise with the same ports."""
        return schedule_bound(self.schedule, min(self.cycles.values(), default=None))

    @property
    def least(self) -> dict[str, int]:
        """Lower bounds on steps, TCD and cycles for the nodes that the schedule serves."""
        return {**least_counts(self.schedule), "cycles": self.bound.value}

    @cached_property
    def cost(self) -> ScheduleCost:
        """Start-ups and words on the critical path, counted in the schedule."""
        return count_cost(self.schedule)

    @cached_property
    def formula(self) -> tuple[str, int, float] | None:
        """Start-ups and words by Johnsson & Ho's formula, after the formula's place in their paper.

        The size of a packet is that of the schedule's largest send. None if the network is no
        hypercube, for unequal blocks, and if no row of their tables has this algorithm.
        """
        topology = self.schedule.topology
        if topology.kind != "hypercube" or self.schedule.collective not in COLLECTIVES:
            return None
        model = self.schedule.port_model
        ports = {PortModel.ALL_PORT: "n-port", PortModel.EXCHANGE: "one-port"}.get(model, model)
        words = message_words(self.schedule)
        if words is None:
            return None
        packet = int(self.cost.words_per_step.max(initial=1))
        for cost in find_costs(self.schedule.collective, ports):
            n = len(topology.dims)
            if cost.graph == self.name and n >= cost.least_dimension:
                start_ups = int(cost.start_ups(n, words, packet))
                return cost.place, start_ups, float(cost.transferred(n, words, packet))
        return None

    @property
    def agrees(self) -> bool:
        """True if the hardware agreed with the prediction in every timing that was run."""
        return all(result.agrees for result in self.verified.values())

    def to_json(self) -> dict[str, object]:
        """Return the measures as JSON values."""
        return {
            "algorithm": self.name,
            "steps": self.schedule.steps,
            "tcd": self.schedule.tcd,
            "unserved": self.schedule.unserved,
            "least": self.least,
            "cycles": self.cycles,
            "busiest_link": self.busiest_link,
            "start_ups": self.cost.start_ups(),
            "words": self.cost.transferred,
            "formula": None if self.formula is None else list(self.formula),
            "refusals": self.refusals,
            "hardware": {timing: result.to_json() for timing, result in self.verified.items()},
        }


@dataclass(frozen=True)
class SideBySide:
    """The algorithms that serve a task, and by name the reasons why others do not.

    ``circuits`` tells whether the network has circuits.
    """

    task: Task
    entries: Sequence[Entry]
    refusals: Mapping[str, str]
    circuits: bool = False

    @property
    def cases(self) -> list[Case]:
        """The finished predictions of all entries."""
        return [case for entry in self.entries for case in entry.cases.values()]

    @property
    def title(self) -> str:
        """Collective, message, root, operator, network and groups in one line."""
        task = self.task
        origin = origin_name(task.topology, task.title, task.source)
        combined = f" by {task.combining}" if task.combining else ""
        groups = "" if task.groups is None else f", in groups: {task.groups.name}"
        network = with_article(task.topology.label) + (" with circuits" if self.circuits else "")
        what = f"{task.title.capitalize()}s"
        return f"{what}{self._message}{origin}{combined} on {network}{groups}"

    @property
    def cycle_columns(self) -> dict[Timing, str]:
        """The names of the columns of cycles, by timing; one on circuits, which have no steps."""
        if self.circuits:
            return {Timing.BARRIER: "cycles"}
        return {timing: f"cycles, {timing}" for timing in TIMINGS}

    @property
    def _message(self) -> str:
        """The length of the message, or of all blocks: " of 1 word", " of 0 to 16 words"."""
        groups = () if self.task.groups is None else self.task.groups.groups
        if any(group.words is not None or group.block_words is not None for group in groups):
            return ""
        given = self.task.block_words
        words = [self.task.block_length] if given is None else np.ravel(np.array(given)).tolist()
        return f" of {counted_range(words, 'word')}"

    @property
    def least(self) -> dict[str, int]:
        """Lower bounds on steps, TCD and cycles, for the most nodes that any algorithm serves.

        Each is the lowest over the algorithms that serve this many nodes: their port models differ.
        """
        unserved = [len(entry.schedule.unserved) for entry in self.entries]
        bounds = [
            entry.least
            for entry, count in zip(self.entries, unserved, strict=True)
            if count == min(unserved)
        ]
        return {
            name: min(bound[name] for bound in bounds)
            for name in bounds[0]
            if all(name in bound for bound in bounds)
        }

    @property
    def winners(self) -> list[str]:
        """The labels of the algorithms with the fewest cycles, of those that serve most nodes."""
        most = min((len(entry.schedule.unserved) for entry in self.entries), default=0)
        cycles = {
            entry.label: min(entry.cycles.values())
            for entry in self.entries
            if entry.cycles and len(entry.schedule.unserved) == most
        }
        return [label for label, each in cycles.items() if each == min(cycles.values())]

    def to_json(self) -> dict[str, object]:
        """Return the whole table as JSON values."""
        task = self.task
        return {
            "collective": task.title,
            "source": node_coordinates(task.topology, task.source),
            "words": task.block_length if task.block_words is None else None,
            "block_words": task.block_words,
            "group": None if task.groups is None else task.groups.name,
            **({"operator": task.combining} if task.combining else {}),
            "least": self.least,
            "algorithms": [entry.to_json() for entry in self.entries],
            "not_serving": self.refusals,
        }
