"""``--report``: pages that commands write, and refusals before any work."""

from pathlib import Path

import pytest
from helpers.command import CORNER_4X4, Command, refusal
from helpers.report_page import flits, read_file, trace_text

import eyecast as face

TINY = ("--mesh", "2x2", "--source", "0,0", "--words", "4")


def test_a_prediction_has_the_trace_that_is_written(eyecast: Command, here: Path) -> None:
    files = ("-o", "trace.csv", "--report", "page.html")
    answer = eyecast("predict", *CORNER_4X4, *files)
    assert (answer.status, answer.errors) == (0, "")
    assert answer.output.endswith("wrote trace.csv\nwrote page.html\n")
    page = read_file("page.html")
    assert trace_text(page) == Path("trace.csv").read_text()
    assert page["title"] == "Broadcast of 16 words from (0,0) on a 4x4 mesh, algorithm eye"
    cycles = page["runs"][0]["cycles"]
    assert page["verdict"] == {"good": None, "text": f"predicted by the model: {cycles} cycles"}


def test_a_verification_shows_what_the_hardware_did(eyecast: Command, here: Path) -> None:
    answer = eyecast("verify", *TINY, "-o", "run", "--report", "page.html")
    assert answer.status == 0, answer.errors
    page = read_file("page.html")
    (run,) = page["runs"]
    assert (run["name"], run["finished"], run["difference"]) == ("hardware", True, None)
    assert trace_text(page) == Path("run/trace-hardware.csv").read_text()
    checks, bounds = run["tables"]
    assert [row[3] for row in checks["rows"]] == ["ok"] * len(checks["rows"])
    assert bounds["rows"][:2] == [["cycles", str(run["cycles"]), "6"], ["steps", "2", "2"]]
    assert page["verdict"]["good"] is True


def test_a_program_file_has_a_page_without_a_schedule(eyecast: Command, here: Path) -> None:
    assert eyecast("program", *CORNER_4X4, "-o", "program.json").status == 0
    assert eyecast("predict", "--program", "program.json", "--report", "page.html").status == 0
    (run,) = read_file("page.html")["runs"]
    assert run["root"] is None and run["tables"] == [] and sum(run["held"]) == 0
    assert run["trace"]["rows"] > 300


def test_a_trace_from_anywhere_is_shown_as_recorded(eyecast: Command, here: Path) -> None:
    assert eyecast("predict", *TINY, "-o", "trace.csv").status == 0
    check = ("check", "trace.csv", *TINY, "--report", "page.html")
    answer = eyecast(*check)
    assert answer.status == 0 and answer.output.endswith("wrote page.html\n")
    page = read_file("page.html")
    (run,) = page["runs"]
    assert (run["name"], run["timing"], run["difference"]) == ("trace", "barrier", None)
    assert trace_text(page) == Path("trace.csv").read_text()
    text = "the trace is as the model says, flit for flit"
    assert page["verdict"] == {"good": True, "text": text}
    assert run["steps"]["end"] == [each["ends"] for each in run["measures"]]
    # Row 3 has another word, and the last row is missing.
    *lines, _ = Path("trace.csv").read_text().splitlines()
    assert lines[4].startswith("4,0,1,0,body,")
    broken = [*lines[:4], "4,0,1,0,body,5", *lines[5:], ""]
    Path("trace.csv").write_text("\n".join(broken))
    answer = eyecast(*check)
    assert answer.status == 1
    page = read_file("page.html")
    run, model = page["runs"]
    assert trace_text(page) == Path("trace.csv").read_text()
    assert (run["name"], model["name"]) == ("trace", "model")
    places = ("row", "model", "cycle", "node", "port", "names")
    assert [run["difference"][name] for name in places] == [3, 1, 4, 0, 1, ["model", "trace"]]
    assert [3, lines[4], "4,0,1,0,body,5"] in run["difference"]["rows"]
    assert page["verdict"]["text"].startswith("the trace is not as predicted: ")
    assert run["waiting"][0].startswith("broken rule: ")
    # Without a program the page has flits, but not the rows that they belong to.
    network = ("--mesh", "2x2", "--no-program")
    assert eyecast("check", "trace.csv", *network, "--report", "page.html").status == 1
    (run,) = (page := read_file("page.html"))["runs"]
    assert trace_text(page) == Path("trace.csv").read_text()
    assert page["verdict"] == {"good": False, "text": "a rule is broken"}
    assert {each["row"] for each in flits(page)} == {0} and run["steps"]["end"] == []


def test_any_algorithm_of_a_comparison_can_be_watched(eyecast: Command, here: Path) -> None:
    answer = eyecast("compare", *CORNER_4X4, "--report", "page.html")
    assert answer.status == 0 and answer.output.endswith("wrote page.html\n")
    page = read_file("page.html")
    rows, runs = page["comparison"]["rows"], page["comparison"]["runs"]
    assert rows[0][0] == "lower bound" and runs[0] == []
    # The page opens on the fastest run, whose algorithm comes first.
    assert page["chosen"] == runs[1][0] and rows[1][0] == "chain"
    assert page["runs"][page["chosen"]]["cycles"] == min(run["cycles"] for run in page["runs"])
    assert len(page["runs"]) == sum(map(len, runs)) >= 12
    for row, numbers in zip(rows[1:], runs[1:], strict=True):
        names = [page["runs"][number]["name"] for number in numbers]
        # The chain streams, which needs barrier timing.
        timings = ("barrier",) if row[0] == "chain" else ("barrier", "self-timed")
        assert names == [f"{row[0]}, {timing}" for timing in timings]
        cycles = [str(page["runs"][number]["cycles"]) for number in numbers]
        assert row[3:5] == [*cycles, ""][:2]


