"""Proofs that two circuits are equal, by Yosys and ABC of the wheel ``pyosys``."""

from dataclasses import dataclass
from pathlib import Path

from eyecast.proofs.engines import first_assertion, run_abc, run_yosys

AS_LOGIC = (
    "proc",
    "delete t:$print",
    "flatten",
    "memory -nomap",
    "memory_map",
    "opt_clean",
    # A memory's read register has no value before it has read; both circuits get 0 there.
    "setundef -zero -init",
)
AS_GATES = (
    "miter -equiv -flatten first second miter",
    "hierarchy -top miter",
    "techmap",
    "simplemap",
    "opt_clean",
    "dfflegalize -cell $_DFF_P_ 01",
    "simplemap",
    "setundef -zero",
    "opt_clean",
    "aigmap",
)


@dataclass(frozen=True)
class Circuit:
    """A circuit as a text: its top module, and the command of Yosys that reads it."""

    text: str
    top: str
    command: str = "read_verilog"


def first_difference(first: Circuit, second: Circuit, folder: Path) -> int | None:
    """Return the number of a cycle in which outputs can differ, or None if there is none.

    Both start in their initial states. The inputs and the reset are free in every cycle. Fails if
    ABC finds no answer.
    """
    miter, rest = folder / "miter.aig", folder / "rest.aig"
    commands = []
    for name, circuit in (("first", first), ("second", second)):
        source = folder / name
        source.write_text(circuit.text)
        commands += [f"{circuit.command} {source}", f"hierarchy -check -top {circuit.top}"]
        commands += [*AS_LOGIC, f"rename {circuit.top} {name}", f"design -stash {name}"]
    commands += [f"design -copy-from {name} -as {name} {name}" for name in ("first", "second")]
    run_yosys([*commands, *AS_GATES, f"write_aiger -zinit {miter}"], folder)
    # One register takes the place of all that are equal in every cycle.
    run_abc(f"read_aiger {miter}; scorr; write_aiger {rest}", folder)
    if is_zero(rest):
        return None
    return first_assertion(rest)


def is_zero(circuit: Path) -> bool:
    """Return True if a circuit in AIGER has no gates and one output, which is always 0."""
    header, output, *_ = circuit.read_bytes().split(b"\n")
    _, _, _, latches, outputs, gates, *_ = header.split()
    return (latches, outputs, gates, output) == (b"0", b"1", b"0", b"0")
