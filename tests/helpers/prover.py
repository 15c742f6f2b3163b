"""Proofs about hardware, by Yosys and ABC from the extra ``prove``."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Signal

WHEEL = find_spec("pyosys")
"""The wheel, not imported here: Matplotlib cannot be imported after it."""

needs_pyosys = pytest.mark.skipif(
    WHEEL is None, reason="pyosys must be installed: pip install '.[prove]'"
)

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
    source, circuit = folder / "design.il", folder / "design.aig"
    source.write_text(rtlil.convert(design, ports=[never, *inputs]))
    run_yosys([f"read_rtlil {source}", *PASSES, f"write_aiger -zinit {circuit}"], folder)
    return first_assertion(circuit)


def run_yosys(commands: Sequence[str], folder: Path) -> None:
    """Run commands of Yosys in a process of their own, because an error ends it."""
    script = folder / "script.ys"
    script.write_text("\n".join(commands))
    run = f"from pyosys import libyosys; libyosys.run_pass('script {script}')"
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run_abc(commands: str) -> str:
    """Return the output of ABC for some commands."""
    assert WHEEL and WHEEL.origin
    prover = Path(WHEEL.origin).parent / "yosys-abc"
    done = subprocess.run([prover, "-c", commands], capture_output=True, text=True, check=True)
    return done.stdout


def first_assertion(circuit: Path) -> int | None:
    """Return a cycle in which the output of a circuit can be 1, or None if it is always 0."""
    answer = run_abc(f"read_aiger {circuit}; pdr")
    if PROVED in answer:
        return None
    found = FOUND.search(answer)
    assert found, answer
    return int(found[1])
