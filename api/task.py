"""Tasks from Python arguments: nodes by coordinates, groups and block lengths as lists."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..model.base.errors import InvalidInput, require_range
from ..model.collectives.declared.block_words import as_block_words
from ..model.collectives.group_choice import NamedGroups, named_groups
from ..model.collectives.group_file import Group, groups_of
from ..model.collectives.task import Task
from ..model.network.operators import Operator
from ..model.network.topology import Topology
from ..model.program.certified import Room
from .annotations import BlockWords, Groups, Node


def node_number(network: Topology, node: Node, parameter: str) -> int:
    """Return the number of a node that is given by number or coordinates."""
    if isinstance(node, int | np.integer):
        require_range(parameter, int(node), 0, network.nodes - 1)
        return int(node)
    return network.node_at(tuple(node), parameter)


def task_of(
    network: Topology,
    *,
    collective: str,
    source: Node | None,
    targets: Iterable[Node] | None,
    block_words: BlockWords | None,
    groups: Groups | None,
    **others: Any,
) -> Task:
    """Make a task from the arguments of :func:`.schedule`."""
    root = None if source is None else node_number(network, source, "source")
    numbers = (
        None if targets is None else tuple(node_number(network, node, "target") for node in targets)
    )
    named: NamedGroups | None = None
    if isinstance(groups, str | Path):
        named = named_groups(network, str(groups), collective, root, numbers)
    elif groups is not None:
        named = NamedGroups("a list", _listed(network, groups, collective))
    try:
        return Task(
            topology=network,
            collective=collective,
            source=root,
            targets=numbers,
            block_words=None if block_words is None else as_block_words(block_words),
            groups=named,
            **others,
        )
    except InvalidInput as error:
        if error.parameter != "operator":
            raise
        allowed = f"{error.allowed}, or an Operator"
        raise InvalidInput.of("operator", allowed, error.value) from error


def room_of(operator: str | Operator | None, parameters: Mapping[str, Any]) -> Room:
    """Return the network of ``parameters``; if they list no operators, it has the custom one."""
    own = {"operators": (operator,)} if isinstance(operator, Operator) else {}
    return Room({**own, **parameters}, parameters.keys())


def _listed(network: Topology, groups: Sequence[Mapping[str, Any]], collective: str) -> list[Group]:
    """Read groups that are described as in a file, with nodes also by coordinates."""
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
    """Return the words of blocks with NumPy values as plain numbers and lists."""
    if isinstance(words, np.ndarray | np.generic):
        return words.tolist()
    return [_plain(each) for each in words] if isinstance(words, list | tuple) else words
