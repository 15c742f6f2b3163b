"""``eyecast predict``: the cycles of every step, without hardware."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..model.base.errors import InvalidInput
from ..model.base.files import input_name, is_special
from ..model.collectives.notes import schedule_title
from ..model.collectives.shown_bounds import schedule_bound
from ..model.network.config import Timing
from ..model.network.network_text import SizeLimit
from ..model.program.any_program import AnyProgram, manner
from ..model.program.checks import require_timing
from ..model.program.circuits.program import CircuitProgram
from ..model.program.file import read_program
from ..model.program.program import Program
from .command import command
from .console import (
    busy,
    print_json,
    print_table,
    say_bound,
    say_troubles,
    say_waits,
    say_written,
    unfinished,
)
from .options.collective import collective_options, schedule_facts
from .options.hardware import hardware_options, refuse_with_circuits
from .options.network import network_options
from .options.output import (
    json_option,
    output_option,
    report_option,
    require_output_files,
    require_seen,
)
from .options.run import RunOptions, run_options
from .options.schedule_file import (
    REPLACED_BY_PROGRAM_FILE,
    ScheduleOptions,
    schedule_file_option,
    schedule_options,
)
from .options.values import file_option, option_group, refuse_beside
from .waves import WavesOptions, waves_options, write_waves_files

if TYPE_CHECKING:
    from ..model.base.arrays import Words
    from ..model.bounds.cycles import CycleBound
    from ..model.exact.arithmetic import Memory
    from ..model.program.memory.layout import Layout
    from ..model.run.measures import StepMeasure
    from ..model.run.run import Prediction
    from ..model.schedule.schedule import Schedule


program_file_option = option_group(
    file_option(
        "--program",
        "program_file",
        help="Read the program from this file, instead of making one.",
    ),
    heading="Collective",
)
subject_options = schedule_options(
    network_options,
    collective_options,
    schedule_file_option,
    program_file_option,
    hardware_options,
)
"""The options of a program, or of its file."""


@command(
    "predict",
    "eyecast predict --mesh 8x8 --source 0,0 --words 16",
    "eyecast predict --mesh 8x8 --source 0,0 --words 1024 --algorithm best --report watch.html",
)
@subject_options
@run_options
@output_option("the predicted trace (CSV)")
@waves_options
@report_option
@json_option
def predict_command(
    wanted: ScheduleOptions,
    run: RunOptions,
    output: str | None,
    waves: WavesOptions,
    report: str | None,
    as_json: bool,
) -> None:
    """Predict the cycles of every step, exactly as the cycle model counts them.

    If no flit waits for another, a formula gives the same result at once.

    The exit status is 0 only if the program finishes; a node with an error flag never finishes.
    """
    from ..model.cycle.control import Control
    from ..model.exact.arithmetic import predict
    from ..model.run.measures import troubles

    waves.require_place(output, "-o FILE")
    limit = SizeLimit.WAVES if waves.waves else SizeLimit.PROGRAM
    subject = subject_of(wanted, run.timing, report, limit)
    program, timing = subject.program, run.timing
    root = None if subject.schedule is None else subject.schedule.root
    node = waves.node(program.config.topology, root)
    outputs = _outputs(output, waves.files)
    require_output_files(*outputs, report)
    run.require_no_deadlock(program)
    if isinstance(program, Program):
        require_timing(program, timing)
    control = Control(hold=run.held(program.config))
    predicted = subject.known if control.hold is None else None
    if predicted is None:
        with busy("predicting (the first time, the cycle model is compiled)"):
            predicted = predict(program, subject.memory, timing=timing, control=control)
    bound = subject.bound(predicted)
    if outputs:
        predicted.trace.write_csv(outputs[0])
    if waves.waves:
        write_waves_files(outputs[1:], program.config, predicted, node)
    if report is not None:
        _write_report(subject, predicted, timing, bound, report)
    if as_json:
        facts = wanted.facts(program.config.topology)
        found = _prediction_json(program, predicted, timing)
        least = None if bound is None else {"cycles": bound.value}
        print_json({**subject.facts, **found, "least": least}, **facts)
    else:
        _print_prediction(subject, predicted, timing, bound)
        say_written(*outputs, report)
    if not predicted.finished:
        why = unfinished(predicted, troubles(program, predicted))
        raise RuntimeError(f"the program does not finish: {why}")


@dataclass(frozen=True)
class Subject:
    """A program with its initial message memories, its title and its facts.

    ``memory`` may be a function that makes the memories. ``schedule`` and ``layout`` are None for a
    program file. ``known`` is the run, if choosing the schedule has already predicted it.
    """

    program: AnyProgram
    memory: Memory
    title: str
    facts: dict[str, object]
    schedule: Schedule | None = None
    layout: Layout | None = None
    known: Prediction | None = None

    def bound(self, predicted: Prediction) -> CycleBound | None:
        """Return the lower bound of the predicted cycles; None for a program file."""
        if self.schedule is None:
            return None
        cycles = predicted.cycles if predicted.finished else None
        registers = self.program.config.link_registers
        return schedule_bound(self.schedule, cycles, link_registers=registers)


def _write_report(
    subject: Subject,
    predicted: Prediction,
    timing: Timing,
    bound: CycleBound | None,
    report: str,
) -> None:
    from ..report.reports import report_prediction

    with busy("writing the page"):
        parts = subject.schedule, subject.layout, bound
        page = report_prediction(subject.title, subject.program, predicted, timing, *parts)
        page.write(report)


def subject_of(
    wanted: ScheduleOptions,
    timing: Timing,
    report: str | None,
    limit: SizeLimit = SizeLimit.PROGRAM,
) -> Subject:
    """Read the program of ``--program``, or make one from the other options."""
    if wanted.program_file:
        return _program_of_file(wanted.program_file, report)
    return _program_of_schedule(wanted, timing, report, limit)


def _program_of_file(path: str, report: str | None) -> Subject:
    """Read the program of ``--program``; its message memories are empty."""
    from ..model.program.payload import empty_memory

    refuse_beside("--program", REPLACED_BY_PROGRAM_FILE)
    program = read_program(path)
    if program.config.circuits:
        refuse_with_circuits()
    require_seen(report, program.config.topology)
    title = f"{program.config.topology.label}, {input_name(path)}"
    return Subject(program, empty_memory(program.config), title, _program_facts(program))


def _program_of_schedule(
    wanted: ScheduleOptions, timing: Timing, report: str | None, limit: SizeLimit
) -> Subject:
    """Make the schedule of the options, and compile it."""
    from ..model.program.payload import Payload

    with busy("generating, checking, compiling"):
        found = wanted.answer(limit, partial(require_seen, report), timing=timing)
        (compiled,) = wanted.compiled([found])
    schedule, kept = found.schedule, found.kept
    title, facts = schedule_title(schedule), schedule_facts(found)

    def memory() -> Words:
        return Payload.random(compiled, seed=0).memory(compiled.program.config)

    known = None if kept is None else kept.prediction
    return Subject(compiled.program, memory, title, facts, schedule, compiled.layout, known)


def _outputs(output: str | None, waves: Sequence[str]) -> list[Path]:
    """Return the files of the trace and of its waveforms."""
    if output is None:
        return []
    if waves and is_special(Path(output)):
        raise InvalidInput.of("-o", "a file with --waves, which are written beside it", output)
    return [Path(output), *(Path(output).with_name(name) for name in waves)]


def _program_facts(program: AnyProgram) -> dict[str, object]:
    """Return the facts of a program file; unknown facts of its schedule are None."""
    unknown = dict.fromkeys(("collective", "algorithm", "source", "words"))
    return {**unknown, "ports": program.port_model}


def _prediction_json(
    program: AnyProgram, predicted: Prediction, timing: Timing
) -> dict[str, object]:
    """Return the prediction as JSON values."""
    from ..model.run.measures import measure_steps, troubles

    flagged = np.flatnonzero(predicted.flags).tolist()
    flits = predicted.link_flits(program.config.topology)
    return {
        "timing": timing,
        "finished": predicted.finished,
        "cycles": predicted.cycles,
        "stalled_flits": _stalled(program, predicted),
        "waiting": troubles(program, predicted),
        "flags": {str(node): predicted.flag_names(node) for node in flagged},
        "steps": [
            {**asdict(measure), "interface": measure.interface}
            for measure in measure_steps(program, predicted)
        ],
        # Column 0 counts delivered flits, not a link.
        "link_flits": {
            f"{node}:{port}": int(flits[node, port])
            for node, port in zip(*flits.nonzero(), strict=True)
            if port != 0
        },
    }


def _print_prediction(
    subject: Subject, predicted: Prediction, timing: Timing, bound: CycleBound | None
) -> None:
    """Print the prediction as two tables."""
    from ..model.run.measures import measure_steps, troubles

    program = subject.program
    title, stalled = f"{subject.title}, {manner(program, timing)}", []
    if not isinstance(program, CircuitProgram):
        _print_steps(title, measure_steps(program, predicted))
        title, stalled = "", [("stalled flits", _stalled(program, predicted))]
    on_links = predicted.link_flits(program.config.topology)[:, 1:]
    used = int((on_links > 0).sum())
    busiest = int(on_links.max(initial=0))
    occupied = int((on_links * program.config.link_rates[:, 1:]).max(initial=0))
    print_table(
        title,
        ("", "predicted"),
        (
            ("cycles", predicted.cycles if predicted.finished else "does not finish"),
            *stalled,
            ("flits on links", int(on_links.sum())),
            ("links used", used),
            ("most flits on a link", busiest),
            ("busiest link is in use", _share(occupied, predicted)),
            *((("lower bound of cycles", bound.value),) if bound else ()),
        ),
    )
    if bound is not None and predicted.finished:
        say_bound(bound, predicted.cycles)
    say_waits(program, predicted)
    say_troubles(troubles(program, predicted))


def _print_steps(title: str, measures: Sequence[StepMeasure]) -> None:
    """Print a line for each step; a timed program's steps have no ends, so no cycles either."""
    columns = {"step": "step", "sends": "sends", "links crossed": "distance"}
    if any(measure.ends is not None for measure in measures):
        columns |= {"cycles": "cycles", "= longest": "longest", "+ flits": "flits"}
        columns |= {"+ interface": "interface", "ends": "ends"}
    rows = [[getattr(measure, name) for name in columns.values()] for measure in measures]
    print_table(title, tuple(columns), rows)


def _stalled(program: AnyProgram, predicted: Prediction) -> int:
    """Count the stalled flits, including those that wait at the end."""
    from ..model.run.standstill import standstill

    waiting = standstill(program, predicted).stalled
    return int((predicted.stalled_flits + waiting).sum())


def _share(occupied: int, predicted: Prediction) -> str | None:
    """Return the share of a run that these cycles are; None for a run without an end."""
    if not predicted.finished:
        return None
    return f"{occupied / max(1, predicted.cycles):.0%} of the time"
