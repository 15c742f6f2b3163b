"""``eyecast verify``: a schedule on the simulated hardware, compared with the cycle model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .console import (
    BUILDING,
    busy,
    print_checks,
    print_json,
    print_table,
    progress,
    say_written,
    schedule_title,
)
from .model.algorithms import ROOTLESS
from .model.errors import InvalidInput
from .model.program_file import write_program
from .model.schedule import Schedule
from .model.schedule_file import write_schedule
from .options import (
    Chosen,
    Use,
    chosen_config,
    chosen_topology,
    force_option,
    hardware_options,
    json_option,
    network_options,
    output_option,
    require_no_deadlock,
    timing_option,
    writable_folder,
)
from .options_collective import (
    chosen_schedule,
    collective_options,
    make_schedule,
    schedule_file_option,
)

if TYPE_CHECKING:
    from .sim.verify import Case, Verification


@click.command("verify")
@network_options
@collective_options
@schedule_file_option
@hardware_options
@timing_option
@force_option
@click.option("--all-sources", is_flag=True, help="Every node in turn as the source.")
@click.option("--waves", is_flag=True, help="Record waveforms (waves.vcd); needs -o.")
@output_option("schedule, program, both traces and waveforms", metavar="FOLDER")
@json_option
def verify_command(
    output: str | None, as_json: bool, timing: str, all_sources: bool, waves: bool, **chosen: Any
) -> None:
    """Run a schedule on the simulated hardware and compare it with the model, flit for flit.

    Exit status 0 only if everything agrees.
    """
    from .sim.verify import verify

    if waves and output is None:
        raise InvalidInput("--waves needs -o FOLDER, to have a place for waves.vcd")
    if output is not None and all_sources:
        raise InvalidInput("-o must be left out with --all-sources: it keeps the files of one run")
    with busy("generating, checking, predicting"):
        cases = list(_cases(chosen, timing, all_sources))
    folder = None if output is None else writable_folder(output)
    waves_file = folder / "waves.vcd" if folder is not None and waves else None
    with progress("verifying", len(cases), shown=all_sources) as (say, advance):
        results = []
        for result in verify(cases, waves_file=waves_file, on_build=lambda: say(BUILDING)):
            results.append(result)
            advance()
    if folder is not None:
        _write_verification(results[0], folder)
    if as_json:
        print_json(
            [result.to_json() for result in results] if all_sources else results[0].to_json()
        )
    elif all_sources:
        _print_summary(results)
    else:
        _print_verification(results[0])
    if folder is not None and not as_json:
        say_written(*sorted(folder.iterdir()))
    if not all(result.agrees for result in results):
        raise RuntimeError("hardware and prediction do not agree")


def _cases(chosen: Chosen, timing: str, all_sources: bool) -> Iterator[Case]:
    """What is to be verified: one schedule, or every source's; each with a payload of its own."""
    from .sim.verify import Case

    if not all_sources:
        schedules: Iterable[Schedule] = [chosen_schedule(chosen, Use.HARDWARE)]
    else:
        if chosen["source"] is not None or chosen["schedule_file"] is not None:
            raise InvalidInput("--all-sources must be without --source and --schedule")
        if chosen["collective"] in ROOTLESS:
            raise InvalidInput(f"--all-sources must be left out with {chosen['collective']}")
        topology = chosen_topology(chosen, Use.HARDWARE)
        schedules = (make_schedule(chosen, topology, node) for node in range(topology.nodes))
    for number, schedule in enumerate(schedules):
        config = chosen_config(chosen, schedule.topology, schedule)
        yield Case.of(
            schedule,
            config,
            timing=timing,
            seed=number,
            require=lambda program: require_no_deadlock(chosen, program),
        )


def _write_verification(result: Verification, folder: Path) -> None:
    """Keep everything that a verification was about."""
    write_schedule(result.case.schedule, folder / "schedule.json")
    write_program(result.case.program, folder / "program.json")
    result.case.predicted.trace.write_csv(folder / "trace-model.csv")
    result.measured.trace.write_csv(folder / "trace-hardware.csv")


def _print_verification(result: Verification) -> None:
    """Predicted beside measured, what still waits, and the first difference."""
    from .sim.verify import waiting

    title = f"{schedule_title(result.case.schedule)}, {result.case.timing} timing"
    print_checks(title, result.checks)
    for line in waiting(result.case.program, result.measured):
        click.echo(line)
    if result.difference is not None:
        click.echo("first difference between the traces:")
        click.echo(result.difference.describe())


def _print_summary(results: Sequence[Verification]) -> None:
    """All sources in one table, and the first that differs in full."""
    agreeing = sum(result.agrees for result in results)
    cycles = [result.measured.cycles for result in results]
    tcds = [result.case.schedule.tcd for result in results]
    first = results[0]
    print_table(
        f"{first.case.schedule.topology.label}, {first.case.schedule.algorithm} from every node, "
        f"{first.case.timing} timing",
        ("", "hardware"),
        (
            ("sources that agree in everything", f"{agreeing}/{len(results)}"),
            ("steps", first.case.schedule.steps),
            ("TCD", f"{min(tcds)} to {max(tcds)}"),
            ("cycles", f"{min(cycles)} to {max(cycles)}"),
            ("stalled flits", sum(int(r.measured.stalled_flits.sum()) for r in results)),
            ("trace rows compared", sum(len(result.measured.trace) for result in results)),
        ),
    )
    for result in results:
        if not result.agrees:
            _print_verification(result)
            break
