"""Routes as segments: straight parts of some hops by one port on one VC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..base.arrays import Numbers
from ..base.ragged import offsets_of


class Segment(NamedTuple):
    """One straight part of a route: leave by ``port`` for ``hops`` hops, on VC ``vc``."""

    port: int
    hops: int
    vc: int


@dataclass(frozen=True, eq=False)
class Routes:
    """Many routes as columns: route i has the segments ``first[i]`` to ``first[i + 1] - 1``.

    ``first`` has shape (routes + 1,); ``port``, ``hops`` and ``vc`` have shape (segments,). int64.
    """

    first: Numbers
    port: Numbers
    hops: Numbers
    vc: Numbers

    def __len__(self) -> int:
        """Return the number of routes."""
        return len(self.first) - 1

    def __getitem__(self, index: int) -> tuple[Segment, ...]:
        """Return one route."""
        here = slice(self.first[index], self.first[index + 1])
        columns = (column[here].tolist() for column in (self.port, self.hops, self.vc))
        return tuple(map(Segment, *columns))

    def __iter__(self) -> Iterator[tuple[Segment, ...]]:
        """Yield all routes in order."""
        return map(self.__getitem__, range(len(self)))

    @classmethod
    def of(cls, routes: Sequence[Sequence[Segment]]) -> Routes:
        """Make the columns from single routes."""
        segments = [segment for route in routes for segment in route]
        port, hops, vc = np.array(segments, dtype=np.int64).reshape(-1, 3).T.copy()
        return cls(offsets_of([len(route) for route in routes]), port, hops, vc)

    @property
    def distances(self) -> Numbers:
        """Hops of each route, shape (routes,)."""
        sums = offsets_of(self.hops)
        distances: Numbers = sums[self.first[1:]] - sums[self.first[:-1]]
        return distances
