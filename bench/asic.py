"""``make asic``: area, time and energy of networks in libraries of standard cells.

    python bench/asic.py [LIBERTY ...]

Measures the variants below in each library, by default in the one that Debian's qflow-tech-osu018
has, and writes ``asic/measured.json`` and the pictures of docs/silicon.md. Results in other
libraries are kept. Needs OpenSTA, for setup times and energy.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

import eyecast
from eyecast.api.runs import _case
from eyecast.asic.library import Library, default_library, read_library
from eyecast.asic.measure import Energy, Synthesized, record
from eyecast.asic.measured import MEASURED_FILE, MeasuredNetwork, measured_networks
from eyecast.asic.picture import draw_measured
from eyecast.model.base.files import write_bytes_atomically
from eyecast.model.compare.case import Case
from eyecast.model.compare.traffic_case import TrafficCase
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.operators import as_operators
from eyecast.model.network.topology import mesh

PICTURES = Path(__file__).parents[1] / "docs"
FLITS = 64
CIRCUITS: dict[str, Any] = {"circuits": True}
ADDING: dict[str, Any] = {"operators": as_operators("add")}
STREAMS: dict[str, Any] = {"streams": True}
DIRECT: dict[str, Any] = {"contention_free": True}
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
}
"""Parameters of each variant, and the algorithm of its broadcast."""
WITH_ENERGY = ("1 VC, depth 2", "without arbitration", "circuits")
WITH_UNIFORM = ("1 VC, depth 2",)
RATE = 0.2
"""Flits that a node injects in a cycle, in uniform traffic."""


def _broadcast(side: int, parameters: dict[str, Any], algorithm: str) -> Case:
    ports = "all" if parameters.get("all_port") else "one"
    made = eyecast.schedule(
        eyecast.mesh((side, side)), algorithm, source=0, flits=FLITS, ports=ports
    )
    return _case(made, "barrier", parameters)


def _uniform(parameters: dict[str, Any]) -> TrafficCase:
    return eyecast.traffic(eyecast.mesh((3, 3)), rate=RATE, cycles=300, seed=1, **parameters).case


def _energies(
    made: Synthesized, libraries: dict[str, Library], variant: str, periods: dict[str, float]
) -> Iterator[tuple[str, str, Energy]]:
    """Yield library, run and energy of the busiest router of a 3x3 mesh."""
    parameters, algorithm = VARIANTS[variant]
    algorithm = "tree" if algorithm == "eye" else algorithm
    runs: dict[str, Case | TrafficCase] = {"broadcast": _broadcast(3, parameters, algorithm)}
    if variant in WITH_UNIFORM:
        runs["uniform"] = _uniform(parameters)
    for run, case in runs.items():
        recording = made.folder / f"{run}.vcd"
        record(case, recording)
        for name, library in libraries.items():
            made.map_part("router", library)
            yield name, run, made.energy(library, periods[name], case, recording)


def _measure(variant: str, libraries: dict[str, Library]) -> Iterator[MeasuredNetwork]:
    """Yield the variant in each library."""
    parameters, algorithm = VARIANTS[variant]
    case = _broadcast(8, parameters, algorithm)
    config: NetworkConfig = case.program.config
    if variant in WITH_ENERGY:
        # The router of the small mesh must be the one that is measured.
        small = _broadcast(3, parameters, "tree" if algorithm == "eye" else algorithm)
        config = replace(config, topology=mesh((3, 3)), **_room(small.program.config))
    with tempfile.TemporaryDirectory() as name:
        made = Synthesized(config, Path(name) / "parts")
        names = ("router", "interface", *(("tile",) if config.circuits else ()))
        made.elaborate(names)
        found = {
            library: {part: made.map_part(part, facts) for part in names}
            for library, facts in libraries.items()
        }
        energy: dict[str, dict[str, Energy]] = {library: {} for library in libraries}
        if variant in WITH_ENERGY:
            periods = {library: parts["router"].period for library, parts in found.items()}
            for library, run, measured in _energies(made, libraries, variant, periods):
                energy[library][run] = measured
    for library, parts in found.items():
        cycles = case.predicted.cycles
        yield MeasuredNetwork(variant, library, parts, algorithm, cycles, energy[library])


def _room(config: NetworkConfig) -> dict[str, Any]:
    return {"message_words": config.message_words, "table_words": config.table_words}


def main() -> None:
    """Measure every variant; keep results after each."""
    paths = sys.argv[1:] or [default_library()]
    libraries = {library.name: library for library in map(read_library, paths)}
    known = measured_networks() if MEASURED_FILE.exists() else []
    kept = {(each.variant, each.library): each for each in known}
    for variant in VARIANTS:
        for measured in _measure(variant, libraries):
            kept[variant, measured.library] = measured
            print(
                f"{variant:30} {measured.library:30} {measured.node_area:10.0f} µm² "
                f"{measured.period * 1e9:.2f} ns {measured.time_area:.2f} µs × mm²",
                flush=True,
            )
        order = [kept[key] for key in sorted(kept, key=lambda key: (key[1], _place(key[0])))]
        text = msgspec.json.format(msgspec.json.encode(order), indent=1)
        write_bytes_atomically(MEASURED_FILE, text + b"\n")
    draw_measured(measured_networks(), PICTURES)


def _place(variant: str) -> int:
    return list(VARIANTS).index(variant)


if __name__ == "__main__":
    main()
