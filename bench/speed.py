"""``make bench``: speed of the cycle model and of the simulated hardware; saturation of networks.

    python bench/speed.py [--largest 16] [--keep]

The traffic is uniform, with packets of 4 flits and buffers of 4 flits. Rates are per second of CPU
time, medians of five runs; a flit-hop is a flit that leaves a router. The hardware is simulated
without a trace and built in an empty cache. Build times are wall-clock seconds; the first build
also compiles Verilator's library. Throughput at saturation is the mean of three traffics on the
cycle model; two traffics differ by up to 1 %. Beside it stands the throughput of BookSim2 with the
same numbers of VCs, buffer slots and flits per packet.

*Work* is the CPU time of a run of the model, or of a command, in runs of a reference loop that are
measured in turn with it. So machines and their loads matter little, and a work far above the kept
one (``speed.json``) is a loss of speed. ``--keep`` keeps the measured works.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
from numba import njit
from rich.console import Console
from rich.progress import track
from rich.table import Table

from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.topology import Topology, mesh, torus
from eyecast.model.program.payload import empty_memory
from eyecast.model.program.program import Program
from eyecast.model.traffic.program import message_words_for, traffic_program
from eyecast.model.traffic.traffic import draw_traffic
from eyecast.sim.build import build_simulator
from eyecast.sim.cache import CACHE_VARIABLE
from eyecast.sim.loading import prepare
from eyecast.sim.simulator import simulate

MODEL_CASES = (
    (8, 0.2, 20_000, False),
    (8, 0.2, 20_000, True),
    (8, 0.35, 10_000, False),
    (32, 0.1, 2_000, False),
    (32, 0.1, 2_000, True),
    (32, 0.0005, 20_000, False),
)
"""Side, rate, cycles of traffic, and whether a trace is recorded."""
COMMANDS = (
    "predict --mesh 8x8 --source 0,0",
    "compare --mesh 32x32 --source 0,0",
    "schedule --mesh 1024x1024 --source 0,0",
    "schedule --mesh 32x64 --collective all-gather --algorithm ring",
    "schedule --mesh 32x64 --collective all-reduce --algorithm ring",
)
KEPT = Path(__file__).with_name("speed.json")
REFERENCE_STEPS = 10_000_000
HARDWARE_SIDES = (4, 8, 16)
RUNS = 5
SATURATION_CASES = (
    (mesh, 8, 1, 0.223),
    (mesh, 8, 2, 0.348),
    (mesh, 8, 4, 0.386),
    (torus, 8, 2, 0.329),
    (torus, 8, 4, 0.496),
    (mesh, 16, 1, 0.109),
    (mesh, 16, 2, 0.176),
    (mesh, 16, 4, 0.197),
)
"""Topology, side, VCs, and BookSim2's throughput in flits per node and cycle."""
SATURATION_SEEDS = (1, 2, 3)
SATURATING_RATE = 0.6
WARM_UP, MEASURED = 2_000, 4_000
"""Cycles before the throughput is counted, and cycles in which it is counted."""


def _program(topology: Topology, vcs: int, rate: float, cycles: int, seed: int = 1) -> Program:
    """Return a program of uniform traffic for a network, ``rate`` in flits per node and cycle."""
    config = NetworkConfig(
        topology=topology,
        vcs=vcs,
        depth=4,
        flit_width=32,
        message_words=message_words_for(topology, 4),
        table_words=1 << 14,
        steps=1,
        timed_rows=True,
    )
    traffic = draw_traffic(topology, "uniform", rate=rate, flits=4, cycles=cycles, seed=seed)
    return traffic_program(traffic, config, seed=seed)


@njit
def _reference(table: npt.NDArray[np.uint64], steps: int) -> int:
    """Change drawn words of a table, by a branch that no processor foresees."""
    word = np.uint64(1)
    for _ in range(steps):
        word ^= word << np.uint64(13)
        word ^= word >> np.uint64(7)
        word ^= word << np.uint64(17)
        place = word & np.uint64(len(table) - 1)
        if table[place] & np.uint64(1):
            table[place] += word
        else:
            table[place] ^= word >> np.uint64(3)
    return len(table)


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of the commands that have ended."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(sum(resource.getrusage(who)[:2]) for who in both)


