r"""Drawing of links: straight if possible, otherwise as stubs, arcs or bows.

::

      o--o--o        -o--o--o-         .--------.             ___
      |  |  |                       o--o  o--o  |  o--o      /   \
      o--o--o      stubs: a link    |  |  |  |  '--|--|     o--o--o
                   leaves on one    o--o  o--o     o--o
    in a tile,     side and                                 a bow past a node that a straight
    straight       enters on the    from tile to tile, an   link would run under
                   other side       arc between two rows

Arcs between the same rows that would overlap have different heights: *tracks*.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from ..model.network.topology import NO_LINK, Topology
from .places import Level, Places, Points, link_pairs

_CHANNEL = (0.32, 0.74)
"""Distance of arcs from their row: clear of the nodes of this row and of the next."""

_STEEPNESS, _RISE, _STUB_GAP = np.radians(30), 0.45, 0.05
_STRAIGHT_SHARE, _TRACK_SHARE = 0.31, 0.8
_CLEARANCE, _FAR, _OWN, _RASTER = 0.4, 0.5, 0.6, 0.05
_BOWS = (0.0, 0.4, 0.8, 1.2, 1.8, 2.6, 3.6)
_ARC_POINTS, _BOW_POINTS = 9, 33
_WAYS, _NEAR = 24, 0.5

_Arc = tuple[int, tuple[int, ...], bool]
"""An arc in one direction: level, coordinates of its lower end, and whether it is a wrap link."""


@dataclass(frozen=True)
class Line:
    """The middle of a link from begin to end: one curve, or two stubs; points (n, 2) each.

    Lanes beside it have ``share`` of the width that lanes have beside a straight link.
    """

    curves: tuple[Points, ...]
    share: float = 1.0


class Lines:
    """Curves of the links of ``topology``, its nodes at ``places``."""

    def __init__(self, topology: Topology, places: Places) -> None:
        self._topology = topology
        self._points = places.points
        self._nesting = places.nesting
        self._coordinates = [] if places.coordinates is None else places.coordinates.tolist()
        self._tracks = [_tracks(levels) for levels in places.nesting]
        pairs = link_pairs(topology)
        if places.nesting:
            # For a grid with a host, only the links of the host.
            pairs = pairs[pairs[:, 1] >= len(self._coordinates)]
        self._bows = _bows(places.points, pairs)

    def all(self) -> list[Points]:
        """Return the curves of all links; both ways and parallel links share one."""
        return self.some(self._topology.neighbor != NO_LINK)

    def some(self, chosen: npt.NDArray[np.bool_]) -> list[Points]:
        """Return the curves of the links ``chosen``, shape (nodes, ports), as :meth:`all`."""
        nodes, ports = np.nonzero(chosen)
        ends = self._topology.neighbor[nodes, ports]
        links = {
            (min(begin, end), max(begin, end), self._is_wrap(begin, end, port))
            for begin, end, port in zip(nodes.tolist(), ends.tolist(), ports.tolist(), strict=True)
        }
        return [curve for link in sorted(links) for curve in self._line(*link).curves]

    def between(self, begin: int, end: int) -> Line:
        """Return the link of a path from ``begin`` to ``end``, in that direction."""
        port = self._topology.ports_between(np.array([begin]), np.array([end]))
        return self.leaving(begin, int(port[0]))

    def leaving(self, node: int, port: int) -> Line:
        """Return the link that leaves ``node`` by ``port``, in that direction."""
        end = int(self._topology.neighbor[node, port])
        return self._line(node, end, self._is_wrap(node, end, port))

    def free_way(self, node: int) -> Points:
        """Return the unit vector from ``node`` that is farthest from all its links."""
        angles = np.linspace(-np.pi / 4, 7 * np.pi / 4, _WAYS, endpoint=False)
        ways = np.stack((np.cos(angles), np.sin(angles)), axis=1)
        ends = np.unique(self._topology.neighbor[node][self._topology.neighbor[node] != NO_LINK])
        curves = [self._line(node, end, False).curves[0] for end in ends.tolist()]
        begins = np.array([shorten(curve, _NEAR, 0)[0] - curve[0] for curve in curves])
        begins = begins.reshape(-1, 2) / _NEAR
        nearest = (ways @ begins.T).max(axis=1, initial=-1)
        free: Points = ways[np.argmin(np.round(nearest, 6))]
        return free

    def _axis(self, begin: int, end: int) -> tuple[int, int, int] | None:
        """Return direction and level of the axis that links two nodes, and the step along it."""
        if not self._nesting or (min(begin, end), max(begin, end)) in self._bows:
            return None
        steps = [
            b - a for a, b in zip(self._coordinates[begin], self._coordinates[end], strict=True)
        ]
        axis = next(axis for axis, step in enumerate(steps) if step)
        return axis % 2, axis // 2, steps[axis]

    def _is_wrap(self, begin: int, end: int, port: int) -> bool:
        """Return whether the link by ``port`` wraps round the end of an axis."""
        found = self._axis(begin, end)
        if found is None:
            return False
        direction, level, step = found
        on = self._nesting[direction][level]
        # On an axis of two nodes both links join the same nodes: the ports tell them apart.
        round_two = on.side == 2 and (step < 0) == (port == 1 + 2 * on.axis)
        return on.wrapped and (abs(step) > 1 or round_two)

    def _line(self, begin: int, end: int, wrap: bool) -> Line:
        ends = self._points[[begin, end]]
        found = self._axis(begin, end)
        if found is None:
            bow = self._bows.get((min(begin, end), max(begin, end)), 0.0)
            return Line((_bow(ends, bow if begin < end else -bow) if bow else ends,))
        direction, number, step = found
        if not number and not wrap:
            return Line((ends,))
        # A wrap link upwards leaves above the highest coordinate.
        ahead = np.eye(2)[direction] * np.sign(-step if wrap else step)
        if not number:
            out = ahead * (self._nesting[direction][0].reach - _STUB_GAP)
            return Line((np.stack((ends[0], ends[0] + out)), np.stack((ends[1] - out, ends[1]))))
        return self._arc(begin, end, direction, number, ahead, wrap)

    def _arc(
        self, begin: int, end: int, direction: int, number: int, ahead: Points, wrap: bool
    ) -> Line:
        """Return a link between tiles, which leaves its begin in the direction ``ahead``."""
        level = self._nesting[direction][number]
        tracks, count = self._tracks[direction]
        place = tuple(min(self._coordinates[begin], self._coordinates[end])[direction::2])
        lowest, highest = _CHANNEL
        height = lowest + (highest - lowest) * (tracks[number, place, wrap] + 0.5) / count
        share = min(1.0, _TRACK_SHARE * (highest - lowest) / count / _STRAIGHT_SHARE)
        # Above the row, or right of the column.
        aside = np.array(((0.0, -1.0), (1.0, 0.0)))[direction]
        angle = _STEEPNESS / number
        first = self._points[begin] + _rise(height, angle, ahead, aside)
        last = (self._points[end] + _rise(height, angle, -ahead, aside))[::-1]
        if not wrap:
            return Line((np.vstack((first, last)),), share)
        base = self._points[begin, direction] - self._within(begin, direction, number)
        reach = level.reach - _STUB_GAP
        edges = (base - reach, base + level.extent + reach)
        leave, enter = first[-1].copy(), last[0].copy()
        up = bool(ahead[direction] > 0)
        leave[direction], enter[direction] = edges[up], edges[not up]
        return Line((np.vstack((first, leave)), np.vstack((enter, last))), share)

    def _within(self, node: int, direction: int, number: int) -> float:
        """Return the distance of a node from the first node of its tile of level ``number``."""
        levels = self._nesting[direction][: number + 1]
        return float(sum(self._coordinates[node][each.axis] * each.pitch for each in levels))


def _rise(height: float, angle: float, ahead: Points, aside: Points) -> Points:
    """Return the rise from a node to an arc's full height: points relative to the node."""
    lean = height * np.tan(angle)
    control, end = lean * ahead + height * aside, (lean + _RISE) * ahead + height * aside
    t = np.linspace(0, 1, _ARC_POINTS)[:, None]
    curve: Points = 2 * t * (1 - t) * control + t**2 * end
    return curve


