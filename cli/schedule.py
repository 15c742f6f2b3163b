"""``eyecast schedule``, ``program``, ``predict``, ``verilog`` and ``show``."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import __version__
from ..model.base.errors import InvalidInput
from ..model.base.files import input_name, is_special, write_atomically
from ..model.collectives.least import least_measures, word_measures
from ..model.collectives.notes import landmarks, upper_bounds
from ..model.collectives.title import schedule_title
from ..model.program.compiler import compile_schedule
from ..model.program.file import network_to_json, read_program, write_program
from ..model.program.program import Program, row_header, table_words
from ..model.schedule.file import write_schedule
from .console import busy, print_json, print_table, say, say_written, sharing
from .options.collective import (
    PROGRAM_FILE_SAYS,
    chosen_schedule,
    collective_options,
    schedule_facts,
    schedule_file_option,
)
from .options.common import (
    Use,
    chosen_config,
    chosen_topology,
    force_option,
    hardware_options,
    json_option,
    made_room,
    network_options,
    output_option,
    ports_option,
    refuse_beside,
    require_no_deadlock,
    require_output_files,
    timing_option,
)

if TYPE_CHECKING:
    from ..model.run.run import Prediction


@click.command("schedule")
@network_options
@collective_options
@output_option("the schedule (JSON)")
@json_option
def schedule_command(output: str | None, as_json: bool, **chosen: Any) -> None:
    """Make and prove a schedule; print steps and distances beside their lower bounds."""
    require_output_files(output)
    with busy("generating and checking"):
        schedule = chosen_schedule(chosen, Use.SCHEDULE)
    least, most = least_measures(schedule), upper_bounds(schedule)
    measures = {
        "steps": schedule.steps,
        "tcd": schedule.tcd,
        "sends": schedule.sends,
        "links_used": schedule.links_used,
        "largest_link_load": schedule.largest_link_load,
        **word_measures(schedule),
    }
    if output is not None:
        write_schedule(schedule, output)
    if as_json:
        shared = {"pairs_sharing_links": schedule.pairs_sharing_links}
        bounds = {"least": least, **({"most": most} if most else {})}
        facts = schedule_facts(chosen, schedule)
        print_json({**facts, **measures, **shared, "unserved": schedule.unserved, **bounds})
        return
    names = {
        "tcd": "TCD, in links",
        "largest_link_load": "most sends on a link in a step",
        "word_hops": "words times links",
        "node_words": "words sent or received by a node",
        "link_words": "words on a link",
    }
    print_table(
        schedule_title(schedule),
        ("", "schedule", "lower bound", *(("paper: at most",) if most else ())),
        [
            (
                names.get(name, name.replace("_", " ")),
                value,
                least.get(name),
                *((most.get(name),) if most else ()),
            )
            for name, value in measures.items()
        ],
    )
    say(sharing(schedule))
    say_written(output)


@click.command("program")
@network_options
@collective_options
@schedule_file_option
@hardware_options
@force_option
@output_option("the program (JSON)")
@json_option
def program_command(output: str | None, as_json: bool, **chosen: Any) -> None:
    """Compile a schedule to the injection tables of a network."""
    require_output_files(output)
    with busy("generating, checking, compiling"):
        schedule = chosen_schedule(chosen, Use.PROGRAM)
        config = chosen_config(chosen, schedule.topology, schedule)
        program = compile_schedule(schedule, config)
        require_no_deadlock(chosen, program)
    measures = _program_measures(program)
    if output is not None:
        write_program(program, output)
    if as_json:
        print_json({**schedule_facts(chosen, schedule), **measures})
        return
    limits = {"rows": None, "table_words": config.table_words, "steps": config.steps}
    print_table(
        schedule_title(schedule),
        ("most of any node", "program", "network's limit"),
        [(name.replace("_", " "), value, limits.get(name)) for name, value in measures.items()],
    )
    if room := made_room(chosen, config):
        say(f"for a network with {room}")
    say_written(output)


def _program_measures(program: Program) -> dict[str, int]:
    """How much of the network's tables a program takes, at the node that takes most."""
    config = program.config
    rows = [row for node_rows in program.rows for row in node_rows]
    headers = [len(row_header(config, row)) for row in rows]
    return {
        "rows": max(map(len, program.rows)),
        "table_words": table_words(program),
        "header_flits": max(headers, default=0),
        "steps": program.steps,
    }


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
@json_option
def predict_command(
    output: str | None, as_json: bool, timing: str, program_file: str | None, **chosen: Any
) -> None:
    """Predict the cycles of every step with the cycle model alone."""
    from ..model.cycle.model import run
    from ..model.program.payload import Payload, empty_memory

    require_output_files(output)
    if program_file is not None:
        refuse_beside("--program", PROGRAM_FILE_SAYS)
        program = read_program(program_file)
        title = f"{program.config.topology.label}, {input_name(program_file)}"
        facts = _program_facts(program)
        memory = empty_memory(program.config)
    else:
        with busy("generating, checking, compiling"):
            schedule = chosen_schedule(chosen, Use.PROGRAM)
            config = chosen_config(chosen, schedule.topology, schedule)
            program = compile_schedule(schedule, config)
        title, facts = schedule_title(schedule), schedule_facts(chosen, schedule)
        memory = Payload.random(schedule, config, seed=0).memory(config)
    require_no_deadlock(chosen, program)
    with busy("predicting (the first time, the cycle model is compiled)"):
        predicted = run(program, memory, timing=timing)
    if output is not None:
        predicted.trace.write_csv(output)
    if as_json:
        print_json({**facts, **_prediction_json(program, predicted, timing)})
    else:
        _print_prediction(title, program, predicted, timing)
        say_written(output)
    if not predicted.finished:
        raise RuntimeError(f"the program does not finish: stopped after {predicted.cycles} cycles")


