"""The ``eyecast`` command: parses, calls, prints.

What takes long to import (the simulator's tools, the compiled cycle model, the plots) is imported
by the command that needs it, so that help and refusals come at once.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from . import __version__
from .cli_boards import BOARD_COMMANDS
from .cli_compare import compare_command
from .cli_costs import costs_command
from .cli_traffic import traffic_command
from .cli_transmit import transmit_command
from .cli_verify import verify_command
from .console import busy, print_json, print_table, say_written, schedule_title, sharing
from .model.algorithms import landmarks, upper_bounds
from .model.compiler import compile_schedule
from .model.errors import InvalidInput
from .model.files import is_special, write_atomically
from .model.least import least_measures, word_measures
from .model.program import Program, row_header, table_words
from .model.program_file import network_to_json, read_program, write_program
from .model.schedule_file import write_schedule
from .options import (
    Use,
    chosen_config,
    chosen_topology,
    force_option,
    hardware_options,
    json_option,
    network_options,
    output_option,
    ports_option,
    refuse_beside,
    require_no_deadlock,
    require_output_files,
    timing_option,
)
from .options_collective import (
    PROGRAM_FILE_SAYS,
    chosen_schedule,
    collective_options,
    schedule_file_option,
)

if TYPE_CHECKING:
    from .model.cycle_model import Run

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line. Every failure that can be expected is one line on standard error."""
    # Asked to end, it stops what it has started, as when it is interrupted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        status = cli.main(prog_name="eyecast", standalone_mode=False)
    except click.UsageError as error:
        help_hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        _fail(error.format_message().rstrip(".") + help_hint, BAD_INPUT)
    except click.ClickException as error:
        _fail(error.format_message(), BAD_INPUT)
    except InvalidInput as error:
        _fail(str(error), BAD_INPUT)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", INTERRUPTED)
    except OSError as error:
        # What could not be written would be flushed again at exit, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # A reader of our output who has seen enough needs no message.
        status = FAILED if isinstance(error, BrokenPipeError) else _fail(str(error), FAILED)
    except RuntimeError as error:
        _fail(str(error), FAILED)
    sys.exit(status)


def _fail(message: str, status: int) -> NoReturn:
    if status == BAD_INPUT:
        # A value that is quoted may hold anything, and what is said of it is one line.
        message = "".join(c if c.isprintable() else repr(c)[1:-1] for c in message)
    click.echo(f"eyecast: {message}", err=True)
    sys.exit(status)


