"""Outputs and files of the commands, which must agree with each other."""

import json
import os
import re
import subprocess
import sys
from operator import itemgetter
from pathlib import Path

import click
import pytest
from helpers.command import (
    CORNER_4X4,
    CORNER_8X8,
    Answer,
    Command,
    printed_result,
    refusal,
    result,
    shell,
)
from helpers.processes import run_program
from helpers.verified import flip_a_word

from eyecast.cli import main as command_line
from eyecast.model.collectives.halving.eye import source_tcd
from eyecast.model.program.file import read_program
from eyecast.model.run.trace import Trace, first_difference
from eyecast.model.schedule.file import read_schedule

MINE = """
{"format": "eyecast-schedule", "version": 1,
 "topology": {"kind": "mesh", "dims": [2, 2], "faulty_nodes": [], "faulty_links": []},
 "collective": "broadcast", "algorithm": "mine", "port_model": "half-duplex", "root": 0,
 "steps": 2, "tcd": 3, "blocks": [{"owner": 0, "owed": null, "words": 5}],
 "sends": [
  {"step": 1, "source": 0, "target": 2, "path": [0, 2], "vcs": [0], "blocks": [0]},
  {"step": 2, "source": 0, "target": 1, "path": [0, 1], "vcs": [0], "blocks": [0]},
  {"step": 2, "source": 2, "target": 3, "path": [2, 3], "vcs": [0], "blocks": [0]}]}
"""
"""A broadcast in a 2x2 mesh that goes along y first, where the eye broadcast goes along x."""


def test_without_a_command_there_is_help() -> None:
    answer = shell()
    assert answer == shell("--help")
    assert (answer.status, answer.errors) == (0, "")
    for name in ("schedule", "program", "predict", "verilog", "verify", "show"):
        assert re.search(rf"^  {name} ", answer.output, re.MULTILINE)


def test_every_option_has_a_help_text(eyecast: Command) -> None:
    for name in command_line.COMMANDS:
        command = command_line.cli.get_command(click.Context(command_line.cli), name)
        assert command is not None and command.name == name
        text = " ".join(eyecast(name, "--help").output.split())
        for option in command.params:
            if isinstance(option, click.Argument):
                continue
            assert option.help
            assert option.opts[-1] in text
            # click breaks lines at hyphens too.
            assert "".join(option.help.split()) in text.replace(" ", "")


def test_schedule(eyecast: Command, here: Path) -> None:
    found = result(eyecast("schedule", *CORNER_8X8, "--json", "-o", "s.json"))
    assert found == {
        **{"collective": "broadcast", "algorithm": "eye"},
        **{"source": [0, 0], "words": [16], "ports": "half-duplex"},
        **{"steps": 6, "tcd": source_tcd(3, 0, 0), "sends": 63},
        **{"links_used": found["links_used"], "largest_link_load": 1},
        **{"pairs_sharing_links": 0, "unserved": []},
        "least": {"steps": 6, "tcd": 63, "cycles": 30},
        **{"cycles": 139, "cycles_estimated": False},
    }
    written = read_schedule(here / "s.json")
    written.check()
    assert (written.steps, written.tcd, written.links_used) == (6, 79, found["links_used"])


def test_tables_say_the_same_as_json(eyecast: Command) -> None:
    answer = eyecast("schedule", *CORNER_8X8)
    assert (answer.status, answer.errors) == (0, "")
    assert "Broadcast of 16 words from (0,0) on an 8x8 mesh, algorithm eye" in answer.output
    cells = [[cell.strip() for cell in line.split("│")] for line in answer.output.splitlines()]
    assert ["", "steps", "6", "6", ""] in cells
    assert ["", "TCD, in links", "79", "63", ""] in cells


def test_program_and_its_file(eyecast: Command, here: Path) -> None:
    found = result(eyecast("program", *CORNER_4X4, "--json", "-o", "p.json"))
    program = read_program(here / "p.json")
    assert found["steps"] == program.steps == 4
    assert found["rows"] == max(map(len, program.rows)) == 4


