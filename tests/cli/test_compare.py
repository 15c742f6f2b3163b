"""``eyecast compare``: each number equals that of an independent source; refusals."""

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.command import Answer, Command, envelope, refusal, result
from helpers.svg import ids
from helpers.verified import flip_a_word

from eyecast.model.collectives import task
from eyecast.model.collectives.algorithm import Algorithm
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.halving.eye import eye_broadcast, eyes, source_tcd
from eyecast.model.collectives.registry import algorithms_for, find_algorithm
from eyecast.model.network.config import TIMINGS
from eyecast.model.schedule.schedule import Schedule
from eyecast.picture.compare import Panel, draw_comparison

COMPARE_8X8 = ("compare", "--mesh", "8x8", "--source", "1,0")


def register(monkeypatch: pytest.MonkeyPatch, *algorithms: Algorithm) -> None:
    known = {algorithm.name: algorithm for algorithm in algorithms}
    monkeypatch.setattr(task, "algorithms_for", lambda _collective: algorithms)
    monkeypatch.setattr(task, "find_algorithm", lambda _collective, name: known[name])


def named(name: str, change: dict[str, object]) -> Algorithm:
    """Register the eye broadcast under another name, with part of its schedule changed."""

    def generate(request: Request) -> Schedule:
        made = eye_broadcast(request.topology, request.root, request.words)
        return replace(made, algorithm=name, **change)

    return Algorithm("broadcast", name, generate, networks="", steps="", landmarks=eyes)


def lines_of(answer: Answer) -> list[list[str]]:
    """Return the cells of every row of the table."""
    rows = [line for line in answer.output.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in row.split("│")[1:-1]] for row in rows]


# ---- The algorithms ---------------------------------------------------------------------------


def test_every_number_is_what_other_commands_say(eyecast: Command) -> None:
    found = result(eyecast(*COMPARE_8X8, "--words", "5", "--json"))
    assert (found["source"], found["words"]) == ([1, 0], 5)
    assert found["least"] == {"steps": 1, "tcd": 63, "cycles": 18}
    served = [entry["algorithm"] for entry in found["algorithms"]]
    assert {*served, *found["not_serving"]} == {
        each.name for each in algorithms_for("broadcast", circuits=False)
    }
    assert {"eye", "minimum", "rectangle"} <= set(served)
    for entry in found["algorithms"]:
        options = (*COMPARE_8X8[1:], "--algorithm", entry["algorithm"], "--words", "5", "--json")
        schedule = result(eyecast("schedule", *options))
        assert (entry["steps"], entry["tcd"]) == (schedule["steps"], schedule["tcd"])
        for timing in entry["cycles"]:
            predicted = result(eyecast("predict", *options, "--timing", timing))
            assert entry["cycles"][timing] == predicted["cycles"]
            # A send has six flits on each of its links: a head flit and five more.
            assert entry["busiest_link"] == max(predicted["link_flits"].values()) / 6
        assert entry["hardware"] == {}


def test_the_table_has_the_bounds_first_and_then_what_json_has(eyecast: Command) -> None:
    answer = eyecast(*COMPARE_8X8)
    assert (answer.status, answer.errors) == (0, "")
    assert answer.output.startswith("Broadcasts of 16 words from (1,0) on an 8x8 mesh\n")
    found = result(eyecast(*COMPARE_8X8, "--json"))
    bounds, *rows = [row for row in lines_of(answer) if row[1]]
    assert bounds == ["lower bound", "1", "63", "29", "29", "", ""]
    for row, entry in zip(rows, found["algorithms"], strict=True):
        cycles = [entry["cycles"].get(timing) for timing in TIMINGS]
        times = min(entry["cycles"].values()) / entry["least"]["cycles"]
        measures = (f"{times:.2f}", entry["busiest_link"])
        values = [entry["steps"], entry["tcd"], *cycles, *measures]
        assert row == [entry["algorithm"], *("" if v is None else str(v) for v in values)]


@pytest.mark.parametrize(
    "options",
    [
        ("--collective", "all-gather"),
        ("--collective", "all-gather", "--ports", "all"),
        ("--collective", "all-gather", "--group", "rows"),
        ("--collective", "reduce", "--source", "0,0"),
    ],
)
def test_the_bounds_hold_for_what_streams_too(eyecast: Command, options: tuple[str, ...]) -> None:
    found = result(eyecast("compare", "--mesh", "4x4", *options, "--words", "4", "--json"))
    for entry in found["algorithms"]:
        assert found["least"]["steps"] <= entry["least"]["steps"] <= entry["steps"]
        assert found["least"]["tcd"] <= entry["tcd"]
        assert found["least"]["cycles"] <= min(entry["cycles"].values())


