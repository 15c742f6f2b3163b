"""``make bench-collectives``: cycles of collectives beside the lower bound of the wires.

    python bench/wires.py [--rtl]

The table has the cycles of the cycle model, the lower bound of docs/guides/fast.md, their ratio and
the target ratio. With --rtl, networks of up to 64 nodes also run on the hardware, flit for flit.
The simulator of an 8x8 network takes a minute or two to build, once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.collectives.shown_bounds import schedule_bound
from eyecast.model.compare.best import choose_best
from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.schedule.schedule import Schedule
from eyecast.sim.verify import verify

MOST_ON_HARDWARE = 64
"""Most nodes of a network that runs on the hardware."""


class Aim(NamedTuple):
    """A collective to measure, and the target ratio of its cycles to the bound."""

    what: str
    make: Callable[[], Schedule]
    ratio: float | None


def _best(collective: str, topology: Topology, words: int, *, all_port: bool) -> Schedule:
    source = 0 if collective in ("broadcast", "reduce", "scatter", "gather") else None
    request = Request(topology=topology, words=words, source=source, all_port=all_port)
    return choose_best(collective, request, lambda made: compile_certified(made, {})).schedule


def _aims() -> Iterator[Aim]:
    """Yield the collectives to measure, with their targets."""
    square, faulty = mesh((8, 8)), mesh((8, 8))
    faulty = with_faults(square, draw_faults(square, 4 / 64, seed=1, keep=(0,)))

    def aim(
        collective: str, topology: Topology, words: int, all_port: bool, ratio: float | None
    ) -> Aim:
        ports = "all ports" if all_port else "one port"
        what = f"{topology.label}, {collective}, {words} words, {ports}"
        return Aim(what, lambda: _best(collective, topology, words, all_port=all_port), ratio)

    for words, ratio in ((16, None), (1024, 1.30), (16384, 1.05)):
        yield aim("broadcast", square, words, False, ratio)
    for words, ratio in ((1024, 1.15), (16384, 1.03)):
        yield aim("broadcast", square, words, True, ratio)
    yield aim("all-gather", square, 16, False, 1.05)
    for topology in (square, torus((8, 8)), torus((16, 16))):
        yield aim("all-gather", topology, 256, True, 1.05)
    for words, ratio in ((1, None), (4, 1.5), (16, None), (64, 1.25)):
        yield aim("all-to-all", square, words, False, ratio)
    for topology in (square, torus((8, 8))):
        yield aim("all-to-all", topology, 64, True, 1.25)
    yield aim("all-to-all", torus((4, 4, 4)), 64, True, None)
    yield aim("all-to-all", torus((8, 8)), 64, False, None)
    for words, ratio in ((256, None), (1024, None), (16384, 1.05)):
        yield aim("all-reduce", square, words, False, ratio)
    for topology, ratio in ((square, 1.10), (torus((8, 8)), None)):
        yield aim("all-reduce", topology, 16384, True, ratio)
    yield aim("reduce", square, 1024, False, None)
    yield aim("reduce-scatter", square, 16, False, None)
    yield aim("reduce-scatter", square, 256, True, None)
    for collective in ("broadcast", "all-gather"):
        yield aim(collective, faulty, 1024, True, 1.25)
    for collective in ("scatter", "gather"):
        yield aim(collective, square, 64, True, None)
    yield aim("all-to-all", faulty, 64, False, 1.6)


@click.command()
@click.option("--rtl", is_flag=True, help="Run networks of up to 64 nodes on the hardware too.")
def main(rtl: bool) -> None:
    """Measure the collectives and print the table."""
    table = Table(title="cycles beside the least that the wires allow")
    columns = ("what", "algorithm", "cycles", "bound", "ratio", "at most", "hardware")
    for column in columns if rtl else columns[:-1]:
        table.add_column(column, justify="left" if column in columns[:2] else "right")
    for what, make, ratio in _aims():
        made = make()
        case = Case.of(compile_certified(made, {}), timing=Timing.BARRIER, seed=0)
        bound, cycles = schedule_bound(made).value, case.predicted.cycles
        reached = f"{cycles / bound:.3f}"
        aimed = "" if ratio is None else f"{ratio:.2f}"
        cells = [what, made.algorithm, str(cycles), str(bound), reached, aimed]
        table.add_row(*cells, *([_on_hardware(case)] if rtl else []))
    Console(width=130).print(table)
    for name in ("ring", "direct"):
        click.echo(_large_all_to_all(name))


def _on_hardware(case: Case) -> str:
    """Return "ok" or "DIFFERS" for a run on the hardware; nothing if the network is too large."""
    if case.schedule.topology.nodes > MOST_ON_HARDWARE:
        return ""
    (result,) = verify([case])
    return "ok" if result.agrees else "DIFFERS"


def _large_all_to_all(name: str) -> str:
    """Return a line with the time to make and check an all-to-all of 512 nodes."""
    begin = time.process_time()
    request = Request(topology=torus((8, 8, 8)), words=1)
    made = find_algorithm("all-to-all", name).generate(request)
    made.check()
    seconds = time.process_time() - begin
    what = f"8x8x8 torus, all-to-all, {name}: {made.sends} sends"
    return f"{what} made and checked in {seconds:.1f} s of CPU"


if __name__ == "__main__":
    main()
