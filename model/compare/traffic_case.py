"""Traffic for a network, what the cycle model says of it, and what came of it on the hardware."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..cycle.model import run
from ..network.config import Timing
from ..program.payload import empty_memory, random_words
from ..program.program import Program
from ..run.rules import TraceError, check_trace
from ..run.run import HardwareRun, Prediction
from ..traffic.traffic import Traffic
from .checks import Check, Comparison, compare_runs


@dataclass(frozen=True)
class TrafficCase:
    """Traffic for one network, and what the cycle model says will become of it.

    ``refusal`` is a 16-bit pattern for each node: in which cycles its interface refuses a flit.
    ``words`` is what each node's message memory holds at its beginning, as far as it is sent: shape
    (nodes, words). ``seed`` draws the VCs and the words.
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
        """Predict ``traffic``, of which ``program`` was made with this seed.

        Without ``refusal`` every flit is taken at once.
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
    """The comparison of a case that was run."""

    case: TrafficCase


def compare_traffic(case: TrafficCase, measured: HardwareRun) -> TrafficResult:
    """Hold what the hardware did against what was predicted, and against the model-free rules."""
    checks, difference = compare_runs(case.program, case.predicted, measured)
    rules = rules_check(case.program, measured)
    return TrafficResult(measured, (*checks, rules), difference, case)


def rules_check(program: Program, measured: HardwareRun) -> Check:
    """The first rule that the hardware's trace breaks, by checks that need no model."""
    broken = "none"
    try:
        check_trace(program, measured.trace, complete=measured.finished)
    except TraceError as error:
        broken = str(error)
    return Check("trace rules broken", "none", broken, broken == "none")
