"""All-reduce as two collectives of the same blocks: the first combines, the second copies.

* *Reduce and broadcast*, for short messages: the whole message is combined at one node and then
  sent from there to all nodes.
* *Reduce-scatter and all-gather*, for long messages: each node gets its own part combined, and then
  all parts go to all nodes. No node sends or receives more than 2 (N - 1) / N of the message, the
  least of any all-reduce (P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for
  clusters of workstations", 2009; R. Rabenseifner, "Optimization of Collective Reduction
  Operations", 2004, by recursive halving and doubling).
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ...base.errors import InvalidInput
from ...base.ragged import offsets_of
from ...network.route_layers import has_circle, layered_vcs
from ...schedule.block_runs import BlockRuns, end_to_end
from ...schedule.blocks import CUSTOM, Blocks
from ...schedule.collective import Collective
from ...schedule.rules import ScheduleError
from ...schedule.schedule import Schedule
from .streamed import in_pieces


def rooted_all_reduce(reduce: Schedule, broadcast: Schedule) -> Schedule:
    """Return the all-reduce that combines at a root by ``reduce`` and copies by ``broadcast``.

    Both have the same blocks, but the reduce may cut them into pieces. The result is custom if they
    leave nodes out. Raises :class:`.InvalidInput` if the blocks differ in length.
    """
    broadcast = in_pieces(broadcast, max(1, len(reduce.blocks) // len(broadcast.blocks)))
    if not np.array_equal(broadcast.blocks.words, reduce.blocks.words):
        raise broadcast.topology.refusal(broadcast.algorithm, "one whose links lead both ways")
    whole = reduce.collective == Collective.REDUCE and broadcast.collective != CUSTOM
    name = Collective.ALL_REDUCE if whole else CUSTOM
    owed = tuple(_with(reduce.root, nodes) for nodes in broadcast.blocks.owed)
    return joined(reduce, broadcast, name, replace(reduce.blocks, owed=owed))


def _with(root: int | None, nodes: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return the nodes that a broadcast owes its message, with its root; None stands for all."""
    return None if nodes is None or root is None else tuple(sorted({root, *nodes}))


def scattered_all_reduce(reduce_scatter: Schedule, all_gather: Schedule, words: int) -> Schedule:
    """Return the all-reduce of ``words`` words by a reduce-scatter, then an all-gather.

    Both have the same blocks, with equally many words for each node. If these add up to more than
    ``words``, the last nodes get one word less, and blocks without words are left out. Raises
    :class:`.InvalidInput` if a streaming block would have no words.
    """
    name, nodes = Collective.ALL_REDUCE, all_gather.topology.working_nodes.size
    equal = joined(reduce_scatter, all_gather, name, reduce_scatter.blocks)
    if words < nodes and equal.stream.any():
        allowed = f"at least {nodes} for {all_gather.algorithm}"
        raise InvalidInput.of("words", allowed, words)
    blocks = replace(
        reduce_scatter.blocks,
        owed=(None,) * len(reduce_scatter.blocks),
        words=_shared(all_gather.blocks, words),
    )
    return without_empty_blocks(replace(equal, blocks=blocks))


def _shared(blocks: Blocks, words: int) -> npt.NDArray[np.int32]:
    """Return lengths for ``blocks`` that add up to ``words``.

    If the blocks have s words too many, the first block of each of the last s owners loses a word.
    Raises :class:`.ScheduleError` unless s is 0 to the number of owners.
    """
    lengths = blocks.words.copy()
    spare = int(lengths.sum()) - words
    _, first = np.unique(blocks.owner, return_index=True)
    if not 0 <= spare <= len(first):
        most = words + len(first)
        raise ScheduleError(f"words of all blocks must be {words} to {most}, not {words + spare}")
    lengths[first[len(first) - spare :]] -= 1
    return lengths


def joined(first: Schedule, second: Schedule, collective: str, blocks: Blocks) -> Schedule:
    """Return one schedule: the sends of ``first``, then those of ``second`` in later steps.

    Neither schedule's paths can wait for each other in a circle, but the paths of both together
    may. In that case all paths get new VCs. If sends of one step share a link, the VCs of
    ``second`` are moved above those of ``first`` instead.
    """
    lengths, counts = (
        np.append(np.diff(one), np.diff(other))
        for one, other in (
            (first.path_offsets, second.path_offsets),
            (first.block_offsets, second.block_offsets),
        )
    )
    made = replace(
        first,
        collective=collective,
        root=None,
        blocks=blocks,
        step=np.append(first.step, second.step + first.steps),
        source=np.append(first.source, second.source),
        target=np.append(first.target, second.target),
        path_offsets=offsets_of(lengths),
        path_nodes=np.append(first.path_nodes, second.path_nodes),
        vcs=np.append(first.vcs, second.vcs),
        block_offsets=offsets_of(counts),
        block_ids=end_to_end((first.block_ids, second.block_ids)),
        combine=np.append(first.combine, second.combine),
        stream=np.append(first.stream, second.stream),
    )
    if not has_circle(made.path_offsets, made.path_nodes, made.vcs):
        return made
    if made.largest_link_load == 1:
        return replace(made, vcs=layered_vcs(made.path_offsets, made.path_nodes))
    return replace(made, vcs=np.append(first.vcs, second.vcs + first.vcs.max() + 1))


def without_empty_blocks(schedule: Schedule) -> Schedule:
    """Return the schedule without empty blocks and without sends that carry only empty blocks."""
    blocks = schedule.blocks
    kept = blocks.words > 0
    if kept.all():
        return schedule
    made = schedule.carrying(kept)
    number, ids = np.cumsum(kept) - 1, made.block_ids
    ids = ids.renumbered(number).array if isinstance(ids, BlockRuns) else number[ids]
    return replace(made, blocks=blocks.some(kept), block_ids=ids)
