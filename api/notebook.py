"""Pictures and HTML of schedules, programs, runs, comparisons and tables for notebooks."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.base.frames import data_frame
from ..model.base.notebook import PAGES, ShowsItself
from ..model.collectives.notes import landmarks, schedule_title
from ..model.network.config import TIMINGS
from ..model.network.node_names import node_name
from ..model.program.program import Program
from ..model.run.run import Prediction, Run
from ..model.run.trace import COLUMNS, KINDS, Trace
from ..model.schedule.schedule import Schedule

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..model.compare.checks import Comparison
    from ..model.compare.side_by_side import Entry
    from .traffic import TrafficRun

MOST_ROWS = 12
"""Rows of a long table that are shown."""


class Measures(ShowsItself, dict[str, dict[str, int]]):
    """Measures of a schedule, and their lower bounds under "least"."""


class Entries(ShowsItself, list["Entry"]):
    """The algorithms of a comparison, one entry for each."""

    def to_pandas(self) -> DataFrame:
        """Return a row for each algorithm; raise :class:`.InvalidInput` without pandas."""
        return data_frame({name: [row[name] for row in self._rows()] for name in _ENTRY})

    def _rows(self) -> list[dict[str, Any]]:
        """Return the measures of each entry, with None for a timing without cycles."""
        return [
            {
                **{name: getattr(entry, name) for name in ("name", "busiest_link")},
                **{name: getattr(entry.schedule, name) for name in ("steps", "tcd")},
                **{str(timing): entry.cycles.get(timing) for timing in TIMINGS},
                "least": entry.least["cycles"],
            }
            for entry in self
        ]


@dataclass(frozen=True)
class Player:
    """A run that a notebook plays, with buttons and a slider; without a server or a connection.

    Attributes
    ----------
    title
        Program and network of the run.
    page
        The whole player as the text of an HTML file.
    """

    title: str
    page: str

    def __repr__(self) -> str:
        return f"<Player: {self.title}>"

    def _repr_html_(self) -> str:
        """Return a frame with the player, which may run its own script and nothing else."""
        style = "width: 100%; height: 34em; border: 0"
        page = escape(self.page)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="{style}"></iframe>'


_ENTRY = ("name", "steps", "tcd", *map(str, TIMINGS), "least", "busiest_link")


def _table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    count: int | None = None,
) -> str:
    """Return a table as HTML; rows beyond :data:`MOST_ROWS` are counted, or known by ``count``."""
    kept = list(rows)
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{'' if cell is None else escape(str(cell))}</td>" for cell in row)
        for row in kept[:MOST_ROWS]
    )
    more = (len(kept) if count is None else count) - MOST_ROWS
    rest = f"<p>and {more} rows more</p>" if more > 0 else ""
    caption = f"<caption>{escape(title)}</caption>"
    return f"<table>{caption}<thead><tr>{head}</thead><tbody>{body}</tbody></table>{rest}"


def _schedule(made: Schedule) -> str | None:
    """Return the picture of a schedule; None if the network cannot be drawn."""
    from ..picture.places import require_drawable  # noqa: PLC0415 - loads Matplotlib
    from ..picture.schedule import draw_schedule  # noqa: PLC0415

    try:
        require_drawable(made.topology)
    except InvalidInput:
        return None
    picture = io.StringIO()
    draw_schedule(made, marked=landmarks(made)).savefig(picture, format="svg", bbox_inches="tight")
    svg = picture.getvalue()
    # White behind the picture, so that a dark page does not hide its text.
    style = "background: white; max-width: 100%; overflow: auto"
    title = f"<p>{escape(schedule_title(made))}</p>"
    return f'{title}<div style="{style}">{svg[svg.index("<svg") :]}</div>'


def _program(program: Program) -> str:
    topology = program.config.topology
    rows, words = np.diff(program.first_row).tolist(), program.table_sizes.tolist()
    lines = (
        (node_name(topology, node), rows[node], words[node], len(program.receives[node]))
        for node in range(topology.nodes)
    )
    return _table(repr(program)[1:-1], ("node", "rows", "table words", "receives in steps"), lines)


def _run(run: Run) -> str:
    facts = [
        ("finished", run.finished),
        ("cycles", run.cycles),
        ("stalled flits", int(run.stalled_flits.sum())),
        ("nodes with error flags", int(np.count_nonzero(run.flags))),
        ("flits in the trace", len(run.trace)),
    ]
    title = "prediction" if isinstance(run, Prediction) else "run of the hardware"
    return _table(title, ("", ""), facts)


def _comparison(found: Comparison) -> str:
    rows = [
        (each.name, each.predicted, each.measured, "ok" if each.agrees else "DIFFERS")
        for each in found.checks
    ]
    return _table(repr(found)[1:-1], ("", "predicted", "hardware", ""), rows)


def _traffic(ran: TrafficRun) -> str:
    rows = [(name.replace("_", " "), f"{value:.4g}") for name, value in ran.measures.items()]
    return _table(repr(ran)[1:-1], ("", "measured"), rows)


def _trace(trace: Trace) -> str:
    """Return the first rows of a trace as its file has them."""
    rows = [(*flit[:4], KINDS[flit.kind], f"{flit.data:x}") for flit in trace[:MOST_ROWS]]
    return _table(f"trace of {len(trace)} flits", COLUMNS, rows, count=len(trace))


def _entries(entries: Entries) -> str:
    rows = [[row[name] for name in _ENTRY] for row in entries._rows()]
    names = ("algorithm", "steps", "TCD", *(f"cycles, {timing}" for timing in TIMINGS))
    return _table("comparison", (*names, "lower bound", "sends on busiest link"), rows)


def _measures(found: Measures) -> str:
    rows = [
        (name.replace("_", " "), value, found["least"].get(name))
        for name, value in found["schedule"].items()
    ]
    return _table("measures", ("", "schedule", "lower bound"), rows)


def _sweep(rows: Sequence[dict[str, Any]]) -> str:
    """Return the columns of a sweep that are not the same in all rows."""
    names = [
        name
        for name in (rows[0] if rows else ())
        if name != "key" and len({repr(row[name]) for row in rows}) > 1
    ]
    return _table(f"sweep of {len(rows)} points", names, ([row[n] for n in names] for row in rows))


PAGES.update(
    Comparison=_comparison,
    Entries=_entries,
    Measures=_measures,
    Program=_program,
    Run=_run,
    Schedule=_schedule,
    SweepRows=_sweep,
    Trace=_trace,
    TrafficRun=_traffic,
)
