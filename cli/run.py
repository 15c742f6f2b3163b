"""``eyecast run``: a workload of compute and collectives, on a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..model.base.errors import InvalidInput, one_of
from ..model.base.files import InputFile, write_bytes_atomically
from ..model.base.texts import counted
from ..model.network.network_text import SizeLimit
from .command import command
from .console import busy, print_json, print_table, progress, say_written
from .options.hardware import circuits_option
from .options.network import chosen_topology, network_facts, network_options
from .options.output import json_option, output_option, require_output_files
from .options.values import (
    OptionValues,
    file_option,
    float_option,
    integer_option,
    option_group,
    refuse_beside,
)

if TYPE_CHECKING:
    from ..model.workload.run import MachineRun, WorkloadRun
    from ..model.workload.workload import Workload

_MOST_SHOWN = 10
"""Most rows of the tables of the critical path and of the links."""


@command(
    "run",
    "eyecast run layers.csv --mesh 4x4",
    "eyecast run trace.0.et --mesh 4x4 --rate 4096 --circuits -o run.perfetto.json",
)
@click.argument("file", metavar="FILE")
@network_options
@option_group(
    float_option("--clock", 1.0, "Cycles in a nanosecond, for files that count time."),
    integer_option("--rate", 1024, "Operations that a rank computes in a cycle."),
    integer_option("--word-bytes", 4, "Bytes of a word, for files that count bytes."),
    file_option(
        "--comm-group", help="The ranks of each group of a trace; NAME.json beside it if left out."
    ),
    file_option(
        "--mapping",
        metavar="rows|best|FILE",
        default="rows",
        show_default=True,
        help="The node of each rank: in order, with little traffic over distance, or as listed.",
    ),
    click.option(
        "--policy",
        metavar="first-come|urgent",
        default="first-come",
        show_default=True,
        help="Which of several ready collectives starts first.",
    ),
    heading="Workload",
)
@circuits_option
@option_group(
    integer_option(
        "--message-words", 8192, "Words of each memory; longer messages travel in pieces."
    ),
    heading="Hardware",
)
@output_option("the timeline: .perfetto.json for Perfetto, .svg or .png for a picture")
@json_option
def run_command(
    file: str,
    mapping: str,
    policy: str,
    message_words: int,
    output: str | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Run the workload in FILE: what ranks compute, and the collectives and messages between.

    FILE is a table (CSV or JSON), a file of a Chakra trace, or GOAL. Two machines carry it out: the
    engine runs one program at a time, the ideal one every collective that shares no link with
    another.
    """
    from ..model.workload.mapping import mapped
    from ..model.workload.run import run_workload
    from ..model.workload.timeline import Policy

    order = Policy.named(policy)
    _require_output(output)
    with busy("reading"):
        workload = mapped(_read(file, chosen), mapping)
    calls = len(workload.calls)
    with progress("finding algorithms", calls, shown=calls > 1) as (_, advance):
        found = run_workload(
            workload,
            policy=order,
            circuits=chosen["circuits"],
            memory_words=message_words,
            tell=advance,
        )
    if output is not None:
        _write(found, output)
    if as_json:
        print_json(found.to_json(), **network_facts(chosen, workload.topology))
        return
    _print(found, "circuits" if chosen["circuits"] else "packets")
    say_written(output)


def _read(file: str, chosen: OptionValues) -> Workload:
    """Read the workload; refuse options that its format does not heed."""
    from ..formats.format import WorkloadSetting
    from ..formats.workloads import read_workload, workload_format

    topology = chosen_topology(chosen, SizeLimit.PROGRAM)
    content = InputFile.read(file)
    form = workload_format(content)
    options = {name: f"--{name.replace('_', '-')}" for name in ("clock", "rate", "word_bytes")}
    options["groups"] = "--comm-group"
    unheeded = [option for name, option in options.items() if name not in form.heeds]
    refuse_beside(file, unheeded, f"{form.title} does not depend on it")
    groups = chosen["comm_group"]
    setting = WorkloadSetting(
        topology=topology,
        clock=chosen["clock"],
        rate=chosen["rate"],
        word_bytes=chosen["word_bytes"],
        groups=None if groups is None else InputFile.read(groups),
    )
    return read_workload(content, setting)


def _require_output(output: str | None) -> None:
    """Refuse an output of another suffix, or one that cannot be written."""
    if output is not None:
        if not output.endswith(_TIMELINES):
            raise InvalidInput.of("suffix of -o", one_of(_TIMELINES), repr(Path(output).suffix))
        require_output_files(output)


_TIMELINES = (".perfetto.json", ".svg", ".png")


def _write(found: WorkloadRun, output: str) -> None:
    """Write the timeline as its suffix says."""
    if output.endswith(_TIMELINES[0]):
        from ..model.workload.trace_events import trace_events

        write_bytes_atomically(output, trace_events(found))
        return
    from ..picture.file import save_picture
    from ..picture.workload import draw_workload

    save_picture(draw_workload(found), output)


def _print(found: WorkloadRun, routers: str) -> None:
    """Print both machines beside the bound, the critical path and the busiest links."""
    workload = found.workload
    size = f"{counted(workload.ranks, 'rank')}, {counted(workload.rows, 'operation')}"
    machines = [each for _, each in found.machines]
    print_table(
        f"{workload.name}: {size}, {workload.topology.label}, {routers}",
        ("cycles", "engine", "ideal", "lower bound"),
        [
            ("end", *(each.cycles for each in machines), found.bound),
            *(
                (words, *(f"{each.mean(column):.1f}" for each in machines))
                for column, words in _COLUMNS.items()
            ),
            ("critical path computes", *(each.path_compute for each in machines)),
        ],
    )
    _print_path(found.engine)
    links = found.busiest_links(_MOST_SHOWN // 2)
    print_table(
        "busiest links",
        ("from", "to", "flits", "of the engine's time"),
        [(*link, f"{link[2] / max(1, found.engine.cycles):.0%}") for link in links],
    )


_COLUMNS = {
    "compute": "compute, mean of ranks",
    "communication": "communication, mean of ranks",
    "exposed": "exposed communication, mean",
}


def _print_path(run: MachineRun) -> None:
    """Print the longest parts of the critical path on the engine."""
    parts = sorted(run.path, key=lambda part: part[1] - part[2])[:_MOST_SHOWN]
    print_table(
        f"critical path on the engine: the longest {len(parts)} of {len(run.path)} parts",
        ("what", "begins", "cycles"),
        [
            (run.workload.item_name(item), start, end - start)
            for item, start, end in sorted(parts, key=lambda part: part[1])
        ],
    )
