"""Promises of collectives: which nodes have which blocks, and which must end up with them.

============== =====================================================================================
broadcast      the root has every block; every working node gets every block
multicast      the root has every block; all targets get every block
scatter        the root has one or more blocks for each other working node; each block is for one
gather         each working node except the root has one or more blocks; all are for the root
all-gather     each working node has one or more blocks; every working node gets all of them
all-to-all     each working node has one or more blocks for each other; each block is for one node
neighbor       as all-to-all, but only for each working node that is linked with it
halo           as all-to-all, but only for each working node whose coordinates differ by at most 1
reduce         each working node contributes to every block; all are for the root
reduce-scatter each working node contributes to every block; each gets one or more for itself alone
all-reduce     each working node contributes to every block; every working node gets all
barrier        as all-reduce: a node with the result knows that every node has reached the barrier
scan           each working node contributes to every block; every working node gets all, combined
               of the contributions of nodes up to itself, in the order of their numbers
exscan         as scan, but without the node's own contribution; so the first node gets nothing
custom         no promise: any blocks
============== =====================================================================================

A working node is neither faulty nor a switch. A block need not be owed to its own owner. The
blocks from reduce to exscan are reduced; those of the others have owners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..base.errors import InvalidInput, one_of
from ..network.topology import Topology
from .blocks import CUSTOM, Blocks
from .collective import EXCHANGES, ROOTLESS, Collective, Prefix
from .exchanged import exchanged_pairs
from .table import SendTable

NO_ROOT = -1

Nodes = frozenset[int]


def require_promise(schedule: SendTable) -> None:
    """Raise :class:`InvalidInput` if the blocks break the promise of the collective's name."""
    name = schedule.collective
    if name == CUSTOM:
        return
    if name not in tuple(Collective):
        raise InvalidInput.of("collective", one_of((*Collective, CUSTOM)), repr(name))
    if name in ROOTLESS and schedule.root is not None:
        raise InvalidInput.of(f"root of {name}", "none, as every node is one", schedule.root)
    if name not in ROOTLESS and schedule.root is None:
        raise InvalidInput.of(f"root of {name}", "a node", "none")
    working = frozenset(schedule.topology.working_nodes.tolist())
    broken = broken_promise(name, schedule.root, working, schedule.blocks, schedule.topology)
    if broken is not None:
        raise InvalidInput(f"collective must be {CUSTOM}, not {name}: {broken}")


def broken_promise(
    name: str, root: int | None, working: Nodes, blocks: Blocks, topology: Topology
) -> str | None:
    """Say how ``blocks`` break a collective's promise to ``working`` nodes; None if they keep it.

    ``root`` is None for a collective in which every node is a root.
    """
    owed = [working if nodes is None else frozenset(nodes) for nodes in blocks.owed]
    reduces = Collective(name).reduces
    place = NO_ROOT if root is None else root
    wrong_kind = (
        f"block {block} is {'one of an owner' if reduces else 'reduced'}"
        for block in np.flatnonzero(blocks.reduced != reduces)
    )
    broken = _first(wrong_kind)
    if broken is None and reduces:
        lists = blocks.contributors
        contributors = [working if nodes is None else frozenset(nodes) for nodes in lists]
        broken = (
            _of_all(working, contributors)
            or _of_prefix(Collective(name).prefix, blocks)
            or _REDUCED[name](place, working, owed)
        )
    elif broken is None and name in EXCHANGES:
        broken = _exchanged(name, working, blocks.owner.tolist(), owed, topology)
    elif broken is None:
        broken = _RULES[name](place, working, blocks.owner.tolist(), owed)
    return broken


def broadcast_name(topology: Topology, blocks: Blocks) -> str:
    """Return broadcast, or custom if ``blocks`` leave working nodes out."""
    working = set(topology.working_nodes.tolist())
    whole = all(owed is None or working <= {*owed} for owed in blocks.owed)
    return Collective.BROADCAST if whole else CUSTOM


Rule = Callable[[int, Nodes, list[int], list[Nodes]], str | None]
"""Function of root, working nodes, and each block's owner and owed nodes: an error, or None."""


def _broadcast(root: int, working: Nodes, owner: list[int], owed: list[Nodes]) -> str | None:
    return _of_root(root, owner) or _to_all(working, owner, owed)


def _multicast(root: int, _: Nodes, owner: list[int], owed: list[Nodes]) -> str | None:
    return _of_root(root, owner) or _first(
        f"block {block} is owed to others than block 0"
        for block, nodes in enumerate(owed)
        if nodes != owed[0]
    )


