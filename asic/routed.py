"""Placement and routing of a router by qflow, in the 0.18 µm library that Debian has."""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np

from ..boards.tools import run_logged
from ..model.base.errors import InvalidInput
from ..sim.cache import keep_log
from .library import OSU018, PACKAGE_OF_OSU018
from .synthesis import run_yosys

TOOLS = ("qflow", "graywolf", "qrouter")
_LEF = OSU018.with_suffix(".lef")
_POINT = re.compile(r"\( (\S+) (\S+) \)")


class Routed(msgspec.Struct, frozen=True):
    """A placed and routed part.

    width, height
        In µm.
    cells
        Number of cells, without those that only fill the rows.
    nets, wires
        Number of nets, and the length of all their wires in µm.
    period
        Shortest clock period in s with the delays of the wires, between registers.
    """

    width: float
    height: float
    cells: int
    nets: int
    wires: float
    period: float


def require_qflow() -> None:
    """Raise :class:`.InvalidInput` if qflow or its library is not installed."""
    missing = [name for name in TOOLS if shutil.which(name) is None]
    if missing or not _LEF.exists():
        allowed = f"installed (in Debian: qflow, {PACKAGE_OF_OSU018})"
        raise InvalidInput.of("qflow", allowed, "missing")


def route(logic: Path, folder: Path) -> tuple[Routed, Path]:
    """Place and route the part whose logic is in the folder ``logic``, in the folder ``folder``.

    Returns the result and its DEF file.
    """
    (folder / "source").mkdir(parents=True)
    shutil.copy(logic / "logic.il", folder)
    # qflow finds a module only in a file of the module's name, and renames escaped names itself.
    write = "write_verilog -noattr source/part.v"
    run_yosys(["read_rtlil logic.il", "rename -top part", write], folder)
    steps = ("synthesize", "place", "sta", "route", "backanno")
    run_logged("qflow", ["qflow", "-T", "osu018", *steps, "part"], folder)
    layout = folder / "part.def"
    report = (folder / "log" / "post_sta.log").read_text()
    found = re.findall(r"maximum clock frequency .* = ([\d.]+) MHz", report)
    if not found or not layout.exists():
        raise RuntimeError(f"qflow routed nothing; see {keep_log(folder / 'qflow.log')}")
    text = layout.read_text()
    (left, bottom), (right, top) = _area(text)
    wires = sum(float(np.abs(np.diff(wire, axis=0)).sum()) for _, wire in wires_of(text))
    (nets,) = (int(number) for number in re.findall(r"^NETS (\d+)", text, re.MULTILINE))
    cells = len(list(_placed(text)))
    routed = Routed(right - left, top - bottom, cells, nets, wires, 1e-6 / float(found[0]))
    return routed, layout


def draw(layout: Path, picture: Path) -> None:
    """Draw the cells and wires of a DEF file; a suffix names the format of the picture."""
    # Matplotlib is slow to import.
    from matplotlib.collections import LineCollection, PatchCollection  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    text = layout.read_text()
    (left, bottom), (right, top) = _area(text)
    figure = Figure(figsize=(7, 7 * (top - bottom) / (right - left) + 0.6), layout="constrained")
    axes = figure.add_subplot(aspect="equal", xlim=(left, right), ylim=(bottom, top))
    sizes = _cell_sizes(_LEF.read_text())
    for registers, colour in ((False, "#e3e6ea"), (True, "#f4d9a0")):
        boxes = [
            Rectangle(place, *sizes[cell])
            for cell, place in _placed(text)
            if cell.startswith(("DFF", "LATCH")) == registers and cell in sizes
        ]
        label = "flip-flops" if registers else "gates"
        axes.add_collection(PatchCollection(boxes, facecolor=colour, edgecolor="#9aa3ad", lw=0.2))
        axes.fill([], [], facecolor=colour, edgecolor="#9aa3ad", label=label)
    layers: dict[str, list[np.ndarray]] = {}
    for layer, wire in wires_of(text):
        layers.setdefault(layer, []).append(wire)
    colours = ("#3b6fb6", "#c8443c", "#3f9a57", "#8d5bb1", "#d98a1f", "#5fb0c4")
    for (layer, lines), colour in zip(sorted(layers.items()), colours, strict=False):
        drawn = LineCollection(lines, colors=colour, linewidths=0.35, alpha=0.7, label=layer)
        axes.add_collection(drawn)
    axes.set(xlabel="µm", ylabel="µm")
    legend = figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=8)
    for line in legend.get_lines():
        line.set(linewidth=1.5, alpha=1)
    figure.savefig(picture, dpi=150)


def wires_of(text: str) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the layer of each wire of a DEF file, and its ends in µm."""
    unit = _unit(text)
    nets = text.partition("\nNETS ")[2].partition("\nEND NETS")[0]
    for layer, path in re.findall(r"(?:ROUTED|NEW) (\w+) ((?:\( \S+ \S+ \) ?)+)", nets):
        points: list[tuple[float, float]] = []
        for x, y in _POINT.findall(path):
            # A star repeats the coordinate before it.
            points.append(
                (
                    points[-1][0] if x == "*" else float(x) / unit,
                    points[-1][1] if y == "*" else float(y) / unit,
                )
            )
        if len(points) > 1:
            yield layer, np.array(points)


def _unit(text: str) -> float:
    found = re.search(r"^UNITS DISTANCE MICRONS (\d+)", text, re.MULTILINE)
    return float(found[1]) if found else 1.0


def _area(text: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the corners of the layout in µm."""
    line = text.partition("\nDIEAREA ")[2].partition(";")[0]
    first, last = (
        (float(x) / _unit(text), float(y) / _unit(text)) for x, y in _POINT.findall(line)
    )
    return first, last


def _placed(text: str) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the cell of each component and its lower left corner in µm, without filling cells."""
    unit = _unit(text)
    for cell, x, y in re.findall(r"^- \S+ (\w+) .*PLACED \( (\S+) (\S+) \)", text, re.MULTILINE):
        if not cell.startswith("FILL"):
            yield cell, (float(x) / unit, float(y) / unit)


def _cell_sizes(lef: str) -> Mapping[str, tuple[float, float]]:
    """Return the width and height of each cell in µm."""
    found = re.findall(r"^MACRO (\w+).*?^\s*SIZE ([\d.]+) BY ([\d.]+)", lef, re.M | re.DOTALL)
    return {name: (float(width), float(height)) for name, width, height in found}
