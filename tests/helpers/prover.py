"""Proofs about hardware, by Yosys and ABC from the extra ``prove``."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Signal

PROVED = "Property proved"
FOUND = re.compile(r"was asserted in frame (\d+)")
PASSES = (
    "hierarchy -auto-top",
    "prep -flatten",
    "memory_map",
    "opt -full",
    "simplemap",
    "dfflegalize -cell $_DFF_P_ 01",
    "opt_clean",
    "aigmap",
)


def first_violation(
    design: Any, never: Signal, inputs: Sequence[Signal], folder: Path
) -> int | None:
    """Return the number of a cycle in which ``never`` can be 1, or None if there is no such cycle.

    The design starts in its initial state. ``inputs`` and its reset are free in every cycle.
    """
    import pyosys
    from pyosys import libyosys

    source, circuit = folder / "design.il", folder / "design.aig"
    source.write_text(rtlil.convert(design, ports=[never, *inputs]))
    netlist = libyosys.Design()
    for command in (f"read_rtlil {source}", *PASSES, f"write_aiger -zinit {circuit}"):
        libyosys.run_pass(command, netlist)
    prover = Path(pyosys.__file__).parent / "yosys-abc"
    answer = subprocess.run(
        [prover, "-c", f"read_aiger {circuit}; pdr"], capture_output=True, text=True, check=True
    ).stdout
    if PROVED in answer:
        return None
    found = FOUND.search(answer)
    assert found, answer
    return int(found[1])
