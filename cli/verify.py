"""``eyecast verify``: a schedule on the simulated hardware, checked against the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput
from ..model.collectives.notes import schedule_title
from ..model.compare.answer import Answer
from ..model.network.config import Timing
from ..model.network.network_text import SizeLimit
from ..model.program.file import write_program
from ..model.schedule.collective import ROOTLESS
from ..model.schedule.file import write_schedule
from .command import command
from .console import (
    BUILDING,
    busy,
    print_checks,
    print_json,
    print_table,
    progress,
    say,
    say_bound,
    say_troubles,
    say_waits,
    say_written,
    sharing,
)
from .options.collective import schedule_facts
from .options.output import json_option, output_option, output_paths, report_option, require_seen
from .options.run import RunOptions, run_options
from .options.schedule_file import ScheduleOptions, compiled_options
from .waves import WavesOptions, waves_options, write_waves_files

if TYPE_CHECKING:
    from ..model.compare.checks import Verification
    from ..model.network.topology import Topology
    from ..model.program.compiler import Compiled

FILES = ("program.json", "schedule.json", "trace-hardware.csv", "trace-model.csv")
SIGNALS = "signals.vcd"
"""Files in the output folder; the last one only with ``--signals``."""


@command(
    "verify",
    "eyecast verify --mesh 8x8 --source 0,0",
    "eyecast verify --mesh 4x4 --all-sources --words 64 --vcs 2",
)
@compiled_options
@run_options
@click.option(
    "--all-sources", is_flag=True, help="Run the collective once from each node as the source."
)
@output_option("schedule, program, both traces and waveforms", metavar="FOLDER")
@waves_options
@click.option(
    "--signals",
    "with_signals",
    is_flag=True,
    help="Record every signal of the hardware too (signals.vcd), in a second simulator; needs -o.",
)
@report_option
@json_option
def verify_command(
    wanted: ScheduleOptions,
    run: RunOptions,
    all_sources: bool,
    output: str | None,
    waves: WavesOptions,
    with_signals: bool,
    report: str | None,
    as_json: bool,
) -> None:
    """Run a schedule on the simulated hardware, and check it flit for flit against the model.

    The exit status is 0 only if the hardware agrees with the model.
    """
    waves.require_place(output, "-o FOLDER")
    if with_signals and output is None:
        raise InvalidInput(f"--signals needs -o FOLDER, to have a place for {SIGNALS}")
    if output is not None and all_sources:
        raise InvalidInput("-o must be left out with --all-sources: it keeps the files of one run")
    if report is not None and all_sources:
        raise InvalidInput("--report must be left out with --all-sources: it shows one run")
    with busy("generating, checking"):
        answers = _answers(wanted, run.timing, all_sources, partial(require_seen, report))
        compiled = wanted.compiled(answers)
    first = compiled[0].schedule
    node = waves.node(first.topology, first.root)
    names = [*FILES, *waves.files, *([SIGNALS] if with_signals else [])]
    paths = output_paths(output, *names, report=report)
    signals = paths[-1] if with_signals else None
    results = _verified(compiled, run, signals, shown=all_sources)
    if paths:
        _write_verification(results[0], paths[: len(FILES)])
    if waves.waves:
        _write_waves(results[0], paths[len(FILES) :][: len(waves.files)], node, signals)
    if report is not None:
        from ..report.reports import report_verification

        with busy("writing the page"):
            report_verification(results[0]).write(report)
    if as_json:
        pairs = zip(answers, results, strict=True)
        found = [{**schedule_facts(answer), **result.to_json()} for answer, result in pairs]
        kept = {"sources": found} if all_sources else found[0]
        print_json(kept, **wanted.facts(first.topology))
    else:
        _print_summary(results) if all_sources else _print_verification(results[0])
        say_written(*paths, report)
    _require_agreement(results)


def _require_agreement(results: Sequence[Verification]) -> None:
    """Raise :class:`RuntimeError` if a run differs from its prediction or does not finish."""
    if not all(result.alike for result in results):
        raise RuntimeError("hardware and prediction do not agree")
    if not all(result.agrees for result in results):
        raise RuntimeError("the program does not finish, on the hardware as predicted")


def _answers(
    wanted: ScheduleOptions,
    timing: Timing,
    all_sources: bool,
    require: Callable[[Topology], None],
) -> list[Answer]:
    """Make the schedule of the options, or one schedule from every source."""
    asked = wanted.collective
    if not all_sources:
        return [wanted.answer(SizeLimit.HARDWARE, require, timing=timing)]
    if asked.source is not None or wanted.schedule_file is not None:
        raise InvalidInput("--all-sources must be without --source and --schedule")
    if asked.collective in ROOTLESS:
        raise InvalidInput(f"--all-sources must be left out with {asked.collective}")
    if asked.group is not None:
        raise InvalidInput("--all-sources must be left out with --group")
    topology = wanted.network.topology(SizeLimit.HARDWARE)
    sources = [node for node in range(topology.nodes) if node not in topology.switches]
    task = wanted.task(topology, sources[0])
    first = asked.answer(task, wanted.room, timing)
    # One line on the default is enough.
    named = replace(asked, algorithm=asked.algorithm or task.usual_algorithm)
    others = (replace(task, source=node) for node in sources[1:])
    return [first, *(named.answer(each, wanted.room, timing) for each in others)]


def _verified(
    compiled: Sequence[Compiled], run: RunOptions, signals: Path | None, *, shown: bool
) -> list[Verification]:
    """Predict programs, each with its own payload, and run them on one simulated network."""
    from ..model.compare.case import Case
    from ..sim.build import built_meanwhile
    from ..sim.verify import verify

    cases, results = [], []
    with built_meanwhile(compiled[0].program.config):
        with busy("predicting"):
            for seed, each in enumerate(compiled):
                run.require_no_deadlock(each.program)
                hold = run.held(each.program.config)
                cases.append(Case.of(each, timing=run.timing, seed=seed, hold=hold))
        with progress("verifying", len(cases), shown=shown) as (say, advance):
            for result in verify(cases, waves_file=signals, on_build=lambda: say(BUILDING)):
                results.append(result)
                advance()
    return results


def _write_verification(result: Verification, paths: Sequence[Path]) -> None:
    """Write the verification's :data:`FILES`."""
    program, schedule, hardware_trace, model_trace = paths
    write_program(result.case.program, program)
    write_schedule(result.case.schedule, schedule)
    result.measured.trace.write_csv(hardware_trace)
    result.case.predicted.trace.write_csv(model_trace)


