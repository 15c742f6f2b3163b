"""``eyecast program``: a schedule as the injection tables of a network."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from ..model.collectives.title import schedule_title
from ..model.network.words import SizeLimit
from ..model.program.file import write_program
from ..model.program.program import Program
from .console import busy, print_json, print_table, say, say_written
from .options.collective import collective_options, schedule_facts
from .options.hardware import (
    fitted,
    force_option,
    hardware_options,
    made_room,
    require_no_deadlock,
)
from .options.network import network_options
from .options.output import json_option, output_option, require_output_files
from .options.schedule_file import chosen_schedule, schedule_file_option


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
        schedule = chosen_schedule(chosen, SizeLimit.PROGRAM)
        (compiled,) = fitted(chosen, [schedule])
        program, config = compiled.program, compiled.program.config
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
    """Count what a program takes of the network's tables, at the node that takes most."""
    return {
        "rows": int(np.diff(program.first_row).max()),
        "table_words": int(program.table_sizes.max()),
        "header_flits": int(program.header_flits.max(initial=0)),
        "steps": program.steps,
    }
