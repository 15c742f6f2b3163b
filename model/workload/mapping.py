"""Mappings of ranks to nodes: row by row, of a file, or with little traffic over distance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.errors import InvalidInput
from ..base.files import InputFile, input_name
from ..bounds.hops import hops_from
from .workload import Workload

ROWS, BEST = "rows", "best"


def mapped(workload: Workload, mapping: str) -> Workload:
    """Return the checked workload with its ranks on other nodes.

    ``mapping`` is ``rows``, which keeps rank r on the r-th working node; ``best``; or the name of a
    file with the node of each rank, apart by blanks or line ends.
    """
    if mapping == ROWS:
        return workload
    nodes = best_nodes(workload) if mapping == BEST else _nodes_of_file(workload, mapping)
    moved = workload.on(nodes)
    moved.check()
    return moved


def _nodes_of_file(workload: Workload, name: str) -> list[int]:
    """Return the nodes that a file lists."""
    file = InputFile.read(name)
    words = file.content.split()
    if len(words) != workload.ranks:
        allowed = f"{workload.ranks}, one for each rank"
        raise InvalidInput.of(f"nodes of {input_name(file)}", allowed, len(words))
    for word in words:
        if not word.isdigit() or len(word) > _DIGITS:
            text = word.decode(errors="replace")
            raise InvalidInput.of(f"{input_name(file)}: node", "a number", repr(text))
    return [int(word) for word in words]


_DIGITS = 8


def best_nodes(workload: Workload) -> list[int]:
    """Return nodes for all ranks such that no exchange of two nodes has less traffic x distance.

    A call's words count for each pair of its ranks, divided by the pairs of a rank. The search
    begins with the ranks where they are, and then with drawn places; the least result counts.
    """
    working = workload.topology.working_nodes.tolist()
    nodes = workload.nodes.tolist()
    nodes += sorted({*working} - {*nodes})
    words = np.zeros((len(nodes), len(nodes)))
    for call in workload.calls:
        words[np.ix_(call.ranks, call.ranks)] += call.words / (len(call.ranks) - 1)
    np.fill_diagonal(words, 0)
    distance = hops_from(workload.topology, np.array(nodes))[:, nodes].astype(float)
    # Where links lead only one way, both directions count.
    distance += distance.T
    draw = np.random.default_rng(0)
    starts = [np.arange(len(nodes))]
    starts += [draw.permutation(len(nodes)) for _ in range(_PLACES // len(nodes))]
    found = [_exchanged(words, distance, start) for start in starts]
    costs = [float((words * distance[np.ix_(each, each)]).sum()) for each in found]
    least = found[int(np.argmin(costs))]
    return [nodes[place] for place in least[: workload.ranks].tolist()]


_PLACES = 1024
"""Nodes of all drawn starts together."""


def _exchanged(
    words: npt.NDArray[np.float64], distance: npt.NDArray[np.float64], places: Numbers
) -> Numbers:
    """Exchange places, the pair with the largest gain first, until no exchange gains."""
    places = places.copy()
    while True:
        there = distance[np.ix_(places, places)]
        at = words @ there
        own = np.diag(at)
        change = at + at.T - own[:, np.newaxis] - own + 2 * words * there
        one, other = np.unravel_index(int(change.argmin()), change.shape)
        if change[one, other] > -_LEAST_GAIN:
            return places
        places[[one, other]] = places[[other, one]]


_LEAST_GAIN = 1e-6
"""Words x hops that an exchange must save, so that rounding never turns the search in a circle."""
