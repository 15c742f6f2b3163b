"""``make bench``: how fast the cycle model and the simulated hardware are, as a table.

    python bench/speed.py [--largest 16]

Uniform traffic of packets of 4 flits, 2 VCs, buffers of 4. Rates are per second of CPU time,
medians of five runs; a flit that leaves a router, for a link or for its node, is a flit-hop. The
hardware prints its trace meanwhile. Builds are wall-clock seconds in an empty cache; the first one
also compiles Verilator's own library.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time

import click
from rich.console import Console
from rich.table import Table

from eyecast.model.config import NetworkConfig
from eyecast.model.cycle_model import run
from eyecast.model.cycle_tables import tables_of
from eyecast.model.payload import empty_memory
from eyecast.model.program import Program
from eyecast.model.topology import mesh
from eyecast.model.traffic import draw_traffic
from eyecast.model.traffic_program import message_words_for, traffic_program
from eyecast.sim.build import build_simulator
from eyecast.sim.cache import CACHE_VARIABLE
from eyecast.sim.simulator import prepare, simulate

MODEL_CASES = ((8, 0.2, 20_000), (8, 0.35, 10_000), (32, 0.1, 2_000), (32, 0.0005, 20_000))
HARDWARE_SIDES = (4, 8, 16)
RUNS = 5


def _program(side: int, rate: float, cycles: int) -> Program:
    """Traffic for a square mesh."""
    topology = mesh((side, side))
    config = NetworkConfig(
        topology=topology,
        vcs=2,
        depth=4,
        flit_width=64,
        message_words=message_words_for(topology, 4),
        table_words=1 << 14,
        steps=1,
        timed_rows=True,
    )
    traffic = draw_traffic(topology, "uniform", rate=rate, flits=4, cycles=cycles, seed=1)
    return traffic_program(traffic, config, seed=1)


def _model_row(side: int, rate: float, cycles: int) -> tuple[str, ...]:
    program = _program(side, rate, cycles)
    tables = tables_of(program)
    memory = empty_memory(program.config)
    seconds, ran = [], 0
    run(tables, memory, timing="self-timed", record_trace=False)
    for _ in range(RUNS):
        begin = time.process_time()
        ran = run(tables, memory, timing="self-timed", record_trace=False).cycles
        seconds.append(time.process_time() - begin)
    median = statistics.median(seconds)
    hops = tables.flit_hops
    name = f"model {side}x{side}, {rate} flits/node/cycle"
    return name, "", f"{ran / median:,.0f}", f"{hops / median / 1e6:.1f} M"


def _hardware_row(side: int) -> tuple[str, ...]:
    program = _program(side, 0.2, 1_000)
    begin = time.monotonic()
    simulator = build_simulator(program.config)
    built = time.monotonic() - begin
    job = prepare(program, [], timing="self-timed", read_words=0, cycle_limit=100_000)
    runs = list(simulate(simulator, [job] * RUNS))
    median = statistics.median(run.seconds for run in runs)
    name = f"hardware {side}x{side}, 0.2 flits/node/cycle"
    rate = len(runs[0].trace) / median / 1e6
    return name, f"{built:.0f}", f"{runs[0].cycles / median:,.0f}", f"{rate:.2f} M"


@click.command()
@click.option("--largest", type=int, default=16, show_default=True, help="Largest side to build.")
def main(largest: int) -> None:
    """Measure and print."""
    table = Table("", "build, s", "cycles/s", "flit-hops/s")
    for column in table.columns[1:]:
        column.justify = "right"
    for case in MODEL_CASES:
        table.add_row(*_model_row(*case))
    with tempfile.TemporaryDirectory() as cache:
        os.environ[CACHE_VARIABLE] = cache
        for side in HARDWARE_SIDES:
            if side <= largest:
                table.add_row(*_hardware_row(side))
    Console().print(table)


if __name__ == "__main__":
    main()
