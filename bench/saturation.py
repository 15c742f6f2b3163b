"""Latency over load of every pattern of traffic, and its saturation, beside BookSim2's.

First the sweep of ``bench/sweeps/patterns.toml`` measures our cycle model; its table is read here::

    eyecast sweep bench/sweeps/patterns.toml -o patterns.csv
    EYECAST_BOOKSIM=booksim2/src python bench/saturation.py patterns.csv saturation.svg

BookSim2 has the same mesh, routes, VCs, buffer slots and flits per packet. Its saturation is found
as ours: by bisection of the load above which less than 95 % of the offered flits are accepted.

Every run of BookSim2 is bounded. Above saturation its measures never settle, and it then waits for
all measured packets, which wait in queues without bound. So a run has a fixed number of short
samples (``max_samples``), it measures throughput and not latency (``sim_type``), it is not repeated
(``sim_count``), and it ends after :data:`SECONDS`; the last sample counts.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from eyecast.picture.file import save_picture
from eyecast.picture.palette import CATEGORIES
from eyecast.picture.style import QUIET
from eyecast.sweeps.saturation import CURVE, SUSTAINED, bracket

VARIABLE = "EYECAST_BOOKSIM"
SECONDS = 60
PRECISION = 1 / 64
SIDE, FLITS = 8, 4
HOT = ",".join(["4"] * 32 + ["67"] + ["4"] * 31)
"""Weights of the nodes as targets: a fifth of the packets to node 32, the others uniformly."""

TRAFFIC = {
    "uniform": "uniform",
    "neighbor": "neighbor",
    "tornado": "tornado",
    "transpose": "transpose",
    "shuffle": "shuffle",
    "bit-complement": "bitcomp",
    "bit-reverse": "bitrev",
    "hotspot": f"hotspot({{{{{','.join(map(str, range(SIDE * SIDE)))}}},{{{HOT}}}}})",
}
"""Our patterns, as BookSim2 calls them."""

SETTINGS = {
    **{"topology": "mesh", "k": SIDE, "n": 2, "routing_function": "dor"},
    **{"num_vcs": 2, "vc_buf_size": 4, "packet_size": FLITS, "injection_rate_uses_flits": 1},
    **{"routing_delay": 0, "vc_alloc_delay": 1, "sw_alloc_delay": 1, "credit_delay": 1},
    **{"sim_type": "throughput", "sim_count": 1, "warmup_periods": 2, "sample_period": 1000},
    **{"max_samples": 6},
}

Load = tuple[float, float, float]
"""Offered and accepted flits per node and cycle, and mean latency of packets in cycles."""


def program() -> str:
    """Return BookSim2's program, on the path or in the folder that the environment names."""
    found = shutil.which("booksim", path=os.environ.get(VARIABLE) or os.environ.get("PATH"))
    return found or sys.exit(f"booksim must be on the path, or in the folder of {VARIABLE}")


def booksim(pattern: str, rate: float) -> Load:
    """Run BookSim2 at a load; return what its last sample says."""
    settings = {**SETTINGS, "traffic": TRAFFIC[pattern], "injection_rate": rate}
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write("".join(f"{name} = {value};\n" for name, value in settings.items()))
        file.flush()
        command = [program(), file.name]
        try:
            ran = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
            output = ran.stdout
        except subprocess.TimeoutExpired as late:
            output = late.stdout or b""
    text = output.decode()
    accepted = re.findall(r"Accepted flit rate average ?= ([\d.]+)", text)
    latency = re.findall(r"Packet latency average = ([\d.]+)", text)
    if not accepted or not latency:
        sys.exit(f"BookSim2 measured nothing for {pattern} at {rate}:\n{text[-500:]}")
    return rate, float(accepted[-1]), float(latency[-1])


def measured_by_booksim(pattern: str) -> tuple[float, list[Load]]:
    """Return the saturation of a pattern on BookSim2, and loads below it."""
    loads: dict[float, Load] = {}

    def sustained(rate: float) -> bool:
        loads[rate] = booksim(pattern, rate)
        offered, accepted, _ = loads[rate]
        return accepted >= SUSTAINED * offered

    saturation = sum(bracket(sustained, PRECISION)) / 2
    for part in CURVE:
        loads[part * saturation] = booksim(pattern, part * saturation)
    return saturation, sorted(load for rate, load in loads.items() if rate <= saturation)


def measured_by_us(table: Path) -> dict[str, tuple[float, list[Load]]]:
    """Return the saturation of each pattern of a sweep's table, and loads below it."""
    found: dict[str, tuple[float, list[Load]]] = {}
    with table.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["part"] == "saturation":
                found[row["pattern"]] = float(row["saturation_rate"]), []
            else:
                names = ("rate", "accepted_throughput", "mean_latency")
                offered, accepted, latency = (float(row[name]) for name in names)
                found[row["pattern"]][1].append((offered, accepted, latency))
    return found


def draw(results: dict[str, dict[str, tuple[float, list[Load]]]]) -> Figure:
    """Draw a panel for each pattern: latency over load of both, and where each saturates."""
    figure = Figure(figsize=(10, 5), layout="constrained")
    panels = figure.subplots(2, -(-len(results) // 2), sharey=True).ravel()
    for axes, (pattern, sides) in zip(panels, results.items(), strict=True):
        for number, (name, (saturation, loads)) in enumerate(sides.items()):
            color = CATEGORIES[number]
            points = [(offered, latency) for offered, _, latency in loads]
            axes.plot(*zip(*points, strict=True), "o-", ms=3, color=color, label=name)
            axes.axvline(saturation, color=color, ls="--", lw=1)
        axes.set_title(pattern, fontsize="medium")
        axes.set_yscale("log")
        axes.set_xlim(0, 1.1 * max(saturation for saturation, _ in sides.values()))
        axes.grid(color=QUIET, alpha=0.2, lw=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize="small")
    figure.supxlabel("offered load, flits per node and cycle; dashed: saturation", fontsize="small")
    figure.supylabel("mean latency, cycles", fontsize="small")
    return figure


def main(table: Path, picture: Path) -> None:
    """Measure all patterns on BookSim2, print the table, and draw the picture."""
    program()
    results = {}
    printed = Table(title="saturation, flits per node and cycle")
    for column in ("pattern", "Eyecast", "BookSim2"):
        printed.add_column(column, justify="left" if column == "pattern" else "right")
    for pattern, ours in measured_by_us(table).items():
        results[pattern] = {"Eyecast": ours, "BookSim2": measured_by_booksim(pattern)}
        printed.add_row(pattern, *(f"{rate:.3f}" for rate, _ in results[pattern].values()))
    Console().print(printed)
    save_picture(draw(results), picture)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
