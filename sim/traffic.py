"""Traffic on the cycle model, on the hardware, or on both and compared."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..model.cycle.model import Run, run
from ..model.network.config import NetworkConfig
from ..model.program.payload import empty_memory, random_words
from ..model.program.program import Program
from ..model.run.rules import TraceError, check_trace
from ..model.traffic.program import traffic_program
from ..model.traffic.traffic import Traffic
from .build import build_simulator
from .simulator import HardwareRun, prepare, simulate
from .verify import Check, Comparison, compare_runs, watchdog


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
    predicted: Run

    @classmethod
    def of(
        cls,
        traffic: Traffic,
        config: NetworkConfig,
        *,
        seed: int,
        refusal: npt.NDArray[np.uint16] | None = None,
        require: Callable[[Program], None] = lambda _program: None,
    ) -> "TrafficCase":
        """Compile and predict ``traffic``; without ``refusal`` every flit is taken at once.

        ``require`` may refuse the program before it is run.
        """
        program = traffic_program(traffic, config, seed)
        require(program)
        if refusal is None:
            refusal = np.zeros(config.topology.nodes, dtype=np.uint16)
        longest = max((row.length for rows in program.rows for row in rows), default=0)
        words = random_words(config, (config.topology.nodes, longest), seed)
        memory = empty_memory(config)
        memory[:, :longest] = words
        predicted = run(program, memory, timing="self-timed", refusal=refusal)
        return cls(traffic, program, seed, refusal, words, predicted)


@dataclass(frozen=True)
class TrafficResult(Comparison):
    """The comparison of a case that was run."""

    case: TrafficCase


def run_traffic(
    cases: Sequence[TrafficCase],
    *,
    on_build: Callable[[], None] = lambda: None,
    read_memories: bool = False,
) -> Iterator[TrafficResult]:
    """Run ``cases``, all on one network, on the hardware, and compare each as it ends.

    Each trace is also put to the checks that need no model. With ``read_memories`` the message
    memories are read afterwards.
    """
    config = cases[0].program.config
    simulator = build_simulator(config, on_build=on_build)
    jobs = [
        prepare(
            case.program,
            [(node, 0, words) for node, words in enumerate(case.words)],
            timing="self-timed",
            read_words=config.message_words if read_memories else 0,
            cycle_limit=watchdog(case.predicted),
            refusal=case.refusal,
        )
        for case in cases
    ]
    for case, measured in zip(cases, simulate(simulator, jobs), strict=True):
        checks, difference = compare_runs(case.predicted, measured)
        rules = rules_check(case.program, measured)
        yield TrafficResult(measured, (*checks, rules), difference, case)


def rules_check(program: Program, measured: HardwareRun) -> Check:
    """The first rule that the hardware's trace breaks, by checks that need no model."""
    broken = "none"
    try:
        check_trace(program, measured.trace, complete=measured.done)
    except TraceError as error:
        broken = str(error)
    return Check("trace rules broken", "none", broken, broken == "none")
