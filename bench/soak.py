"""``make soak``: compare model and hardware on random networks and traffic for a given time.

    python bench/soak.py [--minutes 10] [--words 1000000000] [--by traces] [--longer 50]
    python bench/soak.py --draw 17

A case is checked ``--by`` traces, signatures, rules or numpy (``By`` of ``helpers.soak.soak``).
Each has a state file with the number of the next draw and the counts so far, so that the next run
continues this one. The first case that differs is printed with the number of its draw, and then the
simplest case that Hypothesis finds on its network; ``--draw`` repeats that draw. With ``--longer``
traffic and ``--packets``, networks are built and tables are loaded less often; the simulators load
a word at a time. ``--large`` networks run most flits::

    python bench/soak.py --by signatures --longer 200 --packets 64 --large

The first cases of each network count the points of docs/router.md that happen in them; the table of
:mod:`eyecast.testbench.coverage` lists all points, those that never happened too. ``--minutes 0``
prints the kept counts.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from eyecast.model.base.files import write_atomically
from eyecast.testbench.coverage import table_of

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from helpers.soak.checks import is_for_numpy
from helpers.soak.soak import By, Outcome, run_draw, simplest
from helpers.soak.traffic import Longer

COUNTED_CASES = 5
"""Cases of each network whose points are counted, because counting takes longer than checking."""
MOST_COUNTED = 30_000
"""Flits of the largest case whose points are counted."""
COUNTED = ("next_draw", "networks", "cases", "wide_cases", "numpy_cases", "flits", "seconds")
BEGIN: dict[str, Any] = {**dict.fromkeys(COUNTED, 0), "points": {}}


@click.command()
@click.option("--minutes", type=float, default=10, show_default=True)
@click.option(
    "--by",
    type=click.Choice([each.value for each in By]),
    default=By.TRACES.value,
    show_default=True,
    callback=lambda _context, _option, value: By(value),
)
@click.option("--words", "wanted", type=int, help="Stop also at this number of flits.")
@click.option("--longer", default=1, show_default=True, help="Traffic lasts so many times longer.")
@click.option("--packets", default=1, show_default=True, help="Packets are so many times longer.")
@click.option("--large", is_flag=True, help="Draw 8x8 meshes, 8x8 tori and hypercubes of 64 nodes.")
@click.option("--state", type=click.Path(path_type=Path), help="Kept in build/ by default.")
@click.option("--draw", type=int, help="Run this draw alone, whole, and keep no state.")
def main(
    minutes: float,
    by: By,
    wanted: int | None,
    longer: int,
    packets: int,
    large: bool,
    state: Path | None,
    draw: int | None,
) -> None:
    """Draw networks, run them and compare, until the time is up or enough flits are checked."""
    length = Longer(longer, packets, large)
    if draw is not None:
        flits = [outcome.flits for outcome in _one_network(draw, by, length)]
        click.echo(f"{sum(flits):,} flits compared in {len(flits):,} cases, no difference")
        return
    size = f"{longer}-{packets}{'-large' if large else ''}"
    state = state or Path(f"build/soak-{by}-{size}.json")
    state.parent.mkdir(parents=True, exist_ok=True)
    so_far = json.loads(state.read_text()) if state.exists() else {}
    so_far = {**BEGIN, **so_far}
    points = Counter(so_far["points"])
    begin = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("soak", total=minutes * 60)
        last = begin
        while not _is_enough(so_far, begin, minutes, wanted):
            drawn = _one_network(so_far["next_draw"], by, length)
            for number, outcome in enumerate(drawn):
                so_far["cases"] += 1
                so_far["wide_cases"] += outcome.drawn.config.further_pieces > 0
                so_far["numpy_cases"] += is_for_numpy(outcome.drawn.case)
                so_far["flits"] += outcome.flits
                if number < COUNTED_CASES and outcome.flits < MOST_COUNTED:
                    points.update(outcome.points)
                now = time.monotonic()
                so_far["seconds"], last = so_far["seconds"] + now - last, now
                bar.update(task, completed=now - begin, description=f"{so_far['flits']:,} flits")
                if _is_enough(so_far, begin, minutes, wanted):
                    break
            so_far["next_draw"] += 1
            so_far["networks"] += 1
            so_far["points"] = points
            write_atomically(state, json.dumps(so_far) + "\n")
    click.echo(
        f"{so_far['flits']:,} flits checked by {by} in {so_far['cases']:,} cases on "
        f"{so_far['networks']} drawn networks in {so_far['seconds']:,.0f} s, no difference; "
        f"{so_far['wide_cases']:,} cases had words above 64 bits; NumPy computed the words that "
        f"{so_far['numpy_cases']:,} left"
    )
    click.echo(table_of([points]))


def _is_enough(so_far: dict[str, Any], begin: float, minutes: float, wanted: int | None) -> bool:
    """Tell whether the time is up or ``wanted`` flits are checked."""
    reached = wanted is not None and so_far["flits"] >= wanted
    return reached or time.monotonic() - begin > minutes * 60


def _one_network(number: int, by: By, longer: Longer) -> Iterator[Outcome]:
    """Run a draw; yield each case that agrees, and exit at one that differs."""
    for outcome in run_draw(number, by, longer):
        if outcome.wrong:
            length = f"--longer {longer.cycles} --packets {longer.packets}"
            length += " --large" * longer.large
            command = f"python bench/soak.py --by {by} {length} --draw {number}"
            click.echo(f"differs; repeat with:\n  {command}")
            _show(outcome)
            click.echo("the simplest case of the draw that differs alone:")
            _show(simplest(number, by, longer))
            sys.exit(1)
        yield outcome


def _show(outcome: Outcome | None) -> None:
    """Print a case and its failed checks."""
    lines = ["none"] if outcome is None else [outcome.drawn.description, *outcome.wrong]
    click.echo("\n".join(map(str, lines)))


if __name__ == "__main__":
    main()
