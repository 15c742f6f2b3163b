"""The soak: random cases on model and hardware, with checks that single commands do not make.

These are signatures, message memories, and deadlocks, which model and hardware must share.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain, islice

import numpy as np
from helpers.soak.checks import AnyCase, Drawn, disagreements, ends_and_signatures
from helpers.soak.damage import damaging_verilog, draw_damaged
from helpers.soak.operators import with_drawn_operator
from helpers.soak.programs import ProgramCase, draw_program_cases, draw_program_network
from helpers.soak.schedules import draw_cases
from helpers.soak.traffic import DEFAULT, DrawnCase, DrawnNetwork, Longer
from helpers.whole_jobs import whole_job

from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import Check
from eyecast.model.compare.traffic_case import TrafficCase, rules_check
from eyecast.model.network.config import Timing
from eyecast.model.network.topology_file import topology_to_json
from eyecast.model.program.any_program import without_circuits
from eyecast.model.program.slots import slots_of
from eyecast.model.run.run import Run
from eyecast.sim.build import build_simulator
from eyecast.sim.job import FIRST_PROGRAM, Job
from eyecast.sim.loading import job_of, job_of_traffic, resident_writes
from eyecast.sim.simulator import simulate
from eyecast.testbench.coverage import Coverage

CASES_PER_NETWORK, CASES_PER_LARGE_NETWORK, PROGRAMS_PER_NETWORK = 150, 10, 60
CASES_PER_PROCESS = 50
"""Cases that one process of the simulator runs, when their traces are read."""
LATEST_INTERRUPTION = 2000
"""Most cycles of a run that the host interrupts."""


class By(StrEnum):
    """The check of a case.

    Traces compare model and hardware flit for flit; signatures do so by one number for each router,
    on the fastest simulator; rules check the cycle model alone, by the rules that need no model.
    """

    TRACES = "traces"
    SIGNATURES = "signatures"
    RULES = "rules"


@dataclass(frozen=True)
class Outcome:
    """One case that was run, its run, and the failed checks."""

    drawn: Drawn
    run: Run
    wrong: list[Check]

    @property
    def flits(self) -> int:
        """The number of flits that were checked."""
        return len(self.run.trace)

    @property
    def points(self) -> Counter[str]:
        """The counts of the points of docs/router.md that the run shows."""
        case, coverage = self.drawn.case, Coverage(self.drawn.config)
        coverage.run(self.run)
        if isinstance(case, TrafficCase):
            timing, hold, refusal = Timing.SELF_TIMED, None, case.refusal
        else:
            timing, hold, refusal = case.timing, case.hold, None
        coverage.program(case.program, self.run, timing=timing, hold=hold, refusal=refusal)
        return coverage.counts


def traffic_command(drawn: DrawnCase) -> str:
    """Return the command that repeats drawn traffic on model and hardware.

    If no option describes the network, the command names a file, whose content follows.
    """
    options = (f"--{name.replace('_', '-')} {value}" for name, value in drawn.parameters().items())
    command = f"eyecast traffic {' '.join(options)} --on both"
    if drawn.network.words is not None:
        return command
    content = json.dumps(topology_to_json(drawn.network.config.topology))
    return f"{command} --graph network.json, with network.json: {content}"


def run_draw(number: int, by: By = By.TRACES, longer: Longer = DEFAULT) -> Iterator[Outcome]:
    """Draw a network and its cases; run and check all of them.

    One third of the draws are schedules, one third programs that no schedule makes, and one third
    traffic. Rules, and large networks, check traffic alone. Signatures check no schedule, and only
    networks that have them.
    """
    draw = np.random.default_rng(number)
    kind = int(draw.integers(3))
    if by is By.RULES or longer.large:
        kind = 2
    signature = by is By.SIGNATURES
    if kind == 0 and not signature:
        drawn = _draw_schedules(draw)
    elif kind == 1:
        drawn = _draw_programs(draw, signature=signature)
    else:
        network = DrawnNetwork.draw(draw, longer)
        if signature:
            network = replace(network, config=replace(network.config, signature=True))
        drawn = _draw_traffic(network, draw, longer)
    if by is By.RULES:
        return _run_model(drawn)
    return _run_hardware(draw, drawn, trace=by is By.TRACES)


def _draw_traffic(
    network: DrawnNetwork, draw: np.random.Generator, longer: Longer
) -> Iterator[Drawn]:
    """Draw cases that fit the network."""
    left = CASES_PER_LARGE_NETWORK if longer.large else CASES_PER_NETWORK
    while left:
        chosen = DrawnCase.draw(network, draw, longer)
        try:
            yield Drawn(traffic_command(chosen), chosen.build())
        except InvalidInput:
            # Flits too narrow: the header is longer than the packet.
            continue
        left -= 1


def _draw_schedules(draw: np.random.Generator) -> Iterator[Drawn]:
    """Draw schedules that fit one network."""
    for case in draw_cases(draw, with_drawn_operator):
        schedule = case.schedule
        words = f"{schedule.algorithm} {schedule.collective}, {case.timing}, {case.program.config}"
        yield Drawn(words, case)


def _draw_programs(draw: np.random.Generator, *, signature: bool) -> Iterator[Drawn]:
    """Draw programs for one network."""
    config, damaged = draw_damaged(draw, draw_program_network(draw, signature=signature))
    if damaged is None:
        config = with_drawn_operator(draw, config)
    cases = draw_program_cases(draw, config, PROGRAMS_PER_NETWORK, damaged)
    for number, case in enumerate(cases):
        words = f"program {number}, {case.timing}, limit {case.limit}, {config}"
        yield Drawn(words, case)


def _run_model(drawn: Iterator[Drawn]) -> Iterator[Outcome]:
    """Check the cycle model's traces by the rules that need no model."""
    for each in drawn:
        predicted = each.case.predicted
        check = rules_check(without_circuits(each.case.program), predicted)
        wrong = [] if check.agrees else [check]
        yield Outcome(each, predicted, wrong)


