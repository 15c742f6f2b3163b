"""The cocotb bench of a package: it passes on each bus, and fails with a broken network."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.command import Command
from helpers.planted_faults import IN_BOTH, OF_AXI, OF_WISHBONE, Fault
from helpers.processes import run_program

from eyecast.ip.contract import ROUTER_PAGE
from eyecast.ip.template import TEMPLATES

needs_all = pytest.mark.skipif(
    not (shutil.which("iverilog") and find_spec("cocotbext") and find_spec("peakrdl_cheader")),
    reason="Icarus, cocotbext and PeakRDL must be installed: iverilog, pip install '.[ip]'",
)

PACKAGES = {
    "axi4-lite": ("--bus", "axi4-lite"),
    "axi4-lite with tiles": ("--tile-ports", "--parity"),
    "axi4-lite with wide streams": (
        *("--tile-ports", "--tile", "axi-stream", "--prefix", "left", "--flit-width", "192"),
    ),
    "wishbone": ("--bus", "wishbone", "--tile-ports"),
}

WRONG_WORD = (
    "flit: cycle 4, node 0, port 1, VC 0: the hardware sends 4,0,1,0,body,d9c2825e, "
    "the model sends 4,0,1,0,body,d9c2825f"
)

FAULTS: dict[str, dict[str, tuple[Fault, str]]] = {
    "axi4-lite": {
        "a wrong word": (
            Fault("message_memory", r"<= write_data", "<= write_data ^ 1"),
            WRONG_WORD,
        ),
        "no response to a write": (OF_AXI["no response to a write"], "no answer of the bus"),
        "the last answer is read": (OF_AXI["the last answer is read"], "non-0/1 values"),
        "a credit is lost": (IN_BOTH["a credit is lost"], "the program is not done"),
        "a failed run is done": (
            Fault("run_control", r"state <= DONE", "state <= FAILED"),
            "the program is not done",
        ),
        "the cycle leads nowhere": (IN_BOTH["the cycle leads nowhere"], "non-0/1 values"),
    },
    "wishbone": {
        "no answer": (OF_WISHBONE["no answer"], "no answer of the bus"),
        "the last answer is read": (OF_WISHBONE["the last answer is read"], "AssertionError"),
        "a wrong word": (
            Fault("message_memory", r"<= write_data", "<= write_data ^ 1"),
            WRONG_WORD,
        ),
    },
}
"""Faults in the Verilog, each with a part of the bench's message."""


def make_cocotb(package: Path, *options: str) -> tuple[int, str]:
    """Run the bench; return its exit status and output."""
    return make("-C", str(package / "sim"), "cocotb", *options)


def make(*arguments: str) -> tuple[int, str]:
    """Run make with the Python of this test; return the exit status and the output."""
    here = Path(sys.executable).parent
    done = subprocess.run(
        ["make", *arguments],
        env={**os.environ, "PATH": f"{here}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("found", "options", "refusal"),
    [
        (1, (), "cocotb and Eyecast must be installed: pip install 'eyecast[ip]'"),
        (0, ("SIM=nvc",), "nvc must be on PATH: install it, or choose another SIM"),
    ],
    ids=["no cocotb", "no simulator"],
)
def test_a_missing_part_is_one_line(
    tmp_path: Path, found: int, options: tuple[str, ...], refusal: str
) -> None:
    """A script replaces Python; it behaves as if cocotb were installed, or not."""
    python = tmp_path / "python3"
    python.write_text(f"#!/bin/sh\nexit {found}\n")
    python.chmod(0o755)
    done = run_program(
        ["make", "-s", "-f", TEMPLATES / "Makefile", "cocotb", *options],
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
    )
    first, *others = done.stderr.splitlines()
    assert first == refusal
    assert all(line.startswith("make: ***") for line in others)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.slow
@needs_all
@pytest.mark.parametrize("kind", PACKAGES)
def test_the_cocotb_bench_fails_where_the_network_is_broken(eyecast: Command, kind: str) -> None:
    network = ("--mesh", "3x2", "--depth", "2", "--source", "0,0", "--algorithm", "tree")
    done = eyecast("ip", *network, "--words", "6", *PACKAGES[kind], "-o", "package")
    assert done.status == 0, done.errors
    status, said = make_cocotb(Path("package"))
    assert status == 0, said
    assert "TESTS=1 PASS=1 FAIL=0" in said
    for name, (fault, complaint) in FAULTS.get(kind, {}).items():
        broken = Path(shutil.copytree("package", "broken", ignore=shutil.ignore_patterns("build")))
        fault.plant(broken)
        status, said = make_cocotb(broken)
        assert status != 0, name
        assert "TESTS=1 PASS=0 FAIL=1" in said, f"{name}: {said[-2000:]}"
        assert complaint in said, f"{name}: {said[-2000:]}"
        shutil.rmtree(broken)


CHIP = """
module chip; soc soc (); endmodule
module soc; eyecast_engine collectives (); endmodule
"""

BENCH_OF_A_CHIP = """
import cocotb
from cocotb.clock import Clock
from eyecast.testbench import AxiLiteDriver, Coverage

@cocotb.test()
async def test_chip(dut):
{guide}
    engine = dut.soc.collectives
    Clock(engine.clk, 2, unit="ns").start()
    host = AxiLiteDriver(engine, program.config)
    await host.reset()
    await host.load(image.writes)
    await host.start()
    assert await host.wait(2 * image.cycles + 1000, "ns")
    scoreboard.check_done(int(engine.cycle.value))
    assert scoreboard.delivered == scoreboard.owed
    coverage = Coverage(program.config)
    coverage.accesses(host.accesses)
    assert coverage.counts["write through a bus"] == len(image.writes) + 1
"""


@pytest.mark.slow
@needs_all
def test_monitors_of_the_guide_work_deep_in_a_chip(eyecast: Command) -> None:
    """Run the lines of the guide on an engine two modules below the top."""
    options = ("--mesh", "2x2", "--source", "0,0", "--words", "4")
    assert eyecast("ip", *options, "-o", "package").status == 0
    guide = (ROUTER_PAGE.parent / "guides" / "into-a-chip.md").read_text()
    found = re.search(r"(?:^    .*\n|^\n)*^    scoreboard\.watch.*\n", guide, re.MULTILINE)
    assert found
    lines = textwrap.indent(textwrap.dedent(found[0]), "    ")
    sim = Path("package", "sim")
    (sim / "chip.v").write_text(CHIP)
    (sim / "chip_bench.py").write_text(BENCH_OF_A_CHIP.format(guide=lines))
    text = (sim / "Makefile").read_text()
    text = text.replace("COCOTB_TOPLEVEL=eyecast_engine", "COCOTB_TOPLEVEL=chip")
    text = text.replace("cocotb_bench", "chip_bench").replace("$(RTL)", "$(RTL) chip.v")
    (sim / "Makefile").write_text(text)
    status, said = make_cocotb(Path("package"))
    assert status == 0, said
    assert "TESTS=1 PASS=1 FAIL=0" in said
