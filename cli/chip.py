"""``eyecast chip``: a C program on a chip with a core at every node of the network."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.network.network_text import SizeLimit
from .command import command
from .console import BUILDING, busy, print_json, print_table, say, say_written
from .options.hardware import circuits_option
from .options.network import NetworkOptions, network_options
from .options.output import (
    json_option,
    output_option,
    report_option,
    require_seen,
    require_timeline,
)
from .options.values import option_group

if TYPE_CHECKING:
    from ..chip.chip import ChipRun
    from ..model.program.certified import Room


@command(
    "chip",
    "eyecast chip examples/risc_v/jacobi.c --mesh 4x4 --check",
    "eyecast chip examples/risc_v/jacobi.c --mesh 4x4 --circuits -o timeline.svg",
)
@click.argument("file", metavar="FILE.c")
@network_options
@circuits_option
@option_group(
    click.option(
        "--check",
        "checked",
        is_flag=True,
        help="Compare each collective, and each message word that a core reads, with the cycle "
        "model.",
    ),
    heading="Run",
)
@output_option("the timeline: .perfetto.json for Perfetto, .svg, .pdf or .png for a picture")
@report_option
@json_option
def chip_command(
    file: str,
    network: NetworkOptions,
    hardware: Room,
    checked: bool,
    output: str | None,
    report: str | None,
    as_json: bool,
) -> None:
    """Compile FILE.c for a chip, run it on every tile, and say what its collectives cost.

    Every node of the network has a small RISC-V core (PicoRV32) with a memory of its own. The
    program calls collectives as in MPI (ey.h); Eyecast finds the best program for each call.
    Needs pip install 'eyecast[chip]'.
    """
    from ..chip.chip import build, require_tools, run
    from ..chip.source import NoProgram

    require_tools()
    require_timeline(output, report)
    topology = network.topology(SizeLimit.HARDWARE)
    require_seen(report, topology)
    circuits = bool(hardware.parameters["circuits"])
    with tempfile.TemporaryDirectory(prefix="eyecast-") as name:
        try:
            with busy("compiling, finding algorithms"):
                made = build(Path(file), topology, Path(name), circuits=circuits, checked=checked)
        except NoProgram as error:
            click.echo(error.lines, err=True)
            raise
        with busy(BUILDING):
            _ = made.simulator
        with busy("running"):
            found = run(made, checked=checked)
    if output is not None:
        found.write_timeline(output)
    if report is not None:
        with busy("writing the page"):
            found.report().write(report)
    if as_json:
        print_json(found.to_json(), **network.facts(topology))
    else:
        _print(found)
        say_written(output, report)
    if found.failure is not None:
        raise RuntimeError(found.failure)


def _print(found: ChipRun) -> None:
    """Print the console, a row for each call of the source, and the cycles of tiles."""
    for node, line in found.outcome.console():
        click.echo(f"tile {node}: {line}")
    print_table(*found.calls_table())
    print_table(*found.tiles_table())
    if found.check is not None and found.check.difference is None:
        say(
            f"as predicted: {len(found.check.cycles)} collectives, to the cycle, and "
            f"{found.check.words:,} message words that cores have read"
        )
