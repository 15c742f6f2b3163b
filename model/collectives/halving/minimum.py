"""The least TCD of a broadcast by repeatedly cutting a mesh in two, from every source.

Cang & Wu always cut the axes in one order, so their Algorithms 1 and 2 are least only from some
sources (:mod:`.eye`, :mod:`.eye_tcd`). Here each box is cut at the axis and place that are best for
the node that has the message, and this node sends to the best node of the other part:
:mod:`.box_costs`.

**Steps.** A mesh with sides n takes the sum of ceil(log2 n) steps, the fewest in which cuts leave
single nodes. For sides that are powers of two and for many others (3x3, 6x7, 12x12) this is
ceil(log2 N), the fewest of any broadcast. It is one more for 3x5, 5x5 and 3x3x3, and two more for
5x5x5. :mod:`..tree.broadcast`, which cuts no boxes, takes ceil(log2 N).

**Is it the least of all broadcasts?** There is no proof for all sizes. In log2 N steps every node
that has the message must send in every step, but not necessarily by halving boxes. A search through
all sets of nodes that can have the message after each step finds nothing cheaper, even if the sends
of a step may share links (``tests/helpers/exhaustive_tcd.py``). It covers every source of every
mesh of 8 or 16 nodes (8, 2x4, 2x2x2, 16, 2x8, 4x4, 2x2x4, 2x2x2x2). A solver proves the same for
every source of 4x4 and 2x4x4 in seconds (``bench/certify.py``). A search through all sets of
senders and receivers finds the same for 3x4 and every mesh of up to 10 nodes whose sides are not
powers of two, in the steps that cuts take (``tests/helpers/exhaustive_tcd_any_steps.py``).
"""

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput
from ...network.topology import Topology
from ...schedule.collective import Collective
from ...schedule.schedule import Schedule
from ..declared.algorithm import Declared, rooted
from .box_costs import Axes, BoxCosts, Sides, cut_box, least_steps
from .boxes import Broadcast, Numbering, halving_schedule, node_numbers
from .eye_tcd import grid_source_tcds

Costs = npt.NDArray[np.int64]

MOST_NODES = 1 << 11
"""Most nodes of a mesh with a side that is no power of two: up to a dozen seconds for a line."""


def minimum_broadcast(topology: Topology, source: int, words: int) -> Schedule:
    """Broadcast ``words`` words from ``source`` with the least TCD of all broadcasts by cuts.

    The schedule is half-duplex, and has the sum of ceil(log2 side) steps. Ties are broken as
    :meth:`.BoxCosts.best_sends` says. Raises :class:`InvalidInput` unless the topology is a mesh
    without faults, for more than ``MOST_NODES`` nodes with a side that is no power of two, for a
    source outside it and for a message without words.
    """
    _require_mesh(topology)
    broadcast = Broadcast(topology, "minimum", source, words)
    holders, costs = _Holders(topology, source), BoxCosts()
    steps = least_steps(topology.dims)
    senders = [holders.send(costs, left) for left in range(steps, 0, -1)]
    numbers = node_numbers(topology.dims, holders.places)
    numbering = Numbering.of(topology, source, (0,) * len(topology.dims))
    lengths = [some.size for some in senders]
    step = np.repeat(np.arange(1, steps + 1, dtype=np.int32), lengths)
    source_numbers = numbers[np.concatenate([np.zeros(0, np.intp), *senders])]
    return halving_schedule(broadcast, numbering, step, source_numbers, numbers[1:])


