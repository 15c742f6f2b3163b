"""The pages of the commands predict, verify, compare, check, traffic and run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..model.base.errors import InvalidInput
from ..model.collectives.notes import schedule_title
from ..model.collectives.shown_bounds import least_counts, word_measures
from ..model.compare.case import Case
from ..model.compare.checks import Check, Comparison, Verification
from ..model.compare.recorded import RecordedCheck
from ..model.compare.side_by_side import Entry, SideBySide
from ..model.compare.traffic_case import TrafficCase, TrafficResult
from ..model.network.config import NetworkConfig
from ..model.program.any_program import AnyProgram
from ..model.program.memory.layout import Layout
from ..model.run.following import moving_cycles
from ..model.run.measures import troubles
from ..model.run.run import Prediction, Run
from ..model.run.standstill import standstill
from ..model.run.trace import Trace
from ..model.schedule.schedule import Schedule
from ..model.workload.run import WorkloadRun
from ..model.workload.tables import title_of
from .contents import Contents, Report
from .machines import ShownMachine, machine_of
from .runs import Watched

if TYPE_CHECKING:
    from ..model.bounds.cycles import CycleBound

Table = dict[str, Any]

MODEL, HARDWARE, RECORDED = "model", "hardware", "trace"
_MEASURES = {
    "cycles": "cycles",
    "steps": "steps",
    "tcd": "links crossed by all messages (TCD)",
    "word_hops": "words times links",
    "node_words": "words sent or received by a node",
    "link_words": "words on a link",
}


def report_prediction(
    title: str,
    program: AnyProgram,
    predicted: Prediction,
    timing: str,
    schedule: Schedule | None = None,
    layout: Layout | None = None,
    bound: CycleBound | None = None,
) -> Report:
    """Return the page of a prediction; schedule, layout and bound are None if unknown.

    Raises :class:`.InvalidInput` for a network that is too large to draw.
    """
    contents = Contents(title, program.config)
    tables = [] if schedule is None else [_bounds(schedule, predicted, bound)]
    watched = Watched(
        name=MODEL,
        title=title,
        timing="" if program.config.circuits else timing,
        program=program,
        run=predicted,
        schedule=schedule,
        layout=layout,
        waiting=troubles(program, predicted),
        tables=tables,
        bound=bound,
    )
    contents.add(watched, predicted)
    return contents.report(_prediction_verdict(watched))


def report_case(case: Case) -> Report:
    """Return the page of a case's prediction, as :func:`report_prediction` does."""
    schedule, program = case.schedule, case.program
    parts = case.timing, schedule, case.payload.layout, case.bound
    return report_prediction(schedule_title(schedule), program, case.predicted, *parts)


def report_verification(result: Verification) -> Report:
    """Return the page of a hardware run, with the model's run if they differ.

    Raises :class:`.InvalidInput` for a network that is too large to draw.
    """
    title = schedule_title(result.case.schedule)
    contents = Contents(title, result.case.program.config)
    case, checks = result.case, _checks(result.checks)
    run = contents.add(_of_case(case, HARDWARE, [checks], case.bound, result), case.predicted)
    if result.difference is not None:
        model = contents.add(_of_case(case, MODEL, [checks], case.bound), case.predicted)
        contents.note_difference(run, result.difference, model)
    return contents.report(_verdict(result))


def report_recorded(
    title: str,
    program: AnyProgram,
    trace: Trace,
    found: RecordedCheck,
    *,
    timing: str = "",
    predicted: Prediction | None = None,
    schedule: Schedule | None = None,
) -> Report:
    """Return the page of a trace from any source, with the model's run if they differ.

    Without ``predicted`` the program is unknown, and ``program`` has no rows.
    Raises :class:`.InvalidInput` for a network that is too large to draw.
    """
    contents = Contents(title, program.config)
    tables = [_checks(found.checks, RECORDED)] if found.checks else []
    parts: dict[str, Any] = {
        **{"title": title, "timing": "" if program.config.circuits else timing},
        **{"program": program},
        **{"schedule": schedule, "tables": tables},
    }
    waiting = [] if found.broken is None else [f"broken rule: {found.broken}"]
    run = _run_of_trace(program.config, trace, predicted)
    watched = Watched(name=RECORDED, run=run, waiting=waiting, has_status=False, **parts)
    shown = contents.add(watched, predicted)
    if predicted is not None and found.difference is not None:
        waiting = troubles(program, predicted)
        model = contents.add(
            Watched(name=MODEL, run=predicted, waiting=waiting, **parts), predicted
        )
        contents.note_difference(shown, found.difference, model)
    return contents.report(_recorded_verdict(found))


