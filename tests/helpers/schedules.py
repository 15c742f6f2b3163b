"""Handwritten schedules for tests: a list of sends."""

from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from helpers.refusals import refusal_of

from eyecast.model.network.topology import Topology, mesh
from eyecast.model.schedule.blocks import Blocks
from eyecast.model.schedule.builder import path_columns
from eyecast.model.schedule.collective import ROOTLESS
from eyecast.model.schedule.rules import ScheduleError
from eyecast.model.schedule.schedule import Schedule


@dataclass
class Send:
    """A handwritten send."""

    step: int
    path: list[int]
    blocks: list[int] = field(default_factory=lambda: [0])
    vcs: list[int] | None = None
    source: int | None = None
    target: int | None = None
    combine: bool = False
    stream: bool = False


def build(
    network: tuple[int, ...] | Topology,
    sends: list[Send],
    blocks: Blocks | None = None,
    collective: str = "broadcast",
    port_model: str = "half-duplex",
) -> Schedule:
    """Build a schedule on a mesh of given sides, or on any network."""
    blocks = blocks or Blocks.of_broadcast(0, 4)
    vcs = [[0] * (len(s.path) - 1) if s.vcs is None else s.vcs for s in sends]
    columns = path_columns([s.path for s in sends], [s.blocks for s in sends]) | {
        "source": np.array([s.path[0] if s.source is None else s.source for s in sends]),
        "target": np.array([s.path[-1] if s.target is None else s.target for s in sends]),
        "vcs": np.array(list(chain.from_iterable(vcs))),
    }
    return Schedule(
        topology=network if isinstance(network, Topology) else mesh(network),
        collective=collective,
        algorithm="by hand",
        port_model=port_model,
        root=None if collective in ROOTLESS else max(0, int(blocks.owner[0])),
        blocks=blocks,
        step=np.array([s.step for s in sends]),
        combine=np.array([s.combine for s in sends], np.bool_),
        stream=np.array([s.stream for s in sends], np.bool_),
        **columns,
    )


def listed(schedule: Schedule) -> list[Send]:
    """List the sends of a schedule."""
    sends = []
    for i in range(schedule.sends):
        begin, end = (int(offset) for offset in schedule.path_offsets[i : i + 2])
        block_begin, block_end = (int(offset) for offset in schedule.block_offsets[i : i + 2])
        sends.append(
            Send(
                step=int(schedule.step[i]),
                path=schedule.path_nodes[begin:end].tolist(),
                blocks=schedule.block_ids[block_begin:block_end].tolist(),
                vcs=schedule.vcs[begin - i : end - i - 1].tolist(),
                source=int(schedule.source[i]),
                target=int(schedule.target[i]),
                combine=bool(schedule.combine[i]),
                stream=bool(schedule.stream[i]),
            )
        )
    return sends


def complaint(schedule: Schedule) -> str:
    """Return the rule that a schedule breaks, as ``check()`` says it."""
    return refusal_of(schedule.check, kind=ScheduleError)
