"""The loop over cycles of the cycle model.

A cycle first decides everything from the registers; the routers' registers, and those of interfaces
that others see, change only when all is decided. So one array per register is enough, and no
order of nodes can be seen.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

from .cycle_interface import next_step, observe, sender
from .cycle_router import choose, grant, move, pop, push
from .cycle_state import (
    ADVANCE,
    AWAKE,
    CYCLE,
    DROPS,
    ENTERING,
    MOVES,
    NODES_PER_BLOCK,
    NOT_OVER,
    ROWS,
    SOURCES,
    UNFINISHED,
    Lists,
    Network,
    Registers,
    Rows,
    compiled,
    inlined,
    wake,
)

FINISHED, LIMIT, TRACE_FULL = range(3)
"""Why :data:`simulate` returned."""


@inlined
def decide_interfaces(net: Network, now: Registers, lists: Lists) -> None:
    """Senders, and self-timed steps. An interface that can do nothing sleeps until it is woken."""
    now.total[ENTERING] = 0
    candidates, now.total[AWAKE] = now.total[AWAKE], 0
    for entry in range(candidates):
        node = lists.awake_nodes[entry]
        busy = sender(net, now, lists, node)
        if not net.barrier and now.over[node] and not now.finished[node]:
            next_step(net, now, node)
            busy = True
        now.awake[node] = False
        if busy:
            wake(now, lists, node)


@inlined
def decide_routers(net: Network, now: Registers, lists: Lists) -> None:
    """Request, choose and grant in every router that has a flit, in order of nodes."""
    now.total[MOVES] = now.total[DROPS] = 0
    nodes = len(now.router_flits)
    for block in range(len(now.block_routers)):
        if now.block_routers[block] > 0:
            first = block * NODES_PER_BLOCK
            for node in range(first, min(first + NODES_PER_BLOCK, nodes)):
                if now.router_flits[node] > 0:
                    for port in range(net.ports):
                        choose(net, now, lists, node, port)
                    grant(net, now, lists, node)


@inlined
def advance(net: Network, now: Registers, lists: Lists) -> None:
    """Clock the barrier's register at the end of a cycle."""
    was_set = now.total[ADVANCE] == 1
    if was_set:
        for node in range(len(now.step)):
            next_step(net, now, node)
            wake(now, lists, node)
    all_over = now.total[NOT_OVER] == 0
    now.total[ADVANCE] = 1 if net.barrier and all_over and not was_set else 0


@inlined
def run_cycles(net: Network, now: Registers, lists: Lists, trace: Rows, cycle_limit: int) -> int:
    """Run until all nodes are finished, ``cycle_limit`` cycles are over or the trace is full."""
    while True:
        for entry in range(now.total[AWAKE]):
            observe(net, now, lists.awake_nodes[entry])
        if now.total[UNFINISHED] == 0:
            return FINISHED
        if now.total[CYCLE] >= cycle_limit:
            return LIMIT
        if net.record_trace and now.total[ROWS] + len(lists.moves) > len(trace.cycle):
            return TRACE_FULL
        decide_interfaces(net, now, lists)
        decide_routers(net, now, lists)
        for entry in range(now.total[MOVES]):
            move(net, now, lists, trace, entry)
        for entry in range(now.total[MOVES]):
            moved = lists.moves[entry]
            pop(net, now, lists, moved[0], moved[1], moved[2])
        for entry in range(now.total[DROPS]):
            dropped = lists.drops[entry]
            pop(net, now, lists, dropped[0], dropped[1], dropped[2])
        for entry in range(now.total[ENTERING]):
            node, vc, kind = lists.entering[entry]
            push(net, now, lists, node * net.ports, vc, lists.entering_data[entry], kind)
        advance(net, now, lists)
        done = now.total[ENTERING] + now.total[MOVES] + now.total[DROPS]
        if done + now.total[AWAKE] + now.total[ADVANCE] == 0:
            # Nothing changed, so nothing ever will: the cycles that are left are all like this one.
            now.total[CYCLE] = cycle_limit
        else:
            now.total[CYCLE] += 1


def _compiled_from(sources: int) -> Callable[[Network, Registers, Lists, Rows, int], int]:
    """Compile the loop and keep it for the next process.

    Numba's cache notices a change in this file, and in what the function closes over: so
    ``sources``, a checksum of the other files that are compiled in, is closed over.
    """

    @compiled
    def simulate(net: Network, now: Registers, lists: Lists, trace: Rows, cycle_limit: int) -> int:
        now.total[SOURCES] = sources
        return run_cycles(net, now, lists, trace, cycle_limit)

    return simulate


_PARTS = ("trace", "cycle_state", "cycle_interface", "cycle_router")
simulate = _compiled_from(
    zlib.crc32(b"".join(Path(__file__).with_name(f"{part}.py").read_bytes() for part in _PARTS))
)
"""Run until all nodes are finished, ``cycle_limit`` cycles are over or the trace is full.

Returns which, as :data:`FINISHED`, :data:`LIMIT` or :data:`TRACE_FULL`; after the last it is called
again with room in the trace.
"""
