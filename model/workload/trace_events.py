"""Timelines in the Trace Event Format, for Perfetto: one cycle is shown as a microsecond.

A machine is a process. Each rank has a thread for what it computes, and threads for its calls, of
which two may run at a time on the ideal machine.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from .run import MachineRun, WorkloadRun
from .workload import NO_CALL

_THREADS = 4
"""Threads of a rank: one that computes, and the others for calls."""


def trace_events(found: WorkloadRun) -> bytes:
    """Return the file of both machines' timelines."""
    events: list[dict[str, object]] = []
    for process, (name, run) in enumerate(found.machines, 1):
        about = {"ph": "M", "name": "process_name", "pid": process, "args": {"name": name}}
        events += [about, *_events(run, process)]
    return msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ns"}) + b"\n"


def _events(run: MachineRun, process: int) -> Iterator[dict[str, object]]:
    """Yield the threads of one machine, and an event for each row that takes time."""
    workload = run.workload
    for rank in range(workload.ranks):
        for thread in range(_THREADS):
            what = "calls" if thread else "computes"
            name = {"name": f"rank {rank} {what}"}
            number = rank * _THREADS + thread
            yield {
                "ph": "M",
                "name": "thread_name",
                "pid": process,
                "tid": number,
                "args": name,
            }
    free = [[0] * _THREADS for _ in range(workload.ranks)]
    for row, rank, begin, end in run.bars:
        event = {"ph": "X", "pid": process, "ts": begin, "dur": end - begin}
        if workload.call[row] == NO_CALL:
            yield event | {"name": workload.names[row], "cat": "compute", "tid": rank * _THREADS}
            continue
        call, busy = workload.calls[workload.call[row]], free[rank]
        thread = next(each for each in range(1, _THREADS) if busy[each] <= begin)
        busy[thread] = end
        about = {"kind": call.kind, "words": call.words, "ranks": list(call.ranks)}
        where = {"tid": rank * _THREADS + thread, "args": about}
        yield event | {"name": call.name, "cat": call.kind} | where