def test_what_does_not_serve_is_listed_with_the_reason(eyecast: Command) -> None:
    answer = eyecast("compare", "--torus", "5x7", "--source", "0,0")
    assert answer.status == 0
    assert "rectangle" in {row[0] for row in lines_of(answer)}
    (line,) = (line for line in answer.output.splitlines() if "other options" in line)
    assert line.startswith("these algorithms need another network or other options: eye, minimum, ")
    assert line.endswith(" (--why says why)")
    reasons = eyecast("compare", "--torus", "5x7", "--source", "0,0", "--why").output
    reason = "network for the minimum broadcast must be a mesh without faults, not a 5x7 torus"
    assert f"minimum was not compared: {reason}\n" in reasons
    assert reasons.count(" was not compared: ") == line.count(",") + 1


def test_faults(eyecast: Command) -> None:
    """Bounds leave out the faulty nodes, which no broadcast must serve."""
    faults = ("--faulty-node", "1,1", "--faulty-link", "0,0:1,0")
    command = ("compare", "--mesh", "4x4", *faults, "--source", "0,0", "--json")
    printed = envelope(eyecast(*command))
    assert printed["network"] == "4x4 mesh with 1 faulty node and 1 faulty link"
    found = printed["result"]
    assert found["least"] == {"steps": 1, "tcd": 14, "cycles": 23}
    assert [entry["algorithm"] for entry in found["algorithms"]] == ["tree", "chain"]
    assert {"eye", "minimum", "rectangle"} <= set(found["not_serving"])


