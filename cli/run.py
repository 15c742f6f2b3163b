"""``eyecast run``: a workload of compute and collectives, on a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..model.base.files import InputFile
from ..model.base.texts import counted
from ..model.network.network_text import SizeLimit
from .command import command
from .console import busy, print_json, print_table, progress
from .options.hardware import circuits_option
from .options.network import chosen_topology, network_facts, network_options
from .options.output import json_option
from .options.values import float_option, integer_option, option_group

if TYPE_CHECKING:
    from ..model.workload.run import MachineRun, WorkloadRun

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
@json_option
def run_command(
    file: str,
    clock: float,
    rate: int,
    word_bytes: int,
    policy: str,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Run the workload in FILE: what ranks compute, and the collectives and messages between.

    FILE is a table (CSV or JSON), a Chakra trace or GOAL. Two machines carry it out: the engine
    runs one program at a time, the ideal one every collective that shares no link with another.
    """
    from ..formats.format import WorkloadSetting
    from ..formats.workloads import read_workload
    from ..model.workload.run import run_workload
    from ..model.workload.timeline import Policy

    order = Policy.named(policy)
    topology = chosen_topology(chosen, SizeLimit.PROGRAM)
    setting = WorkloadSetting(topology=topology, clock=clock, rate=rate, word_bytes=word_bytes)
    with busy("reading"):
        workload = read_workload(InputFile.read(file), setting)
    calls = len(workload.calls)
    with progress("finding algorithms", calls, shown=calls > 1) as (_, advance):
        found = run_workload(workload, policy=order, circuits=chosen["circuits"], tell=advance)
    if as_json:
        print_json(found.to_json(), **network_facts(chosen, topology))
        return
    _print(found, "circuits" if chosen["circuits"] else "packets")


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