class _Holders:
    """Nodes that have the message, in the order of getting it, and the box that each must serve.

    ``places`` has the coordinates of all nodes in that order, ``_corners`` those of the lowest
    nodes of their boxes; shapes (axes, nodes). ``_groups`` are the holders by the sides of the box.
    """

    def __init__(self, topology: Topology, source: int) -> None:
        self.places = np.empty((len(topology.dims), topology.nodes), dtype=np.int32)
        self.places[:, 0] = topology.coordinates(source)
        self._corners = np.zeros_like(self.places)
        self._groups = {topology.dims: np.zeros(1, dtype=np.intp)}
        self._count = 1

    def send(self, costs: BoxCosts, left: int) -> Axes:
        """Let all nodes whose box has several nodes send; ``left`` steps remain.

        Returns the sender to each new holder.
        """
        parts: dict[Sides, list[Axes]] = defaultdict(list)
        senders = [np.zeros(0, np.intp)]
        for sides, members in self._groups.items():
            if max(sides) > 1:
                self._split(sides, members, costs, left, parts)
                senders.append(members)
        self._groups = {sides: np.concatenate(some) for sides, some in parts.items()}
        return np.concatenate(senders)

    def _split(
        self,
        sides: Sides,
        members: Axes,
        costs: BoxCosts,
        left: int,
        parts: dict[Sides, list[Axes]],
    ) -> None:
        """Let ``members`` send across their boxes, and add all holders to ``parts`` by sides."""
        corners = self._corners[:, members]
        local = self.places[:, members] - corners
        axis, cut, targets = costs.best_sends(sides, left, local)
        receivers = np.arange(self._count, self._count + members.size)
        self._count += members.size
        self.places[:, receivers] = targets + corners
        self._corners[:, receivers] = corners
        below = local[axis, np.arange(members.size)] < cut
        low, high = np.where(below, members, receivers), np.where(below, receivers, members)
        self._corners[axis, high] += cut.astype(np.int32)
        for across, place in {*zip(axis.tolist(), cut.tolist(), strict=True)}:
            same = (axis == across) & (cut == place)
            for holders, part in zip((low, high), cut_box(sides, across, place), strict=True):
                parts[part].append(holders[same])


def minimum_tcds(topology: Topology) -> Costs:
    """Return the least TCD by cuts from each node of a mesh: shape (nodes,), node 0 first.

    ``.reshape(dims[::-1])`` gives it the shape of the mesh, x along the last axis. Raises
    :class:`InvalidInput` as :func:`minimum_broadcast` does.
    """
    _require_mesh(topology)
    costs = BoxCosts().of(topology.dims, least_steps(topology.dims))
    return costs.ravel(order="F").astype(np.int64)


def best_sources(topology: Topology) -> tuple[int, ...]:
    """Return the nodes with the smallest least TCD, in ascending order."""
    costs = minimum_tcds(topology)
    return tuple(np.flatnonzero(costs == costs.min()).tolist())


def tcds_by_eye(topology: Topology) -> Costs:
    """Return the TCD of the eye broadcast from each node of a mesh: shape (nodes,).

    Raises :class:`InvalidInput` unless all sides are the same power of two.
    """
    _require_mesh(topology)
    side = topology.dims[0]
    if {*topology.dims} != {side} or not _is_power(side):
        allowed = "of equal sides that are powers of two"
        raise InvalidInput.of("mesh to compare with the eye", allowed, topology.label)
    return grid_source_tcds(len(topology.dims), side.bit_length() - 1)


def _require_mesh(topology: Topology) -> None:
    """Raise :class:`InvalidInput` unless it is a mesh without faults and not too large."""
    if not topology.whole_grid or topology.wrapped:
        raise topology.refusal("the minimum broadcast", "a mesh without faults")
    if topology.nodes > MOST_NODES and not all(map(_is_power, topology.dims)):
        allowed = f"a mesh of at most {MOST_NODES} nodes where a side is no power of two"
        raise topology.refusal("the minimum broadcast", allowed)


def _is_power(side: int) -> bool:
    """Return whether ``side`` is a power of two."""
    return side.bit_count() == 1


ALGORITHM = Declared(
    Collective.BROADCAST,
    "minimum",
    rooted(minimum_broadcast),
    networks="meshes",
    steps="sum of ⌈log2 n⌉",
    landmarks=best_sources,
    first="the node beyond the cut by which all messages cross the fewest links",
)
