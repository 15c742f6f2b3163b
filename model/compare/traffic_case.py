"""Cases of traffic: the prediction by the cycle model, and checks of hardware runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..cycle.model import run
from ..network.config import Timing
from ..program.payload import empty_memory, random_words
from ..program.program import Program
from ..run.packets import TraceError
from ..run.rules import check_trace
from ..run.run import HardwareRun, Prediction, Run
from ..traffic.traffic import Traffic
from .checks import Check, Comparison, compare_runs


@dataclass(frozen=True)
class TrafficCase:
    """Traffic for one network, with its program and prediction.

    ``refusal`` is a 16-bit pattern for each node: the cycles, mod 16, in which its interface
    refuses a flit. ``words`` are the words that rows send, from the start of each node's message
    memory: shape (nodes, words). ``seed`` draws the VCs and the words.
    """

    traffic: Traffic
    program: Program
    seed: int
    refusal: npt.NDArray[np.uint16]
    words: npt.NDArray[np.uint64]
    predicted: Prediction

    @classmethod
    def of(
        cls,
        traffic: Traffic,
        program: Program,
        *,
        seed: int,
        refusal: npt.NDArray[np.uint16] | None = None,
    ) -> TrafficCase:
        """Predict ``traffic``; ``program`` was made from it with this seed.

        Without ``refusal`` every flit is accepted at once.
        """
        config = program.config
        if refusal is None:
            refusal = np.zeros(config.topology.nodes, dtype=np.uint16)
        longest = int(program.length.max(initial=0))
        words = random_words(config, (config.topology.nodes, longest), seed)
        words[list(config.topology.switches)] = 0
        memory = empty_memory(config)
        memory[:, :longest] = words
        predicted = run(program, memory, timing=Timing.SELF_TIMED, refusal=refusal)
        return cls(traffic, program, seed, refusal, words, predicted)


@dataclass(frozen=True, repr=False)
class TrafficResult(Comparison):
    """The comparison of a measured run with a traffic case."""

    case: TrafficCase


def compare_traffic(case: TrafficCase, measured: HardwareRun) -> TrafficResult:
    """Check a hardware run against its prediction and the rules that need no model."""
    checks, difference = compare_runs(case.program, case.predicted, measured)
    rules = rules_check(case.program, measured)
    return TrafficResult(measured, (*checks, rules), difference, case)


def rules_check(program: Program, measured: Run) -> Check:
    """Check a trace by the rules that need no model; report the first one broken."""
    broken = "none"
    try:
        check_trace(program, measured.trace, complete=measured.finished)
    except TraceError as error:
        broken = str(error)
    return Check("trace rules broken", "none", broken, broken == "none")
