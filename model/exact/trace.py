"""The trace of a run in which no flit waits: docs/router.md, section 7."""

from itertools import pairwise

import numpy as np

from ..base.arrays import Numbers, Words, low_pieces
from ..base.ragged import offsets_of, ranges
from ..program.program import Program
from ..run.trace import HEAD_MARK, TAIL_MARK, Trace
from .occupancy import first_cycles
from .passages import Passages
from .timetable import Timetable


def trace_of(program: Program, times: Timetable, there: Passages, payload: Words) -> Trace:
    """Return the trace of all flits at all outputs, in order; ``payload`` has all rows' words."""
    flits = program.header_flits + program.length
    count = flits[there.row] - there.flit
    passage = np.repeat(np.arange(len(count)), count)
    flit = ranges(there.flit, count)
    row = there.row[passage]
    headers = program.header_flits[row]
    cycle = first_cycles(program, times, there)[passage] + flit - there.flit[passage]
    cycle = cycle + times.pauses.before(row, flit - headers)
    kind = np.where(flit < headers, HEAD_MARK, 0) | np.where(flit + 1 == flits[row], TAIL_MARK, 0)
    node, port = there.node[passage], there.port[passage]
    # Deliveries of one node and cycle are in the order of the ejection ports.
    out = np.where(port == 0, times.lane[row], 0)
    order = np.lexsort((out, port, node, cycle))
    data = _data(program, there, passage, flit, payload)
    columns = (cycle, node, port, there.vc[passage], kind, data)
    types = (column.dtype for column in Trace.empty().columns)
    return Trace(
        *(column[order].astype(dtype) for column, dtype in zip(columns, types, strict=True))
    )


def _data(
    program: Program, there: Passages, passage: Numbers, flit: Numbers, payload: Words
) -> Words:
    """Return the data of each flit as it leaves."""
    row = there.row[passage]
    headers = program.header_flits
    first_header, first_word = offsets_of(headers), offsets_of(program.length)
    is_header = flit < headers[row]
    data = np.zeros((len(row), *payload.shape[1:]), dtype=np.uint64)
    data[~is_header] = payload[(first_word[row] + flit - headers[row])[~is_header]]
    # A header has no other pieces than the lowest one.
    low = low_pieces(data)
    low[is_header] = program.header[(first_header[row] + flit)[is_header]]
    begins = offsets_of(np.bincount(passage, minlength=len(there.row)))[:-1]
    low[begins] = _leading(program, there)
    return data


def _leading(program: Program, there: Passages) -> Words:
    """Return the first flit of each passage as it leaves, rewritten by every router so far."""
    header = program.config.header
    now = np.zeros(len(program.step), dtype=np.uint64)
    which = np.full(len(program.step), -1)
    first = offsets_of(program.header_flits)
    leading = np.zeros(len(there.row), dtype=np.uint64)
    # Router by router: passages with the same ``place`` belong to different rows.
    order = np.argsort(there.place, kind="stable")
    bounds = np.searchsorted(there.place[order], np.arange(int(there.place.max(initial=-1)) + 2))
    for begin, end in pairwise(bounds):
        here = order[begin:end]
        row, flit = there.row[here], there.flit[here]
        new = which[row] != flit
        now[row[new]] = program.header[first[row[new]] + flit[new]]
        which[row] = flit
        out = there.port[here] == 0
        now[row[~out]] = header.drop_first(now[row[~out]])
        leading[here] = now[row]
    return leading