def _write_waves(
    result: Verification, paths: Sequence[Path], node: int, signals: Path | None
) -> None:
    """Write :data:`.WAVES_FILES`, with interface registers if signals were recorded."""
    from ..sim.signals import read_registers
    from ..waves.registers import NO_REGISTERS

    config, run = result.case.program.config, result.measured
    seen = NO_REGISTERS if signals is None else read_registers(signals, config, run.cycles)
    write_waves_files(paths, config, run, node, registers=seen)


def _print_verification(result: Verification) -> None:
    """Print predicted and measured values, what waits, and the first different row and word."""
    from ..model.compare.waiting import waiting

    title = f"{schedule_title(result.case.schedule)}, {result.case.manner}"
    print_checks(title, result.checks)
    if not result.case.schedule.requests:
        say("the schedule file has no requests: the lengths of its blocks are not checked")
    say(sharing(result.case.schedule))
    if result.case.predicted.finished:
        say_bound(result.case.bound, result.case.predicted.cycles)
    say_waits(result.case.program, result.measured)
    say_troubles(waiting(result.case.program, result.measured))
    if result.difference is not None:
        say("first difference between the traces:")
        say(*result.difference.describe().split("\n"))
    if result.wrong_word is not None:
        say(f"first wrong word: {result.wrong_word}")


def _print_summary(results: Sequence[Verification]) -> None:
    """Print all sources in one table, and the first differing run in full."""
    agreeing = sum(result.agrees for result in results)
    cycles = [result.measured.cycles for result in results]
    tcds = [result.case.schedule.tcd for result in results]
    first = results[0]
    stalled = "stalled flits", sum(int(each.measured.stalled_flits.sum()) for each in results)
    print_table(
        f"{first.case.schedule.topology.label}, {first.case.schedule.algorithm} from every node, "
        f"{first.case.manner}",
        ("", "hardware"),
        (
            ("sources that agree in everything", f"{agreeing}/{len(results)}"),
            ("steps", first.case.schedule.steps),
            ("TCD", f"{min(tcds)} to {max(tcds)}"),
            ("cycles", f"{min(cycles)} to {max(cycles)}"),
            *([] if first.measured.circuits else [stalled]),
            ("trace rows compared", sum(len(result.measured.trace) for result in results)),
        ),
    )
    schedules = [result.case.schedule for result in results]
    say(sharing(*schedules))
    leaving = [schedule for schedule in schedules if schedule.unserved]
    if leaving:
        say(f"from {len(leaving)} of {len(results)} sources, as in the first of these")
        say(schedule_title(leaving[0]))
    for result in results:
        if not result.agrees:
            _print_verification(result)
            break