def _run_hardware(
    draw: np.random.Generator, drawn: Iterator[Drawn], *, trace: bool
) -> Iterator[Outcome]:
    """Run cases on the simulator of their network; check traces, or signatures without them."""
    first = next(drawn)
    verilog = None
    if first.damaged is not None:
        verilog = partial(damaging_verilog, word=first.damaged, trace=trace)
    simulator = build_simulator(first.config, trace=trace, verilog=verilog)
    # Few at a time, because the traces of all long cases do not fit into memory.
    rest = chain([first], drawn)
    while some := [*islice(rest, CASES_PER_PROCESS if trace else 1)]:
        jobs = [_job_of(draw, each.case, trace=trace) for each in some]
        for each, measured in zip(some, simulate(simulator, jobs), strict=True):
            if trace:
                wrong = disagreements(each, measured)
                yield Outcome(each, measured, wrong)
            else:
                wrong = ends_and_signatures(each, measured)
                # The prediction's trace stands for the hardware's, which has the same signatures.
                run = replace(measured, trace=each.case.predicted.trace)
                yield Outcome(each, run, wrong)


def _job_of(draw: np.random.Generator, case: AnyCase, *, trace: bool) -> Job:
    """Return the job of a case; a third of the jobs have an interrupted run before them."""
    if isinstance(case, Case):
        job = job_of(case)
    elif isinstance(case, ProgramCase):
        job = job_of_program(case)
    else:
        job = job_of_traffic(case, read_memories=trace)
    if draw.integers(3):
        return job
    most = min(LATEST_INTERRUPTION, 2 * case.predicted.cycles)
    return replace(job, interrupted=int(draw.integers(1, most + 2)))


def job_of_program(case: ProgramCase) -> Job:
    """Prepare the job that runs a drawn program; it loads and reads all words of all memories.

    A program that the host starts first is loaded behind it.
    """
    job = whole_job(case.program, case.timing, case.limit, case.memory, hold=case.hold)
    job = replace(job, damaged=case.damaged)
    if case.first is None:
        return job
    first = case.first.program
    _, slot = slots_of([case.program, first])
    further = resident_writes(first, slot, case.timing, FIRST_PROGRAM)
    writes = np.concatenate((job.writes, further))
    return replace(job, writes=writes, first_cycles=case.first.predicted.cycles)
