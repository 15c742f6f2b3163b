"""Checks of drawn cases: a run of the hardware against its prediction, also runs that hang."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from helpers.drawn_reductions import wrong_nodes
from helpers.soak.programs import ProgramCase
from helpers.untimed import carried_out

from eyecast.model.base.arrays import words_differ
from eyecast.model.compare.case import Case
from eyecast.model.compare.checks import Check, compare, ending_check, equality_check
from eyecast.model.compare.traffic_case import TrafficCase, compare_traffic, rules_check
from eyecast.model.network.config import NetworkConfig
from eyecast.model.program.any_program import without_circuits
from eyecast.model.run.packets import packets_of
from eyecast.model.run.run import EndState, HardwareRun, Run
from eyecast.model.run.signature import signatures
from eyecast.model.run.trace import Trace, first_difference

AnyCase = Case | ProgramCase | TrafficCase


class Drawn(NamedTuple):
    """A drawn case, its description, and the cycles of an interrupted run before it; 0 for none."""

    description: str
    case: AnyCase
    interrupted: int = 0

    @property
    def config(self) -> NetworkConfig:
        """The network."""
        return self.case.program.config

    @property
    def damaged(self) -> int | None:
        """The word that the network's message memories damage; None if there is none."""
        return self.case.damaged if isinstance(self.case, ProgramCase) else None


def _program_checks(case: ProgramCase, measured: HardwareRun) -> tuple[Check, ...]:
    """Check all that a run shows, also of a program that hangs or sets flags.

    The cycles of a run that hangs have no meaning, except with a controller, whose limit ends it.
    Flits go on after the limit of a controller, so its nodes are not checked then. After a flag the
    model counts on, and the controller does not: the check of the end compares the cycle.
    """
    predicted, controlled = case.predicted, bool(case.program.config.programs)
    difference = first_difference(predicted.trace, measured.trace)
    checks = [
        equality_check("finished", predicted.finished, measured.finished),
        Check("trace rows", len(predicted.trace), len(measured.trace), difference is None),
    ]
    if predicted.finished or (controlled and predicted.ending.state is not EndState.FAILED):
        checks.append(equality_check("cycles", predicted.cycles, measured.cycles))
    if controlled:
        checks.append(ending_check(predicted, measured))
        if predicted.ending.state is EndState.TIMED_OUT:
            return tuple(checks)
    for name in ("memory", "arrived", "flags", "stalled_flits", "step"):
        differ = int((getattr(predicted, name) != getattr(measured, name)).sum())
        checks.append(equality_check(f"{name}: entries that differ", 0, differ))
    return tuple(checks)


def is_for_numpy(case: AnyCase) -> bool:
    """Tell whether NumPy can compute what a case leaves: a run that finishes without a flag."""
    predicted = case.predicted
    return not isinstance(case, TrafficCase) and predicted.finished and not predicted.flags.any()


def _numpy_check(case: Case | ProgramCase, measured: HardwareRun) -> Check:
    """Check the words that the hardware leaves against NumPy's.

    NumPy carries out a program row by row; of a schedule it knows the first words and the promise.
    """
    if isinstance(case, Case):
        wrong = wrong_nodes(case, measured.memory)
    else:
        memory = case.memory
        for each in filter(None, (case.first, case)):
            memory = carried_out(each.program, memory, seed=0)
        wrong = np.argwhere(words_differ(memory, measured.memory, axes=2)).tolist()
    return Check("places with words that are not NumPy's", [], wrong, not wrong)


def ends_and_signatures(drawn: Drawn, measured: HardwareRun) -> list[Check]:
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
        checks = _program_checks(case, measured)
    else:
        memories = memory_check(config, case.predicted, measured, case.words.shape[1])
        checks = (*compare_traffic(case, measured).checks, memories)
    if is_for_numpy(case):
        checks = (*checks, _numpy_check(case, measured))
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
    wrong = int((known & words_differ(predicted.memory, measured.memory, axes=2)).sum())
    return Check("words that differ in memories", 0, wrong, wrong == 0)


def written_words(config: NetworkConfig, trace: Trace) -> npt.NDArray[np.bool_]:
    """Tell which words of message memories packets write: shape (nodes, message words)."""
    packets = packets_of(config, trace)
    written = np.zeros((config.topology.nodes, config.message_words), dtype=np.bool_)
    for begin, end in zip(packets.begin.tolist(), packets.end.tolist(), strict=True):
        if packets.flits.port[begin] == 0:
            address = int(config.header.address(packets.flits.header_data[begin]))
            written[packets.flits.node[begin], address : address + end - begin - 1] = True
    return written
