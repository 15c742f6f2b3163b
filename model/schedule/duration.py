"""An estimate of the cycles of a schedule, by docs/router.md, sections 5, 11, 20 and 24.

A step takes h + L + 4 cycles, for the h hops and the L words of its longest send. A send that
streams ends at least h + 3 cycles after the last word that it forwards has arrived. No barrier
follows the last step, which saves a cycle. Blocks that are not adjacent need rows of their own,
each with a header flit. So do copies of a block (:mod:`..program.memory.halves`), if all sends
carry one block. If sends of a step share a link, all their flits cross it one after the other.
Where links differ, a hop takes the latency of its link, and a word takes as many cycles as the
slowest link on its way needs. The estimate is exact if nothing waits and each packet has one header
flit. It is a lower bound if no send streams, the timing is barrier, and the collective is not an
all-to-all, which may have blocks at adjacent addresses that are not counted here.
"""

import numpy as np

from ..base.arrays import Numbers
from ..base.ragged import offsets_of
from .schedule import Schedule
from .streams import streams_of

STEP_CYCLES = 4
"""Cycles that the interface and the barrier add to a step."""
ONE_HOP_CYCLES = STEP_CYCLES + 1
"""Cycles of a step whose sends have one hop, in addition to their words."""
COMBINED_CYCLES = 1
"""Cycles that operators add to STEP_CYCLES and STREAM_CYCLES: packets are written later."""
STREAM_CYCLES = 3
"""Cycles that a node adds to the hops of a word that it forwards."""
CONTINUED_ROW_CYCLES = 2
"""Cycles of a further row of a send: its header flit, and the cycle that reads the row."""
TIMED_ROW_CYCLES = 2
"""Cycles to read the control words of a timed row; the largest addresses need more."""


def expected_cycles(schedule: Schedule) -> int:
    """Estimate the cycles of ``schedule``: with barrier timing, or timed if it is timed."""
    if schedule.timed:
        return _timed_cycles(schedule)
    written = COMBINED_CYCLES if schedule.combine.any() else 0
    longest = np.zeros(schedule.steps + 1, np.int64)
    copies = _further_copies(schedule)
    rows, again = _further_rows(schedule) + copies, schedule.send_words * copies
    rates = schedule.send_rates
    arrivals = _arrivals(schedule, STREAM_CYCLES + written)
    arrivals += rows * np.maximum(CONTINUED_ROW_CYCLES, rates) + again * rates
    np.maximum.at(longest, schedule.step, arrivals)
    # Sends of one step that share a link have different VCs.
    if schedule.vcs.any():
        step, cycles = _shared_links(schedule, schedule.send_words + again + rows + 1)
        np.maximum.at(longest, step, cycles)
    used = np.bincount(schedule.step, minlength=schedule.steps + 1) > 0
    # In networks with streams a row has one word more, and the first rows wait for it.
    last = 0 if schedule.stream.any() else 1
    return max(0, int((longest[used] + STEP_CYCLES + written).sum()) - last)


