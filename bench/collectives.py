"""``make bench-collectives``: cycles on the hardware beside T = start-ups τ + words t_c.

    python bench/collectives.py [--dimension 3]

Runs every collective on a hypercube with barrier timing, with one port and with all ports, by every
spanning graph of Johnsson & Ho that serves it. Blocks have 4, 16 and 64 words. τ and t_c, in
cycles, are fitted from two runs: the broadcasts of 4 and of 64 words by SBT with one port. The last
column is the relative error of T. Every run is also checked against the cycle model, flit for flit.
"""

from collections.abc import Iterator

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from eyecast.cli.console import progress
from eyecast.model.collectives.cube.collectives import COLLECTIVES_ON
from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import Verification
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.port_model import PortModel
from eyecast.model.network.topology import hypercube
from eyecast.model.program.compiler import fit
from eyecast.model.schedule.cost import ScheduleCost, count_cost
from eyecast.model.schedule.schedule import Schedule
from eyecast.sim.verify import verify

LENGTHS = (4, 16, 64)
FITTED = ("broadcast", "sbt", False)
"""Collective, graph and all-port mark of the two runs from which τ and t_c are fitted."""


def _schedules(dimension: int, all_port: bool) -> Iterator[tuple[int, Schedule]]:
    """Yield the words of a block and a schedule, for each collective, graph and length."""
    topology = hypercube(dimension)
    for (collective, ports), served in COLLECTIVES_ON.items():
        source = None if collective.startswith("all") else 0
        for graph in served.graphs if ports == all_port else ():
            for words in LENGTHS:
                yield (
                    words,
                    served.generate(topology, source, words, graph=graph, all_port=all_port),
                )


Result = tuple[int, ScheduleCost, Verification]


def _measure(dimension: int, all_port: bool) -> list[Result]:
    """Return, for each schedule, the words of a block, its costs and its run on the hardware."""
    made = list(_schedules(dimension, all_port))
    config = NetworkConfig(topology=hypercube(dimension), all_port=all_port)
    _, compiled = fit(config, [schedule for _, schedule in made])
    cases = [Case.of(each, timing=Timing.BARRIER, seed=0) for each in compiled]
    ports = "all ports" if all_port else "one port"
    results: list[Result] = []
    with progress(f"{dimension}-cube, {ports}", len(cases), shown=True) as (_, advance):
        for (words, schedule), result in zip(made, verify(cases), strict=True):
            if not result.agrees:
                raise RuntimeError(f"{schedule.algorithm} {schedule.collective} does not agree")
            results.append((words, count_cost(schedule), result))
            advance()
    return results


def _name(result: Verification) -> tuple[str, str, bool]:
    schedule = result.case.schedule
    all_port = schedule.port_model == PortModel.ALL_PORT
    return schedule.collective, schedule.algorithm, all_port


def _fit(results: list[Result]) -> tuple[float, float]:
    """Return τ and t_c from the shortest and the longest of the fitted runs."""
    fitted = [(cost, run) for _, cost, run in results if _name(run) == FITTED]
    ends = (fitted[0], fitted[-1])
    known = np.array([[cost.start_ups(), cost.transferred] for cost, _ in ends], float)
    tau, tc = np.linalg.solve(known, [run.measured.cycles for _, run in ends])
    return float(tau), float(tc)


@click.command()
@click.option("--dimension", default=3, show_default=True, type=click.IntRange(1, 5))
def main(dimension: int) -> None:
    """Measure all runs, fit τ and t_c, and print the table."""
    results = [each for all_port in (False, True) for each in _measure(dimension, all_port)]
    tau, tc = _fit(results)
    table = Table(title=f"{dimension}-cube: τ = {tau:.3f}, t_c = {tc:.3f} cycles")
    columns = ("collective", "graph", "ports", "words", "start-ups", "transferred", "cycles", "T")
    for column in (*columns, "off"):
        table.add_column(column, justify="left" if column in columns[:3] else "right")
    for words, cost, run in results:
        collective, graph, all_port = _name(run)
        time = cost.time(tau, tc)
        off = f"{time / run.measured.cycles - 1:+.1%}"
        numbers = (words, cost.start_ups(), cost.transferred, run.measured.cycles, f"{time:.0f}")
        ports = "all" if all_port else "one"
        table.add_row(collective, graph, ports, *map(str, numbers), off)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
