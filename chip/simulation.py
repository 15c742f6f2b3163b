"""The chip in Verilator: built once for a network, run with a C program, and what its tiles say."""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..model.base import processes
from ..model.network.config import NetworkConfig
from ..sim.build import BuildError
from ..sim.build_worker import VERILATOR_OPTIONS
from ..sim.cache import cached_folder, digest
from ..sim.compilation import THOROUGH_LEVEL
from ..sim.run_worker import LOG, start_bench
from ..sim.toolchain import environment, tool_versions
from .hardware import CHIP, chip_verilog
from .memory_map import Event
from .source import Binary, core_verilog

BENCH = "eyecast.chip.bench"
CONTROL = f"""\
`verilator_config
hier_block -module "eyecast_tile"
hier_block -module "core_tile"
public_flat_rw -module "{CHIP}" -var "rst"
public_flat_rw -module "{CHIP}" -var "clk"
public_flat_rd -module "{CHIP}" -var "stopped"
"""
PROGRAM = "program.hex"
"""The file from which the cores' memories are read."""


class Line(NamedTuple):
    """A line of a tile: the cycle, the node, what happened, and a value."""

    cycle: int
    node: int
    event: Event
    value: int


def simulator_of(config: NetworkConfig) -> Path:
    """Return the chip's simulator, which is built once for a network."""
    text, core, variables = chip_verilog(config), core_verilog(), environment()

    def make(folder: Path) -> None:
        (folder / "chip.v").write_text(text + core.read_text())
        (folder / "control.vlt").write_text(CONTROL)
        build = folder / "build"
        build.mkdir()
        builder = [sys.executable, "-P", "-m", "eyecast.sim.build_worker", CHIP, str(build)]
        options = [json.dumps([*VERILATOR_OPTIONS, "--hierarchical"]), THOROUGH_LEVEL, "no-waves"]
        files = [str(folder / "control.vlt"), str(folder / "chip.v")]
        log = folder / "build.log"
        if processes.run([*builder, *options, *files], log, variables=variables):
            raise BuildError(log.read_text(errors="replace"))

    key = digest("chip", text, core.read_text(), CONTROL, *tool_versions())
    folder = cached_folder(key, f"simulator of a chip of {config.topology.label}", make)
    return folder / "build" / CHIP


def run_chip(simulator: Path, binary: Binary) -> Iterator[Line]:
    """Run the chip with a program; yield the lines of its tiles."""
    with tempfile.TemporaryDirectory(prefix="eyecast-") as name:
        folder = Path(name)
        (folder / PROGRAM).write_text("\n".join(f"{word:08x}" for word in binary.words))
        running = start_bench(simulator, BENCH, folder)
        running.wait()
        text = (folder / LOG).read_text(errors="replace")
    others = []
    for line in text.splitlines():
        if not line.startswith("chip "):
            others.append(line)
            continue
        cycle, node, event, value = map(int, line.split()[1:])
        yield Line(cycle, node, Event(event), value)
    if running.returncode:
        raise RuntimeError("\n".join(others))