def _tracks(levels: tuple[Level, ...]) -> tuple[dict[_Arc, int], int]:
    """Return the track of every arc in one direction, and the number of tracks.

    Short arcs are nearest their row. An arc takes the first track on which it meets no other.
    """
    arcs: list[tuple[float, list[tuple[float, float]], _Arc]] = []
    for place in product(*(range(level.side) for level in levels)):
        at = sum(c * level.pitch for c, level in zip(place, levels, strict=True))
        for number, level in list(enumerate(levels))[1:]:
            within = sum(
                c * each.pitch for c, each in zip(place[: number + 1], levels, strict=False)
            )
            if place[number] + 1 < level.side:
                arcs.append((level.pitch, [(at, at + level.pitch)], (number, place, False)))
            if level.wrapped and place[number] == 0:
                low, high = at - within - level.reach, at - within + level.extent + level.reach
                last = at + (level.side - 1) * level.pitch
                spans = [(low, at), (last, high)]
                arcs.append((at - low + high - last, spans, (number, place, True)))
    tracks: dict[_Arc, int] = {}
    taken: list[list[tuple[float, float]]] = []
    for _, spans, arc in sorted(arcs):
        free = (
            track
            for track, others in enumerate(taken)
            if all(end <= a or begin >= b for begin, end in spans for a, b in others)
        )
        track = next(free, len(taken))
        if track == len(taken):
            taken.append([])
        taken[track] += spans
        tracks[arc] = track
    return tracks, max(1, len(taken))


