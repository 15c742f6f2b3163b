"""``eyecast run``: what it prints, its timelines, and Python's results beside it."""

import json
from pathlib import Path

import numpy as np
import pytest
from helpers.browser import browser, missing
from helpers.command import Command, result
from helpers.report_page import read_file

import eyecast as python

TABLE = """id,rank,what,amount,after
layer,all,operations,5000,
sum,0 1/2 3,all-reduce,300,layer
send,0>3,message,64,sum
use,3,compute,40,send
"""


@pytest.fixture
def table(here: Path) -> str:
    (here / "w.csv").write_text(TABLE)
    return "w.csv"


@pytest.mark.parametrize("options", ["", "--circuits", "--policy urgent --mapping best"])
def test_the_command_and_python_give_the_same_run(
    eyecast: Command, table: str, options: str
) -> None:
    given = {
        "": {},
        "--circuits": {"circuits": True},
        "--policy urgent --mapping best": {"policy": "urgent", "mapping": "best"},
    }[options]
    found = result(eyecast("run", table, "--mesh", "2x2", *options.split(), "--json"))
    made = python.workload(python.mesh((2, 2)), table, **given)
    assert json.loads(json.dumps(made.to_json())) == found
    assert made.engine.cycles >= made.ideal.cycles >= made.bound
    call = found["calls"][0]
    assert (call["kind"], call["ranks"], call["words"]) == ("all-reduce", [0, 1], 300)
    assert call["cycles"] >= call["least"] > 0
    # The end of the path: compute, sum, message, compute.
    assert [part["what"].split()[0] for part in found["engine"]["path"]] == [
        *("layer", "sum", "send", "use")
    ]


def test_timelines_have_every_row_that_takes_time(eyecast: Command, table: str) -> None:
    for output in ("run.perfetto.json", "run.svg"):
        answer = eyecast("run", table, "--mesh", "2x2", "-o", output)
        assert answer.output.endswith(f"wrote {output}\n")
        assert Path(output).stat().st_size > 1000
    events = json.loads(Path("run.perfetto.json").read_text())["traceEvents"]
    shown = [each for each in events if each["ph"] == "X"]
    # Two machines: 4 layers, 4 rows of sums, a message at both of its ends, and its use.
    assert len(shown) == 2 * (4 + 4 + 2 + 1)
    run = python.workload(python.mesh((2, 2)), table)
    ends = {each["ts"] + each["dur"] for each in shown if each["pid"] == 1}
    assert max(ends) == run.engine.cycles
    threads = [(each["pid"], each["tid"], each["ts"]) for each in shown]
    assert len({*threads}) == len(threads)


def test_a_page_has_the_bars_of_all_ranks_and_the_flits_of_all_links(
    eyecast: Command, table: str
) -> None:
    answer = eyecast("run", table, "--mesh", "2x2", "--report", "run.html")
    assert answer.output.endswith("wrote run.html\n")
    found = python.workload(python.mesh((2, 2)), table)
    python.write_report(found, "python.html")
    assert Path("python.html").read_bytes() == Path("run.html").read_bytes()
    for shown, (name, run) in zip(read_file("run.html")["runs"], found.machines, strict=True):
        bars, loads = shown["timeline"], shown["loads"]
        assert (shown["name"], shown["cycles"]) == (name, run.cycles)
        columns = (bars[key] for key in ("rank", "begin", "cycles", "name"))
        drawn = {(*each, bars["names"][name]) for *each, name in zip(*columns, strict=True)}
        times = zip(run.timeline.start.tolist(), run.timeline.end.tolist(), strict=True)
        rows = zip(found.workload.rank.tolist(), times, found.workload.names, strict=True)
        expected = {(rank, begin, end - begin, name) for rank, (begin, end), name in rows}
        assert {each for each in expected if each[2]} < drawn
        assert len(drawn) == 4 + 4 + 2 + 1
        counts = np.reshape(loads["counts"], (loads["bins"], len(loads["lines"])))
        assert counts.sum(axis=0).tolist() == found.link_flits.ravel()[loads["lines"]].tolist()
        assert counts.sum() == found.link_flits.sum() > 0


@pytest.mark.slow
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_a_browser_shows_both_machines(eyecast: Command, table: str) -> None:
    eyecast("run", table, "--mesh", "2x2", "--report", "run.html")
    wrong: list[str] = []
    with browser() as started:
        page = started.new_context().new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(Path("run.html").resolve().as_uri())
        page.wait_for_selector("html[data-ready]")
        for machine in ("engine", "ideal"):
            page.select_option("#run", machine)
            assert page.locator("#timeline .chart path").count() == 3
            legend = page.locator("#timeline .legend li").all_inner_texts()
            assert legend == ["compute", "all-reduce", "message"]
    assert not wrong


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--report run.txt", "suffix of page run.txt must be .html, not .txt"),
        ("--clock 2", "--clock must be left out with w.csv: Eyecast workload does not depend"),
        ("--rate 0", "--rate must be 1 to"),
        ("--message-words 1", "--message-words must be 2 to 65536, not 1"),
        ("--mapping nothing", "nothing: cannot be read"),
        ("--faulty-node 1,1", "rank must be all, or ranks from 0 to 2, not '3'"),
    ],
)
def test_wrong_options_are_refused_in_one_line(
    eyecast: Command, table: str, options: str, words: str
) -> None:
    answer = eyecast("run", table, "--mesh", "2x2", *options.split())
    assert (answer.status, answer.output) == (2, "")
    assert words in answer.errors
    assert answer.errors.count("\n") == 1
    assert not Path("run.txt").exists()
