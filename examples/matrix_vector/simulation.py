"""The chip in Verilator, with a product to compute, and the timeline of a run."""

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.ticker import MaxNLocator

from eyecast.model.base import processes
from eyecast.sim.build_worker import QUICK_LEVEL, VERILATOR_OPTIONS
from eyecast.sim.cache import cached_folder, digest
from eyecast.sim.run_worker import LOG, start_bench
from eyecast.sim.toolchain import environment, tool_versions

from .bench import FOUND, TASK
from .chip import CHIP, chip_verilog
from .numbers import Factors, drawn, expected
from .plan import Software, software

BENCH = "chip_bench"
"""The name of :mod:`.bench` in the simulator."""

CONTROL = """\
`verilator_config
hier_block -module "eyecast_tile"
public_flat_rw -module "chip" -var "*"
"""


@dataclass(frozen=True)
class Product:
    """A product that was computed.

    results
        y as each tile has it in the end: shape (tiles, size).
    expected
        y as NumPy has it: shape (size,).
    computes
        Which processors were at work in each cycle: shape (cycles, tiles).
    ends
        The cycles in which the two programs were done.
    """

    results: npt.NDArray[np.int32]
    expected: npt.NDArray[np.int32]
    computes: npt.NDArray[np.bool_]
    ends: tuple[int, int]

    @property
    def right(self) -> bool:
        """Tell whether every tile has the result."""
        return bool((self.results == self.expected).all())

    @property
    def phases(self) -> dict[str, int]:
        """Return the cycles, from the start on, at which x, the products and y are complete."""
        spread, end = self.ends
        computed = int(np.flatnonzero(self.computes.any(axis=1))[-1]) + 1
        return {"x everywhere": spread, "y computed": computed, "y everywhere": end}


def multiply(width: int, height: int, rows_of_node: int, seed: int) -> Product:
    """Draw a matrix and a vector, and multiply them on the chip."""
    made = software(width, height, rows_of_node)
    matrix, vector = drawn(made.plan.size, seed)
    found = _simulated(made, matrix, vector)
    nodes = made.config.topology.nodes
    computes = np.array(found["computes"], dtype=np.uint64)[:, None] >> np.arange(
        nodes, dtype=np.uint64
    )
    results = np.array(found["results"], dtype=np.uint32).view(np.int32)
    busy = (computes & np.uint64(1)).astype(bool)
    return Product(results, expected(matrix, vector), busy, tuple(found["ends"]))


def _simulated(made: Software, matrix: Factors, vector: Factors) -> dict[str, list[int]]:
    """Run the bench on the simulated chip; return its findings."""
    plan = made.plan
    task = {
        "writes": list(made.writes(matrix, vector)),
        "programs": len(made.image.programs),
        "nodes": made.config.topology.nodes,
        "result": [plan.result, plan.result + plan.size],
    }
    simulator = _simulator(made) / "build" / CHIP
    with tempfile.TemporaryDirectory(prefix="eyecast-") as name:
        folder = Path(name)
        (folder / TASK).write_text(json.dumps(task))
        shutil.copy(Path(__file__).with_name("bench.py"), folder / f"{BENCH}.py")
        running = start_bench(simulator, BENCH, folder, modules=folder)
        running.wait()
        if not (folder / FOUND).exists():
            raise RuntimeError((folder / LOG).read_text())
        return json.loads((folder / FOUND).read_text())


def _simulator(made: Software) -> Path:
    """Return the folder of the chip's simulator, which is built once."""
    text, variables = chip_verilog(made), environment()

    def make(folder: Path) -> None:
        (folder / "chip.v").write_text(text)
        (folder / "control.vlt").write_text(CONTROL)
        build = folder / "build"
        build.mkdir()
        builder = [sys.executable, "-m", "eyecast.sim.build_worker", CHIP, str(build)]
        options = [json.dumps([*VERILATOR_OPTIONS, "--hierarchical"]), QUICK_LEVEL, "no-waves"]
        files = [str(folder / "control.vlt"), str(folder / "chip.v")]
        log = folder / "build.log"
        if processes.run([*builder, *options, *files], log, variables=variables):
            raise RuntimeError(log.read_text())

    key = digest("chip", text, CONTROL, *tool_versions())
    return cached_folder(key, f"simulator of a chip of {made.config.topology.label}", make)


def draw(product: Product, path: str) -> None:
    """Draw for each tile when it waits for x, computes, and shares its part of y."""
    spread, end = product.ends
    figure, axes = plt.subplots(figsize=(8, 3.2))
    for tile, busy in enumerate(product.computes.T):
        cycles = np.flatnonzero(busy)
        first, last = int(cycles[0]), int(cycles[-1]) + 1
        parts = [(0, first, "#4c78a8"), (first, last, "#f58518"), (last, end, "#54a24b")]
        for begin, stop, color in parts:
            axes.barh(tile, stop - begin, left=begin, color=color, height=0.8)
    axes.axvline(spread, color="black", linewidth=0.8)
    axes.set_xlabel("cycle")
    axes.set_ylabel("tile")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.invert_yaxis()
    names = ("x comes (broadcast)", "products", "y goes round (all-gather)")
    handles = [plt.Rectangle((0, 0), 1, 1, color=color) for *_, color in parts]
    axes.legend(handles, names, loc="upper center", ncols=3, bbox_to_anchor=(0.5, 1.16))
    figure.savefig(path, bbox_inches="tight", dpi=120)
