"""Groups by name, and the one schedule in which each group carries out its collective.

``rows``, ``columns`` and the boxes of ``submesh 4x4`` all carry out the same collective, each with
its root at the same position; ``rows+columns`` has the groups of both names, at the same time.
Groups of a file (:mod:`.group_file`) each have a collective.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ..base.errors import InvalidInput
from ..base.files import STANDARD_INPUT, input_name
from ..network.boxes import GroupNetwork, Nodes, box_sides, boxes_of, part_of
from ..network.topology import Topology
from ..schedule.groups import require_groups, share_nodes
from ..schedule.ordered import in_turn
from ..schedule.requested import Requested
from ..schedule.schedule import Schedule
from .declared.block_words import BlockWords, require_shape, require_within, selected
from .group_file import Group, read_groups
from .groups import in_whole, side_by_side
from .registry import algorithms_for

Maker = Callable[[Topology, Group, int], Schedule]
"""A function of the group's own network, the group in its numbers and the group's index."""
Promise = Callable[[Topology, Group], Requested]
"""A function of the group's own network and of the group in its numbers."""


class NamedGroups(NamedTuple):
    """Groups, and the user's name for them: "rows", "rows+columns" or a file name."""

    name: str
    groups: Sequence[Group]

    @property
    def alike(self) -> bool:
        """True if all groups carry out the task's collective; groups of a file name their own."""
        return all(group.collective is None for group in self.groups)


def named_groups(
    topology: Topology,
    name: str,
    collective: str,
    source: int | None,
    targets: Sequence[int] | None = None,
) -> NamedGroups:
    """Return the groups of ``topology`` that a user names: boxes of a grid, or groups of a file.

    In each box the root and the targets have the positions of ``source`` and ``targets`` in theirs.
    Raises :class:`.InvalidInput` for sides that do not divide the grid's, and for an unknown name.
    """
    named = [(part, box_sides(part, topology)) for part in name.split("+")]
    if all(sides is not None for _, sides in named):
        boxes = [
            _group(topology, sides, box, source, targets)
            for part, sides in named
            if sides is not None
            for box in boxes_of(topology, sides, part)
        ]
        return NamedGroups(name, boxes)
    if name != STANDARD_INPUT and not Path(name).suffix and not Path(name).exists():
        # A plain word that names no file.
        raise InvalidInput.of(
            "groups", "rows, columns, 'submesh AxB', rows+columns or a file", repr(name)
        )
    groups = read_groups(name, collective)
    try:
        require_groups(topology, [group.nodes for group in groups])
    except InvalidInput as error:
        raise error.between(f"{input_name(name)}: ") from error
    return NamedGroups(name, groups)


def _group(
    topology: Topology,
    sides: tuple[int, ...],
    box: Nodes,
    source: int | None,
    targets: Sequence[int] | None,
) -> Group:
    """Return a box as a group; root and targets lie where the given nodes lie in their boxes."""

    def here(node: int) -> int:
        corner = topology.coordinates(box[0]) // sides * sides
        place = corner + topology.coordinates(node) % sides
        return topology.node_at(tuple(place.tolist()))

    return Group(
        box,
        None if source is None else here(source),
        targets=None if targets is None else tuple(map(here, targets)),
    )


@dataclass(frozen=True)
class Grouping:
    """Groups of a network, with defaults for groups without a collective or block words.

    ``collective`` is the default collective. ``block_words`` are the words of the unequal blocks of
    all nodes of the network, or None.
    """

    topology: Topology
    groups: Sequence[Group]
    collective: str
    block_words: BlockWords | None = None

    def __post_init__(self) -> None:
        require_groups(self.topology, [group.nodes for group in self.groups])
        if self.block_words is not None:
            served = [group for group in self.groups if group.block_words is None]
            for group in served:
                require_shape(self.block_words, self.name_of(group), self.topology.nodes)
            require_within(self.block_words, self.topology, [group.nodes for group in served])

    def name_of(self, group: Group) -> str:
        """Return the name of a group's collective."""
        return group.collective or self.collective

    @property
    def collectives(self) -> set[str]:
        """The collectives of all groups."""
        return {self.name_of(group) for group in self.groups}

    @property
    def algorithms(self) -> list[str]:
        """Names of the algorithms for the groups without an algorithm; empty if all have one."""
        names = (self.name_of(group) for group in self.groups if group.algorithm is None)
        return [
            *dict.fromkeys(algorithm.name for name in names for algorithm in algorithms_for(name))
        ]

    def schedule(self, make: Maker) -> Schedule:
        """Return one checked schedule of all groups; equal groups are scheduled only once.

        Raises :class:`.InvalidInput` with the group's index if ``make`` raises it.
        """
        known: dict[object, Schedule] = {}
        parts: list[tuple[GroupNetwork, Schedule]] = []
        for number, group in enumerate(self.groups):
            part = part_of(self.topology, tuple(sorted(group.nodes)))
            asked = self._alone(part, group)
            small = part.topology
            key = (small.kind, small.dims, small.wrapped, small.faulty_nodes, asked)
            if key not in known:
                try:
                    known[key] = make(small, asked, number)
                except InvalidInput as error:
                    no_box = small.nodes == self.topology.nodes and small.faulty_nodes
                    why = " (all other nodes are faulty to it)" if no_box else ""
                    raise error.between(f"group {number}{why}: ") from error
            parts.append((part, known[key]))
        schedule = side_by_side(self.topology, parts)
        if share_nodes(schedule.groups):
            schedule = in_turn(schedule)
        schedule.check()
        return schedule

    def requests(self, promise: Promise) -> tuple[Requested, ...]:
        """Return each group's request, in the node numbers of the whole network."""
        parts = [part_of(self.topology, tuple(sorted(group.nodes))) for group in self.groups]
        return tuple(
            in_whole(part, promise(part.topology, self._alone(part, group)))
            for part, group in zip(parts, self.groups, strict=True)
        )

    def _alone(self, part: GroupNetwork, group: Group) -> Group:
        """Return the group in the node numbers of its own network, without its nodes."""
        words = group.block_words
        if words is not None:
            place = {node: number for number, node in enumerate(group.nodes)}
            words = selected(words, [place.get(node) for node in part.nodes])
        elif self.block_words is not None:
            members = {*group.nodes}
            places = [node if node in members else None for node in part.nodes]
            words = selected(self.block_words, places)
        root = None if group.root is None else part.nodes.index(group.root)
        targets = group.targets and tuple(map(part.nodes.index, group.targets))
        name = self.name_of(group)
        return replace(
            group, nodes=(), root=root, collective=name, block_words=words, targets=targets
        )
