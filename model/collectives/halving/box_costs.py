"""The least TCD of broadcasts in a box that is repeatedly cut into two boxes.

The box is cut in two anywhere across one axis. The node p that has the message sends it to a node q
of the other part, and both parts go on alone, with one step fewer::

    cost(box, s, p) = min over axes and cuts of [ cost(part with p, s - 1, p)
                                      + min over q in the other part of
                                        (distance(p, q) + cost(other part, s - 1, q)) ]

Both parts must finish in the remaining steps. **A box can be cut down to single nodes in s steps
if, and only if, the sum of ceil(log2 side) over its axes is at most s.** Proof: one of the two
parts has at least ceil(side / 2) nodes along the axis of the cut, so its sum falls by at most one;
a cut in the middle lowers the sum of both parts by one. (So 3x3 takes the 4 steps that 9 nodes
need, and 5x5 takes 6, though 25 nodes need 5.) If sides are powers of two and s is that sum, only
the axis can be chosen: both parts are halves.

The routes from p to all q enter the other part at its face, the layer of nodes along the cut. Let
p' be the node of the face straight across from p. The inner minimum is the distance from p to p'
plus the minimum over q of distance(p', q) + cost(other part, q). The latter is a distance transform
of the costs, needed only in the face. An L1 distance transform is one sweep up and one down each
axis (P. F. Felzenszwalb and D. P. Huttenlocher, "Distance Transforms of Sampled Functions", 2012).

A box's costs depend only on its sides, in any order, and on s. They are computed in whole arrays,
for all sources together. With d axes of 2^k in k d steps there are (k + d choose d) different
boxes, of at most 2^d N nodes together. With other sides there are up to N boxes, with up to one cut
for each node along their axes.
"""

from collections import defaultdict
from math import prod
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .boxes import Coordinates

Costs = npt.NDArray[np.int32]
Axes = npt.NDArray[np.intp]
Number = TypeVar("Number", np.int32, np.int64)
Sides = tuple[int, ...]


def least_steps(sides: Sides) -> int:
    """Return the fewest steps in which cuts take a box down to single nodes: see above."""
    return sum((side - 1).bit_length() for side in sides)


def cut_box(sides: Sides, axis: int, cut: int) -> tuple[Sides, Sides]:
    """Return the sides of the boxes below and above a cut."""
    before, after = sides[:axis], sides[axis + 1 :]
    return (*before, cut, *after), (*before, sides[axis] - cut, *after)