def test_a_schedule_that_cannot_be_compiled_has_no_cycles(
    eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    tcd = source_tcd(2, 0, 0)
    higher = named("higher", {"vcs": [1] * tcd})
    register(monkeypatch, find_algorithm("broadcast", "eye"), higher)
    command = ("compare", "--mesh", "4x4", "--source", "0,0")
    eye, other = result(eyecast(*command, "--vcs", "1", "--json"))["algorithms"]
    assert (eye["refusals"], set(eye["cycles"])) == ({}, set(TIMINGS))
    assert (other["tcd"], other["cycles"]) == (tcd, {})
    assert set(other["refusals"]) == set(TIMINGS)
    answer = eyecast(*command, "--vcs", "1", "-o", "a.svg")
    refused = f"higher: {other['refusals']['barrier']}\n"
    assert refused in answer.output
    for options in (("--vcs", "2"), ()):
        enough = result(eyecast(*command, *options, "--json"))["algorithms"]
        assert enough[0]["cycles"] == enough[1]["cycles"] != {}


@pytest.mark.parametrize(
    "arguments", ["--mesh 4x4 --source 0,0 --words 1024", "--torus 5x5 --source 1,0"]
)
def test_room_is_made_for_all(eyecast: Command, arguments: str) -> None:
    for entry in result(eyecast("compare", *arguments.split(), "--json"))["algorithms"]:
        streams = entry["algorithm"] == "chain"
        assert set(entry["cycles"]) == set(TIMINGS[: 1 if streams else 2]), entry


@pytest.mark.parametrize("collective", ["gather", "scatter"])
def test_what_serves_all_ports_is_said(eyecast: Command, collective: str) -> None:
    root = ("--collective", collective, "--ports", "all")
    torus = result(eyecast("compare", "--torus", "4x4", "--source", "0,0", *root, "--json"))
    assert [entry["algorithm"] for entry in torus["algorithms"]] == ["packed-chains"]
    root = ("--hypercube", "3", "--source", "0,0,0", *root)
    found = result(eyecast("compare", *root, "--json"))["algorithms"]
    served = ", ".join(entry["algorithm"] for entry in found)
    answer = eyecast("schedule", *root, "--algorithm", "ring")
    assert answer.errors.endswith(f" ring {collective} (use {served})\n")


def test_a_schedule_that_breaks_a_rule_is_not_one_that_does_not_serve(
    eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, find_algorithm("broadcast", "eye"), named("late", {"step": [2, 1, 1]}))
    answer = eyecast("compare", "--mesh", "2x2", "--source", "0,0")
    assert (answer.status, answer.output) == (2, "")
    assert answer.errors.startswith("eyecast: send ")


def test_the_picture_has_a_bar_for_every_measure(eyecast: Command, here: Path) -> None:
    compare = ("compare", "--mesh", "2x2", "--source", "1,0")
    for name in ("a.svg", "b.svg"):
        assert eyecast(*compare, "-o", name).output.endswith(f"wrote {name}\n")
    assert (here / "a.svg").read_bytes() == (here / "b.svg").read_bytes()
    rows = len(result(eyecast(*compare, "--json"))["algorithms"])
    # Four panels, and two timings in one of them.
    assert len(ids(here / "a.svg", r"bar-\d-\d+-\d")) == 5 * rows


def test_bars_are_as_long_as_their_numbers() -> None:
    panels = (Panel("steps", {"": [6, 7]}, 6), Panel("cycles", {"a": [136, None], "b": [127, 90]}))
    figure = draw_comparison("title", ["one", "two"], panels, ["two"])
    steps, cycles = figure.axes
    assert [bar.get_width() for bar in steps.patches] == [6, 7]
    assert [bar.get_width() for bar in cycles.patches] == [136, 0, 127, 90]
    assert [text.get_text() for text in cycles.texts] == ["136", "-", "127", "90"]
    assert [text.get_text() for text in steps.get_yticklabels()] == ["one", "two\nfewest cycles"]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["lower bound", "a", "b"]


# ---- The hardware -----------------------------------------------------------------------------


def test_both_timings_on_the_hardware(eyecast: Command) -> None:
    command = ("compare", "--mesh", "2x2", "--source", "1,0", "--rtl")
    found = result(eyecast(*command, "--json"))["algorithms"]
    for entry in found:
        assert set(entry["hardware"]) == set(entry["cycles"])
        for timing, verified in entry["hardware"].items():
            checks = {check["name"]: check for check in verified["checks"]}
            assert verified["agrees"]
            assert checks["cycles"]["measured"] == entry["cycles"][timing]
            assert checks["trace rows"]["agrees"]
    answer = eyecast(*command)
    rows = {row[0]: row[-1] for row in lines_of(answer)}
    assert all(rows[entry["algorithm"]] == ("ok" if entry["cycles"] else "") for entry in found)


def test_hardware_that_differs_is_a_failure(
    eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hardware gets another word than the model."""
    flip_a_word(monkeypatch)
    answer = eyecast("compare", "--mesh", "2x2", "--source", "1,0", "--rtl")
    assert (answer.status, answer.errors) == (1, "eyecast: hardware and prediction do not agree\n")
    assert "DIFFERS" in answer.output
    assert "eye, barrier: trace rows " in answer.output


def test_cycles_over_words(eyecast: Command, here: Path) -> None:
    network = ("--mesh", "4x4", "--source", "0,0")
    command = ("compare", *network, "--lengths", "64,4")
    found = result(eyecast(*command, "--json"))
    assert found["words"] == [4, 64]
    assert found["least"]["cycles"] == {"4": 6 + 4, "64": 6 + 64}
    for algorithm in ("eye", "chain"):
        options = ("--algorithm", algorithm, "--words", "64", "--json")
        barrier = result(eyecast("predict", *network, *options))["cycles"]
        assert 70 < found["cycles"][algorithm]["64"] <= barrier
    answer = eyecast(*command, "-o", "lines.svg")
    assert lines_of(answer)[-1] == ["the fastest", "eye", "chain"]
    assert "lower bound" in (here / "lines.svg").read_text()


def test_the_best_is_the_first_of_a_comparison(eyecast: Command) -> None:
    network = ("--mesh", "4x4", "--source", "0,0", "--words", "64")
    best = eyecast("schedule", *network, "--algorithm", "best", "--json")
    assert best.errors.startswith("best is chain (125 cycles), next best minimum (2")
    assert best.output.split('"algorithm": "')[1].startswith("chain")


# ---- Bad input --------------------------------------------------------------------------------

MESH = "compare --mesh 4x4"
BAD_OPTIONS = {
    f"{MESH} --source 1,1 --faulty-node 1,1": (
        "--source must be a node that is not faulty, not 1,1"
    ),
    f"{MESH} --source 0,0 -o a.gif": "suffix of picture a.gif must be .svg, .pdf or .png, not .gif",
    f"{MESH} --source 0,0 --algorithm eye": (
        "No such option '--algorithm'. (Did you mean one of: '--lengths', '--parity'?) "
        "(see eyecast compare --help)"
    ),
    "compare --mesh 64x64 --source 0,0 --rtl": (
        "nodes of the 64x64 mesh must be at most 1024 for hardware, not 4096 "
        "(predict takes up to 1048576)"
    ),
    "compare --mesh 512x512 --source 0,0": (
        "nodes of the 512x512 mesh must be at most 65536 for a comparison, not 262144 "
        "(predict takes up to 1048576)"
    ),
}


@pytest.mark.parametrize(("arguments", "line"), BAD_OPTIONS.items(), ids=BAD_OPTIONS)
def test_bad_options(eyecast: Command, here: Path, arguments: str, line: str) -> None:
    assert eyecast(*arguments.split()) == refusal(line)
    assert list(here.iterdir()) == []


def test_a_network_that_none_serves(eyecast: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, *(find_algorithm("broadcast", name) for name in ("eye", "minimum")))
    assert eyecast("compare", "--torus", "5x5", "--source", "0,0") == refusal(
        "network to compare on must be one that eye or minimum serves, not a 5x5 torus"
    )


def test_nothing_to_run_on_the_hardware(eyecast: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, named("higher", {"vcs": [1] * source_tcd(1, 0, 0)}))
    answer = eyecast("compare", "--mesh", "2x2", "--source", "0,0", "--rtl", "--vcs", "1")
    assert (answer.status, answer.output) == (2, "")
    assert answer.errors.startswith("eyecast: --rtl has nothing to run: ")
