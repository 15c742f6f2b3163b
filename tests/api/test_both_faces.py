"""The command line and Python give the same comparison, or the same refusal, for a task."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command import Command, printed_result
from helpers.refusals import refusal_of

import eyecast as python
from eyecast.cli.options.values import in_options

NETWORKS: dict[str, python.Topology] = {
    "--mesh 4x3": python.mesh((4, 3)),
    "--torus 4x4": python.torus((4, 4)),
    "--ring 5": python.ring(5),
    "--hypercube 3": python.hypercube(3),
    "--mesh 3x3 --faulty-node 1,1": python.with_faults(python.mesh((3, 3)), [(1, 1)]),
}
ROOTED = ("broadcast", "multicast", "scatter", "gather", "reduce")
ROOTLESS = (
    *("all-gather", "all-to-all", "neighbor", "halo"),
    *("reduce-scatter", "all-reduce", "barrier", "scan", "exscan"),
)
REDUCING = ("reduce", "reduce-scatter", "all-reduce", "barrier", "scan", "exscan")
TABLED = ("scatter", "gather", "all-gather", "reduce-scatter")
FORCE = " (--force runs the program anyway)"


def coordinates(network: python.Topology, node: int) -> str:
    return ",".join(map(str, network.coordinates(node).tolist()))


def drawn_task(seed: int) -> tuple[list[str], dict[str, Any]]:
    """Draw a task; return its options at the command line, and its arguments in Python."""
    draw = np.random.default_rng(seed)
    options = str(draw.choice([*NETWORKS]))
    network = NETWORKS[options]
    typed = options.split()
    collective = str(draw.choice(ROOTED if draw.integers(2) else ROOTLESS))
    asked: dict[str, Any] = {"network": network, "collective": collective}

    def ask(name: str, value: Any, text: str | None = None) -> None:
        typed.extend((f"--{name.replace('_', '-')}", text or str(value)))
        asked[name] = value

    typed += ["--collective", collective]
    if collective in ROOTED:
        node = int(draw.integers(network.nodes))
        ask("source", node, coordinates(network, node))
    if collective == "multicast":
        asked["targets"] = [int(draw.integers(network.nodes))]
        typed += ["--target", coordinates(network, asked["targets"][0])]
    if collective in TABLED and draw.integers(4) == 0:
        words = [int(draw.integers(4)) for _ in range(network.nodes)]
        content = {"format": "eyecast-block-words", "version": 1, "words": words}
        Path("words.json").write_text(json.dumps(content))
        asked["block_words"] = words
        typed += ["--block-words", "words.json"]
    elif draw.integers(4):
        ask("words", int(draw.choice([1, 3, 17, 200])))
    if draw.integers(4) == 0:
        ask("ports", str(draw.choice(["all", "half-duplex", "full-duplex"])))
    if collective in REDUCING and draw.integers(2):
        ask("operator", "max")
    if len(network.dims) == 2 and draw.integers(4) == 0:
        asked["groups"] = str(draw.choice(["rows", "rows+columns", "submesh 2x1"]))
        typed += ["--group", asked["groups"]]
    # In narrow flits, room for one algorithm makes headers longer for all.
    if draw.integers(5):
        ask("flit_width", int(draw.choice([20, 22, 24, 26])))
    else:
        ask(*(("vcs", 1), ("message_words", 64))[draw.integers(2)])
    return typed, asked


def refused_alike(eyecast: Command, seed: int) -> bool:
    """Require equal answers to a drawn task from both; tell whether both refuse it."""
    typed, asked = drawn_task(seed)
    answer = eyecast("compare", *typed, "--json")
    try:
        entries = python.compare(**asked)
    except python.InvalidInput as error:
        assert (answer.status, answer.errors) == (2, f"eyecast: {in_options(error)}\n"), typed
        return True
    assert answer.status == 0, (typed, answer.errors)
    found = printed_result(answer.output.replace(FORCE, ""))["algorithms"]
    assert json.loads(json.dumps([entry.to_json() for entry in entries])) == found, typed
    return False


@pytest.mark.parametrize(
    ("seeds", "refused"),
    [(range(4), range(3)), pytest.param(range(4, 30), range(4, 14), marks=pytest.mark.slow)],
)
def test_both_faces_compare_drawn_tasks_alike(
    eyecast: Command, here: Path, seeds: range, refused: range
) -> None:
    assert sum(refused_alike(eyecast, seed) for seed in seeds) in refused


def test_the_old_name_of_words_is_named(eyecast: Command) -> None:
    """An option and an argument are taken for the new ones; a sweep file is refused."""
    typed = ("compare", "--mesh", "2x2", "--source", "0,0", "--json")
    new, old = eyecast(*typed, "--words", "3"), eyecast(*typed, "--flits", "3")
    assert printed_result(old.output) == printed_result(new.output)
    assert old.errors == "eyecast: --flits is now called --words\n"
    network = python.mesh((2, 2))
    with pytest.warns(FutureWarning, match="^flits is now called words$"):
        made = python.schedule(network, "tree", source=0, flits=3)  # type: ignore[call-arg]
    assert made.blocks.words.tolist() == [3]
    grid = {"kind": "collective", "network": "mesh 2x2", "algorithm": "tree", "flits": 3}
    sweep = {"format": "eyecast-sweep", "version": 1, "grid": [grid]}
    assert refusal_of(python.sweep, sweep) == "grid[0].flits is now called words"
