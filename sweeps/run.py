"""Runs of points, each into rows of the table; a failed point's row has the reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..model.base.errors import InvalidInput, printable
from ..model.compare.case import Case
from ..model.compare.checks import Comparison
from ..model.compare.traffic_case import TrafficCase
from ..model.run.run import Run
from ..sim.build import BuildError
from . import collective, saturation, traffic, workload
from .facts import configuration
from .layout import COLLECTIVE, COLUMN_OF, HARDWARE, SATURATION, WORKLOAD, Row
from .points import Point

Done = tuple[str, list[Row]]
"""The key of a point, and its rows."""

DONE, DIFFERS, REFUSED, FAILED = "done", "differs", "refused", "failed"
"""Values of ``status``.

Done: as predicted. Differs: hardware and prediction disagree. Refused: the input is invalid for the
network. Failed: the run did not end.
"""

UNLISTED = ("graph", "file", "seeds")
"""Values of points that are no columns."""

NO_END = "the run does not end: stopped after {} cycles"


_WHOLE = {SATURATION: saturation.results, WORKLOAD: workload.results}
"""Functions that run a point of a kind, and return its rows."""


def run_points(points: Sequence[Point], begin: Callable[[str], None]) -> Iterator[Done]:
    """Run ``points``, and yield the rows of each when it is done.

    ``begin`` gets the key of a point before its run. Hardware points with the same network run on
    one simulator, one after the other.
    """
    waiting: dict[str, list[_Prepared]] = {}
    for point in points:
        begin(point.key)
        started = time.monotonic()
        try:
            if point.kind in _WHOLE:
                results = _WHOLE[point.kind](point.values)
            else:
                prepared = _Prepared.of(point)
                if point.values["on"] == HARDWARE:
                    prepared.seconds = time.monotonic() - started
                    waiting.setdefault(prepared.network, []).append(prepared)
                    continue
                results = [prepared.results(prepared.case.predicted)]
            seconds = time.monotonic() - started
            yield point.key, [_row(point, seconds, DONE, result) for result in results]
        except Exception as error:
            yield point.key, [failed_row(point, error, time.monotonic() - started)]
    for group in waiting.values():
        yield from _on_hardware(group, begin)


@dataclass
class _Prepared:
    """A predicted point, and the seconds that the prediction took."""

    point: Point
    case: Case | TrafficCase
    seconds: float = 0.0

    @classmethod
    def of(cls, point: Point) -> _Prepared:
        kind = collective if point.kind == COLLECTIVE else traffic
        return cls(point, kind.prepare(point.values))

    @property
    def network(self) -> str:
        """Digest of the point's network."""
        return configuration(self.case.program.config)

    def results(self, run: Run) -> Row:
        """Measure a run of the point."""
        if isinstance(self.case, Case):
            return collective.results(self.case, run)
        return traffic.results(self.case, run)


def _on_hardware(group: list[_Prepared], begin: Callable[[str], None]) -> Iterator[Done]:
    """Run points on one simulated network; if one ends the simulator, the others go on."""
    left = list(group)
    while left:
        begin(left[0].point.key)
        started = time.monotonic()
        try:
            for result in _compared([each.case for each in left]):
                prepared = left.pop(0)
                seconds = prepared.seconds + time.monotonic() - started
                yield prepared.point.key, [_compared_row(prepared, result, seconds)]
                started = time.monotonic()
                if left:
                    begin(left[0].point.key)
        except BuildError as error:
            # The other points need the same simulator.
            yield from ((each.point.key, [failed_row(each.point, error, 0)]) for each in left)
            return
        except Exception as error:
            prepared = left.pop(0)
            seconds = prepared.seconds + time.monotonic() - started
            yield prepared.point.key, [failed_row(prepared.point, error, seconds)]


def _compared(cases: Sequence[Case | TrafficCase]) -> Iterator[Comparison]:
    """Run cases of one network on the hardware, checked against the model."""
    # This import loads the simulator's tools.
    from ..sim.verify import run_traffic, verify  # noqa: PLC0415

    schedules = [case for case in cases if isinstance(case, Case)]
    # Only traffic runs on networks with timed rows.
    traffics = [case for case in cases if isinstance(case, TrafficCase)]
    return verify(schedules) if schedules else run_traffic(traffics)


def _compared_row(prepared: _Prepared, result: Comparison, seconds: float) -> Row:
    """Return the row of a hardware run, with every check that failed."""
    wrong = [
        f"{check.name}: {check.predicted} predicted, {check.measured} on the hardware"
        for check in result.checks
        if not check.agrees
    ]
    row = _row(prepared.point, seconds, DONE, prepared.results(result.measured))
    if wrong and row["status"] == DONE:
        row |= {"status": DIFFERS, "error": "; ".join(wrong)}
    return row | {"agrees": result.agrees}


def _row(point: Point, seconds: float, status: str, results: Row) -> Row:
    """Return the row of a point: its values, overwritten by its results."""
    asked = {
        COLUMN_OF.get(name, name): value
        for name, value in point.values.items()
        if name not in UNLISTED
    }
    row = {
        **asked,
        **{"key": point.key, "kind": point.kind, "status": status, "error": None},
        **results,
        "seconds": seconds,
    }
    if row.get("finished") is False:
        row |= {"status": FAILED, "error": NO_END.format(row["cycles"])}
    return row


def failed_row(point: Point, error: Exception, seconds: float) -> Row:
    """Return the row of a point without a result, with the reason in one line."""
    refused = isinstance(error, InvalidInput)
    words = str(error) if refused else f"{type(error).__name__}: {error}"
    status = REFUSED if refused else FAILED
    return _row(point, seconds, status, {"error": printable(words)})