@pytest.mark.parametrize("timing", ["barrier", "self-timed"])
def test_predict_says_the_same_of_options_and_of_files(
    eyecast: Command, here: Path, timing: str
) -> None:
    wanted = ("--json", "--timing", timing)
    found = result(eyecast("predict", *CORNER_4X4, *wanted, "-o", "o.csv"))
    for name in ("schedule", "program"):
        eyecast(name, *CORNER_4X4, "-o", f"{name}.json")
        same = result(eyecast("predict", f"--{name}", f"{name}.json", *wanted, "-o", f"{name}.csv"))
        unknown = UNKNOWN[name]
        assert same == {**found, **dict.fromkeys(unknown)}
    assert (found["finished"], found["timing"]) == (True, timing)
    assert sum(step["sends"] for step in found["steps"]) == 15
    assert sum(step["distance"] for step in found["steps"]) == source_tcd(2, 0, 0)
    assert found["steps"][-1]["ends"] <= found["cycles"]
    # A head and 16 more flits over each link of each path.
    assert sum(found["link_flits"].values()) == 17 * source_tcd(2, 0, 0)
    # A program file has no words of messages: they are 0, and the rest is the same.
    traces = {name: Trace.read_csv(f"{name}.csv") for name in ("o", "schedule", "program")}
    assert (here / "o.csv").read_bytes() == (here / "schedule.csv").read_bytes()
    assert (traces["o"].cycle == traces["program"].cycle).all()
    if timing == "barrier":
        assert found["stalled_flits"] == 0


UNKNOWN = {
    "schedule": (),
    "program": ("collective", "algorithm", "source", "words", "least"),
}
"""Facts that a file does not contain."""


def test_a_program_that_does_not_finish_is_a_failure(eyecast: Command, here: Path) -> None:
    eyecast("program", *CORNER_4X4, "-o", "p.json")
    text = (here / "p.json").read_text()
    (here / "p.json").write_text(re.sub(r'"rows":\[\{.*?\}\]', '"rows":[]', text, count=1))
    answer = eyecast("predict", "--program", "p.json", "--json")
    assert (answer.status, printed_result(answer.output)["finished"]) == (1, False)
    assert re.fullmatch(
        r"eyecast: the program does not finish: stopped after \d+ cycles\n", answer.errors
    )


def test_room_that_is_made_is_said(eyecast: Command, here: Path) -> None:
    more = ("program", "--torus", "4x4", "--source", "0,0", "--algorithm", "u-torus")
    answer = eyecast(*more, "--words", "300", "-o", "p.json")
    assert "for a network with --vcs 2 --message-words 512\n" in answer.output
    config = read_program(here / "p.json").config
    assert (config.vcs, config.message_words, config.table_words) == (2, 512, 64)
    assert "for a network" not in eyecast("program", *CORNER_4X4).output


def test_what_does_not_finish_is_explained(eyecast: Command, here: Path) -> None:
    """A node expects no packet in step 1, but gets one; nobody sends the packet for node 5."""
    eyecast("program", *CORNER_4X4, "-o", "p.json")
    program = json.loads((here / "p.json").read_text())
    (first,) = (n for n, node in enumerate(program["nodes"]) if 1 in node["receives"])
    program["nodes"][first]["receives"] = []
    program["nodes"][5]["receives"] = [2]
    (here / "p.json").write_text(json.dumps(program))
    answer = eyecast("predict", "--program", "p.json")
    assert answer.status == 1
    assert re.search(
        rf"^node {first} is in step 2, has set unexpected_receive$", answer.output, re.M
    )
    assert "node 5 is in step 2, waits for a receive in step 2\n" in answer.output
    assert not re.search(r"-\d", answer.output)
    assert re.search("cycles .* does not finish", answer.output)
    found = printed_result(eyecast("predict", "--program", "p.json", "--json").output)
    assert found["flags"] == {str(first): ["unexpected_receive"]}
    assert [step["ends"] is None for step in found["steps"]] == [False, True, True, True]
    assert all(step["cycles"] is None or step["cycles"] > 0 for step in found["steps"])


def test_a_step_without_sends_has_no_cycles(eyecast: Command, here: Path) -> None:
    (here / "m.json").write_text(MINE.replace('"step": 2', '"step": 3').replace('"steps": 2,', ""))
    found = result(eyecast("predict", "--schedule", "m.json", "--json"))
    one, two, three = found["steps"]
    assert (two["ends"], two["cycles"], two["interface"]) == (None, None, None)
    assert three["cycles"] == three["ends"] - one["ends"] > 0


