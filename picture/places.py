r"""Places of nodes in a drawing. Lengths are in cells, and as in the papers y grows down.

::

    4x4 mesh      x     3x2x2 mesh  z=0      z=1     tree      0         other      3  2
             0 1 2 3             x 0 1 2   0 1 2             / | \       graphs    4      1
        y 0  o o o o          y 0  o o o   o o o            1  2  3       up to   5        0
          1  o o o o            1  o o o   o o o              / \\       32 nodes  6      9
          2  o o o o       axes 0, 2, 4 ... run to the        4   5                 7  8
          3  o o o o       right, 1, 3, 5 ... downwards       levels                circle

A grid is tiles within tiles: axes 0 and 1 inside a tile, axes 2 and 3 from tile to tile, and so on;
a hypercube is a grid whose sides are 2. A ring is a circle, and trees are drawn in levels below
their centre. Any other graph is a circle in the order of its numbers, or, where that would be too
large, a lattice on which nodes lie as in its spectral drawing (Hall 1970: by two eigenvectors of
its Laplacian), but not on top of each other. A host lies beside the network that it is attached to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ..model.base.errors import InvalidInput
from ..model.network.attached_host import HostedTopology
from ..model.network.topology import NO_LINK, Topology

LARGEST_SIDE = 64
"""Longest side of a line, a ring, or a 2-D grid that is drawn; larger ones are illegible."""

LARGEST_NETWORK = 1024
"""Most nodes of any other network that is drawn."""

LARGEST_TREE = 128
"""Most leaves, and most levels, of a tree that is drawn."""

MOST_LINKS = 1 << 14
"""Most links of a network that are drawn; both ways of a link count once."""

_MOST_ON_A_CIRCLE = 32
_MARGIN, _STUB, _TILE_GAP, _CHANNEL = 0.5, 0.75, 0.6, 0.85
_ON_A_CIRCLE, _ON_A_LATTICE, _NAMED = 1.3, 1.6, 0.7

Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """One axis of a grid, nested in one direction of a drawing.

    ``pitch`` is the distance of two neighbours along the axis, ``extent`` the distance from the
    first to the last node of a tile of this level, ``reach`` how far links may be drawn beyond
    these nodes.
    """

    axis: int
    side: int
    wrapped: bool
    pitch: float
    extent: float
    reach: float


@dataclass(frozen=True)
class Ruler:
    """Coordinates of one axis, above a drawing (direction 0) or at its left (direction 1).

    ``level`` 0 is next to the drawing. ``at`` has the position of each of ``texts`` along the
    drawing.
    """

    direction: int
    level: int
    name: str
    at: list[float]
    texts: list[str]


@dataclass(frozen=True)
class Places:
    """Places of nodes: ``points``, x and y of each, shape (nodes, 2), in cells.

    The drawing lies between ``low`` and ``high``. If all links run along the axes of a grid,
    ``nesting`` has the levels in each of the two directions, innermost first, and ``coordinates``
    those of the nodes, shape (nodes, axes). Without rulers, ``names`` (text, x, y) stand beside the
    nodes.
    """

    points: Points
    low: Points
    high: Points
    rulers: tuple[Ruler, ...] = ()
    names: Mapping[int, str] = field(default_factory=dict)
    nesting: tuple[tuple[Level, ...], ...] = ()
    coordinates: npt.NDArray[np.int64] | None = None

    @property
    def is_plain(self) -> bool:
        """True if all links are one cell long, as in a line or a 2-D mesh."""
        levels = [level for levels in self.nesting for level in levels]
        straight = 0 < len(levels) <= 2 and not any(level.wrapped for level in levels)
        return (
            straight and self.coordinates is not None and len(self.coordinates) == len(self.points)
        )

    @classmethod
    def of(cls, topology: Topology) -> Places:
        """Place the nodes of ``topology``; faults change nothing.

        Raises :class:`InvalidInput` for a network that is too large to draw.
        """
        require_drawable(topology)
        if isinstance(topology, HostedTopology):
            return _with_host(cls.of(topology.network), topology)
        if topology.dims and not _is_round(topology):
            return _grid(topology)
        if _is_round(topology):
            return _named(_circle_points(topology.nodes))
        whole = topology.without_faults or topology
        pairs = link_pairs(whole)
        if len(pairs) == whole.nodes - 1 and (levels := _levels(whole.nodes, pairs)):
            return _named(tree_points(*levels))
        if whole.nodes <= _MOST_ON_A_CIRCLE:
            return _named(_circle_points(whole.nodes))
        return _named(_spectral_points(whole.nodes, pairs))


def _is_round(topology: Topology) -> bool:
    """Tell whether a network is a ring, which is drawn as a circle from three nodes on."""
    return topology.kind == "ring" and topology.nodes > 2


def require_drawable(topology: Topology) -> None:
    """Raise :class:`InvalidInput` if ``topology`` is too large to draw."""
    if 0 < len(topology.dims) <= 2:
        if max(topology.dims) > LARGEST_SIDE:
            sides = "x".join(str(side) for side in topology.dims)
            parameter = f"sides of a drawn {topology.kind}"
            raise InvalidInput.of(parameter, f"at most {LARGEST_SIDE}", sides)
    elif topology.nodes - isinstance(topology, HostedTopology) > LARGEST_NETWORK:
        allowed = f"at most {LARGEST_NETWORK}"
        raise InvalidInput.of("nodes of a drawn network", allowed, topology.nodes)
    links = len(link_pairs(topology))
    if links > MOST_LINKS:
        raise InvalidInput.of("links of a drawn network", f"at most {MOST_LINKS}", links)


def link_pairs(topology: Topology) -> npt.NDArray[np.int64]:
    """Return the two nodes of every link, the lower first, in order: shape (links, 2).

    Parallel links and the two ways of a link count once.
    """
    nodes, ports = np.nonzero(topology.neighbor != NO_LINK)
    ends = np.sort(np.stack((nodes, topology.neighbor[nodes, ports]), axis=1), axis=1)
    return np.unique(ends, axis=0)


def _grid(topology: Topology) -> Places:
    """Return the places of a grid, tiles within tiles."""
    coordinates = topology.coordinates(np.arange(topology.nodes))
    nesting = tuple(_levels_along(topology, direction) for direction in (0, 1))
    points = np.zeros((topology.nodes, 2))
    low, high = np.full(2, -_MARGIN), np.full(2, _MARGIN)
    for direction, levels in enumerate(nesting):
        for level in levels:
            points[:, direction] += coordinates[:, level.axis] * level.pitch
        if levels:
            low[direction], high[direction] = (
                -levels[-1].reach,
                levels[-1].extent + levels[-1].reach,
            )
        if len(levels) > 1:
            # Links between tiles run above the rows and right of the columns.
            low[1] = min(low[1], -_CHANNEL) if direction == 0 else low[1]
    if len(nesting[1]) > 1:
        high[0] = max(high[0], nesting[0][-1].extent + _CHANNEL)
    rulers = [ruler for d, levels in enumerate(nesting) for ruler in _rulers(topology, d, levels)]
    along = _follows_axes(topology, coordinates)
    return Places(points, low, high, tuple(rulers), {}, nesting if along else (), coordinates)


def _levels_along(topology: Topology, direction: int) -> tuple[Level, ...]:
    """Return the axes of a grid that run in one direction, innermost first."""
    levels: list[Level] = []
    pitch, extent, reach = 1.0, 0.0, _MARGIN
    for axis in range(direction, len(topology.dims), 2):
        extent += (topology.dims[axis] - 1) * pitch
        wrapped = axis in topology.wrapped
        if wrapped:
            # Outer stubs are longer, so that they end beyond those of inner tiles.
            reach = _STUB + 0.25 * len(levels)
        levels.append(Level(axis, topology.dims[axis], wrapped, pitch, extent, reach))
        pitch = extent + 2 * reach + _TILE_GAP * len(levels)
    return tuple(levels)


def _rulers(topology: Topology, direction: int, levels: tuple[Level, ...]) -> list[Ruler]:
    """Return the coordinates along one direction; the innermost axis has one for every node."""
    rulers = []
    starts = np.zeros(1)
    for number in reversed(range(len(levels))):
        level = levels[number]
        name = _axis_name(topology, level.axis)
        step = 1 if level.side <= 16 or number else 4
        values = np.arange(0, level.side, step)
        firsts = (starts[:, None] + values * level.pitch).ravel()
        middle = levels[number - 1].extent / 2 if number else 0.0
        texts = [f"{name} = {value}" if number else str(value) for value in values]
        at = (firsts + middle).tolist()
        rulers.append(Ruler(direction, number, name, at, texts * len(starts)))
        starts = firsts
    # Only a line has no axis in this direction.
    return rulers or [Ruler(direction, 0, "xy"[direction], [0.0], ["0"])]


def _axis_name(topology: Topology, axis: int) -> str:
    if topology.kind == "hypercube":
        return f"bit {axis}"
    return "xyzw"[axis] if len(topology.dims) <= 4 else f"axis {axis}"


def _follows_axes(topology: Topology, coordinates: npt.NDArray[np.int64]) -> bool:
    """Return whether every link joins neighbours on one axis, or its two ends by a wrap."""
    pairs = link_pairs(topology)
    away = np.abs(np.diff(coordinates[pairs], axis=1)).reshape(-1, len(topology.dims))
    for axis in topology.wrapped:
        away[(away[:, axis] == topology.dims[axis] - 1), axis] = 1
    return bool((away.sum(axis=1) == 1).all())


def _named(points: Points) -> Places:
    """Return nodes at ``points``, with their numbers beside them."""
    points = points - points.min(axis=0)
    names = {node: str(node) for node in range(len(points))}
    return Places(points, np.full(2, -_NAMED), points.max(axis=0) + _NAMED, names=names)


def _levels(nodes: int, pairs: npt.NDArray[np.int64]) -> tuple[list[int], list[int]] | None:
    """Return the nodes of a tree from its centre outwards, and their parents (-1: the centre).

    The centre is the node whose farthest node is nearest; of two such nodes the lower one. None if
    not all nodes are joined.
    """
    beside: list[list[int]] = [[] for _ in range(nodes)]
    for low, high in pairs.tolist():
        beside[low].append(high)
        beside[high].append(low)

    def outwards(root: int) -> tuple[list[int], list[int]]:
        order, parents = [root], [NO_LINK] * nodes
        for node in order:
            for child in beside[node]:
                if child != parents[node]:
                    parents[child] = node
                    order.append(child)
        return order, parents

    order, _ = outwards(0)
    if len(order) < nodes:
        return None
    # The middle of a longest path: from any node to a farthest one, and from there again.
    order, parents = outwards(order[-1])
    path = [order[-1]]
    while parents[path[-1]] != NO_LINK:
        path.append(parents[path[-1]])
    return outwards(min(path[(len(path) - 1) // 2], path[len(path) // 2]))


def tree_points(order: list[int], parents: list[int]) -> Points:
    """Return tree places: levels from top to bottom, each node above the middle of its children."""
    depth, children = np.zeros(len(order)), [[] for _ in order]  # type: tuple[Points, list[list[int]]]
    for node in order[1:]:
        depth[node] = depth[parents[node]] + 1
        children[parents[node]].append(node)
    across = np.zeros(len(order))
    leaves, ahead = 0, [order[0]]
    while ahead:
        node = ahead.pop()
        if not children[node]:
            across[node] = leaves
            leaves += 1
        ahead += reversed(children[node])
    for node in reversed(order):
        if children[node]:
            across[node] = (across[children[node][0]] + across[children[node][-1]]) / 2
    levels = int(depth.max()) + 1
    if max(leaves, levels) > LARGEST_TREE:
        allowed = f"at most {LARGEST_TREE}x{LARGEST_TREE}"
        raise InvalidInput.of("leaves and levels of a drawn tree", allowed, f"{leaves}x{levels}")
    # A wide tree must also be tall, otherwise its links would overlap.
    height = max(1.2, leaves / (2 * levels))
    return np.stack((1.2 * across, height * depth), axis=1)


def _circle_points(nodes: int) -> Points:
    """Return places on a circle, node 0 on top, clockwise."""
    radius = max(1.0, _ON_A_CIRCLE * nodes / (2 * np.pi)) if nodes > 1 else 0.0
    angle = 2 * np.pi * np.arange(nodes) / nodes
    return radius * np.stack((np.sin(angle), -np.cos(angle)), axis=1)


def _spectral_points(nodes: int, pairs: npt.NDArray[np.int64]) -> Points:
    """Return the lattice with the shortest links, filled in the order of the spectral drawing."""
    laplacian = np.zeros((nodes, nodes))
    laplacian[pairs[:, 0], pairs[:, 1]] = laplacian[pairs[:, 1], pairs[:, 0]] = -1
    # The last term separates eigenvalues that symmetry makes equal; otherwise their vectors are
    # arbitrary.
    np.fill_diagonal(laplacian, -laplacian.sum(axis=1) + 1e-4 * np.arange(nodes) / nodes)
    x, y = np.linalg.eigh(laplacian)[1][:, 1:3].T
    x, y = (axis * np.sign(axis[np.abs(axis).argmax()]) for axis in (x, y))
    about = int(np.sqrt(nodes))
    lattices = [
        _lattice(x, y, columns, shift)
        for columns in range(about // 2, 2 * about + 1)
        for shift in (0.0, 0.5)
    ]
    lengths = [np.hypot(*np.diff(points[pairs], axis=1)[:, 0].T).sum() for points in lattices]
    return _ON_A_LATTICE * lattices[int(np.argmin(np.round(lengths, 6)))]


def _lattice(x: Points, y: Points, columns: int, shift: float) -> Points:
    """Return nodes in ``columns`` by x, from the top by y; every other column is lower."""
    points = np.zeros((len(x), 2))
    rows = -(-len(x) // columns)
    from_left = np.argsort(x, kind="stable")
    for column, first in enumerate(range(0, len(x), rows)):
        members = from_left[first : first + rows]
        points[members[np.argsort(y[members], kind="stable")], 1] = np.arange(len(members))
        points[members] += (column, column % 2 * shift)
    return points


def _with_host(places: Places, topology: HostedTopology) -> Places:
    """Add the host in the middle above its network, or below if coordinates are above."""
    away = max(1.0, 0.12 * (places.high - places.low)[0])
    x = places.points[:, 0].mean()
    low, high = places.low.copy(), places.high.copy()
    if places.rulers:
        y = high[1] = high[1] + away
        high[1] += _MARGIN
    else:
        y = low[1] = low[1] - away
        low[1] -= _MARGIN
    points = np.vstack((places.points, (x, y)))
    names = {**places.names, topology.host: "host"}
    return replace(places, points=points, low=low, high=high, names=names)