def _program_facts(program: Program) -> dict[str, object]:
    """The same that is said of a schedule, as far as a program file knows it."""
    unknown = dict.fromkeys(("seed", "collective", "algorithm", "source"))
    network = program.config.topology.label
    return {"version": __version__, "network": network, **unknown, "ports": program.port_model}


def _prediction_json(program: Program, predicted: Prediction, timing: str) -> dict[str, object]:
    """The result of ``predict`` as JSON values."""
    from ..model.run.measures import link_flits, measure_steps

    nodes = range(len(program.rows))
    flits = link_flits(program.config.topology, predicted.trace)
    return {
        "timing": timing,
        "finished": predicted.finished,
        "cycles": predicted.cycles,
        "stalled_flits": int(predicted.stalled_flits.sum()),
        "flags": {str(node): names for node in nodes if (names := predicted.flag_names(node))},
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


def _print_prediction(title: str, program: Program, predicted: Prediction, timing: str) -> None:
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
    """How much of the time so many flits take on a link; None where there is no end to it."""
    if not predicted.finished:
        return None
    return f"{busiest / max(1, predicted.cycles):.0%} of the time"


@click.command("verilog")
@network_options
@hardware_options
@ports_option
@click.option("-o", "--output", metavar="FILE", required=True, help="Write the Verilog here.")
def verilog_command(output: str, **chosen: Any) -> None:
    """Write the network as Verilog, and beside it (.json) its ports and parameters.

    The top module is eyecast_network. docs/router.md says how to load and start it. A faulty node
    is a whole tile in it, memories too; only its links are missing. To a pipe or a device the
    Verilog is written alone.
    """
    from ..sim.verilog import TOP_MODULE, describe_ports, network_verilog

    path = Path(output)
    if path.suffix.lower() == ".json":
        raise InvalidInput.of("output", "a file that does not end in .json", output)
    require_output_files(output)
    beside = None if is_special(path) else str(path.with_suffix(".json"))
    require_output_files(beside)
    config = chosen_config(chosen, chosen_topology(chosen, Use.HARDWARE))
    with busy("converting to Verilog"):
        text = network_verilog(config, trace=False)
    description = {
        "top": TOP_MODULE,
        "ports": describe_ports(config),
        "parameters": network_to_json(config),
    }
    write_atomically(output, text)
    if beside is not None:
        write_atomically(beside, json.dumps(description, indent=1) + "\n")
        say_written(output, beside)


@click.command("show")
@network_options
@collective_options
@schedule_file_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the picture here, .svg or .png; without it both are written here.",
)
def show_command(output: str | None, **chosen: Any) -> None:
    """Draw a schedule: who sends to whom, the steps by colour, the eyes marked."""
    from ..picture.places import require_drawable
    from ..picture.schedule import draw_schedule, require_picture_suffix, save_picture

    if output is not None:
        require_picture_suffix(output)
    require_output_files(output)
    schedule = chosen_schedule(chosen, Use.PICTURE, require_drawable)
    # A file may call its algorithm anything.
    stem = re.sub(r"\W+", "-", f"{schedule.algorithm} {schedule.topology.label}")
    paths = [output] if output is not None else [f"{stem}.svg", f"{stem}.png"]
    with busy("drawing"):
        figure = draw_schedule(schedule, marked=landmarks(schedule))
        for path in paths:
            save_picture(figure, path)
    say_written(*paths)
