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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from . import __version__
from .cli_boards import BOARD_COMMANDS
from .cli_compare import compare_command
from .cli_traffic import traffic_command
from .console import busy, print_json, print_table, progress, say_written, schedule_title
from .model.algorithms import landmarks
from .model.bounds import least_broadcast_steps, least_broadcast_tcd
from .model.compiler import compile_schedule
from .model.errors import InvalidInput
from .model.files import write_atomically
from .model.program import Program, encode_table, row_header
from .model.program_file import network_to_json, read_program, write_program
from .model.schedule import Schedule
from .model.schedule_file import write_schedule
from .options import (
    PROGRAM_FILE_SAYS,
    Use,
    chosen_config,
    chosen_schedule,
    chosen_topology,
    collective_options,
    force_option,
    hardware_options,
    json_option,
    make_schedule,
    network_options,
    output_option,
    refuse_beside,
    require_no_deadlock,
    schedule_file_option,
    timing_option,
    writable_folder,
)

if TYPE_CHECKING:
    from .model.cycle_model import Run
    from .sim.verify import Case, Verification

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
    eyecast boards, bitstream, board-run                the same on an FPGA board
    """  # noqa: D301 - click wants the control character itself
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for command in (compare_command, traffic_command, *BOARD_COMMANDS):
    cli.add_command(command)


@cli.command("schedule")
@network_options
@collective_options
@output_option("the schedule (JSON)")
@json_option
def schedule_command(output: str | None, as_json: bool, **chosen: Any) -> None:
    """Make and prove a schedule; print steps and distances beside their lower bounds."""
    with busy("generating and checking"):
        schedule = chosen_schedule(chosen, Use.SCHEDULE)
    nodes = schedule.blocks.served(schedule.topology.nodes)
    least = {"steps": least_broadcast_steps(nodes), "tcd": least_broadcast_tcd(nodes)}
    measures = {
        "steps": schedule.steps,
        "tcd": schedule.tcd,
        "sends": schedule.sends,
        "links_used": schedule.links_used,
        "largest_link_load": schedule.largest_link_load,
    }
    if output is not None:
        write_schedule(schedule, output)
    if as_json:
        print_json({**measures, "least": least})
        return
    names = {"tcd": "TCD, in links", "largest_link_load": "most sends on a link in a step"}
    print_table(
        schedule_title(schedule),
        ("", "schedule", "lower bound"),
        [
            (names.get(name, name.replace("_", " ")), value, least.get(name))
            for name, value in measures.items()
        ],
    )
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
        "table_words": max(len(encode_table(config, node_rows)) for node_rows in program.rows),
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
        memory = Payload.random(schedule.blocks, config, seed=0).memory(config)
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
@click.option("-o", "--output", metavar="FILE", required=True, help="Write the Verilog here.")
def verilog_command(output: str, **chosen: Any) -> None:
    """Write the network as Verilog, and beside it (.json) its ports and parameters.

    The top module is eyecast_network. docs/router.md says how to load and start it.
    """
    from .sim.verilog import TOP_MODULE, describe_ports, network_verilog

    if Path(output).suffix == ".json":
        raise InvalidInput.of("output", "a file that does not end in .json", output)
    config = chosen_config(chosen, chosen_topology(chosen, Use.HARDWARE))
    with busy("converting to Verilog"):
        text = network_verilog(config, trace=False)
    description = {
        "top": TOP_MODULE,
        "ports": describe_ports(config),
        "parameters": network_to_json(config),
    }
    beside = Path(output).with_suffix(".json")
    write_atomically(output, text)
    write_atomically(beside, json.dumps(description, indent=1) + "\n")
    say_written(output, beside)


@cli.command("verify")
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
        building = "building the simulator (once per configuration)"
        for result in verify(cases, waves_file=waves_file, on_build=lambda: say(building)):
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


def _cases(chosen: dict[str, Any], timing: str, all_sources: bool) -> Iterator[Case]:
    """What is to be verified: one schedule, or every source's; each with a payload of its own."""
    from .sim.verify import Case

    if not all_sources:
        schedules: Iterable[Schedule] = [chosen_schedule(chosen, Use.HARDWARE)]
    else:
        if chosen["source"] is not None or chosen["schedule_file"] is not None:
            raise InvalidInput("--all-sources must be without --source and --schedule")
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

    print_table(
        f"{schedule_title(result.case.schedule)}, {result.case.timing} timing",
        ("", "predicted", "hardware", ""),
        [
            (check.name, check.predicted, check.measured, "ok" if check.agrees else "DIFFERS")
            for check in result.checks
        ],
    )
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

    schedule = chosen_schedule(chosen, Use.SCHEDULE)
    # A file may call its algorithm anything.
    stem = re.sub(r"\W+", "-", f"{schedule.algorithm} {schedule.topology.label}")
    paths = [output] if output is not None else [f"{stem}.svg", f"{stem}.png"]
    with busy("drawing"):
        figure = draw_schedule(schedule, marked=landmarks(schedule))
        for path in paths:
            save_picture(figure, path)
    say_written(*paths)
