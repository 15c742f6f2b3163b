"""``eyecast asic``: area, time and energy of a network's parts in a library of standard cells."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from ..model.base.errors import InvalidInput
from ..model.network.config import NetworkConfig, Timing
from ..model.network.network_text import SizeLimit
from ..model.program.deadlock import certify
from ..model.program.program import Program
from .command import command
from .console import busy, print_json, print_table, say, say_written
from .options.collective import collective_options
from .options.hardware import hardware_options
from .options.network import network_options
from .options.output import json_option, output_option, output_paths
from .options.schedule_file import ScheduleOptions, schedule_file_option, schedule_options
from .options.values import file_option

if TYPE_CHECKING:
    from ..asic.library import Library
    from ..asic.measure import Energy, Part, Synthesized
    from ..asic.routed import Routed
    from ..model.compare.case import Case

NETLISTS = ("router.v", "interface.v", "tile.v")
LAYOUT = ("router.def", "router.png")
"""Files in the output folder; the last two only with ``--route``."""


@command(
    "asic",
    "eyecast asic --mesh 4x4 --vcs 2 --source 0,0 --words 64 --run",
    "eyecast asic --mesh 4x4 --contention-free --route -o routed",
)
@schedule_options(network_options, hardware_options, collective_options, schedule_file_option)
@file_option(
    "--liberty",
    help="File of the library of standard cells; by default that of Debian's qflow-tech-osu018.",
)
@click.option(
    "--run",
    "with_run",
    is_flag=True,
    help="Run the collective on the simulated hardware, and print the energy of the busiest "
    "router.",
)
@click.option(
    "--route",
    "with_route",
    is_flag=True,
    help="Place and route the router with qflow in 0.18 µm; needs -o, without --liberty.",
)
@output_option("the netlists, and the layout with its picture", metavar="FOLDER")
@json_option
def asic_command(
    wanted: ScheduleOptions,
    liberty: str | None,
    with_run: bool,
    with_route: bool,
    output: str | None,
    as_json: bool,
) -> None:
    """Synthesize a network's router, network interface and tile; print area, clock and energy.

    Yosys and ABC must be installed (pip install 'eyecast[prove]'). With OpenSTA (in Debian:
    opensta) clock periods include setup times, and --run prints the energy. The areas leave out the
    memories for messages and tables, because a chip has macros for them; the command lists their
    sizes.
    """
    from ..asic.library import default_library, read_library
    from ..asic.measure import Synthesized
    from ..asic.routed import require_qflow
    from ..asic.synthesis import macros_of
    from ..asic.timing import has_opensta

    if with_route and (output is None or liberty is not None):
        raise InvalidInput("--route needs -o FOLDER, and no --liberty")
    if with_route:
        require_qflow()
    if with_run and not has_opensta():
        raise InvalidInput.of("OpenSTA", "installed for --run (in Debian: opensta)", "missing")
    library = read_library(liberty or default_library())
    case = _case(wanted) if with_run else None
    config = case.program.config if case else wanted.config(SizeLimit.HARDWARE)
    paths = output_paths(output, *NETLISTS, *(LAYOUT if with_route else ()))
    with tempfile.TemporaryDirectory(prefix="eyecast-") as name:
        made = Synthesized(config, Path(name) / "parts")
        with busy("synthesizing"):
            made.elaborate()
            parts = {part: made.map_part(part, library) for part in ("router", "interface", "tile")}
        energy = None if case is None else _energy(made, library, parts["router"], case)
        for part, path in zip(parts, paths, strict=False):
            shutil.copy(made.folder / part / "netlist.v", path)
        routed = _route(made.folder / "router", paths[len(NETLISTS) :]) if with_route else None
        memories = macros_of(made.modules)
    if as_json:
        found = {"library": library.name, "parts": parts, "energy": energy, "routed": routed}
        sizes = {name: {"words": words, "bits": bits} for name, (words, bits) in memories.items()}
        result = {**to_builtins(found), "memories": sizes}
        print_json(result, **wanted.facts(config.topology))
        return
    _print_parts(config, library, parts, memories)
    if energy is not None and case is not None:
        _print_energy(config, parts, energy)
    if routed is not None:
        size = f"{routed.width:.0f} × {routed.height:.0f} µm, {routed.cells} cells"
        say(f"routed: {size}, {routed.wires / 1e3:.0f} mm of wire, {1e-6 / routed.period:.0f} MHz")
    say_written(*paths)


def _case(wanted: ScheduleOptions) -> Case:
    """Return the run of the collective."""
    from ..model.compare.case import Case

    (compiled,) = wanted.compiled([wanted.answer(SizeLimit.HARDWARE)])
    if isinstance(compiled.program, Program):
        certify(compiled.program)
    return Case.of(compiled, timing=Timing.BARRIER, seed=0)


def _energy(made: Synthesized, library: Library, router: Part, case: Case) -> Energy:
    """Record the run and return the energy of its busiest router."""
    from ..asic.measure import record

    recording = made.folder / "signals.vcd"
    with busy("running (the first time, the simulator is built)"):
        record(case, recording)
    with busy("counting toggles"):
        return made.energy(library, router.period, case, recording)


def _route(logic: Path, paths: list[Path]) -> Routed:
    """Route the router, and write its layout and a picture."""
    from ..asic.routed import draw, route

    with busy("placing and routing (some minutes)"):
        routed, layout = route(logic, logic / "routed")
        shutil.copy(layout, paths[0])
        draw(layout, paths[1])
    return routed


def _print_parts(
    config: NetworkConfig,
    library: Library,
    parts: dict[str, Part],
    memories: dict[str, tuple[int, int]],
) -> None:
    rows = [
        (
            name,
            f"{part.area:,.0f}",
            f"{part.gates / 1e3:.2f}",
            f"{part.registers:.0%}",
            f"{part.period * 1e9:.2f}",
            f"{1e-6 / part.period:.0f}",
        )
        for name, part in parts.items()
    ]
    print_table(
        f"parts of the {config.topology.label} in {library.name}",
        ("", "µm²", "kGE", "flip-flops", "ns", "MHz"),
        rows,
    )
    if not parts["router"].with_setup:
        say("ns without setup times, from ABC: OpenSTA is missing (in Debian: opensta)")
    for name, (words, bits) in memories.items():
        say(f"not counted: {name}, {words} words of {bits} bits")


def _print_energy(config: NetworkConfig, parts: dict[str, Part], energy: Energy) -> None:
    """Print power and energy of the busiest router, and time times area of the run."""
    period = max(part.period for part in parts.values())
    microseconds = energy.cycles * period * 1e6
    area = parts["tile"].area * config.topology.nodes * 1e-6
    say(
        f"router of node {energy.node}: {energy.power * 1e3:.2f} mW at {1e-6 / energy.period:.0f} "
        f"MHz, {energy.per_byte * 1e12:.2f} pJ per byte and hop ({energy.sent_bytes} bytes in "
        f"{energy.cycles} cycles)"
    )
    say(
        f"the run: {energy.cycles} cycles, {microseconds:.2f} µs at the slowest part's clock; "
        f"{area:.2f} mm² of tiles; {microseconds * area:.2f} µs × mm²"
    )
