"""Limits of size: one table for all algorithms, asked before any part of a schedule is made.

They keep a schedule, its proof and its program to a few gigabytes and a minute or two. A limit
counts the working nodes unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..base.errors import InvalidInput
from ..schedule.collective import Collective
from .circuits.light_trees import MOST_NODES as MOST_IN_TREES
from .declared.algorithm import Declared
from .declared.request import Request
from .streaming.combs import LARGEST, teeth
from .streaming.rings import turns_in_windows

Names = tuple[str, ...]

_FOR_ALL = (Collective.ALL_GATHER, Collective.REDUCE_SCATTER, Collective.ALL_REDUCE)
"""Collectives with a block of each node for all; an all-reduce that keeps whole has none."""
_REDUCING = (Collective.REDUCE_SCATTER, Collective.ALL_REDUCE)
_RINGS = ("ring", "stream-ring")
"""Algorithms whose tables have few runs of blocks, which loops prove if all are reduced."""
_AT_ROOT = (Collective.SCATTER, Collective.GATHER)
LONGEST_RING = 256
"""Most nodes of a ring in large grids: each node of a ring sends once in each of its steps."""


def _nodes(request: Request) -> int:
    """Count the working nodes."""
    return len(request.topology.working_nodes)


def _everywhere(_request: Request) -> bool:
    return True


@dataclass(frozen=True)
class Limit:
    """The most nodes of some algorithms.

    ``algorithms`` and ``collectives`` are empty for all; ``others`` are algorithms with limits of
    their own. ``size`` counts what ``counted`` names.
    The limit holds for requests with ``where``; ``beside`` says which these are.
    """

    most: int
    algorithms: Names = ()
    collectives: tuple[Collective, ...] = ()
    counted: str = "nodes"
    size: Callable[[Request], int] = _nodes
    where: Callable[[Request], bool] = _everywhere
    beside: str = ""
    others: Names = ()

    def require(self, algorithm: Declared, request: Request) -> None:
        """Raise :class:`.InvalidInput` if ``request`` is too large for ``algorithm``."""
        whole = algorithm.keeps_whole and algorithm.collective == Collective.ALL_REDUCE
        concerned = (
            algorithm.name in (self.algorithms or (algorithm.name,))
            and algorithm.name not in self.others
            and algorithm.collective in (self.collectives or (algorithm.collective,))
            and not (whole and self.collectives)
        )
        if not (concerned and self.where(request) and self.size(request) > self.most):
            return
        name, helps = algorithm.name, "another algorithm"
        if not self.algorithms:
            name, helps = algorithm.collective, f"{algorithm.collective} in groups"
        allowed = f"at most {self.most}{self.beside} ({helps}, or a smaller network, helps)"
        raise InvalidInput.of(f"{self.counted} for {name}", allowed, self.size(request))


def _passed(request: Request) -> bool:
    """Return whether some nodes only pass words on."""
    topology, targets = request.topology, request.targets
    return bool(topology.switches) or (
        targets is not None and len({*targets, request.root}) < len(topology.working_nodes)
    )


LIMITS = (
    Limit(1 << 12, (), _FOR_ALL, others=_RINGS),
    Limit(1 << 12, _RINGS, (Collective.ALL_GATHER,)),
    Limit(1 << 14, _RINGS, _REDUCING),
    Limit(1 << 11, (), (Collective.ALL_TO_ALL,)),
    Limit(512, ("direct", "ring", "recursive-doubling", "hierarchy"), (Collective.ALL_TO_ALL,)),
    Limit(256, ("row-column",)),
    Limit(16, ("gossip",)),
    Limit(1 << 11, ("direct", "ring", "recursive-doubling"), _AT_ROOT),
    Limit(512, ("packed-chains",)),
    Limit(
        1 << 11,
        ("recursive-doubling", "recursive-halving", "circulant", "trivance"),
        _FOR_ALL,
    ),
    Limit(1 << 11, ("rings",), (Collective.ALL_GATHER,)),
    Limit(
        1 << 11,
        ("ring", "rings"),
        _FOR_ALL,
        where=lambda request: max(request.topology.dims, default=0) > LONGEST_RING,
        beside=f" where a side is longer than {LONGEST_RING}",
    ),
    Limit(
        1 << 10,
        ("ring",),
        _FOR_ALL,
        where=lambda request: not request.topology.whole_grid,
        beside=" where there are no axes",
    ),
    Limit(
        1 << 10,
        ("stream-ring",),
        (Collective.ALL_REDUCE,),
        where=lambda request: request.words < _nodes(request),
        beside=" unless words are as many",
    ),
    Limit(
        1 << 10,
        ("stream-ring",),
        where=lambda request: (
            request.block_words is not None or not turns_in_windows(request.topology, request.words)
        ),
        beside=" unless sides and words are powers of two",
    ),
    Limit(1 << 11, ("trivance-whole",)),
    Limit(1 << 12, ("hillis-steele", "brent-kung")),
    Limit(
        LARGEST,
        ("combs",),
        counted="nodes times the longer side",
        size=lambda request: request.topology.nodes * teeth(request.topology),
    ),
    Limit(1 << 12, ("overlapped",)),
    Limit(
        128,
        ("packed-trees", "greedy", "paced"),
        size=lambda request: request.topology.nodes,
        where=_passed,
        beside=" where some only pass words on",
    ),
    Limit(128, ("light-ring",)),
    Limit(MOST_IN_TREES, ("joining-tree",)),
    Limit(
        MOST_IN_TREES,
        ("light-tree",),
        (Collective.MULTICAST,),
        counted="targets",
        size=lambda request: len({*(request.targets or ())} - {request.root}),
    ),
)


def require_size(algorithm: Declared, request: Request) -> None:
    """Raise :class:`.InvalidInput` for the first limit that ``request`` exceeds."""
    for limit in LIMITS:
        limit.require(algorithm, request)
