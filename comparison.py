"""Algorithms side by side on one network: what is known of each, and why some are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .console import place_name
from .model.bounds import least_broadcast_steps, least_broadcast_tcd
from .model.schedule import Schedule
from .model.topology import Topology

if TYPE_CHECKING:
    from .sim.verify import Verification


@dataclass(frozen=True)
class Entry:
    """What is known of one algorithm.

    ``cycles`` is what the cycle model says, by timing; a timing that is not there is in
    ``refusals`` with the reason. ``verified`` is what the hardware did, where it was asked.
    """

    schedule: Schedule
    cycles: dict[str, int] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    verified: dict[str, Verification] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return self.schedule.algorithm

    @property
    def busiest_link(self) -> int:
        """The most sends that cross one directed link, over all steps."""
        return int(np.unique(self.schedule.links, return_counts=True)[1].max(initial=0))

    @property
    def agrees(self) -> bool:
        """Whether the hardware did what the model says, in every timing that it was asked for."""
        return all(result.agrees for result in self.verified.values())

    def to_json(self) -> dict[str, object]:
        """What is known, as JSON values."""
        return {
            "algorithm": self.name,
            "steps": self.schedule.steps,
            "tcd": self.schedule.tcd,
            "cycles": self.cycles,
            "busiest_link": self.busiest_link,
            "refusals": self.refusals,
            "hardware": {timing: result.to_json() for timing, result in self.verified.items()},
        }


@dataclass(frozen=True)
class Comparison:
    """The algorithms that serve a network, and why the others do not, by name."""

    topology: Topology
    source: int
    flits: int
    entries: Sequence[Entry]
    refusals: Mapping[str, str]

    @property
    def title(self) -> str:
        """One line on what is compared."""
        origin = place_name(self.topology, self.source)
        message = "1 flit" if self.flits == 1 else f"{self.flits} flits"
        return f"{self.topology.label}, broadcasts of {message} from {origin}"

    @property
    def least(self) -> dict[str, int]:
        """Lower bounds on steps and TCD, for the nodes that are served: faulty ones are not."""
        nodes = self.entries[0].schedule.blocks.served(self.topology.nodes)
        return {"steps": least_broadcast_steps(nodes), "tcd": least_broadcast_tcd(nodes)}

    def to_json(self) -> dict[str, object]:
        """The whole table, as JSON values."""
        return {
            "network": self.topology.label,
            "source": self.topology.coordinates(self.source).tolist(),
            "flits": self.flits,
            "least": self.least,
            "algorithms": [entry.to_json() for entry in self.entries],
            "not_serving": self.refusals,
        }
