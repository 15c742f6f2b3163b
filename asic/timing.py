"""Timing and power of a mapped netlist, by OpenSTA."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from ..boards.tools import run_logged
from ..sim.cache import keep_log
from .activity import Activity
from .library import Library
from .synthesis import LIBERTY, LOAD, NETLIST

PROGRAM = "sta"
PACKAGE = "opensta"
"""OpenSTA, and Debian's package of it."""
_ALL = 1e3
"""A clock period, in ns, that no path exceeds."""


@dataclass(frozen=True)
class Power:
    """Average power in W, without leakage.

    ``clock`` is what flip-flops take from the clock while nothing toggles, ``toggles`` the rest.
    """

    clock: float
    toggles: float


def has_opensta() -> bool:
    """Tell whether OpenSTA is installed; without it there is neither setup time nor power."""
    return shutil.which(PROGRAM) is not None


def shortest_period(folder: Path, library: Library) -> float:
    """Return the shortest clock period of the netlist in ``folder`` in s.

    The longest path between registers, or from an input or to an output, with setup time. Signals
    arrive at inputs at the clock's edge, without slew.
    """
    report = _run(folder, library, _ALL * 1e-9, ["report_worst_slack -digits 6"])
    found = re.findall(r"^worst slack (-?[\d.]+)", report, re.MULTILINE)
    if not found:
        raise RuntimeError(f"OpenSTA names no slack; see {keep_log(folder / 'sta.log')}")
    return _ALL * 1e-9 - float(found[-1]) * library.time


def power_of(folder: Path, library: Library, period: float, activity: Activity) -> Power:
    """Return the power of the netlist in ``folder`` with the toggles of a run.

    OpenSTA tells the power of every cell at rest and with one toggle in every cycle, at its real
    load and slew; between these, power grows with the toggles. Glitches and the wires of the clock
    do not count. OpenSTA's own activities of pins are not used: version 2.0 replaces them by what
    it propagates from the inputs.
    """
    rates = [0, 1]
    commands = [
        f"set_power_activity -global -activity {rate} -duty 0.5\n"
        f"puts rate\nreport_power -instances [get_cells *] -digits 10"
        for rate in rates
    ]
    rest, busy = map(_cells, _run(folder, library, period, commands).split("\nrate\n")[1:])
    toggles = 0.0
    for cell, idle in rest.items():
        changes = activity.toggles.get(cell, [0])
        toggles += sum(changes) / len(changes) / activity.cycles * (busy[cell] - idle)
    return Power(sum(rest.values()), toggles)


def _cells(report: str) -> dict[str, float]:
    """Return the power of each cell without its leakage, in W."""
    rows = re.findall(r"^ *(\S+) +(\S+) +\S+ +\S+ +(_\d+_)$", report, re.MULTILINE)
    return {cell: float(internal) + float(switching) for internal, switching, cell in rows}


def _run(folder: Path, library: Library, period: float, commands: list[str]) -> str:
    """Run OpenSTA on the netlist, and return what it prints."""
    (top,) = re.findall(r"^module (\w+)\(", (folder / f"{NETLIST}.v").read_text(), re.MULTILINE)
    (folder / "sta.tcl").write_text(
        "\n".join(
            [
                f"read_liberty {LIBERTY}",
                f"read_verilog {NETLIST}.v",
                f"link_design {top}",
                f"create_clock -name clk -period {period / library.time:.6f} [get_ports clk]",
                "set_input_delay 0 -clock clk [all_inputs]",
                "set_output_delay 0 -clock clk [all_outputs]",
                f"set_load {LOAD / library.capacitance:g} [all_outputs]",
                *commands,
                "exit",
            ]
        )
    )
    run_logged("sta", [PROGRAM, "-no_splash", "-exit", "sta.tcl"], folder)
    return (folder / "sta.log").read_text()