def _further_rows(schedule: Schedule) -> Numbers:
    """Return the rows of each send beyond the first, if a block has the same address everywhere."""
    further = np.zeros(schedule.sends, np.int64)
    if len(schedule.block_ids) == schedule.sends:
        return further
    # A packet that streams, or that another streams on, is never cut.
    cut = ~np.isin(schedule.step, np.unique(schedule.step[schedule.stream]))
    # So far apart that blocks of two sends are never adjacent.
    apart = len(schedule.blocks) + 1
    for sends, runs in schedule.runs() if cut.any() else ():
        kept = cut[sends]
        begins, counts = (sends * apart + runs.first)[kept], runs.count[kept]
        order = np.argsort(begins)
        ends = np.append(-1, (begins + counts)[order][:-1])
        np.add.at(further, begins[order][begins[order] > ends] // apart, 1)
    return further - cut


def _further_copies(schedule: Schedule) -> Numbers:
    """Return the copies beyond the first that each send is for, if all sends carry one block.

    A block has copies if a node gets two sends of a step in which it sends the block. Whenever a
    node sends it and gets any, it has a copy less.
    """
    none = np.zeros(schedule.sends, np.int64)
    if schedule.stream.any() or len(schedule.blocks) > 1 or not schedule.blocks.reduced.all():
        return none
    steps = schedule.steps + 1
    sent, come = (
        end * np.int64(steps) + schedule.step for end in (schedule.source, schedule.target)
    )
    changes, counts = np.unique(come[np.isin(come, sent)], return_counts=True)
    if not (counts > 1).any():
        return none
    behind = np.searchsorted(changes, (schedule.target + np.int64(1)) * steps)
    return behind - np.searchsorted(changes, come, side="right")


def _shared_links(schedule: Schedule, flits: Numbers) -> tuple[Numbers, Numbers]:
    """Return, for each step and link in use, the step, and the cycles until all ``flits`` arrived.

    The first flit has the shortest way to the link, and the last the shortest way after it.
    """
    send = schedule.hop_sends
    latencies = schedule.latencies(1)
    until = offsets_of(latencies)
    first = offsets_of(schedule.distances)
    before = until[:-1] - until[first[send]]
    behind = until[first[send + 1]] - until[1:]
    links = np.int64(schedule.topology.nodes * schedule.topology.ports)
    keys, number = np.unique(schedule.step[send] * links + schedule.links, return_inverse=True)
    least = np.full((2, len(keys)), until[-1])
    for cycles, way in zip(least, (before, behind), strict=True):
        np.minimum.at(cycles, number, way)
    rates = schedule.topology.rates.ravel()
    load = np.bincount(number, flits[send] * rates[schedule.links]).astype(np.int64)
    # Nothing has to wait behind the last flit.
    load -= rates[keys % links] - 1
    return keys // links, load + least.sum(axis=0)


def _timed_cycles(schedule: Schedule) -> int:
    """Return the cycles of a timed schedule; each send is one packet with one header flit."""
    # Numba takes long to load, and few schedules are timed.
    from .timetable import begins, ends  # noqa: PLC0415

    lasting = schedule.send_words + 1
    begin = begins(schedule, lasting, TIMED_ROW_CYCLES, hop_cycles=1)
    return int(ends(schedule, begin, lasting, hop_cycles=1).max(initial=0))


def _arrivals(schedule: Schedule, stream_cycles: int) -> Numbers:
    """Return the cycles from a step's begin to each send's last word at its target: (sends,).

    A word that a node forwards takes ``stream_cycles`` in addition to its hops.
    """
    words, rates = schedule.send_words, schedule.send_rates
    ways = schedule.send_latencies(1)
    arrival: Numbers = ways + words * rates
    if not schedule.stream.any():
        return arrival
    streams = streams_of(schedule)
    feeder = np.full(schedule.sends, -1)
    feeder[streams.send] = streams.feeder
    # The words that follow the last forwarded word, and the cycles of their path.
    after = np.zeros(schedule.sends, np.int64)
    after[streams.send] = words[streams.send] - streams.lead - words[streams.feeder]
    after[streams.send] *= rates[streams.send]
    after[streams.send] += ways[streams.send] + stream_cycles
    for send in _feeders_first(feeder.tolist()):
        if feeder[send] >= 0:
            arrival[send] = max(arrival[send], arrival[feeder[send]] + after[send])
    return arrival


def _feeders_first(feeder: list[int]) -> list[int]:
    """Return all sends, each after its feeder; a circle of feeders begins anywhere."""
    order: list[int] = []
    known = [False] * len(feeder)
    for send in range(len(feeder)):
        walk = []
        at = send
        while at >= 0 and not known[at]:
            known[at] = True
            walk.append(at)
            at = feeder[at]
        order += reversed(walk)
    return order
