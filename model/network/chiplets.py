"""Grids of chiplets: a mesh whose links between chiplets are long and slow.

::

    ┌─────────┐  latency 8,  ┌─────────┐       --chiplets 2x1 --chiplet 2x2
    │ 0 ─── 1 │═════════════ │ 2 ─── 3 │       --between latency=8,rate=4
    │ │     │ │   rate 4     │ │     │ │
    │ 4 ─── 5 │═════════════ │ 6 ─── 7 │       a 4x2 mesh
    └─────────┘              └─────────┘

docs/router.md, section 24, says what registers and rate of a link do.
"""

from dataclasses import replace

import numpy as np

from ..base.errors import InvalidInput, require_range
from .topology import LONGEST_RATE, MOST_LINK_REGISTERS, NO_LINK, UNSAID, Topology, mesh

BETWEEN = ("latency", "rate")
"""Parameters of the links between chiplets."""


def chiplets(
    count: tuple[int, ...], chiplet: tuple[int, ...], *, latency: int = 1, rate: int = 1
) -> Topology:
    """Return a mesh of ``count`` chiplets, each a mesh of the sides ``chiplet``.

    A flit takes ``latency`` cycles from a chiplet to the next, its router's cycle included, and a
    link between chiplets carries a flit every ``rate`` cycles. Of the other links nothing is said.
    Raises :class:`.InvalidInput` for sides of other lengths or numbers out of range.
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