def test_verilog_and_its_description(eyecast: Command, here: Path) -> None:
    options = ("--vcs", "2", "--timed-rows", "--signature", "--steps", "40")
    answer = eyecast("verilog", "--mesh", "2x1", *options, "-o", "network.v")
    assert answer == Answer(0, "wrote network.v\nwrote network.json\n", "")
    assert sorted(path.name for path in here.iterdir()) == ["network.json", "network.v"]
    described = json.loads((here / "network.json").read_text())
    text = (here / "network.v").read_text()
    header = re.search(rf"module {described['top']} \((.*?)\);", text, re.DOTALL)
    declared = [
        {"name": name, "direction": direction, "width": int(high or 0) + 1}
        for direction, high, name in re.findall(
            r"(input|output) (?:wire|reg)(?: \[(\d+):0\])? (\w+)", header[1]
        )
    ]
    by_name = itemgetter("name")
    assert sorted(declared, key=by_name) == sorted(described["ports"], key=by_name)
    parameters = described["parameters"]
    found = [parameters[name] for name in ("vcs", "timed_rows", "signature", "steps")]
    assert found == [2, True, True, 40]
    assert parameters["topology"]["dims"] == [2, 1]


@pytest.mark.slow
def test_verilog_behind_buses(eyecast: Command, here: Path) -> None:
    network = ("--mesh", "2x1", "--programs", "1", "--tile-ports")
    buses = ("--bus", "wishbone", "--tile", "axi-stream")
    assert eyecast("verilog", *network, *buses, "-o", "engine.v").status == 0
    described = json.loads((here / "engine.json").read_text())
    assert described["top"] == "eyecast_engine"
    text = (here / "engine.v").read_text()
    header = re.search(r"module eyecast_engine\s*\((.*?)\);", text, re.DOTALL)
    ports = {port["name"] for port in described["ports"]}
    assert ports == set(re.findall(r"(\w+)\s*(?:,|$)", header[1]))
    assert {"wb_cyc_i", "s_axis_write_1_tdata", "tile_0__hold"} <= ports
    assert not {"host__valid", "tile_0__write_valid"} & ports


def test_show_writes_both_pictures(eyecast: Command, here: Path) -> None:
    answer = eyecast("show", *CORNER_4X4)
    names = ("eye-4x4-mesh.svg", "eye-4x4-mesh.png")
    assert answer == Answer(0, "".join(f"wrote {name}\n" for name in names), "")
    assert (here / names[0]).read_text().count('id="eye-') == 4
    assert (here / names[1]).read_bytes()[1:4] == b"PNG"
    assert eyecast("show", *CORNER_4X4, "-o", "a.svg").status == 0
    assert (here / "a.svg").read_bytes() == (here / names[0]).read_bytes()


@pytest.mark.parametrize("name", ["../mine", "[red]mine[/]"])
def test_what_a_file_calls_its_algorithm_does_no_harm(
    eyecast: Command, here: Path, name: str
) -> None:
    (here / "folder").mkdir()
    (here / "mine.json").write_text(MINE.replace('"mine"', json.dumps(name)))
    shown = eyecast("show", "--schedule", "mine.json")
    assert shown.status == 0
    assert len([path for path in here.iterdir() if path.suffix in (".svg", ".png")]) == 2
    predicted = eyecast("predict", "--schedule", "mine.json")
    assert predicted.output.startswith(f"Broadcast from (0,0) on a 2x2 mesh, algorithm {name}, ")


# ---- The hardware -----------------------------------------------------------------------------


def test_verify_keeps_what_it_was_about(eyecast: Command, here: Path) -> None:
    out = here / "out" / "corner"
    out.mkdir(parents=True)
    (out / "notes.txt").write_text("mine")
    answer = eyecast("verify", *CORNER_4X4, "-o", "out/corner")
    assert (answer.status, answer.errors) == (0, "")
    assert (out / "notes.txt").read_text() == "mine"
    assert "DIFFERS" not in answer.output
    assert "requests" not in answer.output
    assert "\nno link is shared in a step\n" in answer.output
    assert re.search(r"nodes delivered │ +16 │ +16 │ ok", answer.output)
    names = ["program.json", "schedule.json", "trace-hardware.csv", "trace-model.csv"]
    assert sorted(path.name for path in out.iterdir()) == ["notes.txt", *names]
    said = [line for line in answer.output.splitlines() if line.startswith("wrote ")]
    assert said == [f"wrote out/corner/{name}" for name in names]
    read_schedule(out / "schedule.json").check()
    assert read_program(out / "program.json").steps == 4
    traces = [Trace.read_csv(out / name) for name in names[2:]]
    assert len(traces[0]) == len(traces[1]) > 0
    assert (out / names[2]).read_bytes() == (out / names[3]).read_bytes()
    # The kept schedule can be verified again, now with numbers.
    found = result(eyecast("verify", "--schedule", out / "schedule.json", "--json"))
    checks = {check["name"]: check for check in found["checks"]}
    assert found["agrees"]
    assert all(check["agrees"] for check in checks.values())
    assert checks["TCD"]["measured"] == source_tcd(2, 0, 0)
    assert checks["trace rows"]["measured"] == len(traces[0])
    predicted = result(eyecast("predict", "--schedule", out / "schedule.json", "--json"))
    assert checks["cycles"]["measured"] == predicted["cycles"]


