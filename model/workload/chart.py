"""Charts: what each rank does from cycle to cycle, of a workload on a machine, or of a chip."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .workload import KINDS

COMPUTE, WAIT = "compute", "wait"
"""Kinds of bars beside those of calls."""


class Bar(NamedTuple):
    """A span of cycles of a rank, with the name and the kind of what the rank does.

    ``about`` has the facts of its call.
    """

    rank: int
    begin: int
    end: int
    name: str
    kind: str
    about: Mapping[str, object] = {}


@dataclass(frozen=True)
class Chart:
    """The bars of all ranks on one machine, in the order in which each rank's bars begin.

    ``cycles`` is the cycle in which all have ended.
    """

    machine: str
    ranks: int
    cycles: int
    bars: Sequence[Bar] = field(repr=False)

    @property
    def kinds(self) -> list[str]:
        """The kinds of bars except computation: those of calls, then waiting."""
        found = {bar.kind for bar in self.bars}
        return [kind for kind in (*KINDS, WAIT) if kind in found]
