"""Ask a solver whether a broadcast in log2 N steps is cheaper than ``minimum``.

    python bench/certify.py [--mesh 4x4 --mesh 2x4x4] [--seconds 60] [--workers 1]

Needs OR-tools (``pip install ortools``). The solver looks for a broadcast in log2 N steps with a
TCD below that of ``minimum``. The sends of a step may share links, and need not halve boxes. Of
sources that are mirror images of each other, one is enough. The answer "least" means that the
solver has proved that there is no such broadcast. The table also shows the seconds it needed.

In log2 N steps, every node that has the message sends it in every step to a node without it. So a
broadcast is a choice of one send to each node except the source. Its TCD is N - 1 plus the links of
each send beyond its first. A limit on the TCD limits this excess, and so excludes long sends.
"""

import time
from itertools import product

import click
import numpy as np
from ortools.sat.python import cp_model
from rich.console import Console
from rich.table import Table

from eyecast.model.collectives.halving.minimum import minimum_tcds
from eyecast.model.network.topology import Topology, mesh

ANSWERS = {cp_model.INFEASIBLE: "least", cp_model.OPTIMAL: "cheaper if links are shared"}


@click.command()
@click.option("--mesh", "meshes", multiple=True, default=("4x4", "2x4x4"), show_default=True)
@click.option("--source", help="Only this one, such as 0,0; else all that differ.")
@click.option("--seconds", type=float, default=60, show_default=True, help="For each source.")
@click.option("--workers", type=int, default=1, show_default=True)
def main(meshes: tuple[str, ...], source: str | None, seconds: float, workers: int) -> None:
    """Ask the solver for each mesh and source, and print its answers."""
    table = Table("mesh", "source", "TCD", "answer", "seconds")
    console = Console()
    for sides in meshes:
        topology = mesh(tuple(map(int, sides.split("x"))))
        if topology.nodes & (topology.nodes - 1):
            raise click.BadParameter(f"{sides}: sides must be powers of two")
        tcds = minimum_tcds(topology)
        chosen = [tuple(map(int, source.split(",")))] if source else differing_sources(topology)
        for place in chosen:
            node = topology.node_at(place)
            begin = time.monotonic()
            with console.status(f"{sides} from {place}"):
                answer = ask(topology, node, int(tcds[node]) - 1, seconds, workers)
            taken = f"{time.monotonic() - begin:.1f}"
            table.add_row(sides, str(place), str(tcds[node]), answer, taken)
    console.print(table)


def differing_sources(topology: Topology) -> list[tuple[int, ...]]:
    """Return one source of each set of mirror images, mirrored across an axis or a diagonal."""
    dims = topology.dims
    places = product(*(range((side + 1) // 2) for side in dims))
    kept = {}
    for place in places:
        kept[tuple(sorted(zip(dims, place, strict=True)))] = place
    return sorted(kept.values())


def ask(topology: Topology, source: int, most: int, seconds: float, workers: int) -> str:
    """Return the solver's answer about a broadcast with a TCD of at most ``most``."""
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = workers
    return ANSWERS.get(solver.solve(question(topology, source, most)), "no answer in time")


def question(topology: Topology, source: int, most: int) -> cp_model.CpModel:
    """Return the solver's model, with a variable for each step, sender and receiver."""
    nodes = range(topology.nodes)
    places = topology.coordinates(np.array(nodes))
    extra = np.abs(places[:, None] - places).sum(axis=2) - 1
    budget = most - (topology.nodes - 1)
    pairs = [(u, v) for u in nodes for v in nodes if v not in (u, source) and extra[u, v] <= budget]
    model = cp_model.CpModel()
    has = [model.new_constant(node == source) for node in nodes]
    steps = []
    for step in range((topology.nodes - 1).bit_length()):
        sends = {pair: model.new_bool_var("") for pair in pairs}
        steps.append(sends)
        model.add(sum(sends.values()) == 1 << step)
        for node in nodes:
            model.add(sum(send for (u, _), send in sends.items() if u == node) == has[node])
        received = {v: [send for (_, w), send in sends.items() if w == v] for v in nodes}
        before, has = has, [model.new_bool_var("") for _ in nodes]
        for node in nodes:
            model.add(has[node] == before[node] + sum(received[node]))
    for node in nodes:
        if node != source:
            model.add_exactly_one(
                send for sends in steps for (_, v), send in sends.items() if v == node
            )
    model.add(
        sum(int(extra[pair]) * send for sends in steps for pair, send in sends.items()) <= budget
    )
    return model


if __name__ == "__main__":
    main()
