"""The soak: random cases on model and hardware, with checks that single commands do not make.

These are signatures, message memories, and deadlocks, which model and hardware must share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..model.base.errors import InvalidInput
from ..model.compare.case import Case
from ..model.compare.checks import Check, Comparison
from ..model.compare.drawn_schedules import draw_cases
from ..model.compare.drawn_traffic import DrawnCase, DrawnNetwork
from ..model.compare.traffic_case import TrafficCase, rules_check
from ..model.network.config import NetworkConfig
from ..model.program.any_program import without_circuits
from ..model.run.packets import packets_of
from ..model.run.run import HardwareRun, Run
from ..model.run.signature import signatures
from ..model.run.trace import Trace
from .verify import run_traffic, verify

CASES_PER_NETWORK = 150


@dataclass(frozen=True)
class Outcome:
    """One case that was run: its description, the flits checked, and the failed checks."""

    description: str
    flits: int
    wrong: list[Check]


def traffic_command(drawn: DrawnCase) -> str:
    """Return the command that repeats drawn traffic on model and hardware."""
    options = (f"--{name.replace('_', '-')} {value}" for name, value in drawn.parameters().items())
    return f"eyecast traffic {' '.join(options)} --on both"


def run_draw(number: int) -> Iterator[Outcome]:
    """Draw a network and its cases; run and check all of them."""
    draw = np.random.default_rng(number)
    return _run_schedules(draw_cases(draw)) if draw.integers(3) == 0 else _run_traffic(draw)


def _run_traffic(draw: np.random.Generator) -> Iterator[Outcome]:
    network = DrawnNetwork.draw(draw)
    drawn: list[tuple[str, TrafficCase]] = []
    while len(drawn) < CASES_PER_NETWORK:
        chosen = DrawnCase.draw(network, draw)
        try:
            drawn.append((traffic_command(chosen), chosen.build()))
        except InvalidInput:
            # Flits too narrow: the header is longer than the packet.
            continue
    results = run_traffic([case for _, case in drawn], read_memories=True)
    for (command, _), result in zip(drawn, results, strict=True):
        predicted, loaded = result.case.predicted, result.case.words.shape[1]
        memories = memory_check(network.config, predicted, result.measured, loaded)
        wrong = disagreements(predicted, result, network.config, memories)
        yield Outcome(command, len(result.measured.trace), wrong)


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
        yield Outcome(description, len(result.measured.trace), wrong)


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
