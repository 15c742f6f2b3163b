"""What a notebook shows: schedules, programs, runs, comparisons and tables as HTML, and frames."""

import html
import re
import sys
from itertools import chain

import numpy as np
import pytest
from helpers.report_page import read_page

import eyecast
from eyecast.api.notebook import MOST_ROWS
from eyecast.model.run.trace import COLUMNS

MADE = eyecast.schedule(eyecast.mesh((4, 4)), "eye", source=(0, 0))
RUN = eyecast.predict(MADE)


def rows(page: str) -> int:
    return page.count("<tr>") - 1


def test_a_schedule_is_its_picture() -> None:
    page = MADE._repr_html_()
    assert page.startswith("<p>Broadcast of 16 words from (0,0) on a 4x4 mesh, algorithm eye</p>")
    assert page.count("<svg") == page.count("</svg>") == 1 and "<?xml" not in page


@pytest.mark.parametrize(
    ("shown", "cells", "count"),
    [
        (lambda: eyecast.compile(MADE), ("(0,0)", "Program: 4x4 mesh"), MOST_ROWS),
        (lambda: RUN, ("prediction", "86"), 5),
        (lambda: RUN.trace, ("trace of 561 flits", "head", "549 rows more"), MOST_ROWS),
        (lambda: RUN.trace[:2], ("trace of 2 flits",), 2),
        (lambda: eyecast.measures(MADE), ("tcd", "18", "15"), 5),
        (lambda: eyecast.traffic(eyecast.mesh("2x2"), cycles=20), ("mean latency",), 9),
    ],
)
def test_results_are_tables(shown, cells, count) -> None:
    page = shown()._repr_html_()
    assert not [cell for cell in cells if cell not in page]
    assert rows(page) == count


def test_a_comparison_is_a_table_and_a_frame() -> None:
    entries = eyecast.compare(eyecast.ring(4), source=0)
    assert rows(entries._repr_html_()) == len(entries)
    frame = entries.to_pandas()
    assert frame["name"].tolist() == [entry.name for entry in entries]
    assert frame["barrier"].tolist() == [entry.cycles["barrier"] for entry in entries]


def test_a_player_is_a_frame_without_connections() -> None:
    shown = eyecast.play(MADE)._repr_html_()
    assert shown.startswith('<iframe srcdoc="') and shown.endswith("</iframe>")
    (page,) = re.findall(r'srcdoc="([^"]*)"', shown)
    page = html.unescape(page)
    assert read_page(page)["runs"][0]["cycles"] == RUN.cycles
    assert "default-src 'none'" in page and "https:" not in page
    assert len(shown) < 110_000


def test_names_from_outside_are_text() -> None:
    sends = [(1, [0, 1])]
    made = eyecast.schedule_of_sends(eyecast.line(2), sends, name="<b>")
    assert "<b>" not in made._repr_html_()


def test_sends_are_a_frame() -> None:
    frame = MADE.to_pandas()
    assert len(frame) == MADE.sends == 15
    assert frame["distances"].sum() == MADE.tcd
    assert (frame["step"].to_numpy() == MADE.step).all()
    assert [*chain(*frame["path"])] == MADE.path_nodes.tolist()
    assert [*chain(*frame["blocks"])] == MADE.block_ids.tolist()
    assert [len(each) for each in frame["vcs"]] == MADE.distances.tolist()
    assert [path[-1] for path in frame["path"]] == MADE.target.tolist()


def test_a_trace_goes_to_pandas_and_arrow_without_a_copy(monkeypatch) -> None:
    trace = RUN.trace
    frame = trace.to_pandas()
    arrow = pytest.importorskip("pyarrow", reason="pip install 'eyecast[sweep]'").table(trace)
    assert list(frame.columns) == arrow.column_names
    for name, column in zip(frame.columns, trace.columns, strict=True):
        assert np.shares_memory(frame[name].to_numpy(), column)
        (chunk,) = arrow[name].chunks
        assert chunk.buffers()[1].address == column.ctypes.data
        assert (arrow[name].to_numpy() == column).all()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(eyecast.InvalidInput, match="pyarrow must be installed"):
        trace.__arrow_c_stream__()


def test_polars_reads_a_trace_without_a_copy() -> None:
    pytest.importorskip("pyarrow", reason="pip install 'eyecast[sweep]'")
    polars = pytest.importorskip("polars", reason="pip install 'eyecast[checks]'")
    trace = RUN.trace
    frame = polars.DataFrame(trace)
    assert frame.columns == list(COLUMNS)
    for name, column in zip(frame.columns, trace.columns, strict=True):
        assert np.shares_memory(frame[name].to_numpy(), column)
    assert frame.filter(polars.col("port") == 0).height == (trace.port == 0).sum() > 0
