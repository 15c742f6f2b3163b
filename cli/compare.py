"""``eyecast compare``: all algorithms for a collective on one network, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from ..model.base.errors import InvalidInput, require_range, with_article
from ..model.base.texts import integers
from ..model.collectives.notes import left_out
from ..model.collectives.task import Task
from ..model.compare.comparison import compare
from ..model.compare.side_by_side import Entry, SideBySide
from ..model.network.config import NetworkConfig
from ..model.network.network_text import SizeLimit
from ..model.program.certified import Room
from ..model.schedule.collective import Collective
from .command import command
from .console import (
    BUILDING,
    busy,
    print_json,
    print_table,
    progress,
    say,
    say_written,
)
from .options.collective import request_options
from .options.hardware import force_option, hardware_options, require_no_deadlock
from .options.network import NetworkFacts, network_options
from .options.output import (
    json_option,
    output_option,
    report_option,
    require_output_files,
    require_seen,
)
from .options.schedule_file import ScheduleOptions, schedule_options
from .options.values import in_options, refuse_beside

if TYPE_CHECKING:
    from ..model.compare.case import Case

BOUND = "lower bound"


@command(
    "compare",
    "eyecast compare --mesh 8x8 --source 1,0 -o compare.svg",
    "eyecast compare --torus 8x8 --collective all-reduce --words 256",
)
@schedule_options(network_options, request_options, hardware_options)
@force_option
@click.option(
    "--rtl",
    is_flag=True,
    help="Run each algorithm on the simulated hardware too, with both timings.",
)
@click.option(
    "--lengths",
    metavar="N,N,...",
    help="Print the fewest cycles of each algorithm for messages of these numbers of words; -o "
    "draws them.",
)
@click.option(
    "--why", is_flag=True, help="Print why the other algorithms do not work on the network."
)
@output_option("the picture, .svg, .pdf or .png,")
@report_option
@json_option
def compare_command(
    wanted: ScheduleOptions,
    force: bool,
    rtl: bool,
    lengths: str | None,
    why: bool,
    output: str | None,
    report: str | None,
    as_json: bool,
) -> None:
    """Compare all algorithms for a collective: steps, TCD, cycles, the busiest link.

    With --rtl, the exit status is 0 only if model and hardware agree.
    """
    if output is not None:
        from ..picture.file import require_picture_suffix

        # Check before minutes of simulation.
        require_picture_suffix(output)
    require_output_files(output, report)
    room = replace(wanted.room, require=partial(require_no_deadlock, force=force))
    if lengths is not None:
        tasks = _tasks(wanted, lengths)
        comparisons = [_compared(task, room) for task in tasks]
        facts = wanted.facts(tasks[0].topology) if as_json else None
        _compare_lengths(comparisons, output, facts)
        return
    topology = wanted.network.topology(SizeLimit.HARDWARE if rtl else SizeLimit.COMPARISON)
    require_seen(report, topology)
    comparison = _compared(wanted.task(topology), room, keep=rtl or report is not None)
    if rtl:
        _verify(comparison)
    if output is not None:
        _draw(comparison, output)
    if report is not None:
        from ..report.reports import report_comparison

        with busy("writing the page"):
            report_comparison(comparison).write(report)
    if as_json:
        found = {"ports": wanted.collective.ports, **comparison.to_json()}
        print_json(found, **wanted.facts(topology))
    else:
        _print(comparison, rtl, why)
        say_written(output, report)
    if not all(entry.agrees for entry in comparison.entries):
        raise RuntimeError("hardware and prediction do not agree")


def _tasks(wanted: ScheduleOptions, lengths: str) -> list[Task]:
    """Return a task for each of ``lengths``."""
    refused = ("--rtl", "--report", "--why", "--words", "--block-words")
    refuse_beside("--lengths", refused, "it is about cycles")
    counts = sorted({*integers("--lengths", "numbers such as 4,16,64", lengths, ",")})
    require_range("--lengths", counts[0], 1)
    task = wanted.task(wanted.network.topology(SizeLimit.COMPARISON))
    if task.collectives == {Collective.BARRIER}:
        raise InvalidInput("--lengths must be left out with barrier: it has 1 word")
    return [replace(task, words=count) for count in counts]


def _compared(task: Task, room: Room, *, keep: bool = False) -> SideBySide:
    """Compare all algorithms, with progress; ``keep`` keeps the cases."""
    shown = partial(progress, shown=True)
    return compare(task, room, keep=keep, progress=shown, spell=in_options)


def _compare_lengths(
    comparisons: Sequence[SideBySide], output: str | None, facts: NetworkFacts | None
) -> None:
    """Print the fewest cycles of each algorithm for each number of words, and draw them.

    comparisons
        One comparison for each number of words.
    output
        File of the picture; None for no picture.
    facts
        Network and seed of a JSON result; None to print a table.
    """
    series = _series(comparisons)
    words = [comparison.task.block_length for comparison in comparisons]
    task = comparisons[0].task
    network = with_article(task.topology.label)
    title = f"{task.title.capitalize()} on {network}, fewest cycles over words"
    if output is not None:
        from ..picture.file import save_picture
        from ..picture.sweep import draw_cycles

        lines = {name: [*cycles.items()] for name, cycles in series.items() if cycles}
        bound = lines.pop(BOUND, [])
        save_picture(draw_cycles({title: (lines, bound)}), output)
    if facts is not None:
        least = {"cycles": series.pop(BOUND)}
        print_json({"words": words, "least": least, "cycles": series}, **facts)
        return
    rows = [(name, *(cycles.get(count) for count in words)) for name, cycles in series.items()]
    fastest = (_fastest(series, count) for count in words)
    print_table(title, ("words", *map(str, words)), [*rows, ("the fastest", *fastest)])
    say_written(output)


def _series(comparisons: Sequence[SideBySide]) -> dict[str, dict[int, int]]:
    """Return the cycles with the better timing by words: the bound first, then each algorithm."""
    series: dict[str, dict[int, int]] = {BOUND: {}}
    for comparison in comparisons:
        words = comparison.task.block_length
        series[BOUND][words] = comparison.least["cycles"]
        for entry in comparison.entries:
            found = series.setdefault(entry.label, {})
            if entry.cycles:
                found[words] = min(entry.cycles.values())
    return series


def _fastest(series: Mapping[str, Mapping[int, int]], words: int) -> str | None:
    """Return the algorithm with the fewest cycles; the first one in a tie."""
    named = {name: cycles[words] for name, cycles in series.items() if words in cycles}
    named.pop(BOUND, None)
    return min(named, key=named.__getitem__) if named else None


def _verify(comparison: SideBySide) -> None:
    """Run every case on the hardware, and store the results in the entries."""
    from ..sim.verify import verify

    entries = {entry.name: entry for entry in comparison.entries}
    cases = comparison.cases
    if not cases:
        refusal = next(iter(comparison.entries[0].refusals.values()))
        raise InvalidInput(f"--rtl has nothing to run: {refusal}")
    with progress("verifying", len(cases), shown=True) as (say, advance):
        networks: dict[NetworkConfig, list[Case]] = {}
        for case in cases:
            networks.setdefault(case.program.config, []).append(case)
        for some in networks.values():
            for result in verify(some, on_build=lambda: say(BUILDING)):
                entries[result.case.schedule.algorithm].verified[result.case.timing] = result
                advance()


def _print(comparison: SideBySide, rtl: bool, why: bool) -> None:
    """Print the table, then the reasons for missing or differing results."""
    shown = comparison.cycle_columns
    cycles = [name.replace(" ", "\n") for name in shown.values()]
    columns = ("algorithm", "steps", "TCD", *cycles, "times\nthe least", "sends on\nbusiest link")
    priced = any(entry.formula for entry in comparison.entries)
    costs = ("words", "by formula:\nstart-ups", "by formula:\nwords") if priced else ()
    least = comparison.least
    rows: list[tuple[object, ...]] = [_bound_row(BOUND, least, len(cycles))]
    for entry in comparison.entries:
        if entry.label != entry.name:
            # This entry serves fewer nodes, so the lower bound above does not hold for it.
            bound = entry.label.replace(entry.name, BOUND)
            rows.append(_bound_row(bound, entry.least, len(cycles)))
        predicted = (entry.cycles.get(timing) for timing in shown)
        times = entry.bound.times(min(entry.cycles.values())) if entry.cycles else None
        measures = (entry.schedule.steps, entry.schedule.tcd, *predicted, times)
        measures += (entry.busiest_link,)
        priced_at = _costs(entry) if priced else ()
        rows.append((entry.label, *measures, *priced_at, *([_verdict(entry)] if rtl else [])))
    print_table(comparison.title, (*columns, *costs, *(["hardware"] if rtl else [])), rows)
    say(*(f"fewest cycles: {', '.join(names)}" for names in [comparison.winners] if names))
    if priced:
        say("by formula: Johnsson & Ho 1986; n trees are taken to share words evenly")
    for entry in comparison.entries:
        if lack := left_out(entry.schedule):
            say(f"{entry.name}: {lack}")
    refused = comparison.refusals.items()
    if why:
        say(*(f"{name} was not compared: {why}" for name, why in refused))
    elif refused:
        listed = ", ".join(name for name, _ in refused)
        say(f"these algorithms need another network or other options: {listed} (--why says why)")
    for why_not, names in _without_cycles(comparison.entries).items():
        say(f"{', '.join(names)}: {why_not}")
    for entry in comparison.entries:
        for timing, result in entry.verified.items():
            for check in result.checks:
                if not check.agrees:
                    values = f"{check.predicted} predicted, {check.measured} on the hardware"
                    say(f"{entry.name}, {timing}: {check.name} {values}")


def _without_cycles(entries: Sequence[Entry]) -> dict[str, list[str]]:
    """Return the algorithms that have no cycles in some timing, by the reason."""
    names: dict[str, list[str]] = {}
    for entry in entries:
        for refusal in dict.fromkeys(entry.refusals.values()):
            names.setdefault(refusal, []).append(entry.name)
    return names


def _bound_row(name: str, least: Mapping[str, int], timings: int) -> tuple[object, ...]:
    """Return a table row with lower bounds, that of cycles for this many timings."""
    cycles = [least["cycles"]] * timings
    return (name, least.get("steps"), least.get("tcd"), *cycles)


def _costs(entry: Entry) -> tuple[object, ...]:
    """Return the words on the critical path, and the costs by Johnsson & Ho's formula."""
    if entry.formula is None:
        return entry.cost.transferred, None, None
    _, start_ups, words = entry.formula
    return entry.cost.transferred, start_ups, int(words) if words == int(words) else words


def _verdict(entry: Entry) -> str | None:
    """Return the verdict on the hardware; None without a hardware run."""
    if not entry.verified:
        return None
    return "ok" if entry.agrees else "DIFFERS"


def _draw(comparison: SideBySide, output: str) -> None:
    from ..picture.compare import Panel, draw_comparison
    from ..picture.file import save_picture

    entries, least = comparison.entries, comparison.least
    schedules = [entry.schedule for entry in entries]
    timings = comparison.cycle_columns
    cycles = {
        "" if comparison.circuits else str(timing): [entry.cycles.get(timing) for entry in entries]
        for timing in timings
    }
    panels = (
        Panel("steps", {"": [schedule.steps for schedule in schedules]}, least.get("steps")),
        Panel("TCD, links", {"": [schedule.tcd for schedule in schedules]}, least.get("tcd")),
        Panel("cycles", cycles, least["cycles"]),
        Panel("sends on the busiest link", {"": [entry.busiest_link for entry in entries]}),
    )
    names = [entry.label for entry in entries]
    save_picture(draw_comparison(comparison.title, names, panels, comparison.winners), output)
