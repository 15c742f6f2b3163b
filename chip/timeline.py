"""The timeline of a chip: what every tile computes, waits for and takes part in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from .outcome import Outcome

COMPUTES, WAITS = "computes", "waits"


class Bar(NamedTuple):
    """A span of cycles of a tile: ``what`` it does is :data:`COMPUTES`, :data:`WAITS` or a call."""

    tile: int
    begin: int
    end: int
    what: str


def bars(outcome: Outcome, names: list[str]) -> Iterator[Bar]:
    """Yield the bars of all tiles; ``names`` are those of the programs."""
    for tile, calls in enumerate(outcome.calls):
        last = 0
        for number, (program, begin, end) in enumerate(calls):
            starts = max(begin, outcome.runs[number][0])
            spans = ((last, begin, COMPUTES), (begin, starts, WAITS), (starts, end, names[program]))
            yield from (Bar(tile, *span) for span in spans if span[1] > span[0])
            last = end
        if tile in outcome.exits and outcome.exits[tile][0] > last:
            yield Bar(tile, last, outcome.exits[tile][0], COMPUTES)


def trace_events(drawn: list[Bar]) -> bytes:
    """Return the bars in the Trace Event Format; a cycle is shown as a microsecond."""
    tiles = sorted({bar.tile for bar in drawn})
    events: list[dict[str, object]] = [
        {"ph": "M", "name": "thread_name", "pid": 1, "tid": tile, "args": {"name": f"tile {tile}"}}
        for tile in tiles
    ]
    events += [
        {
            **{"ph": "X", "pid": 1, "tid": bar.tile, "ts": bar.begin, "dur": bar.end - bar.begin},
            **{"name": bar.what, "cat": bar.what.split()[0]},
        }
        for bar in drawn
    ]
    return msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ns"}) + b"\n"
