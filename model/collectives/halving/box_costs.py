"""The least TCD of broadcasts in a box that is cut into two boxes again and again.

The box is cut in two anywhere across one axis; the node p that has the message sends it to some q
of the other part, and both parts go on alone, in one step less::

    cost(box, s, p) = min over axes and cuts of [ cost(part with p, s - 1, p)
                                      + min over q in the other part of
                                        (distance(p, q) + cost(other part, s - 1, q)) ]

Both parts must manage with the steps that are left. **A box can be cut down to single nodes in s
steps if, and only if, the sum of ceil(log2 side) over its axes is at most s.** For one of the two
parts has at least ceil(side / 2) places along the axis of the cut, and so at most one less in the
sum; and a cut in the middle leaves two parts with one less. (So 3x3 takes the 4 steps that 9 nodes
need, and 5x5 takes 6, though 25 nodes need 5.) Where sides are powers of two and s is their sum,
there is nothing to choose but the axis: both parts are halves.

The routes from p to all q enter the other part at its face, the layer of nodes along the cut. So
the inner minimum is, for the p' of the face that is straight across from p, the distance to it and
then the minimum over q of distance(p', q) + cost(other part, q): a distance transform of the costs,
needed in the face alone. An L1 distance transform is one sweep up and one down each axis (P. F.
Felzenszwalb and D. P. Huttenlocher, "Distance Transforms of Sampled Functions", 2012).

A box's costs depend on its sides alone, whatever their order, and on s; they are worked out in
whole arrays, all sources at once. With d axes of 2^k in k d steps there are (k + d choose d) boxes
that differ, of at most 2^d N nodes together. Of other sides there are up to N boxes, with as many
cuts as places along their axes.
"""

from __future__ import annotations

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
    """The fewest steps in which cuts take a box down to single nodes: see above."""
    return sum((side - 1).bit_length() for side in sides)


def cut_box(sides: Sides, axis: int, cut: int) -> tuple[Sides, Sides]:
    """The boxes below and above a cut."""
    before, after = sides[:axis], sides[axis + 1 :]
    return (*before, cut, *after), (*before, sides[axis] - cut, *after)


class BoxCosts:
    """The cost of every box, number of steps and place of the source, computed when asked for."""

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
        """The least of cost and distance over a box from each node of its lowest layer."""
        order, (descending, steps) = _descending(sides, steps)
        key = (descending, steps, order.index(axis))
        if key not in self._faces:
            self._faces[key] = _least_from_face(self.of(descending, steps), key[-1])
        return self._faces[key].transpose(np.argsort(order))

    def best_sends(
        self, sides: Sides, steps: int, senders: Coordinates
    ) -> tuple[Axes, Axes, Coordinates]:
        """Return the axis and place of the best cut, and the target, for senders in such boxes.

        ``senders`` and the targets are coordinates in their boxes, shape (axes, senders); of the
        others the shape is (senders,). What is below the place of the cut is one part. Where
        several are as good it is the first axis, the lowest cut of the part with the sender, and
        the lowest target.
        """
        least = np.full(senders.shape[1], np.iinfo(np.int64).max)
        best_axis, best_cut = np.zeros((2, senders.shape[1]), np.intp)
        best_targets = np.empty_like(senders)
        for axis, side in enumerate(sides):
            for own_side in _cuts(sides, steps, axis):
                for mirrored in (False, True):
                    # From below the cut; a sender above it is mirrored, and so is its target.
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
        """The cost of sending from ``places`` below a cut to the best target above, and that."""
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
        """Compute :meth:`_face` times the nodes of the box, plus the node where the least arises.

        One number for both, which lowest numbers make the first of equals.
        """
        key = (sides, steps, axis)
        if key not in self._numbered:
            costs, size = self.of(sides, steps).astype(np.int64), prod(sides)
            numbers = np.arange(size).reshape(sides)
            self._numbered[key] = _least_from_face(costs * size + numbers, axis, size)
        return self._numbered[key]


def _descending(sides: Sides, steps: int) -> tuple[list[int], tuple[Sides, int]]:
    """The axes from the longest to the shortest, and the box and steps by which costs are known.

    More steps than there are nodes but one are of no use.
    """
    order = sorted(range(len(sides)), key=lambda axis: -sides[axis])
    return order, (tuple(sides[axis] for axis in order), min(steps, prod(sides) - 1))


def _cuts(sides: Sides, steps: int, axis: int) -> range:
    """The places at which a box can be cut, for parts that manage with one step less."""
    others = least_steps(sides) - (sides[axis] - 1).bit_length()
    if sides[axis] == 1 or steps <= others:
        return range(0)
    longest = 1 << (steps - 1 - others)
    return range(max(1, sides[axis] - longest), min(sides[axis] - 1, longest) + 1)


def _equal_axes(sides: Sides) -> dict[int, list[int]]:
    """Return the axes that can be cut, by the first of those that are as long.

    Across one of them everything is as across the first, with the two exchanged.
    """
    axes = defaultdict(list)
    for axis, side in enumerate(sides):
        if side > 1:
            axes[sides.index(side)].append(axis)
    return axes


def _ramp(box: npt.NDArray[Number], axis: int) -> npt.NDArray[Number]:
    """Return the coordinate on one axis of the nodes of ``box``, shaped to be added to it."""
    shape = [1] * box.ndim
    shape[axis] = -1
    return np.arange(box.shape[axis], dtype=box.dtype).reshape(shape)


def _least_from_face(costs: npt.NDArray[Number], axis: int, link: int = 1) -> npt.NDArray[Number]:
    """Return the least of cost and distance over all nodes of a box, from each of its lowest layer.

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
