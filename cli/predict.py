"""``eyecast predict``: the cycles of every step, from the cycle model alone."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .. import __version__
from ..model.base.files import input_name
from ..model.collectives.title import schedule_title
from ..model.network.config import Timing
from ..model.program.file import read_program
from ..model.program.program import Program
from .console import busy, print_json, print_table, say, say_written
from .options.collective import (
    REPLACED_BY_PROGRAM_FILE,
    chosen_schedule,
    collective_options,
    schedule_facts,
    schedule_file_option,
)
from .options.hardware import (
    fitted,
    force_option,
    hardware_options,
    require_no_deadlock,
    timing_option,
)
from .options.network import SizeLimit, network_options
from .options.output import (
    json_option,
    output_option,
    report_option,
    require_output_files,
    require_seen,
)
from .options.values import refuse_beside

if TYPE_CHECKING:
    from ..model.run.run import Prediction


@click.command("predict")
@network_options
@collective_options
@schedule_file_option
@click.option(
    "--program",
    "program_file",
    metavar="FILE",
    help="A program file, instead of all that makes one.",
)
@hardware_options
@timing_option
@force_option
@output_option("the predicted trace (CSV)")
@report_option
@json_option
def predict_command(
    output: str | None,
    report: str | None,
    as_json: bool,
    timing: Timing,
    program_file: str | None,
    **chosen: Any,
) -> None:
    """Predict the cycles of every step with the cycle model alone."""
    from ..model.cycle.model import run
    from ..model.program.payload import Payload, empty_memory

    require_output_files(output, report)
    schedule, layout = None, None
    if program_file is not None:
        refuse_beside("--program", REPLACED_BY_PROGRAM_FILE)
        program = read_program(program_file)
        require_seen(report, program.config.topology)
        title = f"{program.config.topology.label}, {input_name(program_file)}"
        facts = _program_facts(program)
        memory = empty_memory(program.config)
    else:
        with busy("generating, checking, compiling"):
            schedule = chosen_schedule(chosen, SizeLimit.PROGRAM, partial(require_seen, report))
            (compiled,) = fitted(chosen, [schedule])
            _, layout, program = compiled
        title, facts = schedule_title(schedule), schedule_facts(chosen, schedule)
        memory = Payload.random(compiled, seed=0).memory(program.config)
    require_no_deadlock(chosen, program)
    with busy("predicting (the first time, the cycle model is compiled)"):
        predicted = run(program, memory, timing=timing)
    if output is not None:
        predicted.trace.write_csv(output)
    if report is not None:
        from ..report.reports import report_prediction

        with busy("writing the page"):
            report_prediction(title, program, predicted, timing, schedule, layout).write(report)
    if as_json:
        print_json({**facts, **_prediction_json(program, predicted, timing)})
    else:
        _print_prediction(title, program, predicted, timing)
        say_written(output, report)
    if not predicted.finished:
        raise RuntimeError(f"the program does not finish: stopped after {predicted.cycles} cycles")


def _program_facts(program: Program) -> dict[str, object]:
    """The same that is said of a schedule, as far as a program file knows it."""
    unknown = dict.fromkeys(("seed", "collective", "algorithm", "source"))
    network = program.config.topology.label
    return {"version": __version__, "network": network, **unknown, "ports": program.port_model}


def _prediction_json(program: Program, predicted: Prediction, timing: Timing) -> dict[str, object]:
    """The result of ``predict`` as JSON values."""
    from ..model.run.measures import link_flits, measure_steps

    flagged = np.flatnonzero(predicted.flags).tolist()
    flits = link_flits(program.config.topology, predicted.trace)
    return {
        "timing": timing,
        "finished": predicted.finished,
        "cycles": predicted.cycles,
        "stalled_flits": int(predicted.stalled_flits.sum()),
        "flags": {str(node): predicted.flag_names(node) for node in flagged},
        "steps": [
            {**asdict(measure), "interface": measure.interface}
            for measure in measure_steps(program, predicted)
        ],
        # Column 0 is what is delivered, and no link.
        "link_flits": {
            f"{node}:{port}": int(flits[node, port])
            for node, port in zip(*flits.nonzero(), strict=True)
            if port != 0
        },
    }


_MOST_TROUBLES = 8
"""Nodes of which is said what they wait for: the others mostly wait for these."""


def _print_prediction(title: str, program: Program, predicted: Prediction, timing: Timing) -> None:
    """The result of ``predict`` as two tables."""
    from ..model.run.measures import link_flits, measure_steps, troubles

    print_table(
        f"{title}, {timing} timing",
        ("step", "sends", "links crossed", "cycles", "= longest", "+ flits", "+ interface", "ends"),
        [
            (m.step, m.sends, m.distance, m.cycles, m.longest, m.flits, m.interface, m.ends)
            for m in measure_steps(program, predicted)
        ],
    )
    on_links = link_flits(program.config.topology, predicted.trace)[:, 1:]
    used = int((on_links > 0).sum())
    busiest = int(on_links.max(initial=0))
    print_table(
        "",
        ("", "predicted"),
        (
            ("cycles", predicted.cycles if predicted.finished else "does not finish"),
            ("stalled flits", int(predicted.stalled_flits.sum())),
            ("flits on links", int(on_links.sum())),
            ("links used", used),
            ("most flits on a link", busiest),
            ("busiest link is in use", _share(busiest, predicted)),
        ),
    )
    lines = troubles(program, predicted)
    say(*lines[:_MOST_TROUBLES])
    if len(lines) > _MOST_TROUBLES:
        say(f"and {len(lines) - _MOST_TROUBLES} nodes more")


def _share(busiest: int, predicted: Prediction) -> str | None:
    """Share of the time that so many flits take on a link; None for a run without an end."""
    if not predicted.finished:
        return None
    return f"{busiest / max(1, predicted.cycles):.0%} of the time"
