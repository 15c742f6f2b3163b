"""One panel of a picture: a network, its nodes, and the sends as arrows along their paths.

Sends that share a link, in any steps, run side by side in *lanes*, like the lines of a metro map.
``picture/places.py`` places nodes, ``picture/links.py`` draws links. Lengths are in cells (the
distance of two neighbouring nodes) unless a name or comment says points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import FancyArrowPatch, PathPatch
from matplotlib.path import Path as Curve

from ..model.base.errors import require_range
from ..model.schedule.schedule import Schedule
from .links import Lines, beside, is_straight_on, meet, shorten
from .places import Places, Points
from .style import (
    DISABLED,
    EYE,
    EYE_LINE,
    EYE_WHITE,
    FAINT,
    FAULT,
    HOLDER,
    INK,
    LARGEST_NUMBERED_SIDE,
    LARGEST_NUMBERED_SPAN,
    QUIET,
    SLOW,
    SLOW_DASHES,
    STEPS,
    SWITCH_LINE,
    text_color,
)

_NODE_RADIUS, _BEND_RADIUS, _OUTERMOST_LANE = 0.2, 0.42, 0.155
_LINK_WIDTH, _LAST_WIDTH, _BAND_WIDTH = 0.02, 0.026, 0.3
_SWITCH_RADIUS, _SWITCH_WIDTH = 0.17, 0.035
_AROUND, _LONGEST = 0.3, 1440.0


class Arrows(NamedTuple):
    """The paths to draw as arrows, with a step for each.

    Path i is ``nodes[first[i]:first[i + 1]]``. Each send is one. In a schedule of trees each link
    of a tree is one instead, as the tree crosses it once.
    """

    step: npt.NDArray[np.integer]
    first: npt.NDArray[np.integer]
    nodes: npt.NDArray[np.integer]

    @classmethod
    def of(cls, schedule: Schedule) -> Arrows:
        """Return the paths of all sends, or the links of all trees."""
        if len(schedule.crossings) == schedule.hops:
            return cls(schedule.step, schedule.path_offsets, schedule.path_nodes)
        crossed = schedule.crossings
        begins, ends = schedule.hop_ends
        nodes = np.stack((begins[crossed], ends[crossed]), axis=1).ravel()
        step = schedule.step[schedule.hop_sends[crossed]]
        return cls(step, 2 * np.arange(len(step) + 1), nodes)

    def path(self, arrow: int) -> list[int]:
        """Return the nodes of a path."""
        nodes: list[int] = self.nodes[self.first[arrow] : self.first[arrow + 1]].tolist()
        return nodes


@dataclass(frozen=True)
class Drawing:
    """Data that all panels share; colours and widths are by step, step 1 first.

    ``reached`` is the first step in which a node receives; 0 if it never does or if all nodes are
    roots. ``differing`` are the links that differ in latency or rate. ``low`` and ``high`` are the
    corners of the drawing.
    """

    schedule: Schedule
    arrows: Arrows
    marked: Sequence[int]
    colors: list[str]
    widths: npt.NDArray[np.float64]
    places: Places
    lines: Lines
    links: list[Points]
    differing: list[Points]
    low: Points
    high: Points
    cell: float
    reached: npt.NDArray[np.int32]

    @classmethod
    def of(cls, schedule: Schedule, marked: Sequence[int]) -> Drawing:
        """Prepare the data that all panels of ``schedule`` share.

        Raises :class:`.InvalidInput` for a marked node outside the network, and for a network too
        large to draw.
        """
        topology = schedule.topology
        places = Places.of(topology)
        for node in marked:
            require_range("marked node", node, 0, topology.nodes - 1)
        lines = Lines(topology, places)
        links = lines.all()
        low, high = _corners(places, links)
        # A larger network gets a larger page, up to a limit.
        longest = max(high - low)
        cell = float(min(96.0, 180 / np.sqrt(longest), _LONGEST / longest))
        # From dark and bold to light and thin: the few long first sends stand out from the many
        # last ones. The lightest colours of the map would be invisible on white.
        shades = STEPS(np.linspace(0, 1, schedule.steps))
        bold = min(max(3.2 / cell, 0.045), 0.09)
        return cls(
            schedule=schedule,
            arrows=Arrows.of(schedule),
            marked=marked,
            colors=[mpl.colors.to_hex(shade) for shade in shades],
            widths=np.linspace(bold, _LAST_WIDTH, schedule.steps),
            places=places,
            lines=lines,
            links=links,
            differing=lines.some(topology.differing_links),
            low=low,
            high=high,
            cell=cell,
            reached=_reached(schedule),
        )

    @property
    def is_numbered(self) -> bool:
        """True if nodes show the number of the step in which they are reached."""
        span = max(self.high - self.low)
        largest = LARGEST_NUMBERED_SIDE if self.places.is_plain else LARGEST_NUMBERED_SPAN
        return bool(self.schedule.root is not None and span <= largest)

    @property
    def is_crowded(self) -> bool:
        """True if sends share links so often that arrows must be as thin as their lanes."""
        return self.schedule.root is None or not self.places.is_plain


def _corners(places: Places, links: list[Points]) -> tuple[Points, Points]:
    """Return the lowest and highest coordinates of a drawing, including bows."""
    drawn = np.vstack((places.points, *links))
    low = np.minimum(places.low, drawn.min(axis=0) - _AROUND)
    return low, np.maximum(places.high, drawn.max(axis=0) + _AROUND)


def _reached(schedule: Schedule) -> npt.NDArray[np.int32]:
    """Return the first step in which each node receives; all 0 if all nodes are roots."""
    reached = np.zeros(schedule.topology.nodes, dtype=np.int32)
    if schedule.root is not None:
        last_first = np.argsort(-schedule.step, kind="stable")
        reached[schedule.target[last_first]] = schedule.step[last_first]
    return reached


def draw_panel(axes: Axes, drawing: Drawing, cell: float, step: int | None) -> None:
    """Draw the network and the sends of ``step`` (None: all); a cell is ``cell`` points."""
    arrows, (low, high) = drawing.arrows, (drawing.low, drawing.high)
    axes.set(xlim=(low[0], high[0]), ylim=(high[1], low[1]), xticks=[], yticks=[])
    axes.patch.set_visible(False)
    axes.spines[:].set_visible(False)
    axes.add_collection(
        LineCollection(drawing.links, colors=FAINT, lw=_LINK_WIDTH * cell, zorder=1)
    )
    band = _BAND_WIDTH * cell
    axes.add_collection(
        LineCollection(drawing.differing, colors=SLOW, lw=band, ls=SLOW_DASHES, zorder=0.9)
    )
    for node in drawing.marked:
        eye = PathPatch(Curve(EYE.vertices + drawing.places.points[node], EYE.codes), zorder=2)
        eye.set(fc=EYE_WHITE, ec=EYE_LINE, lw=0.03 * cell)
        eye.set_gid(f"eye-{node}" if step is None else None)
        axes.add_patch(eye)
    every = len(arrows.step)
    drawn = np.arange(every) if step is None else np.flatnonzero(arrows.step == step)
    lanes, room = _lanes(arrows, drawn)
    for number, lane in lanes.items():
        arrow = _arrow(drawing, cell, number, lane, room)
        arrow.set_gid(f"send-{number}" if step is None else None)
        axes.add_patch(arrow)
    _draw_nodes(axes, drawing, cell, step)


def _arrow(drawing: Drawing, cell: float, number: int, lane: float, room: float) -> FancyArrowPatch:
    """Return the arrow with a number; ``room`` is the space for its line."""
    now = drawing.arrows.step[number] - 1
    curve, share = _curve(drawing, number, lane)
    line, head = max(drawing.widths[now] * cell, 0.8), 0.26 * cell
    if drawing.is_crowded:
        line = max(min(line, 0.7 * room * share * cell), 0.6)
        head *= min(1.0, 5 * room * share / _OUTERMOST_LANE)
    arrow = FancyArrowPatch(
        path=curve,
        arrowstyle="-|>,head_length=0.4,head_width=0.18",
        mutation_scale=head + 2 * line,
        zorder=3 + 1 / (2 + now),
    )
    arrow.set(color=drawing.colors[now], lw=line, capstyle="butt", joinstyle="miter")
    return arrow


def _lanes(arrows: Arrows, drawn: npt.NDArray[np.int64]) -> tuple[dict[int, float], float]:
    """Return each arrow's lane (offset right or down of its links), and the space for a lane.

    The space reaches to the next lane; it is the whole space if all arrows run in the middle. The
    last steps come first and take the middle: their many short arrows make up the pattern.
    """
    taken: dict[frozenset[int], set[int]] = defaultdict(set)
    lanes = {}
    for number in drawn[np.argsort(-arrows.step[drawn], kind="stable")].tolist():
        links = [frozenset(ends) for ends in pairwise(arrows.path(number))]
        occupied = {lane for link in links for lane in taken[link]}
        lane = next(lane for lane in count() if lane not in occupied)
        for link in links:
            taken[link].add(lane)
        # Lanes 0, 1, 2, 3, 4 have offsets 0, -1, 1, -2, 2.
        lanes[number] = (lane + 1) // 2 * (-1) ** lane
    if taken and all(link == {0, 1} for link in taken.values()):
        # Two arrows on a link usually go opposite ways: one right, one left of the middle.
        away = {number: (lane + 0.5) * _OUTERMOST_LANE for number, lane in lanes.items()}
        return away, _OUTERMOST_LANE
    outermost = max(2, *map(abs, lanes.values()), 0)
    away = {number: lane / outermost * _OUTERMOST_LANE for number, lane in lanes.items()}
    return away, _OUTERMOST_LANE / outermost if any(lanes.values()) else 2 * _OUTERMOST_LANE


def _curve(drawing: Drawing, number: int, lane: float) -> tuple[Curve, float]:
    """Return the path of an arrow between the rims of its end nodes, with rounded corners.

    The second value is the least share of the space for lanes on the path.
    """
    lines = [drawing.lines.between(*ends) for ends in pairwise(drawing.arrows.path(number))]
    runs: list[Points] = []
    corners: list[bool] = []
    for line in lines:
        for place, curve in enumerate(line.curves):
            run = beside(curve, lane * line.share)
            if not runs or place:
                runs.append(run)
                corners.append(False)
            elif is_straight_on(runs[-1], run):
                runs[-1] = np.vstack((runs[-1][:-1], run[1:]))
            else:
                runs[-1], run = meet(runs[-1], run)
                runs.append(run)
                corners.append(True)
    rims = [np.sqrt(_NODE_RADIUS**2 - (lane * line.share) ** 2) for line in (lines[0], lines[-1])]
    shorter = _pen(runs, corners, rims[0], rims[1] + _LINK_WIDTH)
    return shorter, min(line.share for line in lines)


def _pen(runs: list[Points], corners: list[bool], at_begin: float, at_end: float) -> Curve:
    """Return the pen path along ``runs``; the pen is lifted between runs without a corner."""
    lengths = [float(np.hypot(*np.diff(run, axis=0).T).sum()) for run in runs]
    vertices: list[Points] = []
    codes: list[np.uint8] = []
    cut = at_begin
    for place, (run, corner) in enumerate(zip(runs, [*corners[1:], False], strict=True)):
        after = at_end if place == len(runs) - 1 else 0.0
        if corner:
            after = min(_BEND_RADIUS, lengths[place] / 2, lengths[place + 1] / 2)
        drawn = shorten(run, cut, after)
        if not corners[place]:
            vertices, codes = [*vertices, drawn[0]], [*codes, Curve.MOVETO]
        vertices += list(drawn[1:])
        codes += [Curve.LINETO] * (len(drawn) - 1)
        if corner:
            following = shorten(runs[place + 1], after, 0)[0]
            vertices += [run[-1], following]
            codes += [Curve.CURVE3, Curve.CURVE3]
        cut = after if corner else 0.0
    return Curve(vertices, codes)


def _draw_nodes(axes: Axes, drawing: Drawing, cell: float, step: int | None) -> None:
    """Draw the nodes; in a panel for one step, nodes not yet reached are dots.

    Switches are hollow squares in all panels.
    """
    points, reached, root = drawing.places.points, drawing.reached, drawing.schedule.root
    colors = np.array([HOLDER, *drawing.colors])[reached]
    waiting = np.zeros(reached.size, dtype=bool)
    if step is not None and root is not None:
        colors[reached < step] = HOLDER
        waiting = (reached > step) | (reached == 0)
    if root is not None:
        colors[root], waiting[root] = INK, False

    def discs(nodes: Any, radius: float, zorder: float, **style: Any) -> None:
        x, y = points[nodes].T
        axes.scatter(x, y, s=(2 * radius * cell) ** 2, zorder=zorder, **style)

    switches = list(drawing.schedule.topology.switches)
    ends = np.ones(reached.size, dtype=bool)
    faulty, disabled = list(drawing.schedule.topology.faulty_nodes), list(drawing.schedule.unserved)
    ends[[*switches, *faulty, *disabled]] = False
    discs([] if root is None else [root], 0.27, 2.5, c="white", ec=INK, lw=0.03 * cell)
    square = {"marker": "s", "c": "white", "ec": SWITCH_LINE, "lw": _SWITCH_WIDTH * cell}
    discs(switches, _SWITCH_RADIUS, 2, **square)
    discs(waiting & ends, 0.08, 2, c=FAINT, lw=0)
    cross = {"marker": "x", "c": FAULT, "lw": 0.05 * cell}
    discs(faulty, _SWITCH_RADIUS, 2, **cross)
    discs(disabled, _SWITCH_RADIUS, 2, c=DISABLED, ec=QUIET, lw=_SWITCH_WIDTH * cell)
    done = ~waiting & ends
    discs(done, _NODE_RADIUS, 5, c=colors[done], ec="white", lw=_LINK_WIDTH * cell)
    if step is None and drawing.is_numbered:
        font: dict[str, Any] = {"size": 0.17 * cell, "weight": "bold", "zorder": 6}
        for node, (x, y) in enumerate(points):
            label = "S" if node == root else str(reached[node] or "")
            ink = text_color(colors[node])
            axes.text(x, y, label, color=ink, ha="center", va="center_baseline", **font)
