"""A second checker of schedules on a mesh or graph: plain loops over one send after the other.

On a graph some nodes may be switches; a switch sends nothing, gets nothing and is owed nothing. The
judge is written from the rules and shares no code with ``Schedule.check``, which it judges. For a
reduced block it counts how often each node's contribution is in a node's value: more than once is
right by ``max`` alone.
"""

import re
from collections import Counter
from itertools import pairwise

import numpy as np
from helpers.schedules import Send, listed

from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule

KINDS = {
    "range": "must be",
    "path": "path (begins|ends) at|path has a gap|path turns back|sends to itself",
    "early": "never gets block|only by send",
    "left out": "is left out",
    "twice": "is reached twice",
    "ports": "forbids",
    "link": "shares link|crosses link",
    "carried": "carries block",
}
"""Kinds of rules without that of switches, and the words in which check() names them."""

REDUCED_KINDS = KINDS | {
    "early": "never gets block|only by send|combines with nothing",
    "twice": "is combined twice",
    "order": "and one of the two replaces it",
    "too many": "must not get",
}
"""Kinds of rules for a schedule with reduced blocks."""


def named(schedule: Schedule, kinds: dict[str, str]) -> str | None:
    """Return the kind of rule that check() names as broken; None if it finds nothing."""
    try:
        schedule.check()
    except ScheduleError as error:
        found = [kind for kind, words in kinds.items() if re.search(words, str(error))]
        assert len(found) == 1, str(error)
        assert "\n" not in str(error)
        return found[0]
    return None


def problems(schedule: Schedule) -> set[str]:
    """Return the kinds of rules that a schedule breaks; empty for a correct one."""
    dims = schedule.topology.dims
    nodes = int(np.prod(dims)) if dims else len(schedule.topology.neighbor)
    switches = set(schedule.topology.switches)
    sends = listed(schedule)
    for send in sends:
        inside = all(0 <= n < nodes for n in [*send.path, send.source, send.target])
        vcs_exist = all(0 <= vc < 256 for vc in send.vcs)
        blocks_exist = all(0 <= block < len(schedule.blocks) for block in send.blocks)
        if send.step < 1 or not (inside and vcs_exist and blocks_exist):
            return {"range"}

    ways = None if dims else schedule.topology.neighbor.tolist()
    wrapped = schedule.topology.wrapped
    found = {"path"} if any(not connected(send, dims, ways, wrapped) for send in sends) else set()
    if any(sorted(send.blocks) != sorted({*send.blocks}) for send in sends):
        found.add("carried")
    owed_some = {node for owed in schedule.blocks.owed for node in owed or ()}
    owned = [block for block, owner in enumerate(schedule.blocks.owner.tolist()) if owner >= 0]
    reduced = [block for block in range(len(schedule.blocks)) if block not in owned]
    having = {*schedule.blocks.owner[owned].tolist(), *owed_some}
    if switches & having.union(*({send.source, send.target} for send in sends)):
        found.add("switch")
    has = {n: Counter() for n in range(nodes)}
    for block in owned:
        has[int(schedule.blocks.owner[block])][block] += 1
    for step in sorted({send.step for send in sends}):
        now = [send for send in sends if send.step == step]
        moved = [(send, [b for b in send.blocks if b in owned]) for send in now]
        if not carry_owned(has, moved):
            found.add("early")
        found |= step_problems(now, schedule.port_model)
    everyone = [node for node in range(nodes) if node not in switches]
    found |= reduction_problems(schedule, sends, reduced, everyone)
    for block in owned:
        # A block without words is missing nowhere.
        owed = schedule.blocks.owed[block] if schedule.blocks.words[block] else ()
        if any(not has[node][block] for node in (everyone if owed is None else owed)):
            found.add("left out")
    if schedule.collective == "broadcast" and any(n > 1 for c in has.values() for n in c.values()):
        found.add("twice")
    return found


def carry_owned(has: dict[int, Counter[int]], moved: list[tuple[Send, list[int]]]) -> bool:
    """Carry out the sends of a step; tell whether each source has its blocks in time.

    That is before the step, but for a send that streams, as soon as another send brings them.
    """
    in_time = all(has[send.source][b] for send, blocks in moved if not send.stream for b in blocks)
    left = [(send, blocks) for send, blocks in moved if send.stream]
    for send, blocks in moved:
        if not send.stream:
            has[send.target].update(blocks)
    while ready := [each for each in left if all(has[each[0].source][b] for b in each[1])]:
        for send, blocks in ready:
            has[send.target].update(blocks)
        left = [each for each in left if each not in ready]
    for send, blocks in left:
        has[send.target].update(blocks)
    return in_time and not left


