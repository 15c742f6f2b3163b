"""The least TCD of a broadcast by halving, from every source, where sides are powers of two.

Cang & Wu always cut the axes in one order, and so their Algorithms 1 and 2 are least from some
sources only (:mod:`.eye`, :mod:`.eye_dimensions`). Here each box is cut across whichever axis is
best for the node p that has the message, which sends to whichever q of the other half is best::

    cost(box, p) = min over axes of [ cost(half with p, p)
                                      + min over q in the other half of
                                        (distance(p, q) + cost(other half, q)) ]

The routes from p to all q enter the other half at its face, the layer of nodes along the cut. So
the inner minimum is, for the p' of the face that is straight across from p, the distance to it and
then the minimum over q of distance(p', q) + cost(other half, q): a distance transform of the costs,
needed in the face alone. An L1 distance transform is one sweep up and one down each axis (P. F.
Felzenszwalb and D. P. Huttenlocher, "Distance Transforms of Sampled Functions", 2012).

A box's costs depend on its sides alone, whatever their order. With d axes of 2^k there are
(k + d choose d) boxes that differ, of at most 2^d N nodes together, and each is worked on in whole
arrays, all sources at once.

**Is it least of all broadcasts?** In log2 N steps every node that has the message must send in
every step, but it need not be by halving boxes. From every source of every mesh of 8 or 16 nodes
(8, 2x4, 2x2x2, 16, 2x8, 4x4, 2x2x4, 2x2x2x2) a search through all sets of nodes that can have the
message after each step finds nothing cheaper, even where the sends of a step may share links
(``tests/exhaustive.py``). A solver proves the same for every source of 4x4 and 2x4x4 in seconds
(``bench/certify.py``). There is no proof for all sizes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from .errors import InvalidInput
from .eye_dimensions import grid_source_tcds
from .halving import (
    Broadcast,
    Coordinates,
    Numbering,
    doubling_schedule,
    is_whole_grid,
    node_numbers,
)
from .schedule import Schedule
from .topology import Topology

Costs = npt.NDArray[np.int64]
Axes = npt.NDArray[np.intp]
Number = TypeVar("Number", np.int32, np.int64)
Exponents = tuple[int, ...]
"""A box with sides 2^e0 x 2^e1 x ..."""


def minimum_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` over the least TCD of all broadcasts by halving.

    The schedule has log2 N steps and is half-duplex. Where axes or targets tie, the first axis and
    the target with the lowest coordinates are taken. Raises :class:`InvalidInput` for anything but
    a mesh without faults whose sides are powers of two, for a source outside it and for a message
    without words.
    """
    exponents = _exponents(topology)
    broadcast = Broadcast(topology, "minimum", source, words)
    costs = _BoxCosts()
    axes = len(exponents)
    reached = np.empty((axes, topology.nodes), dtype=np.int32)
    reached[:, 0] = topology.coordinates(source)
    # Who has the message, by the shape of the box that each has yet to serve.
    groups = {exponents: np.zeros(1, dtype=np.intp)}
    for step in range(sum(exponents)):
        halves: dict[Exponents, list[Axes]] = defaultdict(list)
        for shape, members in groups.items():
            cut, targets = costs.best_sends(shape, reached[:, members])
            receivers = members + (1 << step)
            reached[:, receivers] = targets
            for axis in np.unique(cut).tolist():
                halves[_halved(shape, axis)] += [members[cut == axis], receivers[cut == axis]]
        groups = {shape: np.concatenate(parts) for shape, parts in halves.items()}
    numbering = Numbering.of(topology, source, (0,) * axes)
    return doubling_schedule(broadcast, numbering, node_numbers(topology.dims, reached))


def minimum_tcds(topology: Topology) -> Costs:
    """Return the least TCD by halving from each node of a mesh: shape (nodes,), node 0 first.

    ``.reshape(dims[::-1])`` makes it the picture of a mesh, x along the last axis. Raises
    :class:`InvalidInput` as :func:`minimum_broadcast` does.
    """
    return _BoxCosts().of(_exponents(topology)).ravel(order="F").astype(np.int64)


def best_sources(topology: Topology) -> tuple[int, ...]:
    """Return the nodes from which the least TCD is least, in ascending order."""
    costs = minimum_tcds(topology)
    return tuple(np.flatnonzero(costs == costs.min()).tolist())


@dataclass(frozen=True)
class Gain:
    """What ``minimum`` saves beside the eye broadcast, over all sources of a mesh.

    ``saved`` is how many links less its TCD has from each node: shape (nodes,).
    """

    saved: Costs

    @property
    def sources(self) -> int:
        """Number of sources, which is that of nodes."""
        return self.saved.size

    @property
    def better(self) -> int:
        """Number of sources from which the eye broadcast is not least."""
        return int(np.count_nonzero(self.saved))

    @property
    def largest(self) -> int:
        """The most links saved from one source."""
        return int(self.saved.max())

    @property
    def total(self) -> int:
        """The links saved from all sources together."""
        return int(self.saved.sum())


def gain_over_eye(topology: Topology) -> Gain:
    """Compare the least TCD with that of Algorithm 1 (in d dimensions) from every node of a mesh.

    Raises :class:`InvalidInput` for a mesh whose sides are not all the same power of two, which the
    eye broadcast does not serve.
    """
    exponents = _exponents(topology)
    if len(set(exponents)) > 1:
        raise InvalidInput.of("mesh to compare with the eye", "of equal sides", topology.label)
    eye = grid_source_tcds(len(exponents), exponents[0])
    return Gain(eye - minimum_tcds(topology))


