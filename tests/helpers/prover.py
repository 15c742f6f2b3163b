"""Proofs about hardware, by Yosys and ABC from the extra ``prove``."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Signal

from eyecast.proofs.engines import WHEEL, first_assertion, run_yosys

needs_pyosys = pytest.mark.skipif(
    WHEEL is None or find_spec("pysat") is None,
    reason="pyosys and python-sat must be installed: pip install '.[prove]'",
)

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
