"""``make bench-collectives``: compare all algorithms for all-reduce on the cycle model.

    python bench/all_reduce.py [--side 8] [--words 16,256,4096]

For a mesh and a torus, with one port and with all ports, a table has the steps, the words that the
busiest node sends, the cycles, and the ratio of the cycles to the lower bound. A second table
compares barriers made of messages with the network's own barrier, a step without sends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from eyecast.model.base.errors import InvalidInput
from eyecast.model.base.texts import integers
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import algorithms_for
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.compare.case import Case
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.program.compiler import fit
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.program import Program
from eyecast.model.program.row import Row
from eyecast.model.schedule.collective import Collective
from eyecast.model.schedule.schedule import Schedule


def _schedules(topology: Topology, collective: str, words: int, ports: bool) -> Iterator[Schedule]:
    """Yield the schedules of all algorithms that serve the network, with one port or with all."""
    for algorithm in algorithms_for(collective):
        if ports and "all_port" not in algorithm.takes:
            continue
        request = Request(topology=topology, words=words, all_port=ports)
        try:
            schedule = algorithm.generate(request)
        except InvalidInput:
            continue
        schedule.check()
        yield schedule


def _row(schedule: Schedule) -> list[str]:
    """Return the measures of a schedule, as a row of the table."""
    config = NetworkConfig(
        topology=schedule.topology, all_port=schedule.port_model == PortModel.ALL_PORT
    )
    try:
        (compiled,) = fit(config, [schedule])[1]
    except InvalidInput as refusal:
        return [schedule.algorithm, str(schedule.steps), "", str(refusal)[:40], ""]
    cycles = Case.of(compiled, timing=Timing.BARRIER, seed=0).predicted.cycles
    busiest = int(np.bincount(schedule.source, schedule.send_words).max())
    least = schedule_bound(schedule).value
    numbers = [schedule.steps, busiest, cycles]
    return [schedule.algorithm, *map(str, numbers), f"{cycles / max(1, least):.2f}"]


def _print(title: str, schedules: Iterator[Schedule]) -> None:
    columns = ("algorithm", "steps", "words of the busiest", "cycles", "times the least")
    table = Table(title=title)
    for column in columns:
        table.add_column(column, justify="left" if column == columns[0] else "right")
    for row in sorted(map(_row, schedules), key=lambda row: int(row[3]) if row[3].isdigit() else 0):
        table.add_row(*row)
    Console(width=110).print(table)


def network_barrier(topology: Topology) -> int:
    """Return the cycles of the network's own barrier: those that a step without sends adds."""
    config = NetworkConfig(topology=topology, steps=3)
    silent: Sequence[tuple[Row, ...]] = ((),) * (topology.nodes - 1)
    cycles = []
    for last in (2, 3):
        route = (Segment(1, 1, 0),)
        rows = ((Row(1, route, 0, 0, 1), Row(last, route, 0, 0, 1)), *silent)
        receives: list[tuple[int, ...]] = [()] * topology.nodes
        receives[int(topology.neighbor[0, 1])] = (1, last)
        program = Program.from_rows(config, PortModel.HALF_DUPLEX, rows, receives)
        cycles.append(run(program, empty_memory(config), timing=Timing.BARRIER).cycles)
    return cycles[1] - cycles[0]


@click.command()
@click.option("--side", default=8, show_default=True, type=click.IntRange(2, 32))
@click.option("--words", default="16,256,4096", show_default=True, metavar="N,N,…")
def main(side: int, words: str) -> None:
    """Make the schedules, predict their cycles, and print the tables."""
    networks = (mesh((side, side)), torus((side, side)))
    for topology in networks:
        for length in integers("--words", "numbers such as 16,256", words, ","):
            for ports in (False, True):
                which = "all ports" if ports else "one port"
                title = f"{topology.label}, all-reduce of {length} words, {which}"
                _print(title, _schedules(topology, Collective.ALL_REDUCE, length, ports))
        barriers = _schedules(topology, Collective.BARRIER, 1, ports=False)
        own = network_barrier(topology)
        _print(f"{topology.label}, barrier; the network's own: {own} cycles", barriers)


if __name__ == "__main__":
    main()