def _scatter(root: int, working: Nodes, owner: list[int], owed: list[Nodes]) -> str | None:
    served: Nodes = frozenset().union(*owed)
    return _of_root(root, owner) or _to_one(owed) or _nothing_for(working - served - {root})


def _gather(root: int, working: Nodes, owner: list[int], owed: list[Nodes]) -> str | None:
    return _to_root(root, owed) or _nothing_of(working - {*owner} - {root})


def _all_gather(_: int, working: Nodes, owner: list[int], owed: list[Nodes]) -> str | None:
    return _to_all(working, owner, owed) or _nothing_of(working - {*owner})


def _exchanged(
    name: str, working: Nodes, owner: list[int], owed: list[Nodes], topology: Topology
) -> str | None:
    if wrong := _to_one(owed):
        return wrong
    sources, targets = exchanged_pairs(topology, name, working)
    asked = dict.fromkeys(zip(sources.tolist(), targets.tolist(), strict=True))
    pairs = [(source, node) for source, (node,) in zip(owner, owed, strict=True)]
    there = {*pairs}
    return _first(
        f"node {node} is owed nothing of node {source}"
        for source, node in asked
        if (source, node) not in there
    ) or _first(
        f"block {block} goes from node {source} to node {node}"
        for block, (source, node) in enumerate(pairs)
        if source != node and (source, node) not in asked
    )


_RULES: dict[str, Rule] = {
    Collective.BROADCAST: _broadcast,
    Collective.MULTICAST: _multicast,
    Collective.SCATTER: _scatter,
    Collective.GATHER: _gather,
    Collective.ALL_GATHER: _all_gather,
}

ReducedRule = Callable[[int, Nodes, list[Nodes]], str | None]
"""Function of root, working nodes, and the nodes that are owed each block: an error, or None."""


def _reduce_scatter(_: int, working: Nodes, owed: list[Nodes]) -> str | None:
    served: Nodes = frozenset().union(*owed)
    return _to_one(owed) or _nothing_for(working - served)


def _all_reduce(_: int, working: Nodes, owed: list[Nodes]) -> str | None:
    return _to_all(working, [NO_ROOT] * len(owed), owed)


_REDUCED: dict[str, ReducedRule] = {
    Collective.REDUCE: lambda root, _, owed: _to_root(root, owed),
    Collective.REDUCE_SCATTER: _reduce_scatter,
    Collective.ALL_REDUCE: _all_reduce,
    Collective.BARRIER: _all_reduce,
    Collective.SCAN: _all_reduce,
    Collective.EXSCAN: lambda _, working, owed: _all_reduce(_, working - {min(working)}, owed),
}


def _first(complaints: Iterable[str]) -> str | None:
    return next(iter(complaints), None)


def _of_root(root: int, owner: list[int]) -> str | None:
    others = ((block, node) for block, node in enumerate(owner) if node != root)
    return _first(f"block {block} is owned by node {node}, not {root}" for block, node in others)


def _of_all(working: Nodes, contributors: list[Nodes]) -> str | None:
    return _first(
        f"node {min(working - nodes)} contributes nothing to block {block}"
        for block, nodes in enumerate(contributors)
        if nodes is not working and working - nodes
    )


def _of_prefix(prefix: Prefix | None, blocks: Blocks) -> str | None:
    names = {None: "of all", Prefix.INCLUSIVE: "up to its own", Prefix.EXCLUSIVE: "before its own"}
    return _first(
        f"block {block} brings each node the contributions {names[each]}, not {names[prefix]}"
        for block, each in enumerate(blocks.prefix)
        if each != prefix
    )


def _to_root(root: int, owed: list[Nodes]) -> str | None:
    away = (block for block, nodes in enumerate(owed) if nodes != {root})
    return _first(f"block {block} is owed to others than the root {root}" for block in away)


def _to_all(working: Nodes, owner: list[int], owed: list[Nodes]) -> str | None:
    return _first(
        f"block {block} is not owed to node {min(working - nodes - {owner[block]})}"
        for block, nodes in enumerate(owed)
        if nodes is not working and working - nodes - {owner[block]}
    )


def _to_one(owed: list[Nodes]) -> str | None:
    return _first(
        f"block {block} is owed to {len(nodes)} nodes"
        for block, nodes in enumerate(owed)
        if len(nodes) != 1
    )


def _nothing_for(nodes: Nodes) -> str | None:
    return _first(f"node {node} is owed nothing" for node in sorted(nodes))


def _nothing_of(nodes: Nodes) -> str | None:
    return _first(f"node {node} has no block" for node in sorted(nodes))
