"""Help: options in groups, examples that can be typed, and a near name for a mistyped one."""

import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from helpers.command import Command as Run
from helpers.processes import run_program
from helpers.recordings import samples, waveform

from eyecast.cli.command import Command
from eyecast.cli.main import COMMANDS, cli
from eyecast.cli.options.values import OPTIONS
from eyecast.model.collectives.task import Task
from eyecast.model.network.config import PARAMETERS, NetworkConfig
from eyecast.model.network.named_graphs import binary_tree
from eyecast.model.network.topology import hypercube, mesh
from eyecast.model.run.trace import Trace
from eyecast.model.schedule.collective import COLLECTIVES, ROOTLESS, Collective
from eyecast.waves.recorded_trace import recorded_signals

SWEEPS = Path(__file__).parents[2] / "bench" / "sweeps"
BEFORE = {
    "certify": (
        "eyecast program --circuits --mesh 4x4 --source 0,0 -o program.json "
        "--certificate certificate.json",
    ),
    "check": (
        "eyecast program --mesh 4x4 --source 0,0 -o program.json --image image.csv",
        "eyecast predict --mesh 4x4 --source 0,0 -o table.csv",
    ),
    "convert": (
        "eyecast schedule --mesh 8x8 --source 0,0 -o corner.json",
        "eyecast schedule --mesh 4x4 --collective all-gather -o all-gather.json",
        "eyecast convert all-gather.json all-gather.xml",
    ),
    "image": (
        "eyecast program --mesh 4x4 --source 0,0 --programs 2 -o a.json",
        "eyecast program --mesh 4x4 --source 3,3 --programs 2 -o b.json",
        "eyecast program --mesh 4x4 --source 0,0 --programs 1 -o program.json",
    ),
    "run": (
        r"sh -c 'printf id,rank,what,amount,after\\nsum,all,all-reduce,4,\\n > layers.csv'",
        "eyecast schedule --mesh 4x4 --collective all-gather -o all-gather.json",
        "eyecast convert all-gather.json trace.0.et --to chakra",
    ),
    "show": ("eyecast schedule --mesh 8x8 --source 0,0 -o corner.json",),
    "sweep": (f"cp {SWEEPS / 'cycles.toml'} .",),
}
"""Lines that make the files of a command's examples."""
QUICK = ("algorithms", "boards", "cache", "certify", "completion", "convert", "image", "schedule")
"""Commands whose examples take a fraction of a second each."""
PARSED_ONLY = ("asic", "bitstream", "board-run", "chip", "demo", "explore")
"""Commands whose examples take a quarter of an hour, a board, a browser, or a Debian package.

``tests/chip`` runs the chip's applications, and ``tests/house/test_wheel.py`` a demo.
"""


def command_of(name: str) -> Command:
    context = cli.make_context("eyecast", [name], resilient_parsing=True)
    command = cli.get_command(context, name)
    assert isinstance(command, Command)
    return command


def examples_of(name: str) -> list[list[str]]:
    """Return the words of a command's examples, without those of the shell."""
    bare = [
        example.removeprefix('eval "$(').removesuffix(')"').partition(" | ")[0]
        for example in command_of(name).examples
    ]
    return [shlex.split(line) for line in bare]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_command_can_be_typed(name: str) -> None:
    examples = examples_of(name)
    assert len(examples) == 2
    for eyecast, called, *words in examples:
        assert (eyecast, called) == ("eyecast", name)
        command_of(name).make_context(name, words)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
        for name in COMMANDS
        if name not in PARSED_ONLY
    ],
)
def test_the_examples_of_a_command_run(
    name: str, here: Path, eyecast: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "cache":
        monkeypatch.setenv("EYECAST_CACHE", str(here / "cache"))
    for words in [*map(shlex.split, BEFORE.get(name, ())), *examples_of(name)]:
        if words[0] != "eyecast":
            subprocess.run(words, check=True)
            continue
        if words[:3] == ["eyecast", "check", "trace.vcd"]:
            write_waveform()
        answer = eyecast(*words[1:])
        assert answer.status == 0, (words, answer.errors)


def write_waveform() -> None:
    """Write a waveform of predicted flits; a guide's test records and checks one of hardware."""
    trace, config = Trace.read_csv("table.csv"), NetworkConfig(topology=mesh((4, 4)))
    rows = samples(trace, config, cycles=max(flit.cycle for flit in trace) + 1)
    Path("trace.vcd").write_text(waveform(rows, widths=recorded_signals(config)))


def test_help_shows_options_in_groups(eyecast: Run) -> None:
    sections = [
        line.removesuffix(":")
        for line in eyecast("predict", "--help").output.splitlines()
        if line.endswith(":") and not line.startswith(" ")
    ]
    assert sections == [
        *("Network", "Collective", "Hardware", "Run", "Output", "Options", "Examples")
    ]


def test_help_names_the_default_algorithm_of_every_collective(eyecast: Run) -> None:
    text = " ".join(eyecast("predict", "--help").output.partition("--algorithm")[2].split())
    described = text.partition("--seconds")[0]
    for topology in (mesh((4, 4)), mesh((32, 32)), hypercube(9), binary_tree(511)):
        for collective in COLLECTIVES:
            source = None if collective in ROOTLESS else 0
            targets = (1,) if collective == Collective.MULTICAST else None
            task = Task(topology=topology, collective=collective, source=source, targets=targets)
            assert re.search(rf"\b{task.usual_algorithm}\b", described), task.usual_algorithm


def test_a_mistyped_command_is_answered_with_the_one_meant(eyecast: Run) -> None:
    answer = eyecast("predikt", "--mesh", "2x2")
    assert answer.status == 2
    assert "not predikt (did you mean predict?)" in answer.errors


def test_refusals_name_the_options_of_every_parameter() -> None:
    """Options that errors name are there; a topology has several."""
    named = {field.name for field in fields(Task)} - {"topology"}
    named |= {name for name, parameter in PARAMETERS.items() if parameter.help}
    assert named <= OPTIONS.keys()
    there = {
        each for name in COMMANDS for option in command_of(name).params for each in option.opts
    }
    assert {*OPTIONS.values()} <= there


def test_a_refusal_loads_no_algorithm() -> None:
    """Algorithms and NumPy take three times as long to load as the rest of the command."""
    refused = """
import sys
from eyecast.cli.main import main
sys.argv[1:] = ["predikt"]
try:
    main()
finally:
    print(*sys.modules)
"""
    done = run_program([sys.executable, "-c", refused])
    assert done.returncode == 2
    loaded = {*done.stdout.split()}
    assert "eyecast.cli.main" in loaded
    assert not {"numpy", "eyecast.model.collectives.registry"} & loaded
