"""Synthesis of a network's parts by yosys and ABC, in a library of standard cells.

Memories of messages and tables are left out: a chip has macros there. Their ports become ports of
the part. Inputs that are constant in a network are constant, and outputs that only simulations read
are removed.
"""

import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import msgspec

from ..boards.tools import find_tool, run_logged
from ..sim.toolchain import require_plain_temporary_folder
from .library import Library

TILE = "eyecast_tile"
LOAD = 50e-15
"""Load of every output in F: some 200 µm of wire, or ten gates."""
TARGET = 1500
"""Delay in ps that ABC tries to reach. The recipe has one target for all parts and libraries."""
NETLIST, GATES, STATISTICS = "netlist", "gates.json", "cells.json"
"""Files of a part in its folder: the netlist (.v, .json), its gates, and the count of its cells."""
LIBERTY = "library.lib"
"""A copy of the library in a part's folder. The user's own file name would be text of a script."""

_CONSTANTS = {"linked": "1", "node": "0"}
"""Inputs that are constant in a network, with the value of their bits."""
_FLIP_FLOPS = ("_buffer_", "_directory_")
"""Parts of the names of memories that are flip-flops: they read without a clock."""
_FOR_TRACES = ("stalls", "router_stalls")


@dataclass(frozen=True)
class Area:
    """Area of a part, without the memories that a chip has as macros.

    area
        In µm².
    registers
        Share of the area that flip-flops take.
    cells
        Number of cells.
    delay
        Longest delay between registers or ports in s, as ABC estimates it: without setup time.
    """

    area: float
    registers: float
    cells: int
    delay: float


def parts_of(modules: Mapping[str, str]) -> dict[str, str]:
    """Return the modules of a network's router, interface and tile by these names."""
    instances = re.findall(r"^  (eyecast_\w+) (router|network_interface) \(", modules[TILE], re.M)
    found = {instance: module for module, instance in instances}
    return {"router": found["router"], "interface": found["network_interface"], "tile": TILE}


