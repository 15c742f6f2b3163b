"""``make bench-circuits``: cycles of short messages with packets and with circuits.

    python bench/circuits.py [--rtl]

Each row has the cycles of the fastest algorithm with packets, those with circuits, the lower bound
of what the schedule for circuits promises, the largest number of entries of a run table, and the
cycles aimed at. With --rtl the runs with circuits also run on the hardware, word for word. The
simulator of an 8x8 network takes a minute or two to build, once for each set of operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from eyecast.cli.console import progress
from eyecast.model.collectives.declared.request import Request
from eyecast.model.compare.best import choose_best
from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.schedule.collective import Collective
from eyecast.sim.verify import verify


class Aim(NamedTuple):
    """A collective to measure, and the cycles aimed at with circuits; None for none."""

    topology: Topology
    collective: str
    words: int
    cycles: int | None = None
    targets: tuple[int, ...] | None = None
    all_port: bool = False

    def case(self, **network: bool) -> Case:
        """Return the predicted run of the fastest algorithm on a network with these parameters."""
        source = 0 if Collective(self.collective).rooted else None
        request = Request(
            topology=self.topology,
            words=self.words,
            source=source,
            targets=self.targets,
            all_port=self.all_port,
        )
        chosen = choose_best(
            self.collective, request, lambda made: compile_certified(made, network), **network
        )
        compiled = compile_certified(chosen.schedule, network)
        return Case.of(compiled, timing=Timing.BARRIER, seed=0)


def _aims() -> Iterator[Aim]:
    """Yield the collectives to measure."""
    square, small = mesh((8, 8)), mesh((5, 7))
    faulty = with_faults(small, draw_faults(small, 2 / 35, seed=1, keep=(0,)))
    for words, cycles in ((1, 20), (16, 35), (64, 83), (256, 275), (1024, 1043)):
        yield Aim(square, "broadcast", words, cycles)
    yield Aim(square, "multicast", 16, 36, targets=(63, 35, 49))
    for words, cycles in ((1, 40), (16, 55), (256, 300)):
        yield Aim(square, "reduce", words, cycles)
    for words, cycles in ((1, 42), (16, 57), (64, 110), (1024, 1075)):
        yield Aim(square, "all-reduce", words, cycles)
    yield Aim(square, "barrier", 1, 42)
    for words, cycles in ((1, 170), (4, 580), (16, 2200)):
        yield Aim(square, "all-to-all", words, cycles)
    for words, cycles in ((1, 72), (16, 1028)):
        yield Aim(square, "all-gather", words, cycles)
    for collective, words in (("broadcast", 16), ("all-reduce", 16), ("all-reduce", 1024)):
        yield Aim(torus((8, 8)), collective, words, all_port=True)
    for collective, words in (("broadcast", 16), ("all-gather", 64), ("all-to-all", 16)):
        yield Aim(faulty, collective, words)


@click.command()
@click.option("--rtl", is_flag=True, help="Run the circuits on the hardware too.")
def main(rtl: bool) -> None:
    """Measure the collectives and print the table."""
    table = Table(title="cycles with packets and with circuits, one port unless said")
    columns = ("what", "packets", "circuits", "by", "bound", "ratio", "entries", "aim", "hardware")
    for column in columns if rtl else columns[:-1]:
        table.add_column(column, justify="left" if column in ("what", "by") else "right")
    aims = [*_aims()]
    with progress("measuring", len(aims), shown=True) as (say, advance):
        for aim in aims:
            ports = ", all ports" if aim.all_port else ""
            what = f"{aim.topology.label}{ports}, {aim.collective}, {aim.words} words"
            say(what)
            packets, circuits = aim.case(), aim.case(circuits=True)
            cycles, bound = circuits.predicted.cycles, circuits.bound.value
            cells = [
                *(what, packets.predicted.cycles, cycles, circuits.schedule.algorithm, bound),
                *(f"{cycles / bound:.2f}", circuits.program.table_sizes.max()),
                "" if aim.cycles is None else aim.cycles,
            ]
            if rtl:
                (result,) = verify([circuits])
                cells.append("ok" if result.agrees else "DIFFERS")
            table.add_row(*map(str, cells))
            advance()
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
