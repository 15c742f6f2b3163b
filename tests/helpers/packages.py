"""Packages of ``eyecast ip``, and their benches in Icarus."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.planted_faults import FIRST_FAULT
from helpers.processes import run_program

from eyecast.chip.source import COMPILER, SOURCES, TARGET, core_verilog
from eyecast.sim.toolchain import environment

FOR_COMPILER = ["-CFLAGS", "-std=gnu++20", "-MAKEFLAGS", "OPT_FAST=-O0"]
Patch = Callable[[str], str]

CROSSING = [(number + 1, [[3, 4, 5], [1, 4, 5], [4, 5]][number % 3]) for number in range(12)]
"""Steps and paths on a grid of 3x2: three nodes repeatedly send through one link.

With self-timed nodes the packets wait for each other, which shows the order of grants.
"""


def write_crossing(path: Path, kind: str, vcs: int) -> None:
    """Write a schedule of sends that wait for each other, every fifth on the highest VC."""
    sends = [
        {
            "step": step,
            "source": nodes[0],
            "target": nodes[-1],
            "path": nodes,
            "vcs": [(number % 5 == 4) * (vcs - 1)] * (len(nodes) - 1),
            "blocks": [number],
        }
        for number, (step, nodes) in enumerate(CROSSING)
    ]
    blocks = [{"owner": nodes[0], "owed": [nodes[-1]], "words": 6} for _, nodes in CROSSING]
    topology = {"kind": kind, "dims": [3, 2], "faulty_nodes": [], "faulty_links": []}
    schedule = {
        **{"format": "eyecast-schedule", "version": 1, "topology": topology},
        **{"collective": "custom", "algorithm": "crossing", "port_model": "full-duplex"},
        **{"root": None, "blocks": blocks, "sends": sends},
    }
    path.write_text(json.dumps(schedule))


def run_icarus(
    package: Path, folder: Path, *others: str, warnings: bool = False
) -> tuple[int, str]:
    """Run a package's bench in ``folder``; return its exit status and output.

    Compile the Verilog of ``others`` with it. Without ``warnings`` the compiler must report none.
    """
    folder.mkdir(exist_ok=True)
    for vectors in (package / "sim").glob("*.hex"):
        if not (folder / vectors.name).exists():
            shutil.copy(vectors, folder)
    packages = (package, *map(Path, others))
    modules = [path for each in packages for path in sorted((each / "rtl").glob("*.v"))]
    sources = [package / "sim" / "bench.v", *modules]
    compiler = ["iverilog", "-g2012", "-Wall", "-s", "bench", "-o", folder / "bench", *sources]
    compiled = run_program(compiler, check=True)
    assert warnings or not compiled.stderr, compiled.stderr
    ran = run_program(["vvp", "-n", "bench"], cwd=folder)
    return ran.returncode, ran.stdout


def sees_fault(package: Path, plant: Callable[[Path], None], name: str) -> None:
    """Require that a package's bench fails on a copy with a fault, at its first difference."""
    broken, folder = Path(shutil.copytree(package, "broken")), Path("run_broken")
    plant(broken)
    patched(broken / "sim" / "bench.v", re.escape(FIRST_FAULT[0]), FIRST_FAULT[1])
    status, said = run_icarus(broken, folder, warnings=True)
    assert status != 0, name
    assert "FAIL" in said, name
    shutil.rmtree(broken)
    shutil.rmtree(folder)


def patched(path: Path, pattern: str, replacement: str, *, count: int = 1) -> None:
    """Replace the first ``count`` matches of a pattern in a file; there must be one."""
    text, found = re.subn(pattern, replacement, path.read_text(), count=count, flags=re.DOTALL)
    assert found, f"{pattern} is not in {path.name}"
    path.write_text(text)


def run_driver(main: Path, *definitions: str) -> str:
    """Run a C program with the driver of ``package`` on a PicoRV32; return what is printed.

    ``definitions``: options of the compiler.
    """
    for package in (COMPILER, "pythondata_cpu_picorv32"):
        pytest.importorskip(package, reason="pip install 'eyecast[chip]'")
    # By relative names, the compiler's cache takes headers of an earlier test for these.
    here, driver = main.parent, Path("package").absolute() / "driver"
    compiler = [sys.executable, "-m", COMPILER]
    options = [*TARGET, "-std=c99", "-O2", "-nostdlib", "-T", SOURCES / "chip.ld"]
    options += [f"-I{driver}", f"-I{here}", *definitions]
    sources = [main, driver / "eyecast.c", "-o", "program.elf"]
    run_program([*compiler, "cc", *options, *sources], check=True)
    binary = ["-O", "binary", "program.elf", "program.bin"]
    run_program([*compiler, "objcopy", *binary], check=True)
    program = Path("program.bin").read_bytes()
    words = (program[at : at + 4][::-1].hex() for at in range(0, len(program), 4))
    Path("program.hex").write_text("\n".join(words))
    verilator = ["verilator", "--binary", "--timing", "--assert", "-Wno-fatal", "-O3"]
    options = [*FOR_COMPILER, "-Mdir", "simulated", "--top-module", "processor"]
    sources = [*sorted(Path("package", "rtl").glob("*v")), here / "processor.v"]
    core = [core_verilog(), SOURCES / "core_memory.v"]
    command = [*verilator, *options, *sources, *core]
    subprocess.run(command, env=dict(environment()), check=True, capture_output=True)
    ran = run_program([Path("simulated") / "Vprocessor"])
    return ran.stdout + ran.stderr