def macros_of(modules: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Return the words and bits of each memory that a chip has as a macro."""
    found = {}
    for name, text in modules.items():
        sizes = re.search(rf"// {name}: (\d+) words of (\d+) bits", text)
        if sizes and not any(each in name for each in _FLIP_FLOPS):
            found[name] = int(sizes[1]), int(sizes[2])
    return found


def elaborate(modules: Mapping[str, str], top: str, folder: Path) -> None:
    """Write the logic of module ``top`` as ``logic.il`` into ``folder``, for any library."""
    text = "\n".join(modules.values())
    (folder / "network.v").write_text(text)
    ports = set(re.findall(r"^ +(?:in|out)put (?:wire|reg) (?:\[.*?\] )?(\w+)", modules[top], re.M))
    tied = [name for name in _CONSTANTS if name in ports]
    removed = [name for name in (*_CONSTANTS, *_FOR_TRACES) if name in ports]
    macros = list(macros_of(modules)) if top != parts_of(modules)["router"] else []
    run_yosys(
        [
            # Registers must not need an initial value: a chip has none.
            "read_verilog -DSYNTHESIS network.v",
            f"hierarchy -check -top {top}",
            "proc",
            "setattr -unset init w:*",
            *(f"blackbox {macro}" for macro in macros),
            *(f"delete -port {top}/w:{name}" for name in removed),
            f"cd {top}",
            *(_tied(name, ports_text=modules[top]) for name in tied),
            "cd ..",
            f"synth -flatten -noabc -run begin:check -top {top}",
            *(f"expose -evert {top}/t:{macro}" for macro in macros),
            # The clock of a macro is not an output of the part.
            *([f"delete -port {top}/o:*.clk"] if macros else []),
            "write_rtlil logic.il",
        ],
        folder,
    )


def map_cells(folder: Path, library: Library) -> Area:
    """Map the logic in ``folder`` to cells; write :data:`NETLIST` and :data:`GATES` there."""
    constraints = f"set_driving_cell {library.buffer}\nset_load {LOAD * 1e15:g} [all_outputs]\n"
    (folder / "constraints").write_text(constraints)
    shutil.copyfile(library.path, folder / LIBERTY)
    run_yosys(
        [
            "read_rtlil logic.il",
            f"dfflibmap -liberty {LIBERTY}",
            "opt",
            f"abc -liberty {LIBERTY} -constr constraints -D {TARGET}",
            # OpenSTA before version 2.1 reads no concatenations in assignments.
            "setundef -zero",
            "splitnets",
            "opt_clean -purge",
            "rename -enumerate",
            f"tee -q -o {STATISTICS} stat -json -liberty {LIBERTY}",
            f"write_verilog -noattr -noexpr -nohex {NETLIST}.v",
            f"read_liberty -lib {LIBERTY}",
            f"write_json {NETLIST}.json",
            # The same netlist with the functions of the cells, for its simulation.
            f"read_liberty -overwrite -ignore_miss_func {LIBERTY}",
            "flatten",
            "opt_expr",
            "opt_dff",
            "dffunmap",
            "simplemap",
            "aigmap",
            f"write_json {GATES}",
        ],
        folder,
    )
    log = (folder / "yosys.log").read_text()
    found = re.findall(r"ABC:.* Delay = *([\d.]+) ps", log)
    (totals,) = msgspec.json.decode((folder / STATISTICS).read_bytes())["modules"].values()
    return Area(
        totals["area"],
        totals["sequential_area"] / totals["area"],
        totals["num_cells"],
        float(found[-1]) * 1e-12 if found else 0.0,
    )


def run_yosys(commands: Iterable[str], folder: Path) -> None:
    """Run commands of yosys in ``folder``: by the wheel pyosys, else by the program yosys."""
    require_plain_temporary_folder()
    (folder / "script.ys").write_text("\n".join(commands) + "\n")
    if find_spec("pyosys"):
        run = "from pyosys import libyosys; libyosys.run_pass('script script.ys')"
        run_logged("yosys", [sys.executable, "-c", run], folder)
    else:
        run_logged("yosys", [find_tool("yosys"), "-s", "script.ys"], folder)


def _tied(name: str, ports_text: str) -> str:
    """Return the command that makes an input constant.

    Without its two options the command would cut the wires that are joined from bits of the input.
    """
    found = re.search(rf"input wire (?:\[(\d+):0\] )?{name}\b", ports_text)
    width = 1 + int(found[1] or 0) if found else 1
    return f"connect -nounset -nomap -set {name} {width}'b{_CONSTANTS[name] * width}"


def areas_by_module(
    modules: Mapping[str, str], top: str, folder: Path, library: Library
) -> dict[str, tuple[int, float]]:
    """Return how often each module is in ``top``, and its own area in µm² without its submodules.

    Each module is mapped alone, so that the sum is larger than the area of the part.
    """
    (folder / "network.v").write_text("\n".join(modules.values()))
    shutil.copyfile(library.path, folder / LIBERTY)
    run_yosys(
        [
            "read_verilog -DSYNTHESIS network.v",
            f"hierarchy -check -top {top}",
            *(f"blackbox {macro}" for macro in macros_of(modules)),
            "proc",
            "setattr -unset init w:*",
            f"synth -noabc -run begin:check -top {top}",
            f"dfflibmap -liberty {LIBERTY}",
            f"abc -liberty {LIBERTY}",
            "opt_clean -purge",
            f"tee -q -o {STATISTICS} stat -json -liberty {LIBERTY}",
        ],
        folder,
    )
    found = msgspec.json.decode((folder / STATISTICS).read_bytes())["modules"]
    counts: dict[str, int] = {}
    areas: dict[str, float] = {}

    def count(name: str) -> None:
        module = found[f"\\{name}"]
        cells = module["num_cells_by_type"].items()
        inner = {cell: number for cell, number in cells if f"\\{cell}" in found}
        counts[name] = counts.get(name, 0) + 1
        within = sum(number * found[f"\\{cell}"]["area"] for cell, number in inner.items())
        areas[name] = module["area"] - within
        for cell, number in inner.items():
            for _ in range(number):
                count(cell)

    count(top)
    return {name: (number, areas[name]) for name, number in counts.items()}
