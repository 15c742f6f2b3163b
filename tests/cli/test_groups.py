"""Groups, unequal blocks and the best algorithm at the command line."""

import json
import shlex
from pathlib import Path

import pytest
from helpers.command import Command, printed_result, refusal, result

from eyecast.model.compare import cycles
from eyecast.model.compare.best import Candidate
from eyecast.model.exact import arithmetic
from eyecast.model.program import compiler
from eyecast.model.schedule.file import read_schedule

NETWORK = ("--mesh", "4x4")
GROUPS = [
    {"nodes": [0, 1, 2], "collective": "broadcast", "root": 2, "words": 5, "algorithm": "tree"},
    {"nodes": [9, 8, 5, 4], "collective": "all-gather", "block_words": [6, 0, 1, 2]},
]
WORDS = [3, 0, 9, 1, 0, 0, 30, 4, 2, 2, 0, 7, 0, 5, 1, 8]


@pytest.fixture(autouse=True)
def _files(here: Path) -> None:
    """Write files of groups and of words into the commands' folder."""
    groups = {"format": "eyecast-groups", "version": 1, "groups": GROUPS}
    Path("groups.json").write_text(json.dumps(groups))
    groups["groups"] = [{**GROUPS[0], "nodes": [2, 1, 0, 4], "algorithm": "best"}, GROUPS[1]]
    Path("overlap.json").write_text(json.dumps(groups))
    words = {"format": "eyecast-block-words", "version": 1, "words": WORDS}
    Path("words.json").write_text(json.dumps(words))


def test_groups_of_a_file(eyecast: Command) -> None:
    answer = eyecast("predict", *NETWORK, "--group", "groups.json", "--json")
    assert answer.status == 0
    (line,) = answer.errors.splitlines()
    assert line.startswith("group 1: best is ")
    found = printed_result(answer.output)
    assert [choice["group"] for choice in found["best"]] == [1]
    assert found["finished"]
    answer = eyecast("schedule", *NETWORK, "--group", "groups.json", "-o", "made.json")
    made = json.loads(Path("made.json").read_text())
    assert made["groups"] == [[0, 1, 2], [4, 5, 8, 9]]
    lengths = {block["owner"]: block["words"] for block in made["blocks"]}
    assert lengths == {2: 5, 9: 6, 8: 0, 5: 1, 4: 2}
    assert not {8} & {
        made["blocks"][block]["owner"] for s in made["sends"] for block in s["blocks"]
    }


def test_unequal_blocks(eyecast: Command) -> None:
    command = (*NETWORK, "--collective", "all-gather", "--block-words", "words.json")
    answer = eyecast("schedule", *command, "--algorithm", "ring", "-o", "made.json", "--json")
    found = result(answer)
    # Node 1 has no words, and gets all 72 words by its one port.
    assert found["least"] == {"cycles": 72 + 1}
    again = result(eyecast("predict", "--schedule", "made.json", "--json"))
    by_name = result(eyecast("predict", *command, "--algorithm", "ring", "--json"))
    assert again["cycles"] == by_name["cycles"]
    compared = result(eyecast("compare", *command, "--json"))
    assert (compared["words"], compared["block_words"]) == (None, WORDS)
    cycles = {entry["algorithm"]: entry["cycles"]["barrier"] for entry in compared["algorithms"]}
    assert cycles["ring"] == again["cycles"]
    assert "must be at least 1, not 0" in compared["not_serving"]["stream-ring"]


def test_groups_are_compared(eyecast: Command) -> None:
    command = ("--mesh", "4x2", "--collective", "all-gather", "--words", "4")
    compared = result(eyecast("compare", *command, "--group", "rows", "--json"))
    assert compared["group"] == "rows"
    cycles = {entry["algorithm"]: entry["cycles"]["barrier"] for entry in compared["algorithms"]}
    for name in ("ring", "stream-ring"):
        one = result(eyecast("predict", *command, "--group", "rows", "--algorithm", name, "--json"))
        assert one["cycles"] == cycles[name]
    title = eyecast("compare", *NETWORK, "--group", "groups.json").output.splitlines()[0]
    assert title == "Custom collectives on a 4x4 mesh, in groups: groups.json"
    command = ("--collective", "all-reduce", "--operator", "max", "--group", "rows")
    title = eyecast("compare", *NETWORK, *command, "--words", "4").output.splitlines()[0]
    assert title == "All-reduces of 4 words by max on a 4x4 mesh, in groups: rows"


