"""The check that the words of a run do not depend on times.

:mod:`.data_movement` states the conditions. They are checked on pieces of memory, all at once.
"""

from functools import partial

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..program.addresses import PLACE_WORDS, Pieces, across, pieces_at
from ..program.overwriting import least_steps
from ..program.program import Program
from ..program.streams import NO_FEEDER
from .data_movement import address_of
from .declined import Declined
from .timetable import Timetable


def require_no_races(program: Program, times: Timetable, *, barrier: bool) -> None:
    """Decline if the times decide whether a word is read or written first, or who writes it last.

    With a barrier only packets of one step can race, otherwise those of all steps.
    """
    streams = times.feeder != NO_FEEDER
    if not barrier and (streams.any() or program.operator.any()):
        raise Declined("words are combined or sent on without a barrier")

    there = partial(pieces_at, program, by_step=barrier)
    target = program.target_address
    before = np.where(streams, np.minimum(program.lead, program.length), program.length)
    read = [there(program.row_node, program.source_address, before)]
    if program.operator.any():
        half = np.int64(1 << (program.config.address_bits - 1))
        combined = np.where(across(program), program.length, 0)
        read.append(there(times.target, target ^ half, combined))
    written = there(times.target, target, program.length)
    for each in read:
        touched = _touched(program, each, written) if barrier else _early(program, each, written)
        if touched:
            raise Declined("words are written while they may be read")
    several = _several(written)
    _require_alike(program, several)
    if streams.any():
        _require_in_order(program, times, streams, several)


def _touched(program: Program, read: Pieces, written: Pieces) -> bool:
    """Tell whether a piece that is read shares a word with one that is written."""
    # Fast path: most schedules read no memory in a step in which it is written.
    places = np.zeros((program.steps + 1) * (program.nodes + 1), dtype=np.bool_)
    places[written.begin // PLACE_WORDS] = True
    both = places[read.begin // PLACE_WORDS]
    if not both.any():
        return False
    order = np.argsort(written.begin)
    latest = np.append(np.maximum.accumulate(written.end[order]), -1)
    before = np.searchsorted(written.begin[order], read.end[both]) - 1
    return bool((latest[before] > read.begin[both]).any())


def _early(program: Program, read: Pieces, written: Pieces) -> bool:
    """Tell whether a packet may arrive before a row of its step, or of an earlier one, is sent."""
    return bool((least_steps(program, read, written) <= program.step[written.row]).any())


def _several(written: Pieces) -> Numbers:
    """Return the rows whose packets share words with other packets, ascending."""
    begin = np.sort(written.begin // PLACE_WORDS)
    if not (begin[1:] == begin[:-1]).any():
        return np.zeros(0, dtype=np.int64)
    order = np.argsort(written.begin)
    begin, end = written.begin[order], written.end[order]
    latest = np.maximum.accumulate(end)
    shared = np.zeros(len(order), dtype=np.bool_)
    shared[1:] = begin[1:] < latest[:-1]
    shared[:-1] |= end[:-1] > begin[1:]
    return np.unique(written.row[order[shared]])


def _require_alike(program: Program, several: Numbers) -> None:
    """Decline unless the packets ``several``, which share words, all combine by one operator.

    Packets that combine have a barrier.
    """
    if not several.size:
        return
    operator, config = program.operator[several], program.config
    alike = (operator == operator[0]).all() and operator[0] % 2 == 1
    # With a latency, a word may have to wait for one that it is combined with.
    alike = alike and config.operator_latency == 0 and config.operators[operator[0] // 2].built_in
    if not alike:
        raise Declined("several packets are written to the same words")


def _require_in_order(
    program: Program, times: Timetable, streams: npt.NDArray[np.bool_], several: Numbers
) -> None:
    """Decline if a row sends on other words than those that it waits for."""
    rows = np.flatnonzero(streams)
    fed = times.feeder[rows]
    lead, begin, target = program.lead, program.source_address, program.target_address
    in_order = np.ones(len(rows), dtype=np.bool_)
    # Addresses that wrap once at most are the same if the first and the last one are.
    last = program.length[rows] - lead[rows] - 1
    for word in (np.zeros_like(last), last):
        sent = address_of(begin[rows], lead[rows] + word, program.window[rows])
        in_order &= sent == address_of(target[fed], word, program.window[fed])
    if not in_order.all() or np.isin(fed, several).any():
        raise Declined("words are sent on that another packet brings")