class _Commands(click.Group):
    """The commands, which an unknown one is told."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None:
            raise InvalidInput.of("command", ", ".join(self.list_commands(ctx)), args[0])
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # click begins a new line first, which only a terminal needs: it has printed ^C.
            if sys.stderr.isatty():
                raise
            raise click.Abort from None


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__)
@click.pass_context
def cli(context: click.Context) -> None:
    """Collective communication on real router hardware: schedules, injection tables, proof.

    \b
    eyecast schedule --mesh 8x8 --source 0,0            who sends to whom in which step
    eyecast show     --mesh 8x8 --source 0,0            the same as a picture
    eyecast program  --mesh 8x8 --source 0,0 -o p.json  its injection tables
    eyecast predict  --mesh 8x8 --source 0,0            cycles, from the cycle model
    eyecast verify   --mesh 8x8 --source 0,0            the same on the hardware, compared
    eyecast compare  --mesh 8x8 --source 0,0            all algorithms side by side
    eyecast verilog  --mesh 8x8 -o network.v            the network for your own flow
    eyecast traffic  --torus 8x8 --vcs 2 --rate 0.2     random traffic, latency and throughput
    eyecast transmit --diagonal-mesh 45                 a host that sends to the fewest, soonest
    eyecast costs    --collective scatter               what the papers' formulas say of hypercubes
    eyecast boards, bitstream, board-run                the same on an FPGA board
    """  # noqa: D301 - click wants the control character itself
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (
    verify_command,
    compare_command,
    costs_command,
    transmit_command,
    traffic_command,
    *BOARD_COMMANDS,
):
    cli.add_command(command)


@cli.command("schedule")
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
        print_json({**measures, **shared, "unserved": schedule.unserved, **bounds})
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
    click.echo(sharing(schedule))
    say_written(output)


@cli.command("program")
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
        print_json(measures)
        return
    limits = {"rows": None, "table_words": config.table_words, "steps": config.steps}
    print_table(
        schedule_title(schedule),
        ("most of any node", "program", "network's limit"),
        [(name.replace("_", " "), value, limits.get(name)) for name, value in measures.items()],
    )
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


@cli.command("predict")
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
    from .model.cycle_model import run
    from .model.payload import Payload, empty_memory

    require_output_files(output)
    if program_file is not None:
        refuse_beside("--program", PROGRAM_FILE_SAYS)
        program = read_program(program_file)
        title = f"{program.config.topology.label}, {program_file}"
        memory = empty_memory(program.config)
    else:
        with busy("generating, checking, compiling"):
            schedule = chosen_schedule(chosen, Use.PROGRAM)
            config = chosen_config(chosen, schedule.topology, schedule)
            program = compile_schedule(schedule, config)
        title = schedule_title(schedule)
        memory = Payload.random(schedule, config, seed=0).memory(config)
    require_no_deadlock(chosen, program)
    with busy("predicting (the first time, the cycle model is compiled)"):
        predicted = run(program, memory, timing=timing)
    if output is not None:
        predicted.trace.write_csv(output)
    if as_json:
        print_json(_prediction_json(program, predicted, timing))
    else:
        _print_prediction(title, program, predicted, timing)
        say_written(output)
    if not predicted.finished:
        raise RuntimeError(f"the program does not finish: stopped after {predicted.cycles} cycles")


def _prediction_json(program: Program, predicted: Run, timing: str) -> dict[str, object]:
    """The result of ``predict`` as JSON values."""
    from .model.measures import link_flits, measure_steps

    flits = link_flits(program.config.topology, predicted.trace)
    return {
        "timing": timing,
        "finished": predicted.finished,
        "cycles": predicted.cycles,
        "stalled_flits": int(predicted.stalled_flits.sum()),
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


def _print_prediction(title: str, program: Program, predicted: Run, timing: str) -> None:
    """The result of ``predict`` as two tables."""
    from .model.measures import link_flits, measure_steps

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
            ("cycles", predicted.cycles),
            ("stalled flits", int(predicted.stalled_flits.sum())),
            ("flits on links", int(on_links.sum())),
            ("links used", used),
            ("most flits on a link", busiest),
            ("busiest link is in use", f"{busiest / max(1, predicted.cycles):.0%} of the time"),
        ),
    )


@cli.command("verilog")
@network_options
@hardware_options
@ports_option
@click.option("-o", "--output", metavar="FILE", required=True, help="Write the Verilog here.")
def verilog_command(output: str, **chosen: Any) -> None:
    """Write the network as Verilog, and beside it (.json) its ports and parameters.

    The top module is eyecast_network. docs/router.md says how to load and start it. To a pipe or a
    device the Verilog is written alone.
    """
    from .sim.verilog import TOP_MODULE, describe_ports, network_verilog

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


@cli.command("show")
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
    from .picture import draw_schedule, save_picture

    require_output_files(output)
    schedule = chosen_schedule(chosen, Use.SCHEDULE)
    # A file may call its algorithm anything.
    stem = re.sub(r"\W+", "-", f"{schedule.algorithm} {schedule.topology.label}")
    paths = [output] if output is not None else [f"{stem}.svg", f"{stem}.png"]
    with busy("drawing"):
        figure = draw_schedule(schedule, marked=landmarks(schedule))
        for path in paths:
            save_picture(figure, path)
    say_written(*paths)
