"""Runs of damaged tables on the cycle model: bits of a host's words flip before the run.

    python bench/damage.py [--runs 1000] [--seed 1]

The program is the eye broadcast of 16 words on a 2x2 mesh. Drawn bits of the words of its tables
flip: control words, header flits and end rows of all nodes. Behind a table the memory holds zeros.
docs/proofs.md has the counts. The first runs also take place on the simulated hardware, which must
set the same flags and leave the same words.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from eyecast.model.base.arrays import Numbers, Words
from eyecast.model.base.ragged import offsets_of
from eyecast.model.collectives.halving.eye import eye_broadcast
from eyecast.model.compare.case import Case
from eyecast.model.cycle.model import run
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.network.topology import mesh
from eyecast.model.program.compiler import fit
from eyecast.model.program.memory_words import table_words
from eyecast.model.program.program import Program
from eyecast.model.program.row import NO_START
from eyecast.model.run.run import Prediction
from eyecast.rtl.parts.host_map import HostSpace
from eyecast.sim.build import build_simulator
from eyecast.sim.simulator import simulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
whole_job = import_module("helpers.whole_jobs").whole_job

MOST_FLIPPED = 3
ON_HARDWARE = 100
"""Runs with each number of flipped bits that also take place on the hardware."""
HUNG = 20_000
"""Cycles after which a run of the hardware hangs; a right one takes about 90."""
FATES = ("all words right", "a flag is set", "hangs without a flag", "wrong words, no flag")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DamagedProgram(Program):
    """A program whose header flits are any words: ``flits`` of each row, and all ``words``.

    ``tables`` are the words of all its tables.
    """

    flits: Numbers
    words: Words
    tables: Words

    @cached_property
    def header_flits(self) -> Numbers:
        """Header flits of each row."""
        return self.flits

    @cached_property
    def header(self) -> Words:
        """The header flits of all rows."""
        return self.words

    @cached_property
    def flit_hops(self) -> int:
        """A number of flit-hops that no run of a small network reaches."""
        return 1 << 16


def damaged(program: Program, draw: np.random.Generator, flipped: int) -> DamagedProgram:
    """Return ``program`` with this many bits of its tables flipped."""
    config = program.config
    first, words = table_words(program)
    width = config.narrow_width
    bits = draw.choice(len(words) * width, flipped, replace=False)
    words[bits // width] ^= np.uint64(1) << (bits % width).astype(np.uint64)
    tables = np.split(words, first[1:-1])
    rows = [[*_rows(config, table.tolist())] for table in tables]
    every = [row for table in rows for row in table]
    count = len(every)
    column = {
        name: np.array([fields[name] for fields, _ in every], np.int64)
        for name in ("step", "source_address", "length")
    }
    none = np.zeros(count, np.int64)
    given = {name: getattr(program, name) for name in Program.__dataclass_fields__}
    given |= column | dict.fromkeys(
        ("target_address", "operator", "stream", "lead", "window"), none
    )
    return DamagedProgram(
        **given
        | {
            "first_row": offsets_of([len(table) for table in rows]),
            "start": np.full(count, NO_START),
            "continued": np.zeros(count, np.bool_),
            "route": none,
        },
        flits=np.array([len(header) for _, header in every], np.int64),
        words=np.array([flit for _, header in every for flit in header], np.uint64),
        tables=words,
    )


def _rows(config: NetworkConfig, table: list[int]) -> Iterator[tuple[dict[str, int], list[int]]]:
    """Read a table as a sender does: yield the fields and the header flits of each row."""
    memory, place = table + [0] * (config.table_words - len(table)), 0
    while place < len(memory):
        fields = {
            name: memory[place + word] >> low & (1 << width) - 1
            for (name, width), (word, low) in zip(
                config.table.fields, config.table.positions, strict=True
            )
        }
        if not fields["step"]:
            return
        place += config.table.control_words
        # A row of no header flits is bad, and so is one whose first flit is 0.
        yield fields, memory[place : place + fields["header_flits"]] or [0]
        place += fields["header_flits"]


def fate(case: Case, ran: Prediction) -> str:
    """Return how the run of a damaged program ends."""
    if ran.flags.any():
        return FATES[1]
    if not ran.finished:
        return FATES[2]
    got = case.payload.delivered(ran.memory, case.program.config.topology)
    return FATES[0] if got.all() else FATES[3]


def require_same_on_hardware(
    case: Case, programs: Sequence[DamagedProgram], predicted: Sequence[Prediction]
) -> None:
    """Raise RuntimeError if a run of the simulated hardware ends unlike the cycle model's."""
    memory = case.payload.memory(case.program.config)
    job = whole_job(case.program, Timing.BARRIER, HUNG, memory)
    in_tables = job.writes[:, 1] == HostSpace.TABLE
    jobs = []
    for program in programs:
        writes = job.writes.copy()
        writes[in_tables, 3] = program.tables
        jobs.append(replace(job, writes=writes))
    found = simulate(build_simulator(case.program.config), jobs)
    for number, (ran, expected) in enumerate(zip(found, predicted, strict=True)):
        same = ran.finished == expected.finished and (ran.flags == expected.flags).all()
        if not (same and (ran.memory == expected.memory).all()):
            raise RuntimeError(f"run {number} of the hardware differs from the cycle model's")


@click.command()
@click.option("--runs", default=1000, show_default=True, help="Runs for each number of bits.")
@click.option("--seed", default=1, show_default=True)
def main(runs: int, seed: int) -> None:
    """Print how many runs of damaged tables end in each way."""
    network = NetworkConfig(topology=mesh((2, 2)))
    _, (compiled,) = fit(network, [eye_broadcast(network.topology, 0, 16)])
    case = Case.of(compiled, timing=Timing.BARRIER, seed=0)
    draw, table = np.random.default_rng(seed), Table("flipped bits", *FATES)
    memory = case.payload.memory(network)
    for flipped in range(1, MOST_FLIPPED + 1):
        programs = [damaged(case.program, draw, flipped) for _ in range(runs)]
        ran = [run(each, memory, timing=Timing.BARRIER) for each in programs]
        require_same_on_hardware(case, programs[:ON_HARDWARE], ran[:ON_HARDWARE])
        ends = Counter(fate(case, each) for each in ran)
        table.add_row(str(flipped), *(str(ends[each]) for each in FATES))
    Console().print(table)


if __name__ == "__main__":
    main()