def _exponents(topology: Topology) -> Exponents:
    """Return the exponents of the sides of a mesh, which must be powers of two."""
    powers = all(side.bit_count() == 1 for side in topology.dims)
    if powers and is_whole_grid(topology) and not topology.wrapped:
        return tuple(side.bit_length() - 1 for side in topology.dims)
    allowed = "a mesh with sides that are powers of two (8x8, 4x16x2, ...)"
    if topology.without_faults is not None:
        allowed = "a mesh without faults"
    raise InvalidInput.of("network for the minimum broadcast", allowed, f"a {topology.label}")


class _BoxCosts:
    """The cost of every box and every place of its source, each computed when first asked for."""

    def __init__(self) -> None:
        self._known: dict[Exponents, npt.NDArray[np.int32]] = {}

    def of(self, exponents: Exponents) -> npt.NDArray[np.int32]:
        """Return the costs of a box by the coordinates of its source: shape 2^exponents."""
        axes = len(exponents)
        order = sorted(range(axes), key=lambda axis: -exponents[axis])
        descending = tuple(exponents[axis] for axis in order if exponents[axis])
        if descending not in self._known:
            self._known[descending] = self._computed(descending)
        costs = self._known[descending]
        costs = costs.reshape(costs.shape + (1,) * (axes - len(descending)))
        return costs.transpose(np.argsort(order))

    def _computed(self, exponents: Exponents) -> npt.NDArray[np.int32]:
        least = np.full([1 << exponent for exponent in exponents], np.iinfo(np.int32).max, np.int32)
        if not exponents:
            least.fill(0)
        for twin, axes in _equal_axes(exponents).items():
            half_costs = self.of(_halved(exponents, twin))
            to_cut = np.flip(_ramp(half_costs, twin), twin) + 1
            near = half_costs + _face_costs(half_costs, twin) + to_cut
            through = np.concatenate((near, np.flip(near, twin)), twin)
            for axis in axes:
                np.minimum(least, through.swapaxes(twin, axis), out=least)
        return least

    def best_sends(self, exponents: Exponents, senders: Coordinates) -> tuple[Axes, Coordinates]:
        """Return the axis of the cut and the target for each sender, whose boxes have one shape.

        ``senders`` and the targets have shape (axes, senders), the axes of the cuts (senders,).
        """
        masks = np.array([[(1 << exponent) - 1] for exponent in exponents], dtype=np.int32)
        local = senders & masks
        least = np.full(senders.shape[1], np.iinfo(np.int64).max)
        cut = np.zeros(senders.shape[1], dtype=np.intp)
        targets = np.empty_like(senders)
        for twin, axes in _equal_axes(exponents).items():
            half = _Half(self.of(_halved(exponents, twin)), twin)
            for axis in axes:
                swapped = np.arange(len(exponents))
                swapped[[twin, axis]] = axis, twin
                costs, places = half.best_targets(local[swapped])
                better = costs < least
                least[better], cut[better] = costs[better], axis
                targets[:, better] = places[swapped][:, better]
        return cut, targets + (senders & ~masks)


class _Half:
    """The upper half of a box that is cut across ``axis``, seen from the nodes of the lower one.

    ``costs`` are those of either half. ``_face`` has one number for both the least cost by way of a
    node of the face and the node at which it arises, which lowest numbers make the first of equals.
    """

    def __init__(self, costs: npt.NDArray[np.int32], axis: int) -> None:
        self._costs, self._axis = costs, axis
        numbers = np.arange(costs.size).reshape(costs.shape)
        self._face = _face_costs(costs.astype(np.int64) * costs.size + numbers, axis, costs.size)

    def best_targets(self, local: Coordinates) -> tuple[Costs, Coordinates]:
        """Return the cost of the box for each sender and its best target.

        All coordinates are those in the box. A sender in the upper half is mirrored, as is its
        target.
        """
        axis, half = self._axis, self._costs.shape[self._axis]
        far = local[axis] >= half
        place = local.copy()
        place[axis, far] = 2 * half - 1 - place[axis, far]
        at_cut = place.copy()
        at_cut[axis] = 0
        across, number = np.divmod(self._face[tuple(at_cut)], self._costs.size)
        costs = self._costs[tuple(place)] + across + (half - place[axis])
        targets = np.array(np.unravel_index(number, self._costs.shape), dtype=np.int32)
        targets[axis] += half
        targets[axis, far] = 2 * half - 1 - targets[axis, far]
        return costs, targets


def _equal_axes(exponents: Exponents) -> dict[int, list[int]]:
    """Return the axes that can be cut, by the first of those that are as long.

    Across one of them everything is as across the first, with the two exchanged.
    """
    axes = defaultdict(list)
    for axis, exponent in enumerate(exponents):
        if exponent:
            axes[exponents.index(exponent)].append(axis)
    return axes


def _halved(exponents: Exponents, axis: int) -> Exponents:
    return (*exponents[:axis], exponents[axis] - 1, *exponents[axis + 1 :])


def _ramp(box: npt.NDArray[Number], axis: int) -> npt.NDArray[Number]:
    """Return the coordinate on one axis of the nodes of ``box``, shaped to be added to it."""
    shape = [1] * box.ndim
    shape[axis] = -1
    return np.arange(box.shape[axis], dtype=box.dtype).reshape(shape)


def _face_costs(costs: npt.NDArray[Number], axis: int, link: int = 1) -> npt.NDArray[Number]:
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
