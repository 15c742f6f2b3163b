"""A row of an injection table, as people write it and as files store it."""

from dataclasses import dataclass

import numpy as np

from ..base.arrays import Numbers
from ..network.segment import Segment

NO_START = -1
"""The start of a row that may begin as soon as its step begins."""

ADDITIONS = ("operator", "stream", "lead", "window")
"""Columns that are 0 in the rows of most programs: docs/router.md, sections 19 and 20."""


def no_additions(rows: int) -> dict[str, Numbers]:
    """Return the columns of :data:`ADDITIONS` for rows that neither combine nor stream."""
    return dict.fromkeys(ADDITIONS, np.broadcast_to(np.int64(0), rows))


@dataclass(frozen=True)
class Row:
    """One put: in a step, copy ``length`` words from an address here to one of another node.

    That node is at the end of ``route``. ``start`` is the first cycle in which the row may begin;
    None: as soon as its step begins. ``continued``: the next row, of the same step and route,
    carries more of the same message.

    ``operator`` is 0 if the words replace the target's words. Operator o of the network, from 1,
    combines them in place if it is 2o - 1, across if it is 2o (docs/router.md, section 19).
    ``stream`` is 0 unless the row forwards a packet that arrives in its step; then it is 1, or in
    an all-port network the port of arrival. ``lead`` counts the words sent before that packet. The
    message's addresses wrap in a window of 2 ** ``window`` words, unless that is 0 (section 20).
    """

    step: int
    route: tuple[Segment, ...]
    source_address: int
    target_address: int
    length: int
    start: int | None = None
    continued: bool = False
    operator: int = 0
    stream: int = 0
    lead: int = 0
    window: int = 0
