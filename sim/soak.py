"""The soak: random cases on model and hardware, with checks that single commands do not make.

These are signatures, message memories, and deadlocks, which model and hardware must share.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from ..model.base.errors import InvalidInput
from ..model.compare.case import Case
from ..model.compare.checks import Check, Comparison
from ..model.compare.drawn_schedules import draw_cases
from ..model.compare.drawn_traffic import DEFAULT, DrawnCase, DrawnNetwork, Longer
from ..model.compare.traffic_case import TrafficCase, rules_check
from ..model.network.config import NetworkConfig
from ..model.program.any_program import without_circuits
from ..model.run.packets import packets_of
from ..model.run.run import HardwareRun, Run
from ..model.run.signature import signatures
from ..model.run.trace import Trace
from .build import build_simulator
from .loading import job_of_traffic
from .simulator import simulate
from .verify import run_traffic, verify

CASES_PER_NETWORK, CASES_PER_LARGE_NETWORK = 150, 10


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
    """One case that was run: its description, network and run, and the failed checks."""

    description: str
    config: NetworkConfig
    run: Run
    wrong: list[Check]

    @property
    def flits(self) -> int:
        """The number of flits that were checked."""
        return len(self.run.trace)


def traffic_command(drawn: DrawnCase) -> str:
    """Return the command that repeats drawn traffic on model and hardware."""
    options = (f"--{name.replace('_', '-')} {value}" for name, value in drawn.parameters().items())
    return f"eyecast traffic {' '.join(options)} --on both"


def run_draw(number: int, by: By = By.TRACES, longer: Longer = DEFAULT) -> Iterator[Outcome]:
    """Draw a network and its cases; run and check all of them.

    Only traces check schedules; the other ways check traffic.
    """
    draw = np.random.default_rng(number)
    if draw.integers(3) == 0 and by is By.TRACES:
        return _run_schedules(draw_cases(draw))
    network = DrawnNetwork.draw(draw, longer)
    if by is By.RULES:
        return _run_model(_draw_traffic(network, draw, longer))
    if by is By.SIGNATURES:
        network = replace(network, config=replace(network.config, signature=True))
        return _run_signatures(network.config, _draw_traffic(network, draw, longer))
    return _run_traffic(network, list(_draw_traffic(network, draw, longer)))


Drawn = tuple[str, TrafficCase]
"""The command that repeats drawn traffic, and the case."""


def _draw_traffic(
    network: DrawnNetwork, draw: np.random.Generator, longer: Longer
) -> Iterator[Drawn]:
    """Draw cases that fit the network."""
    left = CASES_PER_LARGE_NETWORK if longer.large else CASES_PER_NETWORK
    while left:
        chosen = DrawnCase.draw(network, draw, longer)
        try:
            yield traffic_command(chosen), chosen.build()
        except InvalidInput:
            # Flits too narrow: the header is longer than the packet.
            continue
        left -= 1


def _run_model(drawn: Iterator[Drawn]) -> Iterator[Outcome]:
    """Check the cycle model's traces by the rules that need no model."""
    for command, case in drawn:
        check = rules_check(case.program, case.predicted)
        wrong = [] if check.agrees else [check]
        yield Outcome(command, case.program.config, case.predicted, wrong)


def _run_signatures(config: NetworkConfig, drawn: Iterator[Drawn]) -> Iterator[Outcome]:
    """Check the ends and the signatures of runs without a trace."""
    simulator = build_simulator(config, trace=False)
    # One by one, because the traces of all long cases do not fit into memory.
    for command, case in drawn:
        (measured,) = simulate(simulator, [job_of_traffic(case, read_memories=False)])
        config, predicted = case.program.config, case.predicted
        checks = [
            Check(name, each, other, each == other)
            for name, each, other in (
                ("finished", predicted.finished, measured.finished),
                ("cycles", predicted.cycles, measured.cycles),
            )
            if predicted.finished or name == "finished"
        ]
        checks += _signature_checks(config, predicted, measured)
        wrong = [check for check in checks if not check.agrees]
        yield Outcome(command, config, predicted, wrong)


def _run_traffic(network: DrawnNetwork, drawn: list[Drawn]) -> Iterator[Outcome]:
    results = run_traffic([case for _, case in drawn], read_memories=True)
    for (command, _), result in zip(drawn, results, strict=True):
        predicted, loaded = result.case.predicted, result.case.words.shape[1]
        memories = memory_check(network.config, predicted, result.measured, loaded)
        wrong = disagreements(predicted, result, network.config, memories)
        yield Outcome(command, network.config, result.measured, wrong)


def _run_schedules(cases: list[Case]) -> Iterator[Outcome]:
    for case, result in zip(cases, verify(cases), strict=True):
        config, schedule = case.program.config, case.schedule
        # A trace does not tell ejection ports apart, and circuits have no packets: no rules apply.
        rules = (
            []
            if config.all_port or config.circuits
            else [rules_check(without_circuits(case.program), result.measured)]
        )
        wrong = disagreements(case.predicted, result, config, *rules)
        description = f"{schedule.algorithm} {schedule.collective}, {case.timing}, {config}"
        yield Outcome(description, config, result.measured, wrong)


def disagreements(
    predicted: Run, result: Comparison, config: NetworkConfig, *more: Check
) -> list[Check]:
    """Return the failed checks of a comparison and of ``more``.

    With one VC on a wrapped axis, packets may wait for each other for ever. Then neither model nor
    hardware finishes, and all flits until then must agree.
    """
    checks = [*result.checks, *_signature_checks(config, predicted, result.measured), *more]
    return [check for check in checks if not check.agrees]


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
