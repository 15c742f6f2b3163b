"""Tabulate how far the best algorithm is from the fewest steps, on drawn networks and collectives.

    python bench/optimal.py [--cases 200] [--minutes 10] [--seconds 20] [--nodes 9]

Needs OR-tools (``pip install 'eyecast[certify]'``). Each case is a network of at most ``--nodes``
nodes, a collective, ports, and a root. Its row is printed at once, and all rows at the end.
``optimal`` has the fewest steps, and then the least TCD; "?" marks what the solver has not proved
in time. Beside it stand the algorithm with the fewest steps, then the least TCD, and the cycles of
``optimal`` and of ``best``. Algorithms that stream count among the cycles alone: they have fewer
steps than any other.
"""

import logging
import time

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from eyecast import predict
from eyecast.model.base.errors import InvalidInput
from eyecast.model.collectives.algorithm import Algorithm
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import algorithms_for, find_algorithm
from eyecast.model.collectives.solved import solver
from eyecast.model.collectives.solved import steps as solved
from eyecast.model.compare.best import choose_best
from eyecast.model.network.topology import Topology, line, mesh, ring, torus
from eyecast.model.program.certified import Room
from eyecast.model.schedule.collective import ROOTLESS, Collective
from eyecast.model.schedule.schedule import Schedule

SEED = 52


class Proofs(logging.Handler):
    """The last notice of the solver."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a notice."""
        self.last = record.getMessage()


def drawn_network(draw: np.random.Generator) -> Topology:
    """Draw a network of 3 to 9 nodes."""
    sides = (int(draw.integers(2, 4)), int(draw.integers(2, 4)))
    kinds = (
        lambda: mesh(sides),
        lambda: torus(sides),
        lambda: line(int(draw.integers(3, 8))),
        lambda: ring(int(draw.integers(3, 8))),
        lambda: mesh((2, 2, 2)),
    )
    return kinds[draw.integers(len(kinds))]()


def drawn_request(draw: np.random.Generator, topology: Topology) -> tuple[Collective, Request]:
    """Draw a collective and a request for it, of 4 words."""
    collectives = [each for each in Collective if each != Collective.MULTICAST]
    collective = collectives[draw.integers(len(collectives))]
    root = None if collective in ROOTLESS else int(draw.integers(topology.nodes))
    all_port = bool(draw.integers(2))
    return collective, Request(topology=topology, words=4, source=root, all_port=all_port)


def made(algorithm: Algorithm, request: Request) -> Schedule | None:
    """Return the schedule of an algorithm that does not stream; None if it does, or refuses."""
    try:
        schedule = algorithm.generate(request)
    except InvalidInput:
        return None
    return None if schedule.stream.any() or schedule.largest_link_load > 1 else schedule


def row(collective: Collective, request: Request, proofs: Proofs) -> tuple[float, list[str]]:
    """Return how many times more steps the nearest algorithm takes, and the row of a case."""
    least = find_algorithm(collective, "optimal").generate(request)
    proved = [("" if "proved" in part else "?") for part in proofs.last.split(";")[:2]]
    found = [made(each, request) for each in algorithms_for(collective, circuits=False)]
    others = [each for each in found if each is not None]
    near = min(others, key=lambda each: (each.steps, each.tcd), default=None)
    room = Room({"all_port": request.all_port})
    best = choose_best(collective, request, room.compile_one, circuits=False).candidates[0]
    cycles = predict(least).cycles
    ports = "all" if request.all_port else "one"
    root = "" if request.source is None else f" {request.source}"
    return (near.steps / max(1, least.steps) if near else 0), [
        f"{request.topology.label}, {ports}",
        f"{collective}{root}",
        f"{least.steps}{proved[0]} {least.tcd}{proved[1]}",
        f"{near.algorithm} {near.steps} {near.tcd}" if near else "",
        str(cycles),
        f"{best.schedule.algorithm} {best.cycles}",
    ]


@click.command()
@click.option("--cases", type=int, default=200, show_default=True)
@click.option("--minutes", type=float, default=10, show_default=True)
@click.option("--seconds", type=float, default=20, show_default=True, help="For each solution.")
@click.option("--nodes", type=int, default=9, show_default=True, help="Most nodes.")
def main(cases: int, minutes: float, seconds: float, nodes: int) -> None:
    """Draw cases until there are enough, or the time has passed; print the worst first."""
    solver.SECONDS, end = seconds, time.monotonic() + 60 * minutes
    proofs, draw, rows = Proofs(), np.random.default_rng(SEED), []
    solved.LOG.setLevel(logging.INFO)
    solved.LOG.addHandler(proofs)
    console = Console(width=100)
    with console.status("solving"):
        while len(rows) < cases and time.monotonic() < end:
            topology = drawn_network(draw)
            if topology.nodes > nodes:
                continue
            collective, request = drawn_request(draw, topology)
            try:
                rows.append(row(collective, request, proofs))
                console.print(" | ".join(rows[-1][1]))
            except InvalidInput as error:
                console.print(f"{topology.label}, {collective}: {error}")
    table = Table("network, ports", "collective", "optimal", "nearest", "cycles", "best")
    for _, each in sorted(rows, key=lambda each: -each[0]):
        table.add_row(*each)
    console.print(table)


if __name__ == "__main__":
    main()
