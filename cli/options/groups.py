"""The groups of ``--group``, and the schedule in which each carries out its collective.

A file of groups is JSON; what a group does not say is as the options have it::

    {"format": "eyecast-groups", "version": 1,
     "groups": [{"nodes": [0, 1, 2], "collective": "broadcast", "root": 1, "words": 64},
                {"nodes": [5, 6, 9], "collective": "all-gather", "algorithm": "ring"}]}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec

from ...model.base.errors import InvalidInput
from ...model.base.json_file import decode_versioned, read_json
from ...model.base.texts import integers
from ...model.collectives.groups import Nodes, Part, boxes_of, part_of, side_by_side
from ...model.network.topology import Topology
from ...model.schedule.collective import ROOTLESS
from ...model.schedule.groups import require_groups
from ...model.schedule.schedule import Schedule
from .values import OptionValues

FORMAT = "eyecast-groups"
SUBMESH = "submesh "

_Number = Annotated[int, msgspec.Meta(ge=0)]
_Words = Annotated[int, msgspec.Meta(ge=1, le=(1 << 31) - 1)]

Maker = Callable[[OptionValues, Topology, int | None], Schedule]
"""Makes the schedule of options on a network, from a root."""


class _Group(msgspec.Struct, forbid_unknown_fields=True):
    nodes: list[_Number]
    collective: str | None = None
    root: _Number | None = None
    words: _Words | None = None
    algorithm: str | None = None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    version: int
    groups: Annotated[list[_Group], msgspec.Meta(min_length=1)]


@dataclass(frozen=True)
class Wanted:
    """A group: its nodes, its root (of the whole network), and options of its own."""

    nodes: Nodes
    root: int | None
    own: Mapping[str, object]


def chosen_groups(
    chosen: OptionValues, topology: Topology, root: Callable[[], int | None]
) -> list[Wanted]:
    """The groups that ``--group`` names; none overlap, and all their nodes work.

    ``root`` gives the source of the options: in each box the node at the same place.
    """
    text = chosen["group"]
    sides = _sides(text, topology)
    if sides is None:
        groups = _of_file(text, chosen["collective"])
    else:
        boxes = boxes_of(topology, sides, text)
        source = root()
        groups = [Wanted(box, _same_place(topology, sides, box, source), {}) for box in boxes]
    require_groups(topology, [group.nodes for group in groups])
    return groups


def _sides(text: str, topology: Topology) -> tuple[int, ...] | None:
    """The sides of the boxes that ``text`` names; None where it names a file."""
    axes = len(topology.dims)
    if text in ("rows", "columns"):
        if axes != 2:
            raise InvalidInput.of(f"network for --group {text}", "a grid of 2 axes", topology.label)
        width, height = topology.dims
        return (width, 1) if text == "rows" else (1, height)
    if text.startswith(SUBMESH):
        return tuple(
            integers("--group", "submesh and sides such as 4x4", text[len(SUBMESH) :], "x")
        )
    return None


def _same_place(
    topology: Topology, sides: tuple[int, ...], box: Nodes, source: int | None
) -> int | None:
    """The node of a box at the place that ``source`` has in its own."""
    if source is None:
        return None
    corner = topology.coordinates(box[0]) // sides * sides
    place = corner + topology.coordinates(source) % sides
    return topology.node_at(tuple(place.tolist()))


def _of_file(path: str, collective: str) -> list[Wanted]:
    """Read the groups of a file."""
    file = read_json(path, lambda text: decode_versioned(text, FORMAT, (1,), _File))
    groups = []
    for number, group in enumerate(file.groups):
        name = group.collective or collective
        if (group.root is None) != (name in ROOTLESS):
            allowed = "left out, as every node is one" if name in ROOTLESS else "a node"
            raise InvalidInput.of(f"{path}: root of group {number}", allowed, group.root)
        if group.root is not None and group.root not in group.nodes:
            allowed = "one of its nodes"
            raise InvalidInput.of(f"{path}: root of group {number}", allowed, group.root)
        own = {"collective": name, "flits": group.words, "algorithm": group.algorithm}
        given = {option: value for option, value in own.items() if value is not None}
        groups.append(Wanted(tuple(sorted(group.nodes)), group.root, given))
    return groups


def schedule_of_groups(
    chosen: OptionValues, topology: Topology, groups: list[Wanted], make: Maker
) -> Schedule:
    """The schedule of all groups at once, checked as a whole too.

    Groups that are alike are made once.
    """
    known: dict[object, Schedule] = {}
    parts: list[tuple[Part, Schedule]] = []
    for group in groups:
        part = part_of(topology, group.nodes)
        root = None if group.root is None else part.nodes.index(group.root)
        own = {"algorithm": chosen["algorithm"] or "best", **group.own}
        small = part.topology
        kind = (small.kind, small.dims, small.faulty_nodes)
        key = (kind, root, *sorted(own.items()))
        if key not in known:
            known[key] = make({**chosen, **own, "group": None}, small, root)
        parts.append((part, known[key]))
    schedule = side_by_side(topology, parts)
    schedule.check()
    return schedule
