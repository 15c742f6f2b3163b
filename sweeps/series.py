"""Series for plots, from the rows of a sweep: their names, x values and y values.

Rows that differ only in a seed or a source are repetitions of one run, and their mean is drawn.
"""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from .facts import NETWORK
from .layout import COLLECTIVE, WORKLOAD, Row
from .run import DONE

_FAULTS = ("faulty_nodes", "faulty_links", "random_faults")
_ROOM = ("message_words", "table_words", "step_numbers", "configuration", "nodes", "faulty")
"""Network columns that follow from the others, or from the run."""
_HARDWARE = tuple(name for name in NETWORK if name not in _ROOM)
_OF_LOADS = (
    "network",
    *_FAULTS,
    "pattern",
    "packet_flits",
    "burst",
    "reply_flits",
    "back_pressure",
    *_HARDWARE,
    "on",
)
_WAYS = ("algorithm", "ports", "timing", *_HARDWARE, "on")
_TITLE = ("network", *_FAULTS, "collective", "operator")
_WORK = ("network", *_FAULTS, "collective", "operator", "words")


_OF_WORKLOADS = (*("mapping", "policy", "clock", "rate", "circuits", "message_words"),)


class LoadPoint(NamedTuple):
    """Mean latency at a load, and half its confidence interval (None without one)."""

    rate: float
    latency: float
    half_width: float | None


class Saturation(NamedTuple):
    """Saturation load of a network, and half its confidence interval."""

    rate: float
    half_width: float


class Cost(NamedTuple):
    """A way to do some work: its name, LUTs of its network, and cycles."""

    name: str
    luts: int
    cycles: float


def latency_series(
    rows: Iterable[Row],
) -> tuple[dict[str, list[LoadPoint]], dict[str, Saturation]]:
    """Return mean latency over load by series name, and the saturation of the same names.

    The loads are those of drawn traffic, and those of curves up to saturation.
    """
    rows = list(rows)
    measured = [row for row in rows if row["mean_latency"] is not None]
    series: dict[str, list[LoadPoint]] = {}
    for (name, rate), same in _repetitions(measured, _OF_LOADS, "rate").items():
        latency = statistics.fmean(row["mean_latency"] for row in same)
        half = same[0]["latency_half_width"] if len(same) == 1 else None
        series.setdefault(name, []).append(LoadPoint(rate, latency, half))
    naming = _naming(measured, _OF_LOADS)
    found = {
        naming(row): Saturation(row["saturation_rate"], row["saturation_half_width"])
        for row in rows
        if row["part"] == "saturation"
    }
    return {name: sorted(points) for name, points in series.items()}, found


Points = list[tuple[int, float]]
Panels = dict[str, tuple[dict[str, Points], Points]]
"""Lines by their names, and the lower bound, for each network and collective."""


def cycles_panels(rows: Iterable[Row]) -> Panels:
    """Return cycles over words of a block, for each algorithm, and their bound."""
    ran = [row for row in rows if row["kind"] == COLLECTIVE and row["status"] == DONE]
    panels: Panels = {}
    for title, same in _by_title(ran, _TITLE).items():
        least: dict[int, float] = {}
        for row in same:
            least[row["words"]] = min(row["least_cycles"], least.get(row["words"], math.inf))
        panels[title] = _lines(same, _WAYS, over="words", value="cycles"), sorted(least.items())
    return panels


def exposed_panels(rows: Iterable[Row]) -> Panels:
    """Return exposed communication over the words of all calls, for each way to run workloads."""
    ran = [row for row in rows if row["kind"] == WORKLOAD and row["status"] == DONE]
    return {
        f"{title}, exposed communication": (
            _lines(same, _OF_WORKLOADS, over="call_words", value="exposed"),
            [],
        )
        for title, same in _by_title(ran, ("network", *_FAULTS)).items()
    }


