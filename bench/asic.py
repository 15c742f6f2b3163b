"""``make asic``: area, time and energy of networks in libraries of standard cells.

    python bench/asic.py [LIBERTY ...]

Measures the variants below in the library that Debian's qflow-tech-osu018 has, and in each LIBERTY.
Prints each result with its change since the last one. Writes ``asic/measured.json``, and the tables
and pictures of docs/guides/into-silicon.md. Results in other libraries are kept. Needs OpenSTA.

A variant is measured once for its Verilog, its libraries and these tools; an interrupted run
continues.
"""

import sys
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

import eyecast
from eyecast.api.runs import _case
from eyecast.asic.library import Library, default_library, read_library
from eyecast.asic.measure import Energy, Part, Synthesized, record
from eyecast.asic.measured import MEASURED_FILE, USUAL_WIDTH, MeasuredNetwork, measured_networks
from eyecast.asic.picture import draw_measured
from eyecast.asic.tables import guide_with
from eyecast.asic.timing import PROGRAM
from eyecast.boards.tools import tool_version
from eyecast.model.base.files import write_bytes_atomically
from eyecast.model.compare.case import Case
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.operators import as_operators
from eyecast.model.schedule.collective import Collective
from eyecast.model.workload.costs import Costs
from eyecast.model.workload.workload import Call
from eyecast.sim.cache import cached_folder, digest, source_digest
from eyecast.sim.verilog import network_modules

DOCS = Path(__file__).parents[1] / "docs"
GUIDE = DOCS / "guides" / "into-silicon.md"
FLITS = 64
CIRCUITS: dict[str, Any] = {"circuits": True}
ADDING: dict[str, Any] = {"operators": as_operators("add")}
STREAMS: dict[str, Any] = {"streams": True}
DIRECT: dict[str, Any] = {"contention_free": True}
WIDE = 128, 512
"""Bits of wide words."""
SIZES = tuple(1 << power for power in range(10, 21, 2))
"""Bytes of the all-reduces."""
LANES: dict[str, Any] = {"operators": as_operators("add:32")}
VARIANTS: dict[str, tuple[dict[str, Any], str]] = {
    "1 VC, depth 2": ({}, "eye"),
    "without arbitration": (DIRECT, "eye"),
    "circuits": (CIRCUITS, "light-tree"),
    "2 VCs, depth 4": ({"vcs": 2, "depth": 4}, "eye"),
    "1 VC, depth 4": ({"depth": 4}, "eye"),
    "operator add": (ADDING, "eye"),
    "streams": (STREAMS, "chain"),
    "without arbitration, streams": (DIRECT | STREAMS, "chain"),
    "circuits, operator add": (CIRCUITS | ADDING, "light-tree"),
    "2 VCs, depth 2": ({"vcs": 2}, "eye"),
    "1 VC, depth 8": ({"depth": 8}, "eye"),
    "all ports, streams": ({"all_port": True} | STREAMS, "packed-trees"),
    "4 VCs, depth 2": ({"vcs": 4}, "eye"),
} | {
    f"{name}, {bits} bits": (parameters | {"flit_width": bits}, algorithm)
    for bits in WIDE
    for name, parameters, algorithm in (
        ("1 VC, depth 2", {}, "eye"),
        ("circuits", CIRCUITS, "light-tree"),
        ("operator add", LANES, "eye"),
        ("circuits, operator add", CIRCUITS | LANES, "light-tree"),
    )
}
"""Parameters of each variant, and the algorithm of its broadcast."""
SMALL = {"eye": "tree"}
"""Algorithms of the 3x3 mesh that differ from those of the 8x8 mesh."""
RECIPE = Path(__file__).read_text(), source_digest("asic/*.py")
"""Sources that define the figures of a network, given its Verilog."""
RATE = 0.2
"""Flits that a node injects in a cycle, in uniform traffic."""
ARBITRATES = {"vcs", "depth"}
"""Parameters of routers that can carry uniform traffic: all others need a program."""


def _broadcast(side: int, parameters: dict[str, Any], algorithm: str) -> Case:
    ports = "all" if parameters.get("all_port") else "one"
    made = eyecast.schedule(
        eyecast.mesh((side, side)), algorithm, source=0, words=FLITS, ports=ports
    )
    return _case(made, "barrier", parameters)


