"""Schedules built from rows (a block crosses a link in a step), or from paths.

A generator writes one row for each block that a send carries. Rows of the same step and link
become one send::

    step  source  target  block              send 0   step 1   0 -> 1   blocks 4 5
    1     0       1       5            -->   send 1   step 2   1 -> 3   block 5
    2     1       3       5
    1     0       1       4
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.ragged import offsets_of
from ..network.port_model import PortModel
from ..network.topology import Topology
from .block_runs import BlockRuns, are_runs
from .blocks import Blocks
from .collective import Collective
from .schedule import Schedule


def path_columns(
    paths: Collection[Sequence[int]], blocks: Collection[Sequence[int] | npt.NDArray[np.int32]]
) -> dict[str, Any]:
    """Return the columns of sends on VC 0, each along a path with a list of blocks."""
    nodes = np.fromiter(chain.from_iterable(paths), np.int32)
    offsets = offsets_of([*map(len, paths)])
    runs = are_runs(blocks)
    ids = np.fromiter(chain.from_iterable(blocks if not runs else ()), np.int32)
    return {
        "source": nodes[offsets[:-1]],
        "target": nodes[offsets[1:] - 1],
        "path_offsets": offsets,
        "path_nodes": nodes,
        "vcs": np.zeros(nodes.size - len(paths), np.int32),
        "block_offsets": offsets_of([*map(len, blocks)]),
        "block_ids": BlockRuns.joined(blocks).array if runs else ids,
    }


def one_block_schedule(
    algorithm: str,
    topology: Topology,
    blocks: Blocks,
    step: npt.NDArray[np.int32],
    path_offsets: Numbers,
    path_nodes: npt.NDArray[np.int32],
    *,
    vcs: npt.NDArray[np.int32] | None = None,
    collective: str = Collective.BROADCAST,
    port_model: PortModel = PortModel.HALF_DUPLEX,
) -> Schedule:
    """Return a schedule whose sends all carry the one block of ``blocks``, from its owner on.

    A send leads from the first node of its path to the last, on VC 0 unless ``vcs`` are given.
    The columns are those of :class:`.Schedule`. Only shapes are checked.
    """
    sends = step.size
    return Schedule(
        topology=topology,
        collective=collective,
        algorithm=algorithm,
        port_model=port_model,
        root=int(blocks.owner[0]),
        blocks=blocks,
        step=step,
        source=path_nodes[path_offsets[:-1]],
        target=path_nodes[path_offsets[1:] - 1],
        path_offsets=path_offsets,
        path_nodes=path_nodes,
        vcs=np.zeros(path_nodes.size - sends, np.int32) if vcs is None else vcs,
        block_offsets=np.arange(sends + 1),
        block_ids=np.zeros(sends, np.int32),
    )


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of equal length, int64: in ``step`` (from 1) ``block`` moves over one link."""

    step: Numbers
    source: Numbers
    target: Numbers
    block: Numbers

    def reversed(self) -> Rows:
        """Return the rows of the reverse: the last step first, every link the other way."""
        return Rows(self.step.max(initial=0) + 1 - self.step, self.target, self.source, self.block)


def build_schedule(
    topology: Topology,
    collective: str,
    algorithm: str,
    port_model: PortModel,
    root: int | None,
    blocks: Blocks,
    rows: Rows,
) -> Schedule:
    """Return the schedule of ``rows``, on VC 0, with its sends by step, source and target.

    Each send lists its blocks in ascending order. Only shapes are checked.
    """
    link = (rows.step * topology.nodes + rows.source) * topology.nodes + rows.target
    order = np.lexsort((rows.block, link))
    link = link[order]
    begins = np.flatnonzero(np.concatenate(([True], link[1:] != link[:-1]))[: link.size])
    first = order[begins]
    source, target = rows.source[first], rows.target[first]
    return Schedule(
        topology=topology,
        collective=collective,
        algorithm=algorithm,
        port_model=port_model,
        root=root,
        blocks=blocks,
        step=rows.step[first].astype(np.int32),
        source=source.astype(np.int32),
        target=target.astype(np.int32),
        path_offsets=2 * np.arange(first.size + 1),
        path_nodes=np.stack((source, target), axis=1).ravel().astype(np.int32),
        vcs=np.zeros(first.size, np.int32),
        block_offsets=np.append(begins, link.size),
        block_ids=rows.block[order].astype(np.int32),
    )
