"""The whole way: schedule, program, cycle model, hardware, and whether all of them agree."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..model.base.errors import InvalidInput
from ..model.cycle.model import Run, run
from ..model.network.config import NetworkConfig
from ..model.program.compiler import compile_schedule
from ..model.program.layout import held_words
from ..model.program.payload import Payload
from ..model.program.program import Program
from ..model.run.trace import HEAD_MARK, TAIL_MARK, Difference, Trace, first_difference
from ..model.schedule.schedule import Schedule
from .build import build_simulator
from .job import Job
from .simulator import HardwareRun, prepare, simulate

WATCHDOG_FACTOR = 2
"""How many times as long as predicted the hardware may take,"""

WATCHDOG_SLACK = 100
"""and how many cycles more, before it is taken to hang."""


@dataclass(frozen=True)
class Case:
    """One schedule to carry out, and what the cycle model says will happen."""

    schedule: Schedule
    program: Program
    payload: Payload
    timing: str
    predicted: Run

    @classmethod
    def of(
        cls,
        schedule: Schedule,
        config: NetworkConfig,
        *,
        timing: str,
        seed: int,
        require: Callable[[Program], None] = lambda _program: None,
    ) -> "Case":
        """Check, compile and predict ``schedule``, with a payload drawn from ``seed``.

        ``require`` may refuse the program before it is run.
        Raises :class:`.ScheduleError` or :class:`.InvalidInput` for a schedule that is wrong or
        does not fit.
        """
        schedule.check()
        program = compile_schedule(schedule, config)
        require(program)
        payload = Payload.random(schedule, config, seed)
        predicted = run(program, payload.memory(config), timing=timing)
        if config.contention_free and predicted.stalled_flits.any():
            allowed = f"none in a contention-free network, with {timing} timing"
            raise InvalidInput.of("flits that wait", allowed, int(predicted.stalled_flits.sum()))
        return cls(schedule, program, payload, timing, predicted)

    def job(self) -> Job:
        """What is loaded and read to carry it out."""
        return prepare(
            self.program,
            self.payload.loads(),
            timing=self.timing,
            read_words=self.payload.layout.size,
            cycle_limit=watchdog(self.predicted),
        )


def watchdog(predicted: Run) -> int:
    """Cycles after which the hardware is taken to hang."""
    last = predicted.cycles
    if not predicted.finished:
        # Nothing moves any more after the last flit; the model's own limit is far beyond.
        last = int(predicted.trace.cycle.max(initial=0)) + 1
    return WATCHDOG_FACTOR * last + WATCHDOG_SLACK


@dataclass(frozen=True)
class Check:
    """One line of the table: what was predicted, what was measured, and whether that is right."""

    name: str
    predicted: object
    measured: object
    agrees: bool

    def to_json(self) -> dict[str, object]:
        """The line as JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Comparison:
    """What the hardware did, and how it compares with what was predicted."""

    measured: HardwareRun
    checks: tuple[Check, ...]
    difference: Difference | None

    @property
    def agrees(self) -> bool:
        """Whether every line of the table is right."""
        return all(check.agrees for check in self.checks)


@dataclass(frozen=True)
class Verification(Comparison):
    """The comparison of a case that was carried out."""

    case: Case

    def to_json(self) -> dict[str, Any]:
        """The table as JSON values."""
        return {
            "agrees": self.agrees,
            "timing": self.case.timing,
            "root": self.case.schedule.root,
            "checks": [check.to_json() for check in self.checks],
            "first_difference": None if self.difference is None else self.difference.describe(),
            "waiting": waiting(self.case.program, self.measured),
        }


def verify(
    cases: Sequence[Case],
    *,
    waves_file: Path | None = None,
    on_build: Callable[[], None] = lambda: None,
    verilog: Callable[[NetworkConfig], str] | None = None,
) -> Iterator[Verification]:
    """Carry out ``cases``, all on one network, on the hardware, and compare each as it ends.

    See :func:`build_simulator` for ``on_build`` and ``verilog``, :func:`simulate` for
    ``waves_file``.
    """
    config = cases[0].program.config
    simulator = build_simulator(
        config, waves=waves_file is not None, on_build=on_build, verilog=verilog
    )
    results = simulate(simulator, [case.job() for case in cases], waves_file=waves_file)
    for case, measured in zip(cases, results, strict=True):
        yield compare(case, measured)