def test_a_comparison_on_circuits_opens_on_the_fastest(eyecast: Command, here: Path) -> None:
    compare = ("compare", "--circuits", "--mesh", "3x3", "--source", "0,0", "--report", "page.html")
    assert eyecast(*compare).status == 0
    page = read_file("page.html")
    runs = page["runs"]
    assert runs[page["chosen"]]["cycles"] == min(run["cycles"] for run in runs) < runs[-1]["cycles"]


def test_traffic_has_its_latencies(eyecast: Command, here: Path) -> None:
    traffic = ("--torus", "3x3", "--vcs", "2", "--rate", "0.4", "--cycles", "100")
    answer = eyecast("traffic", *traffic, "--on", "model", "--report", "page.html")
    assert answer.status == 0, answer.errors
    page = read_file("page.html")
    (table,) = page["runs"][0]["tables"]
    measures = dict(table["rows"])
    assert sum(page["latency"]["packets"]) == int(measures["packets delivered"])
    assert page["latency"]["cycles"][-1] == int(measures["longest latency, cycles"])
    assert any(each["stalled"] for each in flits(page))


def test_the_title_of_one_packet_is_in_the_singular(eyecast: Command, here: Path) -> None:
    (here / "train.csv").write_text("cycle,source,target,flits\n0,0,4,6\n")
    traffic = ("--line", "5", "--traffic-file", "train.csv", "--on", "model")
    assert eyecast("traffic", *traffic, "--report", "page.html").status == 0
    assert (
        read_file("page.html")["title"]
        == "1 packet of 6 flits from 1 of 5 nodes on a line of 5, from train.csv"
    )


def test_a_run_that_does_not_finish_is_shown_all_the_same(eyecast: Command, here: Path) -> None:
    ring = ("--ring", "6", "--vcs", "1", "--rate", "1", "--cycles", "2000", "--force")
    answer = eyecast("traffic", *ring, "--on", "model", "--report", "page.html")
    assert (answer.status, answer.errors) == (1, "eyecast: the traffic does not end: deadlock\n")
    page = read_file("page.html")
    (run,) = page["runs"]
    assert not run["finished"]
    assert page["verdict"] == {"good": False, "text": "predicted by the model: deadlock"}
    told = [line for line in answer.output.splitlines() if line.startswith(("deadlock", "node "))]
    assert run["waiting"][: len(told)] == told
    assert told[0].startswith("deadlock: ") and "with 2 VCs" in told[0]


def test_a_page_on_standard_output_is_alone(eyecast: Command, here: Path) -> None:
    answer = eyecast("predict", *TINY, "--report", "/dev/null")
    assert answer.output.endswith("wrote /dev/null\n")


@pytest.mark.parametrize("command", ["predict", "verify", "compare"])
@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("missing/page.html", "output folder missing must be an existing folder, not missing"),
        (".", "output file . must be a file, not a folder"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused(
    eyecast: Command, here: Path, command: str, path: str, line: str
) -> None:
    assert eyecast(command, *TINY, "--report", path) == refusal(line)
    assert [*here.iterdir()] == []


def test_pages_of_what_cannot_be_shown_are_refused(eyecast: Command, here: Path) -> None:
    long = ("--line", "70", "--source", "0", "--algorithm", "tree")
    too_long = "sides of a drawn line must be at most 64, not 70"
    assert eyecast("predict", *long, "--report", "page.html") == refusal(too_long)
    broad = ("--binary-tree", "511", "--source", "0", "--algorithm", "tree")
    too_broad = "leaves and levels of a drawn tree must be at most 128x128, not 256x9"
    assert eyecast("predict", *broad, "--report", "page.html") == refusal(too_broad)
    all_sources = ("--mesh", "2x2", "--all-sources", "--report", "page.html")
    line = "--report must be left out with --all-sources: it shows one run"
    assert eyecast("verify", *all_sources) == refusal(line)
    same = eyecast("predict", *TINY, "-o", "page.html", "--report", "page.html")
    assert same == refusal("output file page.html must be another file than the first output")
    assert [*here.iterdir()] == []


def test_the_page_is_offered_in_python(here: Path) -> None:
    made = face.schedule(face.mesh((2, 2)), "eye", source=0, words=4)
    face.write_report(made, "page.html", timing="self-timed", depth=4)
    (run,) = read_file("page.html")["runs"]
    assert (run["name"], run["timing"], run["cycles"]) == (
        "model",
        "self-timed",
        face.predict(made, timing="self-timed", depth=4).cycles,
    )
    with pytest.raises(face.InvalidInput, match="output folder missing must be"):
        face.write_report(made, "missing/page.html")
