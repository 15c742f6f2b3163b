"""Engines behind buses on Verilator, with published bus models as a bench.

A bench is a module of cocotb tests; it reads its parameters from ``told.json``.
"""

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from eyecast.model.base import processes
from eyecast.model.network.buses import HostBus, TileBus
from eyecast.model.network.config import NetworkConfig
from eyecast.sim.build import runtime_objects
from eyecast.sim.build_worker import QUICK_LEVEL, VERILATOR_OPTIONS
from eyecast.sim.cache import cached_folder, digest
from eyecast.sim.run_worker import LOG, start_bench
from eyecast.sim.toolchain import environment, tool_versions
from eyecast.sim.verilog import (
    CROSSING_MODULE,
    ENGINE_MODULE,
    crossing_verilog,
    describe_ports,
    network_verilog,
)

TESTS = Path(__file__).parents[1]
TOLD = "told.json"


def build(
    config: NetworkConfig, host: HostBus | None, tile: TileBus | None, *, crossing: bool = False
) -> Path:
    """Build the simulator of an engine behind buses, or find it in the cache.

    With ``crossing`` the buses have a clock of their own.
    """
    text = network_verilog(config, host=host, tile=tile)
    ports = [port["name"] for port in describe_ports(config, host, tile)]
    top = ENGINE_MODULE
    if crossing:
        assert host is not None
        text += crossing_verilog(config, host, tile)
        ports += ["engine_clk", "engine_rst"]
        top = CROSSING_MODULE
    public = [f'public_flat_rw -module "{top}" -var "{name}"' for name in ports]
    control = "\n".join(["`verilator_config", *public, ""])

    def make(folder: Path) -> None:
        sources = [folder / "control.vlt", folder / "engine.v"]
        for source, content in zip(sources, (control, text), strict=True):
            source.write_text(content)
        made = folder / "build"
        made.mkdir()
        worker = [sys.executable, "-m", "eyecast.sim.build_worker", top, str(made)]
        options = [json.dumps(VERILATOR_OPTIONS), QUICK_LEVEL, "no-waves"]
        log = folder / "build.log"
        with runtime_objects(made):
            command = [*worker, *options, *map(str, sources)]
            status = processes.run(command, log, variables=environment())
        assert status == 0, log.read_text()

    key = digest("engine behind buses", text, control, *VERILATOR_OPTIONS, *tool_versions())
    return cached_folder(key, "simulator of an engine behind buses", make) / "build" / top


def run(
    simulator: Path, bench: str, folder: Path, told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run all tests of a bench; each must pass."""
    (folder / TOLD).write_text(json.dumps(told))
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    running = start_bench(simulator, bench, folder)
    try:
        assert running.wait(timeout=600) == 0, (folder / LOG).read_text()
    finally:
        processes.stop(running)
    said = (folder / LOG).read_text()
    results = ElementTree.parse(folder / "results.xml")
    assert list(results.iter("testcase")), said
    assert not [*results.iter("failure"), *results.iter("error")], said


def told() -> Any:
    """Read a bench's parameters from the current folder."""
    return json.loads(Path(TOLD).read_text())
