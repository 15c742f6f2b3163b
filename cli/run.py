"""``eyecast run``: a workload of compute and collectives, on a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput, require_range
from ..model.base.files import write_bytes_atomically
from ..model.network.network_text import SizeLimit
from .command import command
from .console import busy, print_json, print_table, progress, say_written
from .options.hardware import circuits_option
from .options.network import NetworkOptions, network_options
from .options.output import (
    json_option,
    output_option,
    report_option,
    require_seen,
    require_timeline,
)
from .options.values import integer_option, option_group
from .options.workload import WorkloadOptions, workload_options

if TYPE_CHECKING:
    from ..model.compare.checks import Verification
    from ..model.network.topology import Topology
    from ..model.program.certified import Room
    from ..model.workload.run import WorkloadRun


@command(
    "run",
    "eyecast run layers.csv --mesh 4x4",
    "eyecast run trace.0.et --mesh 4x4 --rate 4096 --circuits -o run.perfetto.json",
)
@click.argument("file", metavar="FILE")
@network_options
@workload_options
@circuits_option
@option_group(
    integer_option(
        "--message-words",
        8192,
        "Words that each node's message memory holds; longer messages travel in pieces.",
    ),
    heading="Hardware",
)
@option_group(
    integer_option(
        "--verify",
        None,
        "Run this many collectives or messages of the workload on the simulated hardware.",
    ),
    click.option(
        "--from",
        "first",
        metavar="ID",
        help="The operation with which --verify begins; by default the first of all.",
    ),
    heading="Run",
)
@output_option("the timeline: .perfetto.json for Perfetto, .svg, .pdf or .png for a picture")
@report_option
@json_option
def run_command(
    file: str,
    network: NetworkOptions,
    options: WorkloadOptions,
    hardware: Room,
    message_words: int,
    verify: int | None,
    first: str | None,
    output: str | None,
    report: str | None,
    as_json: bool,
) -> None:
    """Predict the workload in FILE: computations, collectives and messages of processes.

    FILE is a table (CSV or JSON), a file of a Chakra trace, or a GOAL file. Eyecast predicts the
    workload on two machines: the engine runs one program at a time, and the ideal machine runs all
    collectives at the same time that share no link.
    """
    from ..model.workload.tables import cycles_table, links_table, path_table
    from ..model.workload.window import MOST_CALLS

    require_timeline(output, report)
    if verify is None and first is not None:
        raise InvalidInput("--from must be left out without --verify")
    if verify is not None:
        require_range("--verify", verify, 1, MOST_CALLS)
    topology = network.topology(SizeLimit.PROGRAM if verify is None else SizeLimit.HARDWARE)
    require_seen(report, topology)
    circuits = bool(hardware.parameters["circuits"])
    found = run_of(file, options, topology, circuits=circuits, message_words=message_words)
    if output is not None:
        _write(found, output)
    if report is not None:
        from ..report.reports import report_workload

        with busy("writing the page"):
            report_workload(found).write(report)
    results = [] if verify is None else _verified(found, first, verify)
    if as_json:
        kept = {"verified": [each.to_json() for each in results]} if results else {}
        print_json({**found.to_json(), **kept}, **network.facts(topology))
    else:
        for table in (cycles_table(found), path_table("engine", found.engine), links_table(found)):
            print_table(*table)
        _print_verified(results)
        say_written(output, report)
    if not all(each.agrees for each in results):
        raise RuntimeError("the hardware differs from the prediction")


def run_of(
    file: str,
    options: WorkloadOptions,
    topology: Topology,
    *,
    circuits: bool,
    message_words: int,
) -> WorkloadRun:
    """Run the workload of a file on both machines."""
    from ..model.workload.run import run_workload

    with busy("reading"):
        workload = options.read(file, topology)
    calls = len(workload.calls)
    with progress("finding algorithms", calls, shown=calls > 1) as (_, advance):
        return run_workload(
            workload,
            policy=options.policy,
            circuits=circuits,
            memory_words=message_words,
            tell=advance,
        )


def _verified(found: WorkloadRun, first: str | None, count: int) -> list[Verification]:
    """Run a window of programs on the simulated hardware."""
    from ..model.workload.window import cases
    from ..sim.verify import verify

    with busy("predicting the window"):
        predicted = cases(found, first, count)
    with progress("verifying", len(predicted), shown=True) as (_, advance):
        results = []
        for result in verify(predicted):
            results.append(result)
            advance()
    return results


def _print_verified(results: Sequence[Verification]) -> None:
    """Print each program of the window beside its prediction."""
    if results:
        print_table(
            "programs on the hardware, flit for flit",
            ("program", "tiles compute", "predicted cycles", "hardware cycles", "trace rows", ""),
            [
                (
                    *(number, 0 if each.case.hold is None else int(each.case.hold.max())),
                    *(each.case.predicted.cycles, each.measured.cycles),
                    *(len(each.measured.trace), "ok" if each.agrees else "differs"),
                )
                for number, each in enumerate(results)
            ],
        )


def _write(found: WorkloadRun, output: str) -> None:
    """Write the timeline as its suffix says."""
    if output.endswith(".perfetto.json"):
        from ..model.workload.trace_events import trace_events

        write_bytes_atomically(output, trace_events(run.chart for _, run in found.machines))
        return
    from ..picture.file import save_picture
    from ..picture.workload import draw_workload

    save_picture(draw_workload(found), output)