def _run_of_trace(config: NetworkConfig, trace: Trace, predicted: Prediction | None) -> Run:
    """Return the run of a trace, with empty memories and no flags."""
    nodes = config.topology.nodes
    last = moving_cycles(config, trace)
    return Run(
        finished=True,
        cycles=max(last, predicted.cycles if predicted and predicted.finished else 0),
        memory=np.zeros((nodes, 0), dtype=np.uint64),
        trace=trace,
        flags=np.zeros(nodes, dtype=np.uint8),
        stalled_flits=np.zeros(nodes, dtype=np.int64),
        step=np.zeros(nodes, dtype=np.int64),
        arrived=np.zeros((nodes, config.lanes, 1), dtype=np.bool_),
    )


def _recorded_verdict(found: RecordedCheck) -> dict[str, Any]:
    """Return in one line whether a trace is as predicted."""
    if not found.checks:
        text = "all rules hold; no program is known" if found.agrees else "a rule is broken"
    elif found.agrees:
        text = "the trace is as the model says, flit for flit"
    else:
        wrong = ", ".join(check.name for check in found.checks if not check.agrees)
        text = f"the trace is not as predicted: {wrong}" if wrong else "a rule is broken"
    return {"good": found.agrees, "text": text}


def report_traffic(
    case: TrafficCase,
    latency: npt.NDArray[np.int64],
    measures: Iterable[tuple[str, object]],
    result: TrafficResult | None,
) -> Report:
    """Return the page of traffic; of its hardware run if there is a ``result``.

    ``latency`` has the cycles of each packet; the page lists ``measures``.
    """
    title = case.title
    contents = Contents(title, case.program.config)
    rows = [[name, str(value)] for name, value in measures]
    tables = [{"title": "Measures", "columns": ["", "measured"], "rows": rows, "wrong": []}]
    if result is not None:
        tables.insert(0, _checks(result.checks))
    runs: list[tuple[str, Run]] = [(HARDWARE, result.measured)] if result is not None else []
    if result is None or result.difference is not None:
        runs.append((MODEL, case.predicted))
    for name, run in runs:
        watched = Watched(
            name=name,
            title=title,
            timing="",
            program=case.program,
            run=run,
            waiting=troubles(case.program, run),
            tables=tables,
        )
        contents.add(watched, None)
    if result is not None:
        contents.note_difference(0, result.difference, model=1)
    verdict = _verdict(result) if result else _prediction_verdict(watched)
    return contents.report(verdict, latency=contents.histogram(latency))


def report_workload(found: WorkloadRun) -> Report:
    """Return the page of a workload on both machines.

    Raises :class:`.InvalidInput` for a network that is too large to draw.
    """
    config = found.config or NetworkConfig(topology=found.workload.topology)
    contents = Contents(title_of(found), config)
    for name, run in found.machines:
        contents.add_machine(machine_of(found, name, run))
    cycles = ", ".join(f"{name} {run.cycles:,}" for name, run in found.machines)
    text = f"{cycles}, lower bound {found.bound:,} cycles"
    return contents.report({"good": None, "text": text})


def report_chip(title: str, config: NetworkConfig, machine: ShownMachine, good: bool) -> Report:
    """Return the page of a chip's run; ``good`` tells whether its program has ended well.

    Raises :class:`.InvalidInput` for a network that is too large to draw.
    """
    contents = Contents(title, config)
    contents.add_machine(machine)
    text = f"{machine.chart.cycles:,} cycles"
    return contents.report({"good": good, "text": text})


def report_comparison(comparison: SideBySide) -> Report:
    """Return the page of algorithms side by side, with all cases of the comparison.

    Algorithms are in the order of their cycles, so that the page opens on the fastest one. A case
    that ran on the hardware is shown as it ran there.
    Raises :class:`.InvalidInput` if there is nothing to show, or the network is too large to draw.
    """
    cases = comparison.cases
    if not cases:
        refusal = next(iter(comparison.entries[0].refusals.values()))
        raise InvalidInput(f"--report has nothing to show: {refusal}")
    contents = Contents(comparison.title, cases[0].program.config)
    numbers: dict[tuple[str, str], int] = {}
    entries = _fastest_first(comparison)
    for entry, case in ((one, case) for one in entries for case in one.cases.values()):
        if case.timing not in comparison.cycle_columns:
            continue
        result = entry.verified.get(case.timing)
        name = entry.name if comparison.circuits else f"{entry.name}, {case.timing}"
        tables = [_checks(result.checks)] if result else []
        watched = _of_case(case, name, tables, entry.bound, result)
        number = contents.add(watched, case.predicted)
        numbers[entry.name, case.timing] = number
        contents.note_difference(number, result.difference if result else None)
    rtl = any(entry.verified for entry in comparison.entries)
    agrees = all(entry.agrees for entry in comparison.entries)
    text = f"{len(comparison.entries)} algorithms, predicted by the model"
    if rtl:
        text = "the hardware does what the model says" if agrees else "hardware and model differ"
    verdict = {"good": agrees if rtl else None, "text": text}
    cycles = {entry.name: entry.cycles for entry in entries}
    fastest = min(numbers, key=lambda key: cycles[key[0]][key[1]])
    side_by_side = _side_by_side(comparison, numbers)
    return contents.report(verdict, comparison=side_by_side, chosen=numbers[fastest])


