"""Charts in the Trace Event Format, for Perfetto: one cycle is shown as a microsecond.

A machine is a process. Each rank has a thread for what it computes, and threads for its calls, of
which two may run at a time on the ideal machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from .chart import COMPUTE, Chart

_THREADS = 4
"""Threads of a rank: one that computes, and the others for calls."""


def trace_events(charts: Iterable[Chart]) -> bytes:
    """Return the file of all machines' charts."""
    events: list[dict[str, object]] = []
    for process, chart in enumerate(charts, 1):
        name = {"name": chart.machine}
        about = {"ph": "M", "name": "process_name", "pid": process, "args": name}
        events += [about, *_events(chart, process)]
    return msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ns"}) + b"\n"


def _events(chart: Chart, process: int) -> Iterator[dict[str, object]]:
    """Yield the threads of one machine, and an event for each bar."""
    for rank in range(chart.ranks):
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
    free = [[0] * _THREADS for _ in range(chart.ranks)]
    for bar in chart.bars:
        spans = {"ph": "X", "pid": process, "ts": bar.begin, "dur": bar.end - bar.begin}
        event = {**spans, "name": bar.name, "cat": bar.kind}
        if bar.kind == COMPUTE:
            yield event | {"tid": bar.rank * _THREADS}
            continue
        busy = free[bar.rank]
        thread = next(each for each in range(1, _THREADS) if busy[each] <= bar.begin)
        busy[thread] = bar.end
        yield event | {"tid": bar.rank * _THREADS + thread, "args": bar.about}