def _bow(ends: Points, height: float, points: int = _BOW_POINTS) -> Points:
    """Return a bow between two ends; its middle is ``height`` right of the straight line."""
    way = ends[1] - ends[0]
    control = ends.mean(axis=0) + 2 * height * np.array((-way[1], way[0])) / np.hypot(*way)
    t = np.linspace(0, 1, points)[:, None]
    curve: Points = (1 - t) ** 2 * ends[0] + 2 * t * (1 - t) * control + t**2 * ends[1]
    return curve


def _bows(points: Points, pairs: npt.NDArray[np.int64]) -> dict[tuple[int, int], float]:
    """Return the least bend of each link that clears all other nodes.

    If no bend is enough, return the bend that leaves the most space.
    """
    heights = [sign * height for height in _BOWS for sign in ((1, -1) if height else (1,))]
    best, room = np.zeros(len(pairs)), np.full(len(pairs), -1.0)
    near = _Nearest(points)
    for height in heights:
        for link in np.flatnonzero(room < _CLEARANCE):
            found = near.to(points[pairs[link]], height)
            if found > room[link]:
                best[link], room[link] = height, found
    return {(low, high): best[link] for link, (low, high) in enumerate(pairs.tolist())}


class _Nearest:
    """Distance from every raster point to the nearest node, at most ``_FAR``, to half a cell.

    Nodes are at least one cell apart, so only points at least about one cell from both ends of a
    link matter.
    """

    def __init__(self, points: Points) -> None:
        margin = _FAR + max(_BOWS) + 1
        self._corner = points.min(axis=0) - margin
        shape = np.ceil((np.ptp(points, axis=0) + 2 * margin) / _RASTER).astype(int) + 1
        self._distance = np.full(tuple(shape), _FAR)
        reach = int(_FAR / _RASTER) + 1
        around = np.stack(np.meshgrid(*2 * [np.arange(-reach, reach + 1)], indexing="ij"), axis=-1)
        for point in points:
            at = np.round((point - self._corner) / _RASTER).astype(int) + around
            away = np.hypot(*np.moveaxis(self._corner + at * _RASTER - point, -1, 0))
            np.minimum.at(self._distance, (at[..., 0], at[..., 1]), away)

    def to(self, ends: Points, height: float) -> float:
        """Return the distance of a link with this bend from the nearest node except its ends."""
        length = float(np.hypot(*(ends[1] - ends[0]))) + 2 * abs(height)
        curve = _bow(ends, height, int(length / _RASTER) + 2)
        away = np.hypot(*np.moveaxis(curve[:, None] - ends, -1, 0)).min(axis=1)
        x, y = np.round((curve[away > _OWN] - self._corner) / _RASTER).astype(int).T
        return float(self._distance[x, y].min(initial=_FAR))


def beside(curve: Points, lane: float) -> Points:
    """Return the curve moved by ``lane`` to the right of its direction (down if it runs right)."""
    ways = np.diff(curve, axis=0)
    ways /= np.hypot(*ways.T)[:, None]
    normals = np.stack((-ways[:, 1], ways[:, 0]), axis=1)
    normals = np.vstack((normals[:1], (normals[:-1] + normals[1:]) / 2, normals[-1:]))
    across = curve[-1] - curve[0]
    toward = across[0] - across[1]
    turned = toward < -1e-9 or (abs(toward) <= 1e-9 and across[1] > 0)
    return curve + (-lane if turned else lane) * normals


def is_straight_on(before: Points, after: Points) -> bool:
    """Return whether a path from one curve to the next has no corner."""
    ways = [way / np.hypot(*way) for way in (before[-1] - before[-2], after[1] - after[0])]
    return bool(np.dot(*ways) > 1 - 1e-6)


def meet(before: Points, after: Points) -> tuple[Points, Points]:
    """Return both curves, with the end of one and the begin of the other moved to their crossing.

    Nearly parallel curves meet in the middle between their ends.
    """
    way, other = before[-1] - before[-2], after[1] - after[0]
    gap = after[0] - before[-1]
    turn = way[0] * other[1] - way[1] * other[0]
    corner = (before[-1] + after[0]) / 2
    if abs(turn) > 0.5 * np.hypot(*way) * np.hypot(*other):
        corner = before[-1] + way * (gap[0] * other[1] - gap[1] * other[0]) / turn
    return np.vstack((before[:-1], corner)), np.vstack((corner, after[1:]))


def shorten(curve: Points, begin: float, end: float) -> Points:
    """Return the curve without its first ``begin`` and its last ``end`` cells of length."""
    lengths = np.hypot(*np.diff(curve, axis=0).T)
    at = np.concatenate(([0.0], np.cumsum(lengths)))
    cuts = [begin, max(begin, at[-1] - end)]
    inner = curve[(at > cuts[0] + 1e-9) & (at < cuts[1] - 1e-9)]
    ends = np.stack([np.interp(cuts, at, axis) for axis in curve.T], axis=1)
    return np.vstack((ends[:1], inner, ends[1:]))
