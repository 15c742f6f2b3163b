"""Random traffic for users of Python: packets that collide, on the model or on the hardware."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..model.base.errors import require_range
from ..model.network.topology import Topology
from ..model.program.checks import require_table_room
from ..model.program.deadlock import certify
from ..model.traffic.traffic import draw_refusal, draw_traffic
from .arguments import checked

if TYPE_CHECKING:
    from ..model.compare.traffic_case import TrafficCase, TrafficResult
    from ..model.run.run import Run


@dataclass(frozen=True, eq=False, repr=False)
class TrafficRun:
    """Traffic that was run.

    case
        The packets (``case.traffic``), the program that injects them, and what the cycle model
        predicts (``case.predicted``).
    compared
        What the simulated hardware did, held against the prediction; None where it was not asked.
    """

    case: TrafficCase
    compared: TrafficResult | None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.case.program.config.topology.label}, {self.run!r}>"

    @property
    def run(self) -> Run:
        """The run of the hardware, or else the predicted one."""
        return self.case.predicted if self.compared is None else self.compared.measured

    @cached_property
    def measures(self) -> dict[str, float | int]:
        """Throughput in flits per node and cycle, latencies in cycles, use of links as shares.

        The names are those that ``eyecast traffic --json`` prints.
        """
        from ..model.traffic.measures import measure_traffic  # noqa: PLC0415 - seldom needed

        case = self.case
        return measure_traffic(case.traffic, case.program.config, self.run.trace, case.seed)

    @cached_property
    def latency(self) -> npt.NDArray[np.int64]:
        """Cycles from each packet's start to its last flit's delivery; in order of delivery."""
        from ..model.traffic.program import deliveries  # noqa: PLC0415 - seldom needed

        case = self.case
        return deliveries(case.traffic, case.program.config, self.run.trace, case.seed).latency


@checked
def traffic(
    network: Topology,
    *,
    pattern: str = "uniform",
    rate: float = 0.2,
    packet_flits: int = 4,
    cycles: int = 2000,
    back_pressure: float = 0.0,
    seed: int = 1,
    on_hardware: bool = False,
    **parameters: Any,
) -> TrafficRun:
    """Draw packets and run them: on the cycle model, and on the simulated hardware if asked.

    pattern
        To whom a node sends: "uniform", "transpose", "complement", "hotspot" or "neighbour".
    rate
        Flits that a node offers per cycle, 0 to 1.
    packet_flits
        Length of a packet with its header.
    cycles
        Cycles in which packets are drawn; they are run until the last has arrived.
    back_pressure
        Share of the cycles in which a node takes no flit.
    seed
        All that is drawn is drawn from this number.
    on_hardware
        Run them on the simulated hardware too, and compare every flit.

    ``parameters`` are those of :func:`.compile`: ``vcs``, ``depth``, ``link_registers``, ....
    Raises :class:`.InvalidInput` for what is out of range, and where routes may deadlock, as on a
    torus with one VC.
    """
    # They load the compiled cycle model.
    from ..model.compare.traffic_case import TrafficCase  # noqa: PLC0415
    from ..model.traffic.program import traffic_program  # noqa: PLC0415
    from ..model.traffic.room import traffic_config  # noqa: PLC0415

    require_range("seed", seed, 0)
    drawn = draw_traffic(network, pattern, rate=rate, flits=packet_flits, cycles=cycles, seed=seed)
    refusal = draw_refusal(network, back_pressure, seed)
    program = traffic_program(drawn, traffic_config(network, drawn, parameters), seed)
    if on_hardware:
        require_table_room(program)
    certify(program)
    case = TrafficCase.of(drawn, program, seed=seed, refusal=refusal)
    return TrafficRun(case, _on_hardware(case) if on_hardware else None)


def _on_hardware(case: TrafficCase) -> TrafficResult:
    """Run the packets on the simulated hardware."""
    from ..sim.verify import run_traffic  # noqa: PLC0415 - loads the simulator's tools

    (result,) = run_traffic([case])
    return result
