"""The loop over cycles of the cycle model.

In each cycle the interfaces run first, then the routers. The flits that interfaces inject, and the
credits of dropped flits, arrive when all of them have run; flits that outputs send, and their
credits, not before all outputs have granted. So one array per register is enough, and the order of
the nodes has no effect.
"""

import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..base.loops import compiled_loop, index, inlined, spill
from .interface import end_coasting, next_alarm, next_step, observe, rise, senders, wake_sleepers
from .links import arrive, take_credit
from .receiver import write_delayed
from .router import establish, grant, move, record, request
from .state import (
    ADVANCE,
    AWAKE,
    CYCLE,
    EMPTIED,
    FRONTS,
    NEVER,
    NOT_OVER,
    QUIET,
    ROWS,
    SOURCES,
    UNFINISHED,
    UNWRITTEN,
    Lists,
    Network,
    Registers,
    Rows,
    wake,
)

FINISHED, LIMIT, TRACE_FULL = range(3)
"""Why :data:`simulate` returned."""


@inlined
def run_interfaces(net: Network, now: Registers, lists: Lists) -> None:
    """Run senders and self-timed steps. An interface that can do nothing sleeps until woken."""
    candidates, now.total[AWAKE] = now.total[AWAKE], 0
    for entry in range(candidates):
        node = np.int64(lists.awake_nodes[entry])
        busy = senders(net, now, lists, node)
        interface = now.interfaces[node]
        if not net.barrier and interface.over and not interface.finished:
            busy = rise(net, now, node) or busy
        interface.awake = False
        if busy:
            wake(now, lists, node)


@inlined
def run_routers(net: Network, now: Registers, lists: Lists, trace: Rows) -> None:
    """Let all front flits request, then all outputs grant, then all granted flits move."""
    fronts, now.total[FRONTS] = now.total[FRONTS], 0
    for entry in range(fronts):
        # A request adds at most one front, for the next cycle, so the list never overtakes itself.
        request(net, now, lists, np.int64(lists.fronts[entry]))
    granted, free = grant(net, now, lists)
    if granted > 0:
        now.total[QUIET] = 0
    for entry in range(free):
        establish(net, now, np.int64(lists.free[entry]))
    if net.record_trace:
        for entry in range(granted):
            row = index(now.total[ROWS] + entry)
            record(net, now, trace, row, np.int64(lists.granted[entry]))
        now.total[ROWS] += granted
    for entry in range(granted):
        move(net, now, lists, np.int64(lists.granted[entry]))


@inlined
def end_links(net: Network, now: Registers, lists: Lists) -> None:
    """Deliver every flit and credit that arrives at the end of this cycle."""
    stage = index(now.total[EMPTIED])
    first_flight, first_return = stage * len(now.lines), stage * len(now.buffers)
    for entry in range(first_flight, first_flight + now.flights[stage]):
        arrive(net, now, lists, np.int64(now.flight_channel[entry]))
    for entry in range(first_return, first_return + now.returns[stage]):
        take_credit(net, now, lists, np.int64(now.return_channel[entry]))
    now.flights[stage] = now.returns[stage] = 0
    now.total[EMPTIED] = stage + 1 if stage + 1 < net.stages else 0


@inlined
def advance(net: Network, now: Registers, lists: Lists) -> None:
    """Clock the barrier at the end of a cycle; when its countdown ends, all steps rise."""
    left = now.total[ADVANCE]
    if left == 1:
        for node in range(len(now.interfaces)):
            next_step(net, now, node)
            wake(now, lists, node)
    if left > 0:
        now.total[ADVANCE] = left - 1
    elif net.barrier and now.total[NOT_OVER] == 0:
        now.total[ADVANCE] = 1 + net.barrier_registers


@inlined
def next_cycle(net: Network, now: Registers, cycle_limit: int) -> None:
    """Go to the next cycle, or directly to the next one in which anything can change."""
    now.total[CYCLE] += 1
    if now.total[AWAKE] + now.total[ADVANCE] + now.total[UNWRITTEN] > 0:
        now.total[QUIET] = 0
    elif now.total[QUIET] < net.patience:
        now.total[QUIET] += 1
    else:
        alarm = next_alarm(now)
        far = cycle_limit if alarm == NEVER else min(alarm, cycle_limit)
        now.total[CYCLE] = max(far, now.total[CYCLE])
        now.total[QUIET] = 0


@inlined
def run_cycles(net: Network, now: Registers, lists: Lists, trace: Rows, cycle_limit: int) -> int:
    """Run until all nodes finish, ``cycle_limit`` is reached or the trace is full."""
    while True:
        wake_sleepers(now, lists)
        for entry in range(now.total[AWAKE]):
            observe(net, now, np.int64(lists.awake_nodes[entry]))
        if now.total[UNFINISHED] == 0:
            return FINISHED
        if now.total[CYCLE] >= cycle_limit:
            for node in range(len(now.interfaces)):
                end_coasting(net, now, node)
            return LIMIT
        if net.record_trace and now.total[ROWS] + len(now.lines) > len(trace.cycle):
            return TRACE_FULL
        run_interfaces(net, now, lists)
        if now.total[UNWRITTEN] > 0:
            write_delayed(net, now, lists)
        run_routers(net, now, lists, trace)
        end_links(net, now, lists)
        advance(net, now, lists)
        next_cycle(net, now, cycle_limit)


def _compiled_from(sources: int) -> Callable[[Network, Registers, Lists, Rows, int], int]:
    """Compile the loop and cache it for later processes.

    Numba recompiles if this file or a variable that the function closes over changes. So the
    function closes over ``sources``, a checksum of the other compiled files.
    """

    @compiled_loop
    def simulate(net: Network, now: Registers, lists: Lists, trace: Rows, cycle_limit: int) -> int:
        now.total[SOURCES] = sources
        return run_cycles(spill(net), spill(now), spill(lists), spill(trace), cycle_limit)

    return simulate


_MODEL = Path(__file__).parent.parent
_PARTS = (
    *("network/exclusions", "run/trace", "base/compiled", "base/loops"),
    *("cycle/state", "cycle/header", "cycle/combine", "cycle/receiver"),
    *("cycle/interface", "cycle/links", "cycle/router"),
)
simulate = _compiled_from(
    zlib.crc32(b"".join((_MODEL / f"{part}.py").read_bytes() for part in _PARTS))
)
"""Run until all nodes finish, ``cycle_limit`` is reached or the trace is full.

Returns :data:`FINISHED`, :data:`LIMIT` or :data:`TRACE_FULL`. After :data:`TRACE_FULL`, call it
again with an empty trace.
"""
