"""The chip in Verilator: built once for a network, run with a C program, and what its tiles say."""

import json
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from ..model.network.config import NetworkConfig
from ..model.network.config_file import network_to_json
from ..sim.build import build_chip
from ..sim.cache import digest, source_digest
from ..sim.compilation import WHOLE_OPTIONS
from ..sim.run_worker import LOG, start_bench
from ..sim.verilog import shared_module, shared_tiles
from .core_tile import CoreSignature
from .hardware import CHIP, TILE, chip_verilog
from .memory_map import Event
from .source import Binary, core_verilog

BENCH = "eyecast.chip.bench"
PORTS = f"""\
public_flat_rw -module "{CHIP}" -var "rst"
public_flat_rw -module "{CHIP}" -var "clk"
public_flat_rd -module "{CHIP}" -var "stopped"
"""
_BUILT_FROM = (
    *("chip/core_tile.py", "chip/float_adder.py", "chip/hardware.py", "chip/memory_map.py"),
    *("chip/simulation.py", "chip/sources/*.v"),
)
"""Sources that shape the hardware of a chip."""
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
    core = core_verilog().read_text()

    def sources() -> tuple[str, str]:
        shared = shared_tiles(config, trace=False) + shared_module(TILE, CoreSignature(config))
        control = "\n".join(("`verilator_config", *shared, PORTS))
        return chip_verilog(config) + core, control

    description = json.dumps(network_to_json(config), sort_keys=True)
    key = digest(description, core, source_digest(*_BUILT_FROM), version("amaranth"))
    return build_chip(CHIP, key, config.topology.label, sources, WHOLE_OPTIONS)


def run_chip(simulator: Path, binary: Binary) -> Iterator[Line]:
    """Run the chip with a program; yield the lines of its tiles."""
    with tempfile.TemporaryDirectory(prefix="eyecast-") as name:
        folder = Path(name)
        (folder / PROGRAM).write_text(binary.hexadecimal)
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
