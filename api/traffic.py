"""Random traffic from Python: packets that collide, on the model or on the hardware."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

import numpy as np
import numpy.typing as npt

from ..model.base.errors import require_range
from ..model.base.notebook import ShowsItself
from ..model.network.network_text import SizeLimit
from ..model.network.topology import Topology
from ..model.program.checks import require_table_room
from ..model.program.deadlock import certify
from ..model.program.program import Program
from ..model.traffic.traffic import draw_traffic
from .annotations import NetworkParameters, Node, PatternName
from .arguments import checked
from .task import node_number

if TYPE_CHECKING:
    from ..model.compare.traffic_case import TrafficCase, TrafficResult
    from ..model.run.run import Run


@dataclass(frozen=True, eq=False, repr=False)
class TrafficRun(ShowsItself):
    """Traffic with its run.

    Attributes
    ----------
    case
        The packets (``case.traffic``), the program that injects them, and the prediction of the
        cycle model (``case.predicted``).
    compared
        The run on the simulated hardware, checked against the prediction; None without a hardware
        run.
    """

    case: TrafficCase
    compared: TrafficResult | None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.case.program.config.topology.label}, {self.run!r}>"

    @property
    def run(self) -> Run:
        """The hardware's run, or the predicted run without hardware."""
        return self.case.predicted if self.compared is None else self.compared.measured

    @cached_property
    def measures(self) -> dict[str, float | int]:
        """Throughput in flits per node and cycle, latencies in cycles, link use as shares.

        The names are those that ``eyecast traffic --json`` prints.
        """
        from ..model.traffic.measures import measure_traffic  # noqa: PLC0415 - seldom needed

        case = self.case
        return measure_traffic(case.traffic, case.program, self.run.trace)

    @cached_property
    def latency(self) -> npt.NDArray[np.int64]:
        """Cycles from each packet's start until its last flit arrives, in order of delivery."""
        from ..model.traffic.program import deliveries  # noqa: PLC0415 - seldom needed

        case = self.case
        return deliveries(case.traffic, case.program, self.run.trace).latency


@checked
def traffic(
    network: Topology,
    *,
    pattern: PatternName = "uniform",
    rate: float = 0.2,
    packet_flits: int = 4,
    cycles: int = 2000,
    burst: int = 0,
    reply_flits: int = 0,
    hotspots: Iterable[Node] = (),
    back_pressure: float = 0.0,
    seed: int = 1,
    on_hardware: bool = False,
    **parameters: Unpack[NetworkParameters],
) -> TrafficRun:
    """Draw packets and run them on the cycle model, and on the simulated hardware if asked.

    Parameters
    ----------
    network
        The network.
    pattern
        Who sends to whom: one of :data:`.PATTERNS`.
    rate
        Flits that a node offers per cycle, 0 to 1.
    packet_flits
        Length of a packet with its header.
    cycles
        Cycles in which packets are drawn; the run lasts until the last one has arrived.
    burst
        Mean cycles for which a node is on and sends at full rate, between pauses; 0 for no pauses.
    reply_flits
        Length of the packet by which a target answers each packet; 0 for no replies. ``rate``
        counts both.
    hotspots
        Hot nodes of the hotspot pattern; without any, one in the middle is hot.
    back_pressure
        Share of the cycles in which a node accepts no flit.
    seed
        Seed of every random choice.
    on_hardware
        Run the packets on the simulated hardware too, and check every flit.

    **parameters
        Those of :func:`.compile`: ``vcs``, ``depth``, ``link_registers``, ...

    Returns
    -------
    TrafficRun
        The packets, the run, and its ``measures``: throughput, latency and the use of links.

    Raises
    ------
    InvalidInput
        If a value is out of range, and if routes may deadlock, as on a torus with one VC.
    """
    # Loads the compiled cycle model.
    from ..model.compare.traffic_case import TrafficCase  # noqa: PLC0415

    require_range("seed", seed, 0)
    SizeLimit.HARDWARE.require(network.label, network.nodes)
    drawn = draw_traffic(
        network,
        pattern,
        rate=rate,
        flits=packet_flits,
        cycles=cycles,
        seed=seed,
        burst=burst,
        reply_flits=reply_flits,
        hotspots=[node_number(network, node, "hotspot") for node in hotspots],
    )

    def require(program: Program) -> None:
        if on_hardware:
            require_table_room(program)
        certify(program)

    given = dict(parameters)
    case = TrafficCase.on_network(
        network, drawn, given, seed=seed, back_pressure=back_pressure, require=require
    )
    return TrafficRun(case, _on_hardware(case) if on_hardware else None)


def _on_hardware(case: TrafficCase) -> TrafficResult:
    """Run the packets on the simulated hardware."""
    from ..sim.verify import run_traffic  # noqa: PLC0415 - loads the simulator's tools

    (result,) = run_traffic([case])
    return result
