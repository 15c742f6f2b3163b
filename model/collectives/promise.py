"""The promise of a schedule of custom sends: the blocks that its sends may carry."""

from typing import Any

import numpy as np

from ..base.errors import require_range
from ..schedule.blocks import CUSTOM, Blocks
from ..schedule.requested_blocks import blocks_of
from .task import Task


def promise_of(task: Task, pieces: int, blocks: Blocks | None = None) -> dict[str, Any]:
    """Return the columns of a schedule for ``task``: its requests, its groups and its blocks.

    Without ``blocks``, each message is cut into ``pieces``, as equal as possible. Raises
    :class:`.InvalidInput` for more pieces than words.
    """
    requests, groups = task.requests, task.members
    if blocks is None:
        longest = max(int(np.max(request.words)) for request in requests)
        require_range("pieces", pieces, 1, max(1, longest))
        blocks = blocks_of(task.topology, requests, groups, pieces)
    return {
        "collective": CUSTOM if groups else task.collective,
        "root": None if groups else task.source,
        "blocks": blocks,
        "groups": groups,
        "requests": requests,
    }
