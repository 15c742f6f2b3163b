"""The rule on requests: a schedule does what was requested, and no less.

An algorithm may cut a message into blocks. The check adds up the words of the blocks:

================================================= ================================================
collective                                        blocks whose words are added up
================================================= ================================================
broadcast, multicast, reduce, all-reduce, barrier all blocks
scan, exscan                                      all blocks
scatter, reduce-scatter                           the blocks for each node
gather, all-gather                                the blocks of each node
all-to-all, neighbor, halo                        the blocks of each node for each other node
================================================= ================================================

A scatter or gather may leave out the root's block for itself, and an all-to-all each node's own.
If such a block exists, it has the words of the request. If blocks are copies of the message, each
has all its words, and every requested node gets at least one copy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..base.errors import InvalidInput, one_of
from .blocks import CUSTOM, Blocks
from .collective import EXCHANGES, OF_OWNERS, OF_TARGETS, ROOTLESS, Collective
from .exchanged import exchanged_pairs
from .promises import broken_promise
from .requested import Requested
from .rules import ScheduleError
from .table import SendTable

Nodes = npt.NDArray[np.int64]

_TABLES = (
    "a number",
    "a number, or one for each node that takes part",
    "a number, or a row for each node that takes part, with one for each",
)
"""Allowed words of a request, by the number of ends (owner, target) that identify a message."""


def check_requests(schedule: SendTable) -> None:
    """Require blocks of the requested collective, words, root, targets and operator.

    A schedule without requests is not compared with any.
    """
    requests, groups = schedule.requests, schedule.groups
    if not requests:
        return
    count = max(1, len(groups))
    if len(requests) != count:
        raise ScheduleError(f"number of requests must be {count}, not {len(requests)}")
    everyone = schedule.topology.working_nodes
    group = schedule.blocks.in_groups(groups, schedule.topology)
    if (group < 0).any():
        raise ScheduleError(f"block {np.argmin(group)} must be of a group, as requested")
    for number, request in enumerate(requests):
        nodes = np.array(sorted(groups[number]), np.int64) if groups else everyone
        complaint = _complaint(schedule, request, nodes, schedule.blocks.some(group == number))
        if complaint is not None:
            raise ScheduleError(f"group {number}: {complaint}" if groups else complaint)


def _complaint(schedule: SendTable, request: Requested, nodes: Nodes, blocks: Blocks) -> str | None:
    """Say how ``blocks`` differ from the request of the group ``nodes``; None if they do not."""
    name = request.collective
    if name not in tuple(Collective):
        return _must_be("collective of the request", one_of(Collective), name)
    if (request.root is None) != (name in ROOTLESS):
        allowed = "none" if name in ROOTLESS else "a node"
        return _must_be(f"root of the requested {name}", allowed, request.root)
    if not schedule.groups:
        names = (name, CUSTOM) if request.partial or request.copies else (name,)
        if schedule.collective not in names:
            return _must_be("collective", f"{name}, as requested", schedule.collective)
        if schedule.collective == name and schedule.root != request.root:
            return _must_be("root", f"{request.root}, as requested", schedule.root)
    if schedule.collective != name:
        # check_promise has not compared the blocks of these nodes with the requested collective.
        concerned = _concerned(schedule, blocks)
        served = concerned if request.partial else frozenset(nodes.tolist())
        if request.copies:
            # Each copy may go to some of the nodes; only together must they reach all.
            blocks = replace(blocks, owed=(tuple(sorted(concerned)),) * len(blocks))
        broken = broken_promise(name, request.root, served, blocks, schedule.topology)
        if broken is not None:
            return f"blocks must be those of the requested {name}: {broken}"
        nodes = np.array(sorted(served), np.int64)
    return (
        _wrong_operator(request, blocks)
        or _wrong_target(request, nodes, blocks)
        or _wrong_words(schedule, request, nodes, blocks)
    )


def _must_be(parameter: str, allowed: str, value: object) -> str:
    return str(InvalidInput.of(parameter, allowed, value))


def _concerned(schedule: SendTable, blocks: Blocks) -> frozenset[int]:
    """List the nodes that have or get some of ``blocks``."""
    holders = (blocks.holders(block, schedule.topology) for block in range(len(blocks)))
    return frozenset(blocks.served(schedule.topology).union(*holders))


def _wrong_operator(request: Requested, blocks: Blocks) -> str | None:
    """Say which other operator combines one of ``blocks``; None if none does."""
    others = sorted({*blocks.operator} - {request.operator}, key=str)
    for other in others[:1]:
        return _must_be("operator", f"{request.operator}, as requested", other)
    return None


def _wrong_target(request: Requested, nodes: Nodes, blocks: Blocks) -> str | None:
    """Say which of ``nodes`` wrongly gets, or misses, a multicast; None if none does."""
    if request.collective != Collective.MULTICAST:
        return None
    # A multicast promises that all blocks have the same targets, so the first tells all.
    asked, owed = (
        frozenset(nodes.tolist() if targets is None else targets) - {request.root}
        for targets in (request.targets, blocks.owed[0] if len(blocks) else ())
    )
    for node in sorted(asked ^ owed)[:1]:
        verb = "get" if node in asked else "not get"
        return f"node {node} must {verb} the multicast, as requested"
    return None


def _wrong_words(
    schedule: SendTable, request: Requested, nodes: Nodes, blocks: Blocks
) -> str | None:
    """Say which message has other words than requested; None if all agree."""
    name, size = request.collective, len(nodes)
    if request.copies:
        for words in sorted({*blocks.words.tolist()} - {request.words})[:1]:
            return _must_be(f"words of each {name}", f"{request.words}, as requested", words)
        return None
    ends = _ends(name, nodes, blocks)
    message = np.zeros(len(blocks), np.int64)
    for preposition, end in ends.items():
        for node in end[~np.isin(end, nodes)][:1]:
            return f"no block must be {preposition} node {node}, as requested"
        message = message * size + np.searchsorted(nodes, end)
    found = np.zeros((size,) * len(ends), np.int64)
    np.add.at(found.reshape(-1), message, blocks.words.astype(np.int64))
    try:
        asked = np.array(request.words, np.int64)
        asked = asked if asked.ndim else np.full_like(found, asked)
    except ValueError:
        # The rows of the table differ in length.
        asked = np.zeros(0, np.int64)
    if asked.shape != found.shape:
        return f"words of the requested {name} must be {_TABLES[len(ends)]}"
    if name in EXCHANGES and name != Collective.ALL_TO_ALL:
        paired = np.zeros_like(found, np.bool_)
        pairs = exchanged_pairs(schedule.topology, name, nodes)
        paired[tuple(np.searchsorted(nodes, end) for end in pairs)] = True
        asked = np.where(paired, asked, 0)
    for place in np.argwhere((found != asked) & ~(_own(request, nodes, ends) & (found == 0)))[:1]:
        names = zip(ends, nodes[place].tolist(), strict=True)
        whose = "".join(f" {preposition} node {node}" for preposition, node in names)
        allowed = f"{asked[tuple(place)]}, as requested"
        return _must_be(f"words of the {name}{whose}", allowed, found[tuple(place)])
    return None


def _ends(name: str, nodes: Nodes, blocks: Blocks) -> dict[str, Nodes]:
    """Return the owner of each block, its target, or both: the ends by which words are counted."""
    ends = {}
    if name in (*OF_OWNERS, *EXCHANGES):
        ends["of"] = blocks.owner.astype(np.int64)
    if name in (*OF_TARGETS, *EXCHANGES):
        ends["for"] = np.array([nodes[0] if owed is None else owed[0] for owed in blocks.owed])
    return ends


def _own(request: Requested, nodes: Nodes, ends: dict[str, Nodes]) -> npt.NDArray[np.bool_]:
    """Tell for each message whether it may be left out, because a node has it for itself."""
    if len(ends) == 2:
        return np.eye(len(nodes), dtype=np.bool_)
    if len(ends) == 1 and request.root is not None:
        return np.asarray(nodes == request.root)
    return np.zeros((), np.bool_)
