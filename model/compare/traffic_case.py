"""Cases of traffic: the prediction by the cycle model, and checks of hardware runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import with_article
from ..base.texts import counted, counted_range
from ..cycle.model import run
from ..network.config import Timing
from ..network.topology import Topology
from ..program.deadlock import certify
from ..program.payload import empty_memory, random_words
from ..program.program import Program
from ..run.packets import TraceError
from ..run.rules import check_trace
from ..run.run import HardwareRun, Prediction, Run
from ..traffic.program import traffic_program
from ..traffic.room import traffic_config
from ..traffic.traffic import Traffic, draw_refusal
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

    @property
    def title(self) -> str:
        """The packets, their lengths, who sends them if not all do, the network, and the origin."""
        traffic, topology = self.traffic, self.program.config.topology
        lengths = f" of {counted_range(traffic.flits.tolist(), 'flit')}" if len(traffic) else ""
        packets = f"{counted(len(traffic), 'packet')}{lengths}"
        senders = len(np.unique(traffic.source))
        of_all = f" from {senders:,} of {topology.interfaces:,} nodes"
        some = of_all if 0 < senders < topology.interfaces else ""
        origin = f", {traffic.origin}" if traffic.origin else ""
        return f"{packets}{some} on {with_article(topology.label)}{origin}"

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

    @classmethod
    def on_network(
        cls,
        topology: Topology,
        traffic: Traffic,
        parameters: dict[str, Any],
        *,
        seed: int,
        back_pressure: float = 0.0,
        require: Callable[[Program], None] = certify,
    ) -> TrafficCase:
        """Compile ``traffic`` for a network with room for it, and predict it.

        ``parameters`` are those of :func:`.traffic_config`. Nodes refuse flits in the share
        ``back_pressure`` of the cycles. ``require`` refuses a program that must not run; by
        default one that may deadlock.
        """
        refusal = draw_refusal(topology, back_pressure, seed)
        program = traffic_program(traffic, traffic_config(topology, traffic, parameters), seed)
        require(program)
        return cls.of(traffic, program, seed=seed, refusal=refusal)


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
