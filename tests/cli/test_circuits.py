"""Commands with --circuits: what they print, and what they refuse."""

from pathlib import Path

import pytest
from helpers.command import Command, printed_result, refusal, result
from helpers.report_page import read_file, trace_text
from helpers.verified import flip_a_word
from helpers.waves import flits_in, read_waves

import eyecast as package
from eyecast.model.run.trace import Trace

EYE = ("--mesh", "4x4", "--source", "0,0", "--words", "4", "--circuits")


def test_predict_has_cycles_and_no_steps(eyecast: Command, here: Path) -> None:
    found = result(eyecast("predict", *EYE, "-o", "trace.csv", "--json"))
    assert found["finished"]
    assert (found["steps"], found["flags"], found["least"]) == ([], {}, {"cycles": 10})
    assert sum(found["link_flits"].values()) == 4 * 18
    trace = (here / "trace.csv").read_text().splitlines()
    assert len(trace) == 1 + 4 * (18 + 15)
    printed = eyecast("predict", *EYE).output
    assert "on a 4x4 mesh, algorithm eye, circuits" in printed
    assert "stalled" not in printed


def test_program_prints_the_run_table_of_a_node(eyecast: Command) -> None:
    found = result(eyecast("program", *EYE, "--node", "0,0", "--json"))
    ((table,),) = [found["tables"]]
    rows = [tuple(row.values()) for row in table["rows"]]
    assert rows[0][:5] == ("2-5", "east from memory", "", "0-3", "")
    assert found["entries"] > len(rows)
    assert "east from memory" in eyecast("program", *EYE, "--node", "0,0").output


def test_a_program_file_runs_as_its_schedule_does(eyecast: Command, here: Path) -> None:
    eyecast("program", *EYE, "-o", "p.json")
    found = result(eyecast("predict", "--program", "p.json", "--json"))
    asked = result(eyecast("predict", *EYE, "--json"))
    assert found["finished"]
    assert [found[name] for name in ("cycles", "link_flits", "ports")] == [
        asked[name] for name in ("cycles", "link_flits", "ports")
    ]


def test_compare_and_best_take_circuits(eyecast: Command) -> None:
    task = ("--mesh", "2x2", "--source", "0,0", "--words", "2", "--circuits")
    cycles = {
        each["algorithm"]: each["cycles"]["barrier"]
        for each in result(eyecast("compare", *task, "--json"))["algorithms"]
    }
    answer = eyecast("predict", *task, "--algorithm", "best", "--json")
    best = min(cycles, key=lambda name: cycles[name])
    assert answer.errors.startswith(f"best is {best} ({cycles[best]} cycles)")
    assert printed_result(answer.output)["cycles"] == min(cycles.values())


def test_compare_has_one_column_of_cycles(eyecast: Command, here: Path) -> None:
    printed = eyecast("compare", *EYE, "--report", "r.html").output
    assert printed.startswith("Broadcasts of 4 words from (0,0) on a 4x4 mesh with circuits\n")
    assert "barrier" not in printed
    assert "cycles, barrier" not in (here / "r.html").read_text()


def test_a_schedule_with_trees_names_the_option(eyecast: Command, here: Path) -> None:
    trees = ("--mesh", "2x2", "--collective", "all-reduce", "--algorithm", "joining-tree")
    assert eyecast("schedule", *trees, "-o", "s.json").status == 0
    line = "a schedule with trees needs a network with circuits (--circuits)"
    assert eyecast("predict", "--schedule", "s.json") == refusal(line)


