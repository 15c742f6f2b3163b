"""A harness as a circuit of gates, from its Verilog, and the question that a prover answers."""

import re
from dataclasses import dataclass
from pathlib import Path

from ..rtl.parts.assertions import ASSERTING
from ..verilog.hierarchy import Division
from ..verilog.text import module_texts
from .engines import run_yosys
from .harness import Build, Harness

AS_LOGIC = (
    "hierarchy -check -top harness",
    "proc",
    "flatten",
    "memory -nomap",
    "memory_map",
    "opt_clean",
)
AS_GATES = (
    # Memories and read registers start with 0.
    "setundef -zero -init",
    "techmap",
    "simplemap",
    "opt_clean",
    "dfflegalize -cell $_DFF_P_ 01",
    "simplemap",
    "setundef -zero",
    "opt_clean",
    "aigmap",
)

_CHECK = re.compile(r"^  cell \$check \\(\S+)\n.*?^    connect \\A (.*?)\n.*?^  end\n", re.M | re.S)


@dataclass(frozen=True)
class Circuit:
    """Gates and registers; all registers start with 0.

    A literal is twice the number of a variable, plus 1 if it is inverted; literal 0 is false.

    Attributes
    ----------
    inputs
        Variables of inputs.
    latches
        For each register its variable, and the literal of its next value.
    gates
        For each AND gate its variable and the literals of its inputs; inputs precede gates.
    names
        Names of registers, in the order of ``latches``; of several names, the first.
    outputs
        Literals of the checks by name: a check holds while its literal is true.

    """

    inputs: list[int]
    latches: list[tuple[int, int]]
    gates: list[tuple[int, int, int]]
    names: list[str]
    outputs: dict[str, int]

    @property
    def variables(self) -> int:
        """Number of the largest variable."""
        used = (*self.inputs, *(each[0] for each in (*self.latches, *self.gates)))
        return max(used, default=0)


def harness_verilog(build: Build) -> str:
    """Return the Verilog of a harness, with the assertions of all components."""
    division = Division(ASSERTING)
    division.add(Harness(build), "harness")
    return "\n".join(module_texts(division).values())


def read_circuit(verilog: str, folder: Path) -> Circuit:
    """Return the circuit of a harness, by Yosys."""
    (folder / "harness.sv").write_text(verilog)
    run_yosys(["read_verilog -sv -formal harness.sv", *AS_LOGIC, "write_rtlil harness.il"], folder)
    logic = folder / "harness.il"
    logic.write_text(_checks_as_outputs(logic.read_text()))
    write = "write_aiger -ascii -zinit -symbols harness.aag"
    run_yosys(["read_rtlil harness.il", *AS_GATES, write], folder)
    return _read_aiger((folder / "harness.aag").read_text())


def _checks_as_outputs(rtlil: str) -> str:
    """Replace each check of a flat module by an output of its name."""
    ports = len(re.findall(r"^  wire .*\b(?:input|output) ", rtlil, re.M))
    found = _CHECK.findall(rtlil)
    lines = []
    for number, (name, condition) in enumerate(found):
        lines += [f"  wire output {ports + 1 + number} \\{name}", f"  connect \\{name} {condition}"]
    text = _CHECK.sub("", rtlil)
    end = text.rindex("end\n")
    return text[:end] + "\n".join(lines) + "\n" + text[end:]


def _read_aiger(text: str) -> Circuit:
    lines = iter(text.splitlines())
    _, _, inputs, latches, outputs, gates = next(lines).split()[:6]

    def rows(count: str) -> list[list[int]]:
        return [[int(word) for word in next(lines).split()] for _ in range(int(count))]

    read_inputs = [row[0] // 2 for row in rows(inputs)]
    read_latches = [(row[0] // 2, row[1]) for row in rows(latches)]
    read_outputs = [row[0] for row in rows(outputs)]
    read_gates = [(row[0] // 2, row[1], row[2]) for row in rows(gates)]
    names, named = [""] * len(read_latches), {}
    for line in lines:
        if line == "c":
            break
        place, _, name = line.partition(" ")
        if place[0] == "l":
            names[int(place[1:])] = name.partition(" ")[0]
        elif place[0] == "o":
            named[name] = read_outputs[int(place[1:])]
    return Circuit(read_inputs, read_latches, read_gates, names, named)
