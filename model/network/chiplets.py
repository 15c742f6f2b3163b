"""Grids of chiplets: a mesh whose links between chiplets are long and slow.

::

    ┌─────────┐  latency 8,  ┌─────────┐       --chiplets 2x1 --chiplet 2x2
    │ 0 ─── 1 │═════════════ │ 2 ─── 3 │       --between latency=8,rate=4
    │ │     │ │   rate 4     │ │     │ │
    │ 4 ─── 5 │═════════════ │ 6 ─── 7 │       a 4x2 mesh
    └─────────┘              └─────────┘

docs/router.md, section 24, says what registers and rate of a link do.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..base.errors import InvalidInput, require_range
from .topology import LONGEST_RATE, MOST_LINK_REGISTERS, NO_LINK, UNSAID, Topology, mesh

BETWEEN = ("latency", "rate")
"""Parameters of the links between chiplets."""


def chiplets(
    count: Sequence[int], chiplet: Sequence[int], latency: int = 1, rate: int = 1
) -> Topology:
    """Return a mesh of chiplets, whose links between chiplets are long and slow.

    Parameters
    ----------
    count, chiplet
        Number of chiplets on each axis, and number of nodes of a chiplet on each axis.
    latency
        Cycles that a flit takes from a chiplet to the next, 1 to 64.
    rate
        Least cycles between two flits of a link between chiplets, 1 to 63.

    Returns
    -------
    Topology
        The network: a mesh whose ``link_registers_of`` and ``link_rate_of`` say which links differ.

    Raises
    ------
    InvalidInput
        If ``count`` and ``chiplet`` have different lengths, or a number is out of range.

    Examples
    --------
    >>> chiplets((2, 1), (2, 2), latency=8, rate=4).link_rate_of[1].tolist()
    [-1, 4, -1, -1, -1]
    """
    if len(count) != len(chiplet):
        raise InvalidInput.of("axes of chiplet", str(len(count)), len(chiplet))
    require_range("latency between chiplets", latency, 1, MOST_LINK_REGISTERS + 1)
    require_range("rate between chiplets", rate, 1, LONGEST_RATE)
    grid = mesh(tuple(many * side for many, side in zip(count, chiplet, strict=True)))
    of_node = grid.coordinates(np.arange(grid.nodes)) // np.array(chiplet)
    ends = np.where(grid.neighbor == NO_LINK, 0, grid.neighbor)
    between = (of_node[:, np.newaxis] != of_node[ends]).any(axis=-1)
    return replace(
        grid,
        link_registers_of=np.where(between, latency - 1, UNSAID),
        link_rate_of=np.where(between, rate, UNSAID),
    )


def between_of(text: str, parameter: str) -> dict[str, int]:
    """Return latency and rate of a text such as "latency=8,rate=4".

    Raises :class:`.InvalidInput`, which names ``parameter``, for any other text.
    """
    values: dict[str, int] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name not in BETWEEN or name in values or not (value.isascii() and value.isdigit()):
            raise InvalidInput.of(parameter, "numbers such as latency=8,rate=4", text)
        values[name] = int(value)
    return values
