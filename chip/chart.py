"""The chart of a chip's run: what every tile computes, waits for and takes part in."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ..model.workload.chart import COMPUTE, WAIT, Bar, Chart
from .calls import Call
from .outcome import Outcome


def chart_of(outcome: Outcome, calls: Sequence[Call]) -> Chart:
    """Return the chart of a run; ``calls`` are those of the programs."""
    bars = [bar for tile in range(outcome.nodes) for bar in _bars(outcome, tile, calls)]
    return Chart("chip", outcome.nodes, outcome.cycles, bars)


def _bars(outcome: Outcome, tile: int, calls: Sequence[Call]) -> Iterator[Bar]:
    """Yield the bars of a tile; it waits from its call to cycle 0 of the run."""
    last = 0
    for (program, begin, end), (first, _) in zip(outcome.calls[tile], outcome.runs, strict=False):
        call, starts = calls[program], max(begin, first)
        spans = (
            Bar(tile, last, begin, COMPUTE, COMPUTE),
            Bar(tile, begin, starts, WAIT, WAIT),
            Bar(tile, starts, end, call.shown, call.kind, {"words": call.words}),
        )
        yield from (bar for bar in spans if bar.end > bar.begin)
        last = end
    if tile in outcome.exits and outcome.exits[tile][0] > last:
        yield Bar(tile, last, outcome.exits[tile][0], COMPUTE, COMPUTE)


def cycles_by_name(chart: Chart) -> list[Counter[str]]:
    """Return for each tile the cycles of its bars by name."""
    found: list[Counter[str]] = [Counter() for _ in range(chart.ranks)]
    for bar in chart.bars:
        found[bar.rank][bar.name] += bar.end - bar.begin
    return found
