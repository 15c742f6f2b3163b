"""Groups and unequal blocks as users of Python name them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.collectives.block_words import (
    BlockWords,
)
from ..model.collectives.group_choice import Grouping, box_sides, boxes
from ..model.collectives.group_file import Group, groups_of, read_groups
from ..model.network.topology import Topology
from ..model.schedule.collective import ROOTLESS
from .nodes import node_number

Groups = str | Path | Sequence[Mapping[str, Any]]
"""Rows, columns, boxes ("submesh 4x4"), a file of groups, or what such a file says of each."""


def grouping_of(
    network: Topology,
    groups: Groups,
    collective: str,
    source: int | None,
    block_words: BlockWords | None,
) -> Grouping:
    """The groups of ``network``, each with a collective; ``source`` is for boxes alone."""
    if not isinstance(groups, str | Path):
        sides, named = None, _listed(network, groups, collective)
    elif (sides := box_sides(str(groups), network)) is not None:
        require_source(collective, source)
        named = boxes(str(groups), sides, network, source)
    else:
        named = read_groups(str(groups), collective)
    if sides is None and source is not None:
        raise InvalidInput.of("source", "None with groups that each have a root", source)
    return Grouping(network, named, collective, block_words)


def require_source(collective: str, source: object) -> None:
    """Raise :class:`.InvalidInput` unless there is a source just where a collective has a root."""
    if (source is None) != (collective in ROOTLESS):
        allowed = "None, as every node is one" if collective in ROOTLESS else "a node"
        raise InvalidInput.of(f"source of {collective}", allowed, source)


def _listed(network: Topology, groups: Sequence[Mapping[str, Any]], collective: str) -> list[Group]:
    """Groups that are described as in a file, but for nodes, which may be coordinates."""
    described = []
    for place, group in enumerate(groups):
        name = f"node of group {place}"
        numbers = dict(group)
        if "nodes" in group:
            numbers["nodes"] = [node_number(network, node, name) for node in group["nodes"]]
        if group.get("root") is not None:
            numbers["root"] = node_number(network, group["root"], name)
        if group.get("block_words") is not None:
            numbers["block_words"] = _plain(group["block_words"])
        described.append(numbers)
    return groups_of(described, collective)


def _plain(words: object) -> object:
    """The words of blocks as a file has them, where NumPy has them; what is none stays."""
    if isinstance(words, np.ndarray | np.generic):
        return words.tolist()
    return [_plain(each) for each in words] if isinstance(words, list | tuple) else words
