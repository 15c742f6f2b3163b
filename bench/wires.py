"""Cycles of collectives beside the lower bound of the wires, with packets and with circuits.

    python bench/wires.py [--circuits] [--rtl]

``make bench-collectives``: the cycles of the cycle model, the lower bound of docs/guides/fast.md,
their ratio and the target ratio. ``make bench-circuits`` (--circuits): the cycles of the fastest
algorithm with packets, those with circuits, the lower bound of what the schedule for circuits
promises, the largest number of entries of a run table, and the cycles aimed at.

With --rtl, networks of up to 64 nodes also run on the hardware, word for word. The simulator of an
8x8 network takes a minute or two to build, once for each set of operators.
"""

import time
from collections.abc import Iterator
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table

from eyecast.cli.console import progress
from eyecast.model.collectives.declared.request import Request
from eyecast.model.collectives.registry import find_algorithm
from eyecast.model.compare.best import choose_best
from eyecast.model.compare.case import Case
from eyecast.model.network.config import Timing
from eyecast.model.network.faults import draw_faults, with_faults
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.program.certified import compile_certified
from eyecast.model.schedule.collective import Collective
from eyecast.sim.verify import verify

MOST_ON_HARDWARE = 64
"""Most nodes of a network that runs on the hardware."""
SQUARE, TORUS = mesh((8, 8)), torus((8, 8))
FAULTY = with_faults(SQUARE, draw_faults(SQUARE, 4 / 64, seed=1, keep=(0,)))
SMALL = with_faults(mesh((5, 7)), draw_faults(mesh((5, 7)), 2 / 35, seed=1, keep=(0,)))


class Aim(NamedTuple):
    """A collective to measure, and the ratio or, with circuits, the cycles aimed at."""

    topology: Topology
    collective: str
    words: int
    aim: float | None = None
    all_port: bool = False
    targets: tuple[int, ...] | None = None

    @property
    def named(self) -> str:
        """Describe what is measured."""
        ports = "all ports" if self.all_port else "one port"
        return f"{self.topology.label}, {self.collective}, {self.words} words, {ports}"

    def case(self, **network: bool) -> Case:
        """Return the predicted run of the fastest algorithm on a network with these parameters."""
        request = Request(
            topology=self.topology,
            words=self.words,
            source=0 if Collective(self.collective).rooted else None,
            targets=self.targets,
            all_port=self.all_port,
        )
        chosen = choose_best(
            self.collective, request, lambda made: compile_certified(made, network), **network
        )
        compiled = compile_certified(chosen.schedule, network)
        return Case.of(compiled, timing=Timing.BARRIER, seed=0)


def _ratios() -> Iterator[Aim]:
    """Yield the collectives to measure with packets, and the ratios aimed at."""
    for words, ratio in ((16, None), (1024, 1.30), (16384, 1.05)):
        yield Aim(SQUARE, "broadcast", words, ratio)
    for words, ratio in ((1024, 1.15), (16384, 1.03)):
        yield Aim(SQUARE, "broadcast", words, ratio, all_port=True)
    yield Aim(SQUARE, "all-gather", 16, 1.05)
    for topology in (SQUARE, TORUS, torus((16, 16))):
        yield Aim(topology, "all-gather", 256, 1.05, all_port=True)
    for words, ratio in ((1, None), (4, 1.5), (16, None), (64, 1.25)):
        yield Aim(SQUARE, "all-to-all", words, ratio)
    for topology, ratio in ((SQUARE, 1.25), (TORUS, 1.25), (torus((4, 4, 4)), None)):
        yield Aim(topology, "all-to-all", 64, ratio, all_port=True)
    yield Aim(TORUS, "all-to-all", 64)
    for words, ratio in ((256, None), (1024, None), (16384, 1.05)):
        yield Aim(SQUARE, "all-reduce", words, ratio)
    for topology, ratio in ((SQUARE, 1.10), (TORUS, None)):
        yield Aim(topology, "all-reduce", 16384, ratio, all_port=True)
    yield Aim(SQUARE, "reduce", 1024)
    yield Aim(SQUARE, "reduce-scatter", 16)
    yield Aim(SQUARE, "reduce-scatter", 256, all_port=True)
    for collective in ("broadcast", "all-gather"):
        yield Aim(FAULTY, collective, 1024, 1.25, all_port=True)
    for collective in ("scatter", "gather"):
        yield Aim(SQUARE, collective, 64, all_port=True)
    yield Aim(FAULTY, "all-to-all", 64, 1.6)


def _circuits() -> Iterator[Aim]:
    """Yield the collectives to measure with circuits, and the cycles aimed at."""
    for words, cycles in ((1, 20), (16, 35), (64, 83), (256, 275), (1024, 1043)):
        yield Aim(SQUARE, "broadcast", words, cycles)
    yield Aim(SQUARE, "multicast", 16, 36, targets=(63, 35, 49))
    for words, cycles in ((1, 40), (16, 55), (256, 300)):
        yield Aim(SQUARE, "reduce", words, cycles)
    for words, cycles in ((1, 42), (16, 57), (64, 110), (1024, 1075)):
        yield Aim(SQUARE, "all-reduce", words, cycles)
    yield Aim(SQUARE, "barrier", 1, 42)
    for words, cycles in ((1, 170), (4, 580), (16, 2200)):
        yield Aim(SQUARE, "all-to-all", words, cycles)
    for words, cycles in ((1, 72), (16, 1028)):
        yield Aim(SQUARE, "all-gather", words, cycles)
    for collective, words in (("broadcast", 16), ("all-reduce", 16), ("all-reduce", 1024)):
        yield Aim(TORUS, collective, words, all_port=True)
    for collective, words in (("broadcast", 16), ("all-gather", 64), ("all-to-all", 16)):
        yield Aim(SMALL, collective, words)


@click.command()
@click.option("--circuits", is_flag=True, help="Measure circuits beside packets.")
@click.option("--rtl", is_flag=True, help="Run networks of up to 64 nodes on the hardware too.")
def main(circuits: bool, rtl: bool) -> None:
    """Measure the collectives and print the table."""
    table = Table(title="cycles beside the least that the wires allow")
    columns = ["what", "by", *["packets"] * circuits, "cycles", "bound", "ratio"]
    columns += [*["entries"] * circuits, "aim", *["hardware"] * rtl]
    for column in columns:
        table.add_column(column, justify="left" if column in columns[:2] else "right")
    aims = [*(_circuits() if circuits else _ratios())]
    with progress("measuring", len(aims), shown=True) as (say, advance):
        for aim in aims:
            say(aim.named)
            case = aim.case(circuits=True) if circuits else aim.case()
            cycles, bound = case.predicted.cycles, case.bound.value
            cells = [aim.named, case.schedule.algorithm]
            cells += [aim.case().predicted.cycles] if circuits else []
            cells += [cycles, bound, f"{cycles / bound:.3f}"]
            cells += [case.program.table_sizes.max()] if circuits else []
            cells += ["" if aim.aim is None else aim.aim, *([_on_hardware(case)] if rtl else [])]
            table.add_row(*map(str, cells))
            advance()
    Console(width=130).print(table)
    for name in () if circuits else ("ring", "direct"):
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