def test_a_page_has_every_word_and_the_run_tables(eyecast: Command, here: Path) -> None:
    eyecast("predict", *EYE, "-o", "trace.csv", "--report", "r.html")
    page = read_file(here / "r.html")
    assert trace_text(page) == (here / "trace.csv").read_text()
    (run,) = page["runs"]
    made = package.schedule(package.mesh((4, 4)), "eye", source=(0, 0), words=4)
    program = package.compile(made, circuits=True)
    for name in ("first_entry", "duration", "codes", "send_address", "receive_address", "receive"):
        assert run["run_tables"][name] == getattr(program, name).ravel().tolist(), name
    assert (run["timing"], run["program"]) == ("", None)
    # A word goes on as soon as it can: none waits.
    assert {*run["trace"]["stay"]} == {1}
    eyecast("program", *EYE, "-o", "p.json")
    assert eyecast("check", "trace.csv", "--program", "p.json", "--report", "c.html").status == 0
    assert trace_text(read_file(here / "c.html")) == (here / "trace.csv").read_text()
    compared = ("--mesh", "2x2", "--source", "0,0", "--circuits", "--report", "r.html")
    assert eyecast("compare", *compared).status == 0
    page = read_file(here / "r.html")
    assert page["comparison"]["columns"].count("cycles") == 1
    # Each algorithm runs once, and its cycles are the button of the run.
    names = [each["name"] for each in page["runs"]]
    assert names == [row[0] for row in page["comparison"]["rows"][1:]]
    assert {each["timing"] for each in page["runs"]} == {""}


def test_a_run_that_differs_names_the_first_row_and_the_first_word(
    eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    flip_a_word(monkeypatch)
    # The network of tests/sim/test_circuits.py, to share its simulator.
    network = ("--line", "3", "--message-words", "8", "--circuits")
    answer = eyecast("verify", *network, "--source", "0", "--words", "4", "--algorithm", "tree")
    assert answer.status == 1
    assert " >3  6,0,1,0,body,82d9d721  6,0,1,0,body,82d9d720\n" in answer.output
    wrong = "node 0, address 2: 82d9d721 in the model, 82d9d720 in the hardware"
    assert f"first wrong word: {wrong}\n" in answer.output


def test_waves_show_each_word_of_the_trace(eyecast: Command, here: Path) -> None:
    assert eyecast("predict", *EYE, "-o", "trace.csv", "--waves").status == 0
    trace = Trace.read_csv("trace.csv")
    waves = read_waves(here / "waves.vcd")
    assert sorted(flits_in(waves, package.mesh((4, 4)))) == sorted(trace)
    assert not [name for name in waves.changes if name.endswith(("kind", "step", "address"))]


def test_a_trace_is_checked_word_for_word(eyecast: Command, here: Path) -> None:
    eyecast("program", *EYE, "-o", "p.json", "--image", "i.csv")
    eyecast("predict", *EYE, "-o", "trace.csv")
    loaded = ("check", "trace.csv", "--program", "p.json", "--image", "i.csv")
    assert eyecast(*loaded).status == 0
    assert eyecast("check", "trace.csv", *EYE).status == 0
    lines = (here / "trace.csv").read_text().splitlines()
    last = lines.pop()
    (here / "trace.csv").write_text("\n".join([*lines, last[:-1] + "fe"["f" in last[-1]], ""]))
    assert eyecast(*loaded).status == 1
    assert eyecast(*loaded[:-2]).status == 0
    (here / "trace.csv").write_text("\n".join([*lines, last.replace("body", "head"), ""]))
    found = printed_result(eyecast(*loaded, "--json").output)
    assert [each["name"] for each in found["checks"]] == [
        *("words delivered", "words times links", "cycle of the last word", "trace rows")
    ]
    assert found["broken_rule"].endswith("there is no such kind of flit")
    assert eyecast("check", "trace.csv", *EYE[:2], "--circuits", "--no-program").status == 1


@pytest.mark.slow
def test_the_hardware_runs_as_predicted(eyecast: Command) -> None:
    found = result(eyecast("verify", *EYE, "--json"))
    assert found["agrees"]
    assert [each["name"] for each in found["checks"]] == [
        *("nodes delivered", "words times links", "cycles", "trace rows", "error flags")
    ]