def _all_reduces(config: NetworkConfig) -> dict[int, int]:
    """Return the cycles of all-reduces by the bytes of each node; none without an operator."""
    if not config.operators:
        return {}
    everyone = tuple(range(config.topology.nodes))
    costs = Costs(config.topology, circuits=config.circuits, flit_width=config.flit_width)
    words = [8 * size // config.flit_width for size in SIZES]
    calls = [Call(Collective.ALL_REDUCE, everyone, count, "sum") for count in words]
    found = costs.find([(call, everyone) for call in calls])
    return {size: cost.cycles for size, cost in zip(SIZES, found, strict=True)}


def _uniform(parameters: dict[str, Any]) -> TrafficCase:
    return eyecast.traffic(eyecast.mesh((3, 3)), rate=RATE, cycles=300, seed=1, **parameters).case


def _areas(
    config: NetworkConfig, libraries: Iterable[Library], folder: Path
) -> dict[str, dict[str, Part]]:
    """Return by library the parts of an 8x8 mesh."""
    made = Synthesized(config, folder)
    names = ("router", "interface", *(("tile",) if config.circuits else ()))
    made.elaborate(names)
    return {
        library.name: {part: made.map_part(part, library) for part in names}
        for library in libraries
    }


def _energies(
    broadcast: Case, parameters: dict[str, Any], libraries: Iterable[Library], folder: Path
) -> dict[str, dict[str, Energy]]:
    """Return by library and run the energy of the busiest router of a 3x3 mesh."""
    runs: dict[str, Case | TrafficCase] = {"broadcast": broadcast}
    if parameters.keys() <= ARBITRATES:
        runs["uniform"] = _uniform(parameters)
    # The router of this mesh has shorter counts of hops than that of the 8x8 mesh.
    made = Synthesized(broadcast.program.config, folder)
    made.elaborate(["router"])
    for run, case in runs.items():
        record(case, folder / f"{run}.vcd")
    found = {}
    for library in libraries:
        period = made.map_part("router", library).period
        found[library.name] = {
            run: made.energy(library, period, case, folder / f"{run}.vcd")
            for run, case in runs.items()
        }
    return found


def _measured(variant: str, libraries: Sequence[Library]) -> list[MeasuredNetwork]:
    """Return the variant in each library, from the cache if it was measured before."""
    parameters, algorithm = VARIANTS[variant]
    case = _broadcast(8, parameters, algorithm)
    small = _broadcast(3, parameters, SMALL.get(algorithm, algorithm))
    verilog = [network_modules(each.program.config) for each in (case, small)]
    facts = [variant, *RECIPE, version("pyosys"), tool_version(PROGRAM), str(case.predicted.cycles)]
    facts += [text for modules in verilog for text in modules.values()]
    facts += [library.path.read_text() for library in libraries]

    def make(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as name:
            parts = _areas(case.program.config, libraries, Path(name) / "parts")
            # A broadcast moves no operand: a wide router has the energy of one without operators.
            moved = case.program.config.operators and case.program.config.further_pieces
            recorded = Path(name) / "recorded"
            energies = {} if moved else _energies(small, parameters, libraries, recorded)
        all_reduces = _all_reduces(case.program.config)
        found = [
            MeasuredNetwork(
                variant,
                library,
                parts[library],
                algorithm,
                case.predicted.cycles,
                energies.get(library, {}),
                case.program.config.flit_width,
                all_reduces,
            )
            for library in parts
        ]
        (folder / MEASURED_FILE.name).write_bytes(msgspec.json.encode(found))

    folder = cached_folder(digest(*facts), f"figures of {variant} in silicon", make)
    data = (folder / MEASURED_FILE.name).read_bytes()
    return msgspec.json.decode(data, type=list[MeasuredNetwork])


def _change(measured: MeasuredNetwork, last: MeasuredNetwork | None) -> str:
    """Return by how much area, period and energy differ from the last result."""
    before = {} if last is None else _facts(last)
    return ", ".join(
        f"{value:,.2f} {unit}" + (f" ({value / before[unit] - 1:+.1%})" if unit in before else "")
        for unit, value in _facts(measured).items()
    )


def _facts(measured: MeasuredNetwork) -> dict[str, float]:
    """Return the figures that are compared with the last ones, by their unit."""
    facts = {"µm²": measured.node_area, "ns": measured.period * 1e9}
    return facts | {f"pJ/B ({run})": one.per_byte * 1e12 for run, one in measured.energy.items()}


def main() -> None:
    """Measure every variant; keep results after each."""
    libraries = [read_library(path) for path in (default_library(), *sys.argv[1:])]
    kept = {(each.variant, each.library): each for each in measured_networks()}
    for variant in VARIANTS:
        for measured in _measured(variant, libraries):
            change = _change(measured, kept.get((variant, measured.library)))
            print(f"{variant}, {measured.library}: {change}", flush=True)
            kept[variant, measured.library] = measured
        order = [kept[key] for key in sorted(kept, key=lambda key: (key[1], _place(key[0])))]
        text = msgspec.json.format(msgspec.json.encode(order), indent=1)
        write_bytes_atomically(MEASURED_FILE, text + b"\n")
    measured = measured_networks()
    draw_measured([each for each in measured if each.flit_width == USUAL_WIDTH], DOCS)
    write_bytes_atomically(GUIDE, guide_with(GUIDE.read_text(), measured).encode())


def _place(variant: str) -> int:
    return list(VARIANTS).index(variant)


if __name__ == "__main__":
    main()
