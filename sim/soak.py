"""The soak: random cases on model and hardware, with checks that single commands do not make.

These are signatures, message memories, and deadlocks, which model and hardware must share.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.base.errors import InvalidInput
from ..model.compare.case import Case
from ..model.compare.checks import Check, compare, ending_check, equality_check, program_checks
from ..model.compare.drawn_programs import ProgramCase, draw_program_cases, draw_program_network
from ..model.compare.drawn_schedules import draw_cases
from ..model.compare.drawn_traffic import DEFAULT, DrawnCase, DrawnNetwork, Longer
from ..model.compare.traffic_case import TrafficCase, compare_traffic, rules_check
from ..model.network.config import NetworkConfig, Timing
from ..model.network.topology_file import topology_to_json
from ..model.program.any_program import without_circuits
from ..model.run.packets import packets_of
from ..model.run.run import EndState, HardwareRun, Run
from ..model.run.signature import signatures
from ..model.run.trace import Trace
from ..testbench.coverage import Coverage
from .build import build_simulator
from .drawn_damage import damaging_verilog, draw_damaged
from .drawn_operators import with_drawn_operator
from .job import Job
from .loading import job_of, job_of_program, job_of_traffic
from .simulator import simulate

CASES_PER_NETWORK, CASES_PER_LARGE_NETWORK, PROGRAMS_PER_NETWORK = 150, 10, 60
CASES_PER_PROCESS = 50
"""Cases that one process of the simulator runs, when their traces are read."""
LATEST_INTERRUPTION = 2000
"""Most cycles of a run that the host interrupts."""

AnyCase = Case | ProgramCase | TrafficCase


class By(StrEnum):
    """The check of a case.

    Traces compare model and hardware flit for flit; signatures do so by one number for each router,
    on the fastest simulator; rules check the cycle model alone, by the rules that need no model.
    """

    TRACES = "traces"
    SIGNATURES = "signatures"
    RULES = "rules"


class Drawn(NamedTuple):
    """A drawn case, and its description."""

    description: str
    case: AnyCase

    @property
    def config(self) -> NetworkConfig:
        """The network."""
        return self.case.program.config

    @property
    def damaged(self) -> int | None:
        """The word that the network's message memories damage; None if there is none."""
        return self.case.damaged if isinstance(self.case, ProgramCase) else None


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
                wrong = _ends_and_signatures(each, measured)
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


def _ends_and_signatures(drawn: Drawn, measured: HardwareRun) -> list[Check]:
    """Return the failed checks of a run without a trace."""
    predicted = drawn.case.predicted
    checks = [equality_check("finished", predicted.finished, measured.finished)]
    if predicted.finished:
        checks.append(equality_check("cycles", predicted.cycles, measured.cycles))
    if drawn.config.programs:
        checks.append(ending_check(predicted, measured))
    # Flits go on after the limit of a controller.
    if predicted.ending.state is not EndState.TIMED_OUT or not drawn.config.programs:
        checks += _signature_checks(drawn.config, predicted, measured)
    return [check for check in checks if not check.agrees]


def disagreements(drawn: Drawn, measured: HardwareRun) -> list[Check]:
    """Return the failed checks of a run with a trace.

    With one VC on a wrapped axis, packets may wait for each other for ever. Then neither model nor
    hardware finishes, and all flits until then must agree.
    """
    case, config = drawn.case, drawn.config
    checks: Sequence[Check]
    if isinstance(case, Case):
        checks = compare(case, measured).checks
        # A trace does not tell ejection ports apart, and circuits have no packets: no rules apply.
        if not (config.all_port or config.circuits):
            checks = (*checks, rules_check(without_circuits(case.program), measured))
    elif isinstance(case, ProgramCase):
        checks = program_checks(case, measured)
    else:
        memories = memory_check(config, case.predicted, measured, case.words.shape[1])
        checks = (*compare_traffic(case, measured).checks, memories)
    more = _signature_checks(config, case.predicted, measured)
    return [check for check in (*checks, *more) if not check.agrees]


def _signature_checks(config: NetworkConfig, predicted: Run, measured: HardwareRun) -> list[Check]:
    """Check that every node has the signature of its predicted flits, in a network with them."""
    if not config.signature:
        return []
    wrong = np.flatnonzero(signatures(predicted.trace, config) != measured.signature).tolist()
    return [Check("nodes with another signature", [], wrong, not wrong)]


def memory_check(
    config: NetworkConfig, predicted: Run, measured: HardwareRun, loaded: int
) -> Check:
    """Check all words that were loaded, the first ``loaded`` of each node, or written by packets.

    Other words of the hardware's memories are from the run before.
    """
    known = written_words(config, predicted.trace)
    known[:, :loaded] = True
    wrong = int((known & (predicted.memory != measured.memory)).sum())
    return Check("words that differ in memories", 0, wrong, wrong == 0)


def written_words(config: NetworkConfig, trace: Trace) -> npt.NDArray[np.bool_]:
    """Tell which words of message memories packets write: shape (nodes, message words)."""
    packets = packets_of(config, trace)
    written = np.zeros((config.topology.nodes, config.message_words), dtype=np.bool_)
    for begin, end in zip(packets.begin.tolist(), packets.end.tolist(), strict=True):
        if packets.flits.port[begin] == 0:
            address = int(config.header.address(packets.flits.data[begin]))
            written[packets.flits.node[begin], address : address + end - begin - 1] = True
    return written
