"""Compare drawn programs of circuits on the hardware, the cycle model and NumPy.

    python bench/drawn_circuits.py [--programs 10000]

Each program is a drawn schedule of forks, joins, relays, streams and tokens, compiled for one of
the networks of ``tests/helpers/drawn_trees.py``. Model and hardware must agree in every word on
every link and in every cycle. Their memories must hold the words that NumPy reckons, and the
checker of certificates must accept the program. The first difference ends the command.

The counts so far are kept in ``bench/drawn_circuits.json``; the next run continues this one.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from random import Random

import click

from eyecast.model.base.files import write_atomically
from eyecast.sim.verify import verify

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from helpers.drawn_trees import NETWORKS, config_of, drawn_case, features_of

BATCH = 150
"""Drawn schedules of one network that run in one process of the simulator."""

COUNTS = Path(__file__).with_suffix(".json")


@click.command()
@click.option("--programs", default=10_000, show_default=True, help="Compared programs, in all.")
def main(programs: int) -> None:
    """Go on from network to network until this many programs are compared."""
    counts = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    counts = {name: Counter(counts.get(name)) for name in NETWORKS}
    while (compared := sum(each["programs"] for each in counts.values())) < programs:
        name = min(counts, key=lambda each: counts[each]["drawn"])
        counts[name] += compare(name, counts[name]["drawn"])
        write_atomically(COUNTS, json.dumps(counts, indent=1) + "\n")
        click.echo(f"{compared:,} programs compared; {name}: {counts[name]['programs']:,}")
    click.echo(f"{compared:,} programs compared, no difference")


def compare(name: str, first_seed: int) -> Counter[str]:
    """Compare the programs of some seeds on a network; return what was counted."""
    config, counts = config_of(name), Counter(drawn=BATCH)
    drawn = [drawn_case(Random(first_seed + i), config) for i in range(BATCH)]
    cases = [case for case in drawn if case is not None]
    counts["refused"] += BATCH - len(cases)
    for case, result in zip(cases, verify(cases), strict=True):
        if not result.agrees:
            click.echo(f"{name}: {case.schedule!r} differs: {result.checks}")
            sys.exit(1)
        counts += Counter(programs=1, words=len(result.measured.trace)) + features_of(case)
    return counts


if __name__ == "__main__":
    main()
