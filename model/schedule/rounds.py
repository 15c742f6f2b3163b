"""Schedules from rounds: who sends which blocks to whom, without routes, steps or addresses.

All sends of a round carry what their sources hold before the round. From this follows which sends
must wait for others (:func:`ordered_by_rounds`)::

    round 1   a: 0 -> 1 combines block 0          a and b exchange, so they get one step
              b: 1 -> 0 combines block 0
    round 2   c: 0 -> 2 replaces block 0          c waits for b, which changes the block at node 0
    round 3   d: 2 -> 3 carries block 1           d waits for no one

:func:`.schedule_of_rounds` then finds routes and steps (:mod:`.ordered`): a later round may begin
before an earlier one has ended. Routes are the usual ones, or ones that share links evenly where
these are free earlier; their VCs close no circle. Blocks stand in an order in which sends carry
adjacent words (:mod:`.adjacent`). Of several ways the one with the fewest expected cycles is taken.
On circuits the compiler gives every send a cycle of its own, and steps only order the sends that
change a word.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..base.arrays import Int32s
from ..base.errors import require_range
from ..base.graph_cycles import strong_parts
from ..network.port_model import PortModel
from ..network.topology import Topology
from .adjacent import adjacent_order
from .blocks import Blocks
from .duration import expected_cycles
from .ordered import OrderedSends, packed_schedule
from .requested import Requested
from .schedule import Schedule

MOST_SPREAD = 1 << 21
"""Most nodes squared times rounds of different pairs for which routes are spread."""


class RoundSend(NamedTuple):
    """A send of a round: ``combine`` tells that its words are combined with those at the target."""

    source: int
    target: int
    blocks: Sequence[int] | Int32s
    combine: bool = False


Rounds = Sequence[Sequence[RoundSend]]


def ordered_by_rounds(
    blocks: Blocks, rounds: Rounds, *, keeps_rounds: bool = False, one_change: bool = False
) -> OrderedSends:
    """Return the sends of all rounds, and which of them wait for which.

    A send waits for the sends of earlier rounds that bring its blocks. A send that changes a
    reduced block comes no earlier than those that read it before, and after the last one that
    replaced it. Sends that read and change each other's blocks in a circle are one unit. With
    ``keeps_rounds``, a node also sends a block in the order of the rounds. With ``one_change``, no
    two rounds change in one step a block that its node has sent: the memory would need a copy of
    the block, and each earlier send a row for the copy.
    """
    rows = [row for each in rounds for row in each]
    reduced = blocks.reduced.tolist()
    if not any(reduced) and sum(len(row.blocks) for row in rows) > len(rows) * len(rounds):
        return _ordered(rows, _bringing(rounds, len(blocks), keeps_rounds), [[]] * len(rows), ())
    after: list[set[int]] = [set() for _ in rows]
    not_before: list[set[int]] = [set() for _ in rows]
    written: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    read: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    replaced: dict[tuple[int, int], list[int]] = {}
    unit: list[int] = []
    for each in rounds:
        here = range(len(unit), len(unit) + len(each))
        for row in here:
            for block in map(int, rows[row].blocks):
                after[row].update(written[rows[row].source, block])
                if reduced[block]:
                    read[rows[row].source, block].append(row)
        for row in here:
            send = rows[row]
            for place in ((send.target, block) for block in map(int, send.blocks)):
                if reduced[place[1]]:
                    not_before[row].update(read[place])
                    earlier = replaced if send.combine else written
                    after[row].update(earlier.get(place, ()))
                    if one_change and read[place]:
                        after[row].update(written[place])
            not_before[row] -= {row}
        for row in here:
            send = rows[row]
            ends = (send.source, send.target) if keeps_rounds else (send.target,)
            for block in map(int, send.blocks):
                for end in ends:
                    written[end, block].append(row)
            replaced |= {
                (send.target, int(block)): [row] for block in send.blocks if not send.combine
            }
        parts = strong_parts(here, {row: not_before[row] & {*here} for row in here})
        first = {row: min(part) for part in parts for row in part}
        unit += [first[row] for row in here]
    return _ordered(rows, after, not_before, np.unique(unit, return_inverse=True)[1].tolist())


def _ordered(
    rows: Sequence[RoundSend],
    after: Sequence[Collection[int]],
    not_before: Sequence[Collection[int]],
    unit: Sequence[int],
) -> OrderedSends:
    """Return the sends ``rows`` with their order."""
    return OrderedSends(
        source=[row.source for row in rows],
        target=[row.target for row in rows],
        blocks=[row.blocks for row in rows],
        after=[sorted(others) for others in after],
        not_before=[sorted(others) for others in not_before],
        combine=[row.combine for row in rows],
        unit=unit,
    )


def _bringing(rounds: Rounds, blocks: int, keeps_rounds: bool) -> list[list[int]]:
    """Return for each row the rows that it waits for, where no block is reduced.

    A row's blocks are the bits of one number, so that long rows are compared at once.
    """
    there: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    after: list[list[int]] = []
    for each in rounds:
        first, carried = len(after), [_bits(send.blocks, blocks) for send in each]
        after += [
            [row for row, brought in there[send.source] if brought & wanted]
            for send, wanted in zip(each, carried, strict=True)
        ]
        for row, (send, bits) in enumerate(zip(each, carried, strict=True), start=first):
            for end in (send.source, send.target) if keeps_rounds else (send.target,):
                there[end].append((row, bits))
    return after


def _bits(numbers: Sequence[int] | Int32s, size: int) -> int:
    """Return the integer whose bits with these ``numbers``, below ``size``, are set."""
    marked = np.zeros(size, np.bool_)
    marked[numbers] = True
    return int.from_bytes(np.packbits(marked, bitorder="little").tobytes(), "little")


def schedule_of_rounds(
    topology: Topology,
    collective: str,
    algorithm: str,
    port_model: PortModel,
    root: int | None,
    blocks: Blocks,
    rounds: Rounds,
    *,
    groups: Sequence[tuple[int, ...]] = (),
    requests: Sequence[Requested] = (),
    keeps_rounds: bool = False,
) -> Schedule:
    """Return the schedule of ``rounds`` that is expected to take the fewest cycles.

    With ``keeps_rounds``, a node sends a block in the order of the rounds.

    Raises :class:`.InvalidInput` for a block that does not exist; other errors are those of
    :func:`.packed_schedule`. :meth:`.Schedule.check` proves that the sends
    carry out the collective.
    """
    for number, each in enumerate(rounds):
        for place, send in enumerate(each):
            parameter = f"blocks of send {place} of round {number}"
            require_range(parameter, int(np.max(send.blocks)), 0, len(blocks) - 1)
    sets = [send.blocks for each in rounds for send in each]
    of_block = blocks.in_groups(groups, topology)
    sets += [np.flatnonzero(of_block == number).tolist() for number in range(len(groups))]
    order = adjacent_order(len(blocks), sets)
    renumbered = np.argsort(order).astype(np.int32)
    placed = [
        [send._replace(blocks=np.sort(renumbered[np.asarray(send.blocks)])) for send in each]
        for each in rounds
    ]
    blocks = blocks.chosen(np.array(order))
    one_change = port_model == PortModel.ALL_PORT
    sends = ordered_by_rounds(blocks, placed, keeps_rounds=keeps_rounds, one_change=one_change)

    def made(other_paths: list[list[int]] | None) -> Schedule:
        packed = packed_schedule(
            topology, collective, algorithm, port_model, root, blocks, sends, None, other_paths
        )
        return replace(packed, groups=tuple(groups), requests=tuple(requests))

    usual, others = made(None), _spread(topology, rounds)
    if others is None:
        return usual
    return min(usual, made(others), key=expected_cycles)


def _spread(topology: Topology, rounds: Rounds) -> list[list[int]] | None:
    """Return a path for each send that shares links evenly with the others of its round.

    Returns None if the paths are single links, or would take too long to find.
    """
    found: dict[tuple[tuple[int, int], ...], list[list[int]]] = {}
    for each in rounds:
        found[tuple((send.source, send.target) for send in each)] = []
    if len(found) * topology.nodes**2 > MOST_SPREAD:
        return None
    # Import late: it loads the compiler of loops, which most commands do without.
    from ..network.spread_routes import spread_paths  # noqa: PLC0415

    for pairs in filter(None, found):
        source, target = np.array(pairs, np.int64).T
        offsets, nodes = spread_paths(topology, source, target)
        listed = nodes.tolist()
        found[pairs] = [listed[begin:end] for begin, end in pairwise(offsets.tolist())]
    paths = [path for each in rounds for path in found[tuple((send[0], send[1]) for send in each)]]
    return paths if any(len(path) > 2 for path in paths) else None