def _seconds_and_work(ran: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU seconds of a run, and its work; its first run may compile."""
    table = np.arange(1 << 12, dtype=np.uint64)
    works = (lambda: _reference(table, REFERENCE_STEPS)), ran
    seconds: tuple[list[float], list[float]] = [], []
    for number in range(RUNS + 1):
        for work, kept in zip(works, seconds, strict=True):
            begin = _cpu_seconds()
            work()
            if number:
                kept.append(_cpu_seconds() - begin)
    reference, own = map(statistics.median, seconds)
    return own, own / reference


def _model_row(
    side: int, rate: float, cycles: int, trace: bool, works: dict[str, float]
) -> tuple[str, ...]:
    program = _program(mesh((side, side)), 2, rate, cycles)
    memory = empty_memory(program.config)
    ran = []
    name = f"model {side}x{side}, {rate} flits/node/cycle{', trace' * trace}"
    seconds, works[name] = _seconds_and_work(
        lambda: ran.append(
            run(program, memory, timing=Timing.SELF_TIMED, record_trace=trace).cycles
        )
    )
    hops = f"{program.flit_hops / seconds / 1e6:.1f} M"
    return name, "", f"{ran[0] / seconds:,.0f}", hops


def _command_work(command: str) -> float:
    """Return the work of a command."""
    words = [sys.executable, "-m", "eyecast", *command.split()]
    return _seconds_and_work(lambda: subprocess.run(words, check=True, capture_output=True))[1]


def _hardware_row(side: int) -> tuple[str, ...]:
    program = _program(mesh((side, side)), 2, 0.2, 2_000)
    begin = time.monotonic()
    simulator = build_simulator(program.config, trace=False)
    built = time.monotonic() - begin
    job = prepare(program, [], timing=Timing.SELF_TIMED, read_words=0, cycle_limit=100_000)
    runs = list(simulate(simulator, [job] * RUNS))
    median = statistics.median(run.seconds for run in runs)
    name = f"hardware {side}x{side}, 0.2 flits/node/cycle"
    rate = program.flit_hops / median / 1e6
    return name, f"{built:.0f}", f"{runs[0].cycles / median:,.0f}", f"{rate:.2f} M"


def _throughput(topology: Topology, vcs: int) -> float:
    """Return the flits per node and cycle that leave by port 0 under overload."""
    cycles = WARM_UP + MEASURED
    counted = 0
    for seed in SATURATION_SEEDS:
        program = _program(topology, vcs, SATURATING_RATE, cycles, seed)
        memory = empty_memory(program.config)
        trace = run(program, memory, timing=Timing.SELF_TIMED, cycle_limit=cycles).trace
        counted += int(((trace.port == 0) & (trace.cycle >= WARM_UP)).sum())
    return counted / len(SATURATION_SEEDS) / MEASURED / topology.nodes


def _saturation_rows() -> Iterator[tuple[str, ...]]:
    for make, side, vcs, other in track(SATURATION_CASES, "saturation", transient=True):
        accepted = _throughput(make((side, side)), vcs)
        yield f"{make.__name__} {side}x{side}, {vcs} VCs", f"{accepted:.3f}", f"{other:.3f}"


def _table(*headings: str) -> Table:
    table = Table(*headings)
    for column in table.columns[1:]:
        column.justify = "right"
    return table


@click.command()
@click.option("--largest", type=int, default=16, show_default=True, help="Largest side to build.")
@click.option("--keep", is_flag=True, help="Keep the measured works.")
def main(largest: int, keep: bool) -> None:
    """Measure speed and throughput, and print the tables."""
    works: dict[str, float] = {}
    speed = _table("", "build, s", "cycles/s", "flit-hops/s")
    for case in track(MODEL_CASES, "cycle model", transient=True):
        speed.add_row(*_model_row(*case, works))
    works |= {each: _command_work(each) for each in track(COMMANDS, "commands", transient=True)}
    kept = json.loads(KEPT.read_text())
    table = _table("work, in runs of the reference loop", "measured", "kept", "ratio")
    for name, work in works.items():
        before = kept.get(name)
        beside = ("none", "") if before is None else (f"{before:.2f}", f"{work / before:.2f}")
        table.add_row(name, f"{work:.2f}", *beside)
    if keep:
        KEPT.write_text(json.dumps(works, indent=1) + "\n")
    with tempfile.TemporaryDirectory() as cache:
        os.environ[CACHE_VARIABLE] = cache
        sides = [side for side in HARDWARE_SIDES if side <= largest]
        for side in track(sides, "hardware", transient=True):
            speed.add_row(*_hardware_row(side))
    saturation = _table("flits accepted per node and cycle", "Eyecast", "BookSim2")
    for row in _saturation_rows():
        saturation.add_row(*row)
    console = Console()
    console.print(speed)
    console.print(table)
    console.print(saturation)


if __name__ == "__main__":
    main()
