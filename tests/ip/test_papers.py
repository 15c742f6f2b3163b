"""Papers of packages: the origin of each file, and guarantees that independent runs hold."""

import json
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from helpers.command import Command

from eyecast.model.base.version import __version__
from eyecast.model.cycle.control import Control
from eyecast.model.cycle.model import run
from eyecast.model.network.config import Timing
from eyecast.model.program.file import read_program
from eyecast.model.program.program import Program
from eyecast.rtl.request_under_way import PATIENCE

pytest.importorskip("peakrdl_cheader", reason="PeakRDL must be installed: pip install '.[ip]'")

LINE = ("--line", "2", "--source", "0", "--words", "2")
PACKAGES = {
    "tiles": (*LINE, "--algorithm", "tree", "--tile-ports", "--assertions"),
    "circuits": (*LINE, "--circuits", "--algorithm", "light-tree", "--prefix", "left"),
    "a file": ("--schedule", "s*? -->.json", "--tile-ports", "--barrier-registers", "1"),
    "passing": (
        *("--hypercube", "3", "--algorithm", "sbt", "--words", "4", "--collective", "all-gather"),
        *("--timing", "self-timed", "--tile-ports"),
    ),
}
SLOW = ("a file", "passing")


@pytest.mark.parametrize(
    "kind",
    ["tiles", "circuits", *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW)],
)
def test_the_papers_of_a_package_hold(eyecast: Command, kind: str) -> None:
    if kind == "a file":
        made = eyecast("schedule", *LINE, "--algorithm", "tree", "-o", PACKAGES[kind][1])
        assert made.status == 0
    done = eyecast("ip", *PACKAGES[kind], "-o", "package")
    assert done.status == 0, done.errors
    package = Path("package")
    program = (package / "sim" / "program.json").read_bytes()
    require_origins(package, program)
    found = json.loads((package / "guarantees.json").read_text())
    page = (package / "contract.html").read_text()
    for name, value in found["run"].items():
        assert f"<td>run: {name.replace('_', ' ')}</td>\n<td>{value}</td>" in page
    assert found["bus"]["most_cycles_a_busy_memory_delays_it"] == PATIENCE
    timing = Timing.SELF_TIMED if kind == "passing" else Timing.BARRIER
    require_lateness(found["late_tiles"], package / "sim" / "program.json", timing)
    assert ("because" in found["late_tiles"]) == (kind == "passing")


def require_origins(package: Path, program: bytes) -> None:
    """Require a licence, version, command and hashes of each file, in it or in REUSE.toml."""
    network = json.dumps(json.loads(program)["network"], sort_keys=True, separators=(",", ":"))
    hashes = f"Network {crc32(network.encode()):08x}, program {sha256(program).hexdigest()[:16]}"
    listed = tomllib.loads((package / "REUSE.toml").read_text())["annotations"]
    patterns = [pattern for note in listed for pattern in note["path"]]
    without = {path for pattern in patterns for path in package.glob(pattern)}
    for path in package.rglob("*"):
        if path.is_dir() or path in without:
            continue
        text = path.read_text()
        end = text.find(hashes)
        assert end >= 0, path
        begin = text[:end].splitlines()
        assert len(begin) == 3 + (path.suffix in (".core", ".xml")), path
        assert "SPDX-License-Identifier: Apache-2.0" in begin[-3], path
        assert f"Eyecast {__version__}: eyecast ip --" in begin[-2], path


def require_lateness(said: Any, program: Path, timing: Timing) -> None:
    """Compare the guarantee for late tiles with runs of the cycle model under drawn lateness."""
    made = read_program(program)
    if not made.config.tile_ports:
        assert said == "no tile ports"
        return
    assert isinstance(made, Program)
    nodes = made.config.topology.nodes
    memory = np.zeros((nodes, made.config.message_words), dtype=np.uint64)

    def cycles(hold: np.ndarray[Any, Any]) -> int:
        return run(made, memory, timing=timing, control=Control(hold=hold)).cycles

    draw, on_time = np.random.default_rng(1), cycles(np.zeros(nodes, np.int64))
    for late in (0, 1, 2, 9, 60):
        drawn = [cycles(draw.integers(0, late + 1, nodes)) for _ in range(4)]
        worst = cycles(np.full(nodes, late, np.int64))
        if not said["guaranteed"]:
            assert "other packets may take port" in said["because"]
            continue
        cost = max(0, late - said["held_cycles_without_cost"]) * said["each_further_cycle_costs"]
        assert max(worst, *drawn) == worst == on_time + cost
