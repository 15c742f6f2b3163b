"""Topologies: any directed graph as a table of neighbours, and constructors for the named kinds.

A node has numbered ports. Port 0 is the node's own (injection and ejection); on a grid, port
``1 + 2*i`` leads up axis *i* (to the larger coordinate) and port ``2 + 2*i`` down it::

                      port 4                  node = x + width*y
                        |                     x grows along port 1, y along port 3
             port 2 --[node]-- port 1
                        |
                      port 3
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .errors import InvalidInput, require_range

NO_LINK = -1
LARGEST_NODE_COUNT = 1 << 28


@dataclass(frozen=True, eq=False)
class Topology:
    """A network's nodes and directed links.

    ``neighbor[node, port]`` is the node at the far end of the link that leaves ``node`` by ``port``
    and ``peer[node, port]`` the port by which that link enters it; both are -1 where there is no
    link, and in column 0. Shapes (nodes, ports), dtype int32. ``dims`` holds the side lengths of a
    grid, axis 0 first.
    """

    kind: str
    dims: tuple[int, ...]
    neighbor: npt.NDArray[np.int32]
    peer: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        for table in (self.neighbor, self.peer):
            table.setflags(write=False)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.neighbor.shape[0])

    @property
    def ports(self) -> int:
        """Number of ports of every node, port 0 included."""
        return int(self.neighbor.shape[1])

    @property
    def label(self) -> str:
        """The network as a person writes it: "8x8 mesh"."""
        return "x".join(str(side) for side in self.dims) + f" {self.kind}"

    @cached_property
    def longest_run(self) -> int:
        """The most links that one route segment (one port, many hops) can cover; at least 1."""
        longest = 1
        for port in range(1, self.ports):
            runs = 0
            here = np.flatnonzero(self.neighbor[:, port] != NO_LINK)
            while here.size and runs < self.nodes - 1:
                runs += 1
                here = self.neighbor[here, port]
                here = np.unique(here[self.neighbor[here, port] != NO_LINK])
            longest = max(longest, runs)
        return longest

    def coordinates(self, nodes: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Grid coordinates of ``nodes``: shape (..., axes), axis 0 first."""
        return np.stack(np.unravel_index(np.asarray(nodes), self.dims, order="F"), axis=-1)

    def node_at(self, coordinates: tuple[int, ...], parameter: str = "source") -> int:
        """The number of the node at ``coordinates``; refused, naming ``parameter``, if outside."""
        inside = len(coordinates) == len(self.dims) and all(
            0 <= c < side for c, side in zip(coordinates, self.dims, strict=True)
        )
        if not inside:
            corner = ",".join(str(side - 1) for side in self.dims)
            origin = ",".join("0" for _ in self.dims)
            given = ",".join(str(c) for c in coordinates)
            raise InvalidInput.of(
                parameter, f"a node of the {self.label}, {origin} to {corner}", given
            )
        return int(np.ravel_multi_index(coordinates, self.dims, order="F"))

    def ports_between(
        self, sources: npt.NDArray[np.integer], targets: npt.NDArray[np.integer]
    ) -> npt.NDArray[np.int8]:
        """Port of the link from each source to each target, -1 where there is none."""
        found = np.full(sources.shape, NO_LINK, dtype=np.int8)
        for port in range(self.ports - 1, 0, -1):
            found[self.neighbor[sources, port] == targets] = port
        return found


def mesh(dims: tuple[int, ...]) -> Topology:
    """A mesh with the given side lengths, axis 0 first; each at least 1.

    >>> mesh((3, 2)).neighbor[0].tolist()
    [-1, 1, -1, 3, -1]
    """
    if not dims:
        raise InvalidInput.of("mesh", "sides such as 8x8", "without sides")
    text = "x".join(str(side) for side in dims)
    nodes = 1
    for side in dims:
        require_range(f"side of mesh {text}", side, 1)
        nodes *= side
    if nodes > LARGEST_NODE_COUNT:
        raise InvalidInput.of(f"nodes of mesh {text}", f"at most {LARGEST_NODE_COUNT}", nodes)
    neighbor = np.full((nodes, 1 + 2 * len(dims)), NO_LINK, dtype=np.int32)
    peer = np.full_like(neighbor, NO_LINK)
    numbers = np.arange(nodes, dtype=np.int32).reshape(dims, order="F")
    for axis in range(len(dims)):
        up, down = 1 + 2 * axis, 2 + 2 * axis
        low = np.moveaxis(numbers, axis, 0)[:-1].ravel()
        high = np.moveaxis(numbers, axis, 0)[1:].ravel()
        neighbor[low, up], peer[low, up] = high, down
        neighbor[high, down], peer[high, down] = low, up
    return Topology("mesh", tuple(dims), neighbor, peer)
