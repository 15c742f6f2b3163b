"""``make soak``: drawn networks and traffic on model and hardware for a given time, resumable.

    python bench/soak.py [--minutes 10] [--state build/soak.json]

The state file says which draw comes next and what has been compared so far, so that the next run
goes on where this one stopped. The first case that differs is printed as a command that repeats it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from eyecast.model.files import write_atomically
from eyecast.sim.soak import DrawnCase, DrawnNetwork
from eyecast.sim.traffic import run_traffic

CASES_PER_NETWORK = 150


@click.command()
@click.option("--minutes", type=float, default=10, show_default=True)
@click.option("--state", type=click.Path(path_type=Path), default=Path("build/soak.json"))
def main(minutes: float, state: Path) -> None:
    """Draw, run, compare, until the time is up."""
    state.parent.mkdir(parents=True, exist_ok=True)
    so_far = json.loads(state.read_text()) if state.exists() else {}
    so_far = {"next_draw": 0, "networks": 0, "cases": 0, "flits": 0, **so_far}
    begin = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("soak", total=minutes * 60)
        while time.monotonic() - begin < minutes * 60:
            for flits in _one_network(so_far["next_draw"]):
                so_far["cases"] += 1
                so_far["flits"] += flits
                elapsed = time.monotonic() - begin
                bar.update(task, completed=elapsed, description=f"{so_far['flits']:,} flits")
                if elapsed > minutes * 60:
                    break
            so_far["next_draw"] += 1
            so_far["networks"] += 1
            write_atomically(state, json.dumps(so_far) + "\n")
    click.echo(
        f"{so_far['flits']:,} flits compared in {so_far['cases']:,} cases on "
        f"{so_far['networks']} drawn networks, no difference"
    )


def _one_network(number: int) -> Iterator[int]:
    """Draw a network and cases; yield the flits of each that agrees, stop at one that does not."""
    draw = np.random.default_rng(number)
    network = DrawnNetwork.draw(draw)
    drawn = [DrawnCase.draw(network, draw) for _ in range(CASES_PER_NETWORK)]
    results = run_traffic([case.build() for case in drawn])
    for case, result in zip(drawn, results, strict=True):
        if not result.agrees:
            click.echo(f"differs; repeat with:\n  {case.command()}")
            click.echo("\n".join(map(str, result.checks)))
            sys.exit(1)
        yield len(result.measured.trace)


if __name__ == "__main__":
    main()