def reduction_problems(
    schedule: Schedule, sends: list[Send], reduced: list[int], everyone: list[int]
) -> set[str]:
    """Return the rules that the reduced blocks break; count contributions, block by block."""
    found: set[str] = set()
    blocks, nodes_end = schedule.blocks, len(schedule.topology.neighbor)
    for block in reduced:
        given, broken = blocks.contributors[block], set()
        contributors = everyone if given is None else given
        has = {node: Counter([node]) for node in contributors}
        carrying = [send for send in sends if block in send.blocks]
        for step in sorted({send.step for send in carrying}):
            now = [(send, has.get(send.source)) for send in carrying if send.step == step]
            broken |= _carry_out(has, now)
        owed = blocks.owed[block] if blocks.words[block] else ()
        for node in everyone if owed is None else owed:
            last = {None: nodes_end, "inclusive": node, "exclusive": node - 1}[blocks.prefix[block]]
            due = {other for other in contributors if other <= last}
            got = set(has.get(node, {}))
            if not got >= due or not due:
                broken.add("left out")
            if got - due:
                broken.add("too many")
        if any(count > 1 for counter in has.values() for count in counter.values()):
            broken.add("twice")
        # A maximum of overlapping maxima is one, too.
        found |= broken - ({"twice"} if blocks.operator[block] == "max" else set())
    return found


def _carry_out(
    has: dict[int, Counter[int]], now: list[tuple[Send, Counter[int] | None]]
) -> set[str]:
    """Carry out one block's sends of a step; each carries its source's value before the step."""
    found = set()
    for target in {send.target for send, _ in now}:
        coming = [(send.combine, carried) for send, carried in now if send.target == target]
        if len(coming) > 1 and not all(combine for combine, _ in coming):
            found.add("order")
        for combine, carried in coming:
            if carried is None or (combine and target not in has):
                found.add("early")
            else:
                has[target] = has[target] + carried if combine else carried.copy()
                if max(has[target].values()) > 1:
                    found.add("twice")
    return found


def connected(
    send: Send,
    dims: tuple[int, ...],
    ways: list[list[int]] | None,
    wrapped: tuple[int, ...] = (),
) -> bool:
    """Tell whether the path leads from neighbor to neighbor, from the source to another node.

    It comes back from no neighbor, except by a parallel link of a ring of two nodes.
    Neighbors are as on a mesh whose ``wrapped`` axes are rings, or the nodes joined by ``ways``.
    """

    def apart(a: int, b: int) -> int:
        pairs = enumerate(zip(place(a), place(b), strict=True))
        far = [(axis, abs(p - q)) for axis, (p, q) in pairs]
        return sum(min(d, dims[axis] - d) if axis in wrapped else d for axis, d in far)

    def parallel(a: int, b: int) -> bool:
        pairs = enumerate(zip(place(a), place(b), strict=True))
        return any(p != q and axis in wrapped and dims[axis] == 2 for axis, (p, q) in pairs)

    def place(node: int) -> list[int]:
        digits = []
        for side in dims:
            node, digit = divmod(node, side)
            digits.append(digit)
        return digits

    hops = [apart(a, b) if ways is None else ways[a].count(b) for a, b in pairwise(send.path)]
    ends = (send.path[0], send.path[-1]) == (send.source, send.target)
    pairs = pairwise(pairwise(send.path))
    turned = any(a == c and not parallel(a, b) for (a, b), (_, c) in pairs)
    return ends and send.source != send.target and set(hops) == {1} and not turned


def step_problems(sends: list[Send], port_model: str) -> set[str]:
    """Return the kinds of rules that two sends of one step break together."""
    found = set()
    crossed = [
        (a, b, vc)
        for send in sends
        for a, b, vc in zip(send.path, send.path[1:], send.vcs, strict=False)
    ]
    if len(set(crossed)) < len(crossed):
        found.add("link")
    for i, one in enumerate(sends):
        for other in sends[:i]:
            same_source, same_target = one.source == other.source, one.target == other.target
            meet = {one.source, one.target} & {other.source, other.target}
            swap = (one.source, one.target) == (other.target, other.source)
            chained = one.source == other.target or one.target == other.source
            same_out = same_source and one.path[1] == other.path[1]
            same_in = same_target and one.path[-2] == other.path[-2]
            forbidden = {
                "half-duplex": bool(meet),
                "full-duplex": same_source or same_target,
                "exchange": same_source or same_target or (chained and not swap),
                "all-port": same_out or same_in,
            }
            if forbidden[port_model]:
                found.add("ports")
    return found
