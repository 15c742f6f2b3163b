"""``make soak``: compare model and hardware on random networks and traffic for a given time.

    python bench/soak.py [--minutes 10] [--state build/soak.json]
    python bench/soak.py --draw 17

The state file holds the number of the next draw and the counts so far, so that the next run
continues this one. The first case that differs is printed with the number of its draw; ``--draw``
repeats that draw.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from eyecast.model.base.files import write_atomically
from eyecast.sim.soak import run_draw


@click.command()
@click.option("--minutes", type=float, default=10, show_default=True)
@click.option("--state", type=click.Path(path_type=Path), default=Path("build/soak.json"))
@click.option("--draw", type=int, help="Run this draw alone, whole, and keep no state.")
def main(minutes: float, state: Path, draw: int | None) -> None:
    """Draw networks, run them and compare, until the time is up."""
    if draw is not None:
        flits = list(_one_network(draw))
        click.echo(f"{sum(flits):,} flits compared in {len(flits):,} cases, no difference")
        return
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
    """Run a draw; yield the flits of each case that agrees, and exit at one that differs."""
    for outcome in run_draw(number):
        if outcome.wrong:
            click.echo(f"differs; repeat with:\n  python bench/soak.py --draw {number}")
            click.echo("\n".join(map(str, [outcome.description, *outcome.wrong])))
            sys.exit(1)
        yield outcome.flits


if __name__ == "__main__":
    main()
