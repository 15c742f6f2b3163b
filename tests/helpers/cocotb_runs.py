"""Runs of the cocotb tests in ``sim/collective_tests.py``, by cocotb's own runner."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from cocotb_tools.runner import get_runner

from eyecast.cli.image import image_of
from eyecast.model.base.arrays import as_integers
from eyecast.model.network.config import Timing
from eyecast.model.program.certified import compile_certified
from eyecast.model.program.compiler import Compiled
from eyecast.model.program.file import read_program, write_program
from eyecast.model.program.payload import Payload
from eyecast.model.schedule.schedule import Schedule
from eyecast.sim.build import BUILD_FOLDER, build_simulator
from eyecast.sim.verilog import TOP_MODULE, network_verilog

TESTS = "eyecast.sim.collective_tests"


def write_run(
    folder: Path, schedule: Schedule, timing: Timing = Timing.BARRIER, **parameters: Any
) -> Compiled:
    """Write the input files of the tests into ``folder``, and the network as ``network.v``."""
    compiled = compile_certified(schedule, {"message_words": 32, **parameters})
    folder.mkdir(parents=True, exist_ok=True)
    write_program(compiled.program, folder / "program.json")
    image_of(compiled, timing).write(folder / "image.csv", folder / "image.json")
    (folder / "owed.json").write_text(json.dumps(owed_words(compiled)))
    (folder / "network.v").write_text(network_verilog(compiled.program.config))
    return compiled


def owed_words(compiled: Compiled) -> list[dict[str, object]]:
    """Return the words that the schedule promises each node, without using a model."""
    payload, topology = Payload.random(compiled, 0), compiled.schedule.topology
    everyone, starts = topology.working_nodes.tolist(), payload.layout.starts
    return [
        {
            "node": node,
            "address": int(payload.layout.address(node, block)),
            "words": as_integers(payload.words[starts[block] : starts[block + 1]]),
        }
        for block, owed in enumerate(payload.blocks.owed)
        for node in (everyone if owed is None else owed)
    ]


def failures(
    folder: Path,
    simulator: str = "verilator",
    *,
    verilog: str | None = None,
    test: str | None = None,
    module: str = TESTS,
) -> dict[str, str | None]:
    """Run the tests of ``module``, or only ``test``, on ``network.v`` or another text.

    Return each test's failure message by name; None for a test that passes. ``verilog`` is the
    other text. Verilator builds each text once and keeps the build.
    """
    if verilog is not None:
        (folder / "network.v").write_text(verilog)
    runner, results = get_runner(simulator), folder / "results.xml"
    results.unlink(missing_ok=True)
    if simulator == "verilator":
        config = read_program(folder / "program.json").config
        made = build_simulator(config, monitored=True, verilog=lambda _: verilog_of(folder))
        build = made / BUILD_FOLDER
    else:
        build = folder / simulator
        runner.build(
            sources=[folder / "network.v"],
            hdl_toplevel=TOP_MODULE,
            build_dir=build,
            timescale=("1ns", "1ns"),
            log_file=folder / "build.log",
        )
    # Under pytest the runner exits where a test fails.
    with suppress(SystemExit):
        runner.test(
            test_module=module,
            test_filter=None if test is None else f"\\.{test}$",
            hdl_toplevel=TOP_MODULE,
            hdl_toplevel_lang="verilog",
            build_dir=build,
            test_dir=folder,
            results_xml=str(results),
            extra_env={"EYECAST_RUN": str(folder), "COCOTB_LOG_LEVEL": "WARNING"},
            log_file=folder / "test.log",
        )
    cases = ElementTree.parse(results).getroot().iter("testcase")
    return {case.get("name", ""): _failure(case) for case in cases}


def verilog_of(folder: Path) -> str:
    """Return the Verilog in a run's folder."""
    return (folder / "network.v").read_text()


def _failure(case: ElementTree.Element) -> str | None:
    """Return the message of a failed test; None for a test that passed."""
    for kind in ("failure", "error"):
        if (found := case.find(kind)) is not None:
            return found.get("error_msg") or found.get("message") or found.text or kind
    return None
