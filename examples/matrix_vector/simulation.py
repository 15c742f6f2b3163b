"""The chip in Verilator, with a product to compute, and the timeline of a run."""

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from eyecast.model.workload.chart import COMPUTE, Bar, Chart
from eyecast.picture.file import save_picture
from eyecast.picture.workload import draw_charts
from eyecast.sim.build import build_chip
from eyecast.sim.cache import digest
from eyecast.sim.compilation import TILE_APART_OPTIONS
from eyecast.sim.run_worker import LOG, start_bench

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
    simulator = _simulator(made)
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
    """Return the chip's simulator, which is built once."""
    text, label = chip_verilog(made), made.config.topology.label
    key = digest(text, CONTROL)
    return build_chip(CHIP, key, label, lambda: (text, CONTROL), TILE_APART_OPTIONS)


def draw(product: Product, path: str) -> None:
    """Draw for each tile when it waits for x, computes, and shares its part of y."""
    _, end = product.ends
    bars = []
    for tile, busy in enumerate(product.computes.T):
        cycles = np.flatnonzero(busy)
        first, last = int(cycles[0]), int(cycles[-1]) + 1
        bars += [
            Bar(tile, 0, first, "x", "broadcast"),
            Bar(tile, first, last, "products", COMPUTE),
            Bar(tile, last, end, "y", "all-gather"),
        ]
    chart = Chart("chip", len(product.results), end, bars)
    save_picture(draw_charts("matrix times vector", [chart]), path)
