"""The rule on blocks that one node owns: had before they are sent, and brought to all.

What is combined of the contributions of several nodes is for :mod:`.reduction`.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .collective import Collective
from .rules import (
    LARGEST_STEP,
    IntArray,
    ScheduleError,
    broken,
    first_broken,
    first_clash,
    send_name,
)

if TYPE_CHECKING:
    from .table import SendTable

NEVER = LARGEST_STEP + 1
LARGEST_PAIR_TABLE = 1 << 26


def check_blocks(schedule: SendTable) -> None:
    """Require that blocks are had before they are sent, and reach all whom they are owed to.

    A node has its own blocks from step 0 and any other from the step in which it first receives
    it; it may send it from the next step on, or in the same step if it streams
    (:mod:`.streams` proves that it can). A block of no words needs no send. In a broadcast no node
    may receive a block that it has.
    """
    count, plain = len(schedule.blocks), ~schedule.blocks.reduced
    if not plain.any():
        return
    sends = schedule.block_sends
    sends, blocks = sends[plain[schedule.block_ids]], schedule.block_ids[plain[schedule.block_ids]]
    steps = schedule.step[sends]
    departing = schedule.source[sends].astype(np.int64) * count + blocks
    arriving = schedule.target[sends].astype(np.int64) * count + blocks
    owned = schedule.blocks.owner[plain].astype(np.int64) * count + np.flatnonzero(plain)
    owed = _owed_pairs(schedule)

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


def _owed_pairs(schedule: SendTable) -> IntArray:
    """The (node, block) pairs of owners' blocks that must be brought: ``node * blocks + block``."""
    blocks, count = schedule.blocks, len(schedule.blocks)
    left_out = (blocks.reduced | (blocks.words == 0)).tolist()
    owed = [() if out else nodes for nodes, out in zip(blocks.owed, left_out, strict=True)]
    everyone = np.flatnonzero([nodes is None for nodes in owed])
    pairs = schedule.topology.working_nodes[:, None] * count + everyone
    lengths = [len(nodes or ()) for nodes in owed]
    nodes = np.fromiter(chain.from_iterable(nodes or () for nodes in owed), np.int64)
    return np.concatenate((pairs.ravel(), nodes * count + np.repeat(np.arange(count), lengths)))


class _PairSteps:
    """The step from which a node has a block, for each (node, block) pair that is in use.

    A plain table of all pairs where that is small enough; else only of the pairs that occur, which
    are found by bisection.
    """

    def __init__(self, pairs: int, used: tuple[IntArray, ...]) -> None:
        self._known = None if pairs <= LARGEST_PAIR_TABLE else np.unique(np.concatenate(used))
        size = pairs if self._known is None else self._known.size
        self._steps = np.full(size, NEVER, dtype=np.int32)

    def _places(self, pairs: IntArray) -> IntArray:
        return pairs if self._known is None else np.searchsorted(self._known, pairs)

    def lower(self, pairs: IntArray, steps: npt.NDArray[np.int32]) -> None:
        """Let each pair count from ``steps`` if that is earlier than what is known."""
        np.minimum.at(self._steps, self._places(pairs), steps)

    def __getitem__(self, pairs: IntArray) -> npt.NDArray[np.int32]:
        return self._steps[self._places(pairs)]


def _sent_early(
    schedule: SendTable, send: int, pair: np.int64, arriving: IntArray, sends: IntArray
) -> ScheduleError:
    """Describe a ``send`` whose source has not got the block of ``pair`` before its step."""
    node, block = divmod(int(pair), len(schedule.blocks))
    place = first_broken(schedule, arriving == pair, sends)
    if place is None:
        return broken(schedule, send, f"node {node} never gets block {block}")
    bringer = send_name(schedule, int(sends[place]))
    return broken(schedule, send, f"node {node} gets block {block} only by {bringer}")


def _check_reached_once(
    schedule: SendTable, owned: IntArray, arriving: IntArray, sends: IntArray
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
