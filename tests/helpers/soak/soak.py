"""The soak: random cases on model and hardware, with checks that single commands do not make.

These are signatures, message memories, and deadlocks, which model and hardware must share.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain, islice

import numpy as np
from helpers.soak.checks import Drawn, disagreements, ends_and_signatures
from helpers.soak.damage import damaged_words, damaging_verilog
from helpers.soak.operators import with_operator
from helpers.soak.programs import ProgramCase, program_cases, program_networks
from helpers.soak.samples import each_of, example_of, sampled
from helpers.soak.schedules import schedule_cases
from helpers.soak.traffic import DEFAULT, DrawnTraffic, Longer, traffic, traffic_networks
from helpers.soak.trees import tree_cases
from helpers.whole_jobs import whole_job
from hypothesis import Phase, assume
from hypothesis import strategies as st

from eyecast.model.base.errors import InvalidInput
from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import Check
from eyecast.model.compare.traffic_case import TrafficCase, rules_check
from eyecast.model.network.config import NetworkConfig, Timing
from eyecast.model.program.any_program import without_circuits
from eyecast.model.program.file import program_json
from eyecast.model.program.slots import slots_of
from eyecast.model.run.run import Run
from eyecast.sim.build import build_simulator
from eyecast.sim.job import FIRST_PROGRAM, Job
from eyecast.sim.loading import job_of, job_of_traffic, resident_writes
from eyecast.sim.simulator import simulate
from eyecast.testbench.coverage import Coverage

CASES_PER_NETWORK, CASES_PER_LARGE_NETWORK, PROGRAMS_PER_NETWORK = 150, 10, 60
TREES_PER_NETWORK = 2 * PROGRAMS_PER_NETWORK
"""Schedules of trees, which take less time than the simulator of their network."""
CASES_PER_PROCESS = 50
"""Cases that one process of the simulator runs, when their traces are read."""
INTERRUPTIONS = st.one_of(st.just(0), st.just(0), st.integers(1, 2000))
"""Cycles of an interrupted run before a third of the runs; 0 for none."""

Recipe = tuple[Case | DrawnTraffic | ProgramCase, int]
"""A drawn case, and the cycles of the interrupted run before it."""


class By(StrEnum):
    """The check of a case.

    Traces compare model and hardware flit for flit; signatures do so by one number for each router,
    on the fastest simulator; rules check the cycle model alone, by the rules that need no model.
    Traces and numpy also compare the words that schedules and programs leave with NumPy's; numpy
    draws only schedules and programs, on small networks with wide words.
    """

    TRACES = "traces"
    SIGNATURES = "signatures"
    RULES = "rules"
    NUMPY = "numpy"


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


def run_draw(number: int, by: By = By.TRACES, longer: Longer = DEFAULT) -> Iterator[Outcome]:
    """Draw a network and its cases; run and check all of them.

    One third of the draws are schedules, one third programs that no schedule makes, and one third
    traffic. Rules, and large networks, check traffic alone. Signatures check no schedule, and only
    networks that have them. NumPy checks schedules of drawn trees in place of traffic.
    """
    _, recipes = _recipes(number, by, longer)
    return _run(filter(None, map(_built, recipes)), by)


def simplest(number: int, by: By, longer: Longer) -> Outcome | None:
    """Return the simplest case of a draw that differs when it runs alone; None if no case does.

    Hypothesis simplifies the case, for five minutes at most; the network stays.
    """
    found: list[Outcome] = []

    def check(recipe: Recipe) -> None:
        drawn = _built(recipe)
        assume(drawn)
        wrong = [outcome for outcome in _run(iter([drawn]), by) if outcome.wrong]
        found.extend(wrong)
        assert not wrong

    strategy, recipes = _recipes(number, by, longer)
    try:
        each_of(strategy, number, 4 * len(recipes), check, Phase.shrink)
    except AssertionError:
        return found[-1]
    return None


def _recipes(number: int, by: By, longer: Longer) -> tuple[st.SearchStrategy[Recipe], list[Recipe]]:
    """Return a strategy for the cases of a network, and those that the draw samples of it."""
    kind, signature, wide = number % 3, by is By.SIGNATURES, by is By.NUMPY
    alone = by is By.RULES or longer.large
    if (wide and kind == 2) or (kind == 0 and not signature and not alone):
        cases = tree_cases(TREES_PER_NETWORK) if kind else schedule_cases(wide=wide)
        schedules = example_of(_interrupted(cases), number)
        return st.sampled_from(schedules), schedules
    if kind == 1 and not alone:
        networks = program_networks(signature=signature, wide=wide)
        config, damaged = example_of(_damaged(networks), number)
        strategy = st.tuples(program_cases(config, damaged), INTERRUPTIONS)
        return strategy, sampled(strategy, number, PROGRAMS_PER_NETWORK)
    config = example_of(traffic_networks(longer), number)
    if signature:
        config = replace(config, signature=True)
    most = CASES_PER_LARGE_NETWORK if longer.large else CASES_PER_NETWORK
    strategy = st.tuples(traffic(config, longer), INTERRUPTIONS)
    return strategy, sampled(strategy, number, most)


@st.composite
def _interrupted(draw: st.DrawFn, cases: st.SearchStrategy[list[Case]]) -> list[Recipe]:
    """Draw the schedules of a network, and the run before each."""
    return [(case, draw(INTERRUPTIONS)) for case in draw(cases)]


@st.composite
def _damaged(
    draw: st.DrawFn, networks: st.SearchStrategy[NetworkConfig]
) -> tuple[NetworkConfig, int | None]:
    """Draw a network for programs, and the word that its memories damage, or a custom operator."""
    config, damaged = draw(damaged_words(draw(networks)))
    return config if damaged is not None else draw(with_operator(config)), damaged


def _built(recipe: Recipe) -> Drawn | None:
    """Generate and predict the traffic of a recipe; None if the network cannot carry it.

    Cases of other kinds are drawn with their predictions.
    """
    case, interrupted = recipe
    description = repr(case)
    if isinstance(case, DrawnTraffic):
        try:
            case = case.build()
        except InvalidInput:
            # Flits too narrow: the header is longer than the packet.
            return None
    elif isinstance(case, ProgramCase):
        description = f"{case.timing}, limit {case.limit}, {program_json(case.program)}"
    return Drawn(description, case, interrupted % (2 * case.predicted.cycles + 2))


def _run(drawn: Iterator[Drawn], by: By) -> Iterator[Outcome]:
    """Run and check cases of one network."""
    if by is By.RULES:
        return _run_model(drawn)
    return _run_hardware(drawn, trace=by is not By.SIGNATURES)


def _run_model(drawn: Iterator[Drawn]) -> Iterator[Outcome]:
    """Check the cycle model's traces by the rules that need no model."""
    for each in drawn:
        predicted = each.case.predicted
        check = rules_check(without_circuits(each.case.program), predicted)
        wrong = [] if check.agrees else [check]
        yield Outcome(each, predicted, wrong)