def common_title(rows: Iterable[Row], names: Sequence[str]) -> str:
    """Return those of the columns ``names`` as text that are the same in all rows."""
    kept = [row for row in rows if row["status"] == DONE]
    same = [name for name in names if len({row[name] for row in kept}) == 1]
    return ", ".join(filter(None, (_words(name, kept[0][name]) for name in same)))


def _by_title(rows: Sequence[Row], names: Sequence[str]) -> dict[str, list[Row]]:
    """Group rows by the text of the columns ``names``."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        title = ", ".join(filter(None, (_words(name, row[name]) for name in names)))
        found.setdefault(title, []).append(row)
    return found


def _lines(
    rows: Sequence[Row], names: Sequence[str], *, over: str, value: str
) -> dict[str, Points]:
    """Return the mean ``value`` of rows over another column, by the names of lines."""
    if not _splits(rows, names, over, "streams"):
        names = [name for name in names if name != "streams"]
    lines: dict[str, Points] = {}
    for (name, at), same in _repetitions(rows, names, over).items():
        lines.setdefault(name, []).append((at, statistics.fmean(row[value] for row in same)))
    return {name: sorted(points) for name, points in lines.items()}


def _splits(rows: Sequence[Row], names: Sequence[str], over: str, column: str) -> bool:
    """Return whether rows differ in ``column`` that are otherwise of one line at one place.

    A network has a part for streams only if its schedule streams, which a short one does not.
    """
    others = [name for name in (*names, over) if name != column]
    values: dict[tuple[Any, ...], Any] = {}
    return any(
        values.setdefault(tuple(row[name] for name in others), row.get(column)) != row.get(column)
        for row in rows
    )


def costs(rows: Iterable[Row], luts: dict[str, int]) -> dict[str, list[Cost]]:
    """Return cycles and LUTs of the ways to do a work, by the work's name.

    A work is a collective of some length on a topology. ``luts`` are by configuration; networks
    without LUTs are left out.
    """
    ran = [
        row | {"luts": luts[row["configuration"]]}
        for row in rows
        if row["kind"] == COLLECTIVE and row["status"] == DONE and row["configuration"] in luts
    ]
    work_of, naming = _naming(ran, _WORK), _naming(ran, _WAYS)
    found: dict[tuple[str, str, int], list[float]] = {}
    for row in ran:
        place = work_of(row), naming(row), row["luts"]
        found.setdefault(place, []).append(row["cycles"])
    series: dict[str, list[Cost]] = {}
    for (work, name, count), cycles in found.items():
        series.setdefault(work, []).append(Cost(name, count, statistics.fmean(cycles)))
    return series


def pareto_front(points: Sequence[Cost]) -> list[Cost]:
    """Return the Pareto front: points that no other point beats in LUTs and cycles."""
    front: list[Cost] = []
    for point in sorted(points, key=lambda each: (each.luts, each.cycles)):
        if not front or point.cycles < front[-1].cycles:
            front.append(point)
    return front


def _repetitions(
    rows: Sequence[Row], names: Sequence[str], over: str
) -> dict[tuple[str, Any], list[Row]]:
    """Group rows by series name and the value of column ``over``."""
    naming = _naming(rows, names)
    found: dict[tuple[str, Any], list[Row]] = {}
    for row in rows:
        found.setdefault((naming(row), row[over]), []).append(row)
    return found


def _naming(rows: Sequence[Row], names: Sequence[str]) -> Callable[[Row], str]:
    """Return a function that names a row by those columns of ``names`` that vary in ``rows``."""
    varied = [name for name in names if len({row[name] for row in rows}) > 1]

    def name_of(row: Row) -> str:
        words = filter(None, (_words(name, row[name]) for name in varied))
        # A row's operator often equals the operators of its network.
        return ", ".join(dict.fromkeys(words))

    return name_of


def _words(name: str, value: Any) -> str:
    """Return one column as words; a text value needs no column name."""
    words = name.replace("_", " ")
    if not value:
        return ""
    if value is True:
        return words
    return value if isinstance(value, str) and name not in _FAULTS else f"{words} {value}"
