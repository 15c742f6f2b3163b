"""The rule on blocks with an owner: a node holds a block before it sends it, and all owed get it.

:mod:`.reduction` checks blocks that combine the contributions of several nodes.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from .collective import Collective
from .pairs import PairIndex, Pairs
from .rules import LARGEST_STEP, ScheduleError, broken, first_broken, first_clash, send_name
from .table import SendTable

NEVER = LARGEST_STEP + 1


def check_blocks(schedule: SendTable) -> None:
    """Require that a node holds each block before it sends it, and that all owed nodes get it.

    A node holds its own blocks from step 0, and any other from the step in which it first receives
    it. It may send a block from the next step on, or in the same step if it streams
    (:mod:`.streams` proves that it can). A block of no words needs no send. In a broadcast no node
    may receive a block that it already has.
    """
    count, plain = len(schedule.blocks), ~schedule.blocks.reduced
    if not plain.any():
        return
    sends, blocks = schedule.block_sends, schedule.block_ids
    if not plain.all():
        sends, blocks = sends[plain[blocks]], blocks[plain[blocks]]
    steps = schedule.step[sends]
    pairs = np.result_type(np.int32, np.min_scalar_type(-schedule.topology.nodes * count))
    departing, arriving = (
        (end.astype(pairs) * count)[sends] + blocks for end in (schedule.source, schedule.target)
    )
    owned = schedule.blocks.owner[plain].astype(np.int64) * count + np.flatnonzero(plain)
    owed = _owed_pairs(schedule).astype(pairs)

    have_from = _PairSteps(schedule.topology.nodes * count, (departing, arriving, owned, owed))
    have_from.lower(arriving, steps)
    have_from.lower(owned, np.zeros(owned.size, dtype=np.int32))

    early = first_broken(schedule, have_from[departing] >= steps + schedule.stream[sends], sends)
    if early is not None:
        raise _sent_early(schedule, int(sends[early]), departing[early], arriving, sends)
    missing = owed[have_from[owed] == NEVER]
    if missing.size:
        node, block = divmod(int(missing.min()), count)
        raise ScheduleError(f"node {node} is left out: no send brings it block {block}")
    if schedule.collective == Collective.BROADCAST:
        _check_reached_once(schedule, owned, arriving, sends)


def _owed_pairs(schedule: SendTable) -> Numbers:
    """Return the pairs, ``node * blocks + block``, that sends must bring; no reduced blocks."""
    blocks, count = schedule.blocks, len(schedule.blocks)
    left_out = (blocks.reduced | (blocks.words == 0)).tolist()
    owed = [() if out else nodes for nodes, out in zip(blocks.owed, left_out, strict=True)]
    everyone = np.flatnonzero([nodes is None for nodes in owed])
    pairs = schedule.topology.working_nodes[:, None] * count + everyone
    lengths = [len(nodes or ()) for nodes in owed]
    nodes = np.fromiter(chain.from_iterable(nodes or () for nodes in owed), np.int64)
    return np.concatenate((pairs.ravel(), nodes * count + np.repeat(np.arange(count), lengths)))


class _PairSteps:
    """The step from which a node has a block, for each (node, block) pair in use."""

    def __init__(self, pairs: int, used: tuple[Pairs, ...]) -> None:
        self._index = PairIndex(pairs, used)
        self._steps = np.full(self._index.size, NEVER, dtype=np.int32)

    def lower(self, pairs: Pairs, steps: npt.NDArray[np.int32]) -> None:
        """Set each pair to its step in ``steps`` if that is lower than the step known so far."""
        np.minimum.at(self._steps, self._index[pairs], steps)

    def __getitem__(self, pairs: Pairs) -> npt.NDArray[np.int32]:
        return self._steps[self._index[pairs]]


def _sent_early(
    schedule: SendTable, send: int, pair: np.integer, arriving: Pairs, sends: Numbers
) -> ScheduleError:
    """Describe a ``send`` whose source does not have the block of ``pair`` in time."""
    node, block = divmod(int(pair), len(schedule.blocks))
    place = first_broken(schedule, arriving == pair, sends)
    if place is None:
        return broken(schedule, send, f"node {node} never gets block {block}")
    bringer = send_name(schedule, int(sends[place]))
    return broken(schedule, send, f"node {node} gets block {block} only by {bringer}")


def _check_reached_once(
    schedule: SendTable, owned: Numbers, arriving: Pairs, sends: Numbers
) -> None:
    at_home = first_broken(schedule, np.isin(arriving, owned), sends)
    if at_home is not None:
        node, block = divmod(int(arriving[at_home]), len(schedule.blocks))
        complaint = f"node {node} is reached twice: it has block {block} from the start"
        raise broken(schedule, int(sends[at_home]), complaint)
    clash = first_clash(schedule, arriving, sends)
    if clash is not None:
        first, second = clash
        node, block = divmod(int(arriving[second]), len(schedule.blocks))
        other = send_name(schedule, int(sends[first]))
        complaint = f"node {node} is reached twice with block {block}, first by {other}"
        raise broken(schedule, int(sends[second]), complaint)