def _run_hardware(drawn: Iterator[Drawn], *, trace: bool) -> Iterator[Outcome]:
    """Run cases on the simulator of their network; check traces, or signatures without them."""
    first = next(drawn)
    verilog = None
    if first.damaged is not None:
        verilog = partial(damaging_verilog, word=first.damaged, trace=trace)
    simulator = build_simulator(first.config, trace=trace, verilog=verilog)
    # Few at a time, because the traces of all long cases do not fit into memory.
    rest = chain([first], drawn)
    while some := [*islice(rest, CASES_PER_PROCESS if trace else 1)]:
        jobs = [_job_of(each, trace=trace) for each in some]
        for each, measured in zip(some, simulate(simulator, jobs), strict=True):
            if trace:
                wrong = disagreements(each, measured)
                yield Outcome(each, measured, wrong)
            else:
                wrong = ends_and_signatures(each, measured)
                # The prediction's trace stands for the hardware's, which has the same signatures.
                run = replace(measured, trace=each.case.predicted.trace)
                yield Outcome(each, run, wrong)


def _job_of(drawn: Drawn, *, trace: bool) -> Job:
    """Return the job of a case."""
    case = drawn.case
    if isinstance(case, Case):
        job = job_of(case)
    elif isinstance(case, ProgramCase):
        job = job_of_program(case)
    else:
        job = job_of_traffic(case, read_memories=trace)
    return replace(job, interrupted=drawn.interrupted)


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