def compare(case: Case, measured: HardwareRun) -> Verification:
    """Hold what the hardware did against what was predicted."""
    schedule = case.schedule
    run_checks, difference = compare_runs(case.predicted, measured)
    checks = (
        delivery_check(case, measured),
        equality_check("steps", schedule.steps, count_steps(measured.trace, case.program.config)),
        equality_check(
            "TCD", schedule.tcd + _repeated(case.program), count_distance(measured.trace)
        ),
        *run_checks,
    )
    return Verification(measured, checks, difference, case)


def equality_check(name: str, predicted: int, measured: int) -> Check:
    """The line of a number that must be as predicted."""
    return Check(name, predicted, measured, predicted == measured)


def delivery_check(case: Case, measured: HardwareRun) -> Check:
    """How many nodes have all that they are to have, and nothing else in its place."""
    nodes = len(case.schedule.blocks.served(case.schedule.topology))
    delivered = int(case.payload.delivered(measured.messages).sum())
    right = delivered == nodes and _same_words(case, measured)
    return Check("nodes delivered", nodes, delivered, right)


def cycles_check(predicted: Run, measured: HardwareRun) -> Check:
    """In how many cycles all was done, if it was."""
    return Check(
        "cycles",
        predicted.cycles,
        measured.cycles if measured.done else "not finished",
        measured.done and predicted.finished and predicted.cycles == measured.cycles,
    )


def flags_check(predicted: Run, measured: HardwareRun) -> Check:
    """Whether any node has seen what must never happen."""
    nodes = range(len(measured.flags))
    names = sorted({name for node in nodes for name in measured.flag_names(node)})
    none = bool((measured.flags == 0).all() and (predicted.flags == 0).all())
    return Check("error flags", "none", ", ".join(names) or "none", none)


def _same_words(case: Case, measured: HardwareRun) -> bool:
    """Whether the words of all blocks that a node has had are as predicted.

    What else lies in a memory of the hardware may be left from another run.
    """
    held = held_words(case.schedule, case.payload.layout)
    differing = measured.messages != case.predicted.memory[:, : held.shape[1]]
    return not (differing & held).any()


def _repeated(program: Program) -> int:
    """Links that a send's further packets cross again, where its blocks did not lie together."""
    rows = (row for node_rows in program.rows for row in node_rows if row.continued)
    return sum(segment.hops for row in rows for segment in row.route)


def compare_runs(
    predicted: Run, measured: HardwareRun
) -> tuple[tuple[Check, ...], Difference | None]:
    """What holds for every program: cycles, stalls, flags, the trace and where it first differs."""
    difference = first_difference(predicted.trace, measured.trace)
    stalled = int(predicted.stalled_flits.sum()), int(measured.stalled_flits.sum())
    checks = (
        cycles_check(predicted, measured),
        Check(
            "stalled flits",
            *stalled,
            bool((predicted.stalled_flits == measured.stalled_flits).all()),
        ),
        Check("trace rows", len(predicted.trace), len(measured.trace), difference is None),
        flags_check(predicted, measured),
    )
    return checks, difference


def count_distance(trace: Trace) -> int:
    """TCD as counted on the wires: a packet has one tail, which crosses every link of its path.

    A send of several packets counts as often.
    """
    return int(((trace.port != 0) & (trace.kind & TAIL_MARK != 0)).sum())


def count_steps(trace: Trace, config: NetworkConfig) -> int:
    """The last step as the headers that were delivered say it."""
    headers = trace.data[(trace.port == 0) & (trace.kind & HEAD_MARK != 0)]
    return int(config.header.step(headers).max(initial=0))


def waiting(program: Program, measured: HardwareRun) -> list[str]:
    """One line for each node that has not finished: what it still waits for."""
    if measured.done:
        return []
    lines = []
    for node in range(len(program.rows)):
        parts = _unfinished(program, measured, node)
        flags = measured.flag_names(node)
        if flags:
            parts.append(f"has set {', '.join(flags)}")
        if parts:
            lines.append(", ".join([f"node {node} is in step {measured.step[node]}", *parts]))
    return lines


def _unfinished(program: Program, measured: HardwareRun, node: int) -> list[str]:
    """What a node has not received, and what it has not sent."""
    parts = []
    lanes = zip(program.lane_rows(node), program.lane_receives(node), strict=True)
    for lane, (rows, receives) in enumerate(lanes):
        by_port = f" by port {lane + 1}" if program.config.all_port else ""
        missing = [step for step in receives if not measured.arrived[node, lane, step]]
        state = measured.sender_state_name(node, lane)
        if missing:
            parts.append(f"waits for a receive{by_port} in step {', '.join(map(str, missing))}")
        if state != "ended":
            sender = f"sender in {state}, {len(rows)} rows in its table"
            parts.append(f"has rows to send{by_port} ({sender})")
    return parts
