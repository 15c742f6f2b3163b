"""Schedules rewritten without streams, for files of tools that do not know them.

A step in which sends stream becomes several steps. Each block is sent in a step of its own, after
the step in which it arrives, and a send's blocks are sent one after the other.
"""

from collections import defaultdict
from dataclasses import replace

import numpy as np

from ..base.ragged import offsets_of
from .schedule import Schedule
from .streams import streams_of


def unrolled(schedule: Schedule) -> Schedule:
    """Return the schedule with every send of a streaming step cut into one send for each block.

    ``schedule`` must pass its check. If it has no streams, it is returned unchanged.
    """
    if not schedule.stream.any():
        return schedule
    send = schedule.block_sends
    streaming = np.isin(schedule.step, np.unique(schedule.step[schedule.stream]))
    place = np.arange(len(send)) - schedule.block_offsets[:-1][send]
    first = (place == 0) | streaming[send]
    part = np.cumsum(first) - 1
    of_part = send[first]
    late = _late(schedule, of_part, schedule.block_ids[first], streaming)
    _, step = np.unique(
        schedule.step[of_part] * (int(late.max(initial=0)) + 1) + late, return_inverse=True
    )
    made = schedule.with_sends(of_part, step + 1, offsets_of(np.bincount(part)), schedule.block_ids)
    return replace(made, stream=np.zeros(len(of_part), bool))


def _late(
    schedule: Schedule,
    of_part: np.ndarray,
    block: np.ndarray,
    streaming: np.ndarray,
) -> np.ndarray:
    """Return the steps from the first part of the old step to each part: shape (parts,).

    A part waits for the previous part of the same send, and for the same block of the packet that
    the send streams.
    """
    streams = streams_of(schedule)
    feeder = dict(zip(streams.send.tolist(), streams.feeder.tolist(), strict=True))
    coming = defaultdict(list)
    for part, send in enumerate(of_part.tolist()):
        if streaming[send]:
            coming[send, int(block[part])].append(part)
    awaited: list[list[int]] = []
    for part, send in enumerate(of_part.tolist()):
        mine = [part - 1] if part and of_part[part - 1] == send else []
        awaited.append(mine + coming.get((feeder.get(send, -1), int(block[part])), []))
    late = np.full(len(of_part), -1)
    for begin in range(len(of_part)):
        waiting = [begin]
        while waiting:
            part = waiting[-1]
            ahead = [each for each in awaited[part] if late[each] < 0]
            if ahead:
                waiting += ahead
                continue
            late[part] = max((late[each] + 1 for each in awaited[part]), default=0)
            waiting.pop()
    return late