class BoxCosts:
    """The costs of boxes for each number of steps and each source, computed when asked for."""

    def __init__(self) -> None:
        self._known: dict[tuple[Sides, int], Costs] = {}
        self._faces: dict[tuple[Sides, int, int], Costs] = {}
        self._numbered: dict[tuple[Sides, int, int], npt.NDArray[np.int64]] = {}

    def of(self, sides: Sides, steps: int) -> Costs:
        """Return the costs of a box by the coordinates of its source: shape ``sides``.

        ``steps`` must be enough for its cuts (:func:`least_steps`).
        """
        order, key = _descending(sides, steps)
        if key not in self._known:
            self._known[key] = self._computed(*key)
        return self._known[key].transpose(np.argsort(order))

    def _computed(self, sides: Sides, steps: int) -> Costs:
        least = np.zeros(sides, np.int32)
        if prod(sides) > 1:
            least.fill(np.iinfo(np.int32).max)
        for twin, axes in _equal_axes(sides).items():
            near = np.full(sides, np.iinfo(np.int32).max, np.int32)
            for cut in _cuts(sides, steps, twin):
                own, other = cut_box(sides, twin, cut)
                own_costs = self.of(own, steps - 1)
                to_cut = np.flip(_ramp(own_costs, twin), twin) + 1
                through = own_costs + self._face(other, steps - 1, twin) + to_cut
                below = np.moveaxis(near, twin, 0)[:cut]
                np.minimum(below, np.moveaxis(through, twin, 0), out=below)
            np.minimum(near, np.flip(near, twin).copy(), out=near)
            for axis in axes:
                np.minimum(least, near.swapaxes(twin, axis), out=least)
        return least

    def _face(self, sides: Sides, steps: int, axis: int) -> Costs:
        """Return the least cost plus distance over a box, from each node of its lowest layer."""
        order, (descending, steps) = _descending(sides, steps)
        key = (descending, steps, order.index(axis))
        if key not in self._faces:
            self._faces[key] = _least_from_face(self.of(descending, steps), key[-1])
        return self._faces[key].transpose(np.argsort(order))

    def best_sends(
        self, sides: Sides, steps: int, senders: Coordinates
    ) -> tuple[Axes, Axes, Coordinates]:
        """Return the axis and place of the best cut, and the target, for senders in such boxes.

        ``senders`` and the targets are coordinates in their boxes, shape (axes, senders); the
        other results have shape (senders,). The nodes below the place of the cut are one part. Of
        equal costs the first axis is taken, then the smallest part with the sender, then the
        lowest target.
        """
        least = np.full(senders.shape[1], np.iinfo(np.int64).max)
        best_axis, best_cut = np.zeros((2, senders.shape[1]), np.intp)
        best_targets = np.empty_like(senders)
        for axis, side in enumerate(sides):
            for own_side in _cuts(sides, steps, axis):
                for mirrored in (False, True):
                    # A sender above the cut is mirrored to below it, and its target back.
                    local = senders.copy()
                    local[axis] = side - 1 - senders[axis] if mirrored else senders[axis]
                    below = np.flatnonzero(local[axis] < own_side)
                    costs, targets = self._across(sides, steps, axis, own_side, local[:, below])
                    better = costs < least[below]
                    at, targets = below[better], targets[:, better]
                    least[at], best_axis[at] = costs[better], axis
                    best_cut[at] = side - own_side if mirrored else own_side
                    targets[axis] = side - 1 - targets[axis] if mirrored else targets[axis]
                    best_targets[:, at] = targets
        return best_axis, best_cut, best_targets

    def _across(
        self, sides: Sides, steps: int, axis: int, cut: int, places: Coordinates
    ) -> tuple[npt.NDArray[np.int64], Coordinates]:
        """Return the cost with the best target above the cut, and the target, from ``places``."""
        own, other = cut_box(sides, axis, cut)
        in_face = places.copy()
        in_face[axis] = 0
        face = self._numbered_face(other, steps - 1, axis)
        across, number = np.divmod(face[tuple(in_face)], prod(other))
        costs = self.of(own, steps - 1)[tuple(places)] + across + (cut - places[axis])
        targets = np.array(np.unravel_index(number, other), dtype=np.int32)
        targets[axis] += cut
        return costs, targets

    def _numbered_face(self, sides: Sides, steps: int, axis: int) -> npt.NDArray[np.int64]:
        """Return :meth:`_face` times the box's node count, plus the node that gives the least.

        One number holds both, so that the lowest of equally good nodes wins.
        """
        key = (sides, steps, axis)
        if key not in self._numbered:
            costs, size = self.of(sides, steps).astype(np.int64), prod(sides)
            numbers = np.arange(size).reshape(sides)
            self._numbered[key] = _least_from_face(costs * size + numbers, axis, size)
        return self._numbered[key]


def _descending(sides: Sides, steps: int) -> tuple[list[int], tuple[Sides, int]]:
    """Return the axes from the longest to the shortest, and the key of the known costs.

    The key is the sorted sides and the steps, at most one fewer than nodes: more have no use.
    """
    order = sorted(range(len(sides)), key=lambda axis: -sides[axis])
    return order, (tuple(sides[axis] for axis in order), min(steps, prod(sides) - 1))


def _cuts(sides: Sides, steps: int, axis: int) -> range:
    """Return the places at which a box can be cut, so that both parts finish in ``steps`` - 1."""
    others = least_steps(sides) - (sides[axis] - 1).bit_length()
    if sides[axis] == 1 or steps <= others:
        return range(0)
    longest = 1 << (steps - 1 - others)
    return range(max(1, sides[axis] - longest), min(sides[axis] - 1, longest) + 1)


def _equal_axes(sides: Sides) -> dict[int, list[int]]:
    """Return the axes that can be cut, grouped by the first axis of the same length.

    The costs across an axis are those across its group's first axis, with both axes exchanged.
    """
    axes = defaultdict(list)
    for axis, side in enumerate(sides):
        if side > 1:
            axes[sides.index(side)].append(axis)
    return axes


def _ramp(box: npt.NDArray[Number], axis: int) -> npt.NDArray[Number]:
    """Return the nodes' coordinates on one axis, in a shape that can be added to ``box``."""
    shape = [1] * box.ndim
    shape[axis] = -1
    return np.arange(box.shape[axis], dtype=box.dtype).reshape(shape)


def _least_from_face(costs: npt.NDArray[Number], axis: int, link: int = 1) -> npt.NDArray[Number]:
    """Return the least cost plus distance over a box, from each node of its lowest layer.

    The layer is the one with coordinate 0 on ``axis``; the result has side 1 there. A hop costs
    ``link``.
    """
    face: npt.NDArray[Number] = (costs + _ramp(costs, axis) * link).min(axis=axis, keepdims=True)
    for other in range(costs.ndim):
        if other == axis or costs.shape[other] == 1:
            continue
        ramp = _ramp(costs, other) * link
        upwards = np.minimum.accumulate(face - ramp, axis=other) + ramp
        flipped = np.flip(face + ramp, other)
        downwards = np.flip(np.minimum.accumulate(flipped, axis=other), other) - ramp
        face = np.minimum(upwards, downwards)
    return face