def _fastest_first(comparison: SideBySide) -> list[Entry]:
    """Return the algorithms in the order of their cycles; those without cycles come last."""
    return sorted(
        comparison.entries, key=lambda entry: min(entry.cycles.values(), default=math.inf)
    )


def _side_by_side(comparison: SideBySide, numbers: dict[tuple[str, str], int]) -> dict[str, Any]:
    """Return the table of algorithms, with the runs of each row."""
    least = comparison.least
    timings = comparison.cycle_columns
    columns = ["algorithm", "steps", "TCD", *timings.values()]
    counts = [str(least.get(name, "")) for name in ("steps", "tcd")]
    rows = [["lower bound", *counts, *[str(least["cycles"])] * len(timings), ""]]
    runs: list[list[int]] = [[]]
    wrong = []
    fewest = "".join(
        f"; fewest cycles: {', '.join(names)}" for names in [comparison.winners] if names
    )
    for entry in _fastest_first(comparison):
        cycles = [str(entry.cycles.get(timing, "")) for timing in timings]
        measures = [str(entry.schedule.steps), str(entry.schedule.tcd), *cycles]
        wrong += [len(rows)] * (not entry.agrees)
        rows.append([entry.label, *measures, str(entry.busiest_link)])
        runs.append([numbers[key] for key in numbers if key[0] == entry.name])
    columns.append("sends on busiest link")
    return {
        "title": f"Algorithms{fewest}",
        "columns": columns,
        "rows": rows,
        "wrong": wrong,
        "runs": runs,
        "missing": [f"{name} was not compared: {why}" for name, why in comparison.refusals.items()],
    }


def _of_case(
    case: Case,
    name: str,
    tables: Sequence[Table],
    bound: CycleBound,
    result: Verification | None = None,
) -> Watched:
    """Return a case as the hardware ran it or, without a result, as predicted."""
    run = case.predicted if result is None else result.measured
    lines = troubles(case.program, run) if result is None else result.waiting
    return Watched(
        name=name,
        title=schedule_title(case.schedule),
        timing="" if case.program.config.circuits else case.timing,
        program=case.program,
        run=run,
        schedule=case.schedule,
        layout=case.payload.layout,
        waiting=lines,
        tables=[*tables, _bounds(case.schedule, run, bound)],
        bound=bound,
    )


def _checks(checks: Sequence[Check], measured: str = HARDWARE) -> Table:
    """Return the table of predicted and measured values."""
    rows = [
        [check.name, str(check.predicted), str(check.measured), "ok" if check.agrees else "differs"]
        for check in checks
    ]
    wrong = [number for number, check in enumerate(checks) if not check.agrees]
    columns = ["", "predicted", measured, ""]
    return {"title": f"Model and {measured}", "columns": columns, "rows": rows, "wrong": wrong}


def _bounds(schedule: Schedule, run: Run, bound: CycleBound | None) -> Table:
    """Return the table of measures beside their lower bounds."""
    least = least_counts(schedule) | ({"cycles": bound.value} if bound else {})
    measures = {"cycles": run.cycles} if run.finished else {}
    measures |= {"steps": schedule.steps, "tcd": schedule.tcd, **word_measures(schedule)}
    rows = [
        [_MEASURES[name], str(value), str(least.get(name, ""))] for name, value in measures.items()
    ]
    columns = ["", "schedule", "lower bound"]
    return {"title": "Schedule and bounds", "columns": columns, "rows": rows, "wrong": []}


def _prediction_verdict(watched: Watched) -> dict[str, Any]:
    """Return in one line how the predicted run ends."""
    run = watched.run
    ends = f"{run.cycles} cycles" if run.finished else _unfinished(watched)
    good = None if run.finished and not run.flags.any() else False
    return {"good": good, "text": f"predicted by the model: {ends}"}


def _unfinished(watched: Watched) -> str:
    deadlock = standstill(watched.program, watched.run).circle
    return "deadlock" if deadlock else "does not finish"


def _verdict(result: Comparison) -> dict[str, Any]:
    """Return in one line whether the hardware did what the model says."""
    if result.agrees:
        return {"good": True, "text": "the hardware did what the model says, flit for flit"}
    if result.alike:
        found = {check.name for check in result.checks} & {"deadlock"} or {"no end"}
        return {"good": False, "text": f"{found.pop()}, on the hardware as the model says"}
    lines = [check.name for check in result.checks if not check.agrees]
    return {"good": False, "text": f"hardware and model differ: {', '.join(lines)}"}