def test_groups_of_standard_input_are_compared_over_lengths(
    eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("compare", *NETWORK, "--lengths", "2,4", "--json", "--group")
    with Path("groups.json").open() as groups:
        monkeypatch.setattr("sys.stdin", groups)
        read = printed_result(eyecast(*command, "-").output)
    assert read == printed_result(eyecast(*command, "groups.json").output)


@pytest.mark.parametrize("named", ["rows+columns", "rows+rows", "overlap.json"])
def test_groups_that_share_nodes_are_in_a_file_as_in_the_command(
    eyecast: Command, named: str
) -> None:
    command = (*NETWORK, "--group", named)
    if named != "overlap.json":
        command = (*command, "--collective", "all-to-all", "--words", "3")
    answer = eyecast("predict", *command, "--json")
    assert answer.status == 0
    eyecast("schedule", *command, "-o", "made.json")
    read = result(eyecast("predict", "--schedule", "made.json", "--json"))
    assert read["cycles"] == printed_result(answer.output)["cycles"]
    made = json.loads(Path("made.json").read_text())
    owners = [{*made["groups"][block["group"]]} for block in made["blocks"]]
    assert all(block["owner"] in nodes for block, nodes in zip(made["blocks"], owners, strict=True))
    compared = eyecast("compare", *command, "--json")
    assert printed_result(compared.output)["group"] == named


ALL_GATHER = "--collective all-gather --block-words words.json"
REFUSED = {
    "schedule --mesh 4x4 --group rows": "a source must be given, such as --source 0,0",
    "schedule --mesh 4x4 --group 'submesh 3x4' --source 0,0": (
        "group must be of sides that divide those of a 4x4 mesh, not submesh 3x4"
    ),
    "schedule --hypercube 3 --group rows --source 0,0,0": (
        "network for group rows must be a grid of 2 axes, not 3-cube"
    ),
    "schedule --mesh 4x4 --group rows+diagonals --source 0,0": (
        "--group must be rows, columns, 'submesh AxB', rows+columns or a file, not 'rows+diagonals'"
    ),
    "predict --mesh 4x4 --group groups.json --faulty-node 1,1": (
        "groups.json: node of group 1 must be a working node, not faulty node 5"
    ),
    "predict --mesh 4x4 --group groups.json --source 0,0": (
        "--source must be left out with groups of groups.json: each has a root"
    ),
    "schedule --mesh 4x4 --group groups.json -o groups.json": (
        "output file groups.json must be another file than --group"
    ),
    "schedule --mesh 4x4 --group none.json": "none.json: cannot be read: No such file or directory",
    "verify --mesh 4x4 --group rows --all-sources": "--all-sources must be left out with --group",
    f"schedule --mesh 4x3 {ALL_GATHER}": "--block-words must be 12, one for each node, not 16",
    f"schedule --mesh 4x4 {ALL_GATHER} --faulty-node 2,1 --algorithm best": (
        "block words of node 6 must be 0, as it takes no part, not 30"
    ),
    f"schedule --mesh 4x4 {ALL_GATHER} --words 3": (
        "--words must be left out with block words, which say how long blocks are"
    ),
    f"compare --mesh 4x4 {ALL_GATHER} --lengths 3,4": (
        "--block-words must be left out with --lengths: it is about cycles"
    ),
    f"predict --mesh 4x4 {ALL_GATHER} --message-words 64": (
        "flits of the message must be at most 64, the message memory (raise --message-words), "
        "not 72"
    ),
    "schedule --mesh 4x4 --source 0,0 --block-words words.json": (
        "block words must be left out with broadcast, or given for scatter, reduce-scatter, "
        "gather, all-gather or all-to-all"
    ),
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_is_refused(eyecast: Command, command: str) -> None:
    before = sorted(Path().iterdir())
    assert eyecast(*shlex.split(command)) == refusal(REFUSED[command])
    assert sorted(Path().iterdir()) == before


def test_what_was_found_of_the_best_is_kept(
    eyecast: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command compiles and predicts each schedule once, and keeps the best one's result."""
    compiled, predicted = [], []
    compile_one, run = compiler.compile_schedule, cycles.exact_run
    monkeypatch.setattr(
        compiler, "compile_schedule", lambda *each: compiled.append(1) or compile_one(*each)
    )
    monkeypatch.setattr(cycles, "exact_run", lambda *a, **b: predicted.append(1) or run(*a, **b))
    again = []
    monkeypatch.setattr(arithmetic, "run", lambda *a, **b: again.append(1) or run(*a, **b))
    command = ("predict", *NETWORK, "--source", "0,0", "--words", "64", "--json")
    answer = eyecast(*command, "--algorithm", "best", "-o", "best.csv")
    assert (len(compiled), again) == (len(predicted), [])
    found = printed_result(answer.output)
    one = printed_result(
        eyecast(*command, "--algorithm", found["algorithm"], "-o", "one.csv").output
    )
    assert again == [1]
    assert found["algorithm"] == "chain"
    assert {**one, "best": found["best"]} == found
    assert Path("best.csv").read_text() == Path("one.csv").read_text()


@pytest.mark.slow
def test_each_source_has_a_best_of_its_own(eyecast: Command) -> None:
    answer = eyecast("verify", "--mesh", "3x1", "--all-sources", "--algorithm", "best", "--json")
    found = printed_result(answer.output)["sources"]
    assert len(found) == len(answer.errors.splitlines()) == 3
    for each in found:
        (cycles,) = (check["measured"] for check in each["checks"] if check["name"] == "cycles")
        assert min(each["best"]["cycles"].values()) == cycles


def test_what_there_was_no_time_for_is_said(eyecast: Command) -> None:
    options = ("--mesh", "4x4", "--source", "0,0", "--algorithm", "best", "--seconds", "0")
    answer = eyecast("schedule", *options, "--json")
    assert answer.status == 0
    untried = printed_result(answer.output)["best"]["untried"]
    assert "chain" in untried
    assert list(printed_result(answer.output)["best"]["cycles"]) == ["eye"]
    cycles = printed_result(answer.output)["best"]["cycles"]["eye"]
    line = f"best is eye ({cycles} cycles); no time to try {', '.join(untried)}\n"
    assert answer.errors == line


FALLS_BACK = {
    # A chain streams, and needs a barrier after each step.
    "predict --mesh 4x4 --source 0,0 --words 64 --algorithm best --timing self-timed": "chain",
    "predict --mesh 4x4 --group rows --source 0,0 --words 64 --timing self-timed": "chain",
    # A direct all-to-all is timed, and no image can hold it.
    "program --mesh 2x2 --collective all-to-all --words 4 --algorithm best --image i.csv": "direct",
}


@pytest.mark.parametrize(("command", "fastest"), FALLS_BACK.items())
def test_the_best_is_one_that_the_command_carries_out(
    eyecast: Command, command: str, fastest: str
) -> None:
    answer = eyecast(*shlex.split(command), "--json")
    assert answer.status == 0, answer.errors
    found = printed_result(answer.output)
    choices = found["best"] if isinstance(found["best"], list) else [found["best"]]
    assert choices
    for choice in choices:
        assert fastest not in choice["cycles"]
    usual = command.replace("--timing self-timed", "").replace("--image i.csv", "")
    assert fastest in eyecast(*shlex.split(usual)).errors


def test_the_best_is_predicted_with_the_timing_asked_for(eyecast: Command) -> None:
    command = ("predict", "--mesh", "4x4", "--source", "0,0", "--timing", "self-timed", "--json")
    found = printed_result(eyecast(*command, "--algorithm", "best").output)
    del found["best"]
    assert found == result(eyecast(*command, "--algorithm", str(found["algorithm"])))


def test_one_of_a_thing_is_said_as_one(eyecast: Command) -> None:
    two, one = ("--mesh", "2x1", "--source", "0,0"), ("--mesh", "1x1", "--collective", "all-reduce")
    answer = eyecast("schedule", *two, "--words", "1", "--algorithm", "tree")
    assert "node (1,0), 1 hop away, must get 1 word through one port" in answer.output
    answer = eyecast("schedule", *one, "--algorithm", "ring", "-o", "one.json")
    assert "\nnothing has to be sent\n" in answer.output
    assert Candidate(read_schedule("one.json"), 1, predicted=True).words == "ring (1 cycle)"


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce"])
def test_a_single_node_has_nothing_to_do_on_all_ports(eyecast: Command, collective: str) -> None:
    answer = eyecast("schedule", "--mesh", "1x1", "--collective", collective, "--ports", "all")
    assert answer.status == 0


def test_a_multicast_in_every_row(eyecast: Command) -> None:
    multicast = ("--collective", "multicast", "--source", "0,0", "--target", "1,0")
    command = (*NETWORK, *multicast, "--target", "3,0", "--group", "rows", "-o", "made.json")
    assert eyecast("schedule", *command).status == 0
    blocks = json.loads(Path("made.json").read_text())["blocks"]
    assert [block["owed"] for block in blocks] == [[row + 1, row + 3] for row in (0, 4, 8, 12)]


def test_a_refused_group_is_not_sent_to_another_algorithm(eyecast: Command) -> None:
    apart = [{"nodes": [0, 15], "collective": "broadcast", "root": 0}]
    groups = {"format": "eyecast-groups", "version": 1, "groups": apart}
    Path("apart.json").write_text(json.dumps(groups))
    answer = eyecast("schedule", *NETWORK, "--group", "apart.json")
    assert answer.status == 2
    assert "--algorithm" not in answer.errors