def test_verify_a_broadcast_of_one_s_own(eyecast: Command, here: Path) -> None:
    (here / "mine.json").write_text(MINE)
    answer = eyecast("verify", "--schedule", "mine.json")
    assert (answer.status, answer.errors) == (0, "")
    for name, count in (("nodes delivered", 4), ("steps", 2), ("TCD", 3)):
        assert re.search(rf"{name} +│ +{count} │ +{count} │ ok", answer.output)
    line = "the schedule file has no requests: the lengths of its blocks are not checked"
    assert f"\n{line}\n" in answer.output


def test_verify_all_sources(eyecast: Command) -> None:
    arguments = ("verify", "--mesh", "2x2", "--all-sources", "--timing", "self-timed")
    found = result(eyecast(*arguments, "--json"))["sources"]
    assert [each["source"] for each in found] == [[x, y] for y in range(2) for x in range(2)]
    assert all(each["agrees"] for each in found)
    answer = eyecast(*arguments)
    assert answer.status == 0
    assert re.search(r"sources that agree in everything │ +4/4", answer.output)
    assert answer.output.endswith("no link is shared in a step\n")


def test_hardware_that_differs_is_a_failure(
    eyecast: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hardware gets another word than the model: the error shows the flit that carries it."""
    flip_a_word(monkeypatch)
    answer = eyecast("verify", *CORNER_4X4, "-o", "out")
    assert (answer.status, answer.errors) == (
        1,
        "eyecast: hardware and prediction do not agree\n",
    )
    assert "DIFFERS" in answer.output
    assert "first difference between the traces:" in answer.output
    assert (here / "out" / "trace-model.csv").exists()


def test_traffic_on_the_model_and_on_the_hardware(eyecast: Command, here: Path) -> None:
    # The network of tests/sim/test_traffic.py, to share its simulator.
    network = ("--mesh", "3x2", "--vcs", "2", "--depth", "4", "--table-words", "4096")
    options = "--rate 0.3 --cycles 300 --json"
    command = ("traffic", *network, *options.split())
    model = result(eyecast(*command, "--on", "model"))
    assert model["checks"] is None
    both = result(eyecast(*command, "-o", here / "run"))
    assert both["measures"] == model["measures"]
    assert all(check["agrees"] for check in both["checks"])
    traces = [Trace.read_csv(here / "run" / f"trace-{name}.csv") for name in ("model", "hardware")]
    assert first_difference(*traces) is None
    again = ("--on", "model", "--traffic-file", here / "run" / "traffic.csv", "--json")
    again = result(eyecast("traffic", *network, *again))
    assert again["measures"] == model["measures"]


@pytest.mark.parametrize(
    ("options", "title"),
    {
        "traffic --pattern transpose --rate 0.3 --packet-flits 5 --cycles 99 --on model": (
            "packets of 5 flits from 12 of 16 nodes on a 4x4 mesh, transpose pattern, 0.3 flits per"
        ),
        "traffic --traffic-file t.csv --on model": (
            "2 packets of 3 to 9 flits from 2 of 16 nodes on a 4x4 mesh, from t.csv\n"
        ),
        "predict --source 0,0 --words 1": "Broadcast of 1 word from (0,0) on a 4x4 mesh, algorithm",
        "schedule --collective reduce --source 0,0 --words 5": "Reduce of 5 words to (0,0) by add",
        "schedule --collective barrier": "Barrier by and on a 4x4 mesh, algorithm",
        "program --collective all-gather --block-words w.json": "All-gather of 0 to 15 words on a",
        "predict --collective all-to-all --words 2 --ports all": (
            "All-to-all of 2 words on a 4x4 mesh, all ports, algorithm row-column, barrier timing\n"
        ),
    }.items(),
)
def test_a_result_names_what_was_asked(
    eyecast: Command, here: Path, options: str, title: str
) -> None:
    (here / "t.csv").write_text("cycle,source,target,flits\n0,0,1,3\n0,2,3,9\n")
    (here / "w.json").write_text(
        json.dumps({"format": "eyecast-block-words", "version": 1, "words": [*range(16)]})
    )
    answer = eyecast(*options.split(), "--mesh", "4x4")
    assert title in answer.output, answer


# ---- Requests for a broadcast ------------------------------------------------------------------

DRAWN = (
    "schedule",
    "--mesh",
    "10x13",
    "--algorithm",
    "tree",
    "--partial",
    "--json",
    "-o",
    "s.json",
)


def drawn_faults(eyecast: Command, here: Path, *options: str) -> list[int]:
    result(eyecast(*DRAWN, "--random-faults", "0.3", *options))
    faulty: list[int] = json.loads((here / "s.json").read_text())["topology"]["faulty_nodes"]
    return faulty


def test_drawn_faults_are_those_of_the_seed(eyecast: Command, here: Path) -> None:
    """Every working source draws the same faults; another node replaces a spared node."""
    faulty = drawn_faults(eyecast, here, "--source", "0,0")
    assert len(faulty) == 39
    working = [node for node in range(130) if node not in faulty]
    for node in working[1::40]:
        source = f"{node % 10},{node // 10}"
        assert drawn_faults(eyecast, here, "--source", source) == faulty
    kept = f"{faulty[7] % 10},{faulty[7] // 10}"
    others = drawn_faults(eyecast, here, "--source", kept, "--keep", kept)
    assert {*faulty} - {*others} == {faulty[7]}
    assert len(others) == 39
    assert drawn_faults(eyecast, here, "--source", "0,0", "--seed", "2") != faulty


def test_a_source_that_is_drawn_faulty_is_told_what_helps(eyecast: Command, here: Path) -> None:
    node = drawn_faults(eyecast, here, "--source", "0,0")[7]
    place = f"{node % 10},{node // 10}"
    line = (
        f"must be a node that works, not {place}, which --random-faults 0.3 --seed 1 draws faulty "
        f"(--keep {place}, or another seed, helps)"
    )
    asked = (*DRAWN[:3], "--random-faults", "0.3")
    assert eyecast(*asked, "--source", place) == refusal(f"--source {line}")
    multicast = ("--source", "0,0", "--collective", "multicast", "--target", place)
    assert eyecast(*asked, *multicast) == refusal(f"--target {line}")


def test_the_part_that_can_be_reached(eyecast: Command) -> None:
    cut = ("schedule", "--mesh", "5x1", "--source", "0,0", "--faulty-node", "3,0")
    refused = eyecast(*cut, "--algorithm", "tree")
    assert refused.status == 2
    assert "no path leads to node 4" in refused.errors
    served = result(eyecast(*cut, "--algorithm", "tree", "--partial", "--json"))
    assert (served["sends"], served["least"]["tcd"]) == (2, 2)


def test_a_multicast_to_some(eyecast: Command, here: Path) -> None:
    options = ("--mesh", "4x4", "--source", "0,0", "--collective", "multicast")
    options += ("--algorithm", "u-mesh")
    targets = ("--target", "1,1", "--target", "3,3", "--target", "2,0")
    found = result(eyecast("schedule", *options, *targets, "--json", "-o", "s.json"))
    assert (found["steps"], found["sends"]) == (2, 3)
    written = json.loads((here / "s.json").read_text())
    assert written["blocks"][0]["owed"] == [2, 5, 15]


SLOW_TO_IMPORT = ("numpy", "numba", "matplotlib", "amaranth", "cocotb", "rich", "msgspec")


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [("--help", ()), ("schedule --mesh 8x8 --source 0,0", ("numpy", "rich", "msgspec"))],
)
def test_what_takes_long_to_import_is_left_alone(arguments: str, loaded: tuple[str, ...]) -> None:
    code = f"""
import sys
from eyecast.cli.main import main
sys.argv[1:] = {arguments.split()}
try:
    main()
finally:
    print([name for name in {SLOW_TO_IMPORT} if name in sys.modules], file=sys.stderr)
"""
    done = run_program([sys.executable, "-c", code], check=True)
    assert done.stderr == f"{list(loaded)}\n"


def test_the_command_has_no_threads_for_matrices() -> None:
    """NumPy reads the number of threads only once, when it is first imported."""
    code = (
        "import sys, os, eyecast.__main__; print(os.environ[sys.argv[1]], 'numpy' in sys.modules)"
    )
    name = "OPENBLAS_NUM_THREADS"
    for given, expected in (({}, "1 False\n"), ({name: "2"}, "2 False\n")):
        variables = {key: value for key, value in os.environ.items() if key != name} | given
        command = [sys.executable, "-c", code, name]
        assert subprocess.check_output(command, env=variables, text=True) == expected
