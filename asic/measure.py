"""The parts of a network in a library: area, time, and energy of a run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from ..model.compare.case import Case
from ..model.compare.checks import compare
from ..model.compare.traffic_case import TrafficCase, compare_traffic
from ..model.network.config import NetworkConfig
from ..sim.build import build_simulator
from ..sim.loading import job_of, job_of_traffic
from ..sim.simulator import simulate
from ..sim.verilog import network_modules
from .activity import activity_of
from .library import Library
from .synthesis import elaborate, map_cells, parts_of
from .timing import has_opensta, power_of, shortest_period

INSTANCES = {"router": ".router", "interface": ".network_interface", "tile": ""}
"""The path of each part from its tile."""


class Part(msgspec.Struct, frozen=True):
    """A part in a library, without memories that a chip has as macros.

    area
        In µm².
    gates
        The area in NAND gates of two inputs.
    cells
        Number of cells.
    registers
        Share of the area that flip-flops take.
    period
        Shortest clock period in s: from OpenSTA with setup time, or from ABC without.
    with_setup
        Tells which of the two the period is.
    """

    area: float
    gates: float
    cells: int
    registers: float
    period: float
    with_setup: bool


class Energy(msgspec.Struct, frozen=True):
    """Energy of a router in a run, at the shortest clock period of the part.

    power
        In W, without leakage.
    clock
        Share of the power that flip-flops take from the clock while nothing toggles.
    cycles
        Cycles of the run.
    sent_bytes
        Bytes of flits that left the router, on links or to its own node, with headers.
    """

    node: int
    power: float
    clock: float
    cycles: int
    sent_bytes: int
    period: float

    @property
    def per_byte(self) -> float:
        """Energy in J for a byte through this router: a byte and a hop."""
        return self.power * self.cycles * self.period / self.sent_bytes


@dataclass(frozen=True)
class Synthesized:
    """The parts of a network in folders of their own, ready for any library."""

    config: NetworkConfig
    folder: Path

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """The Verilog of every module."""
        return network_modules(self.config)

    def elaborate(self, parts: Iterable[str] = tuple(INSTANCES)) -> None:
        """Make the logic of these parts."""
        for part in parts:
            (self.folder / part).mkdir(parents=True)
            elaborate(self.modules, parts_of(self.modules)[part], self.folder / part)

    def map_part(self, part: str, library: Library) -> Part:
        """Map a part to the cells of a library, and measure it."""
        folder = self.folder / part
        mapped = map_cells(folder, library)
        timed = has_opensta()
        period = shortest_period(folder, library) if timed else mapped.delay
        gates = mapped.area / library.gate
        return Part(mapped.area, gates, mapped.cells, mapped.registers, period, timed)

    def energy(
        self, library: Library, period: float, case: Case | TrafficCase, recording: Path
    ) -> Energy:
        """Return the energy of the router that sends the most in a recorded run, once mapped."""
        predicted = case.predicted
        trace = predicted.trace
        node, count = max(
            ((int(node), int((trace.node == node).sum())) for node in set(trace.node.tolist())),
            key=lambda pair: pair[1],
        )
        instance = f"tile_{node}{INSTANCES['router']}"
        folder = self.folder / "router"
        activity = activity_of(folder, recording, instance, predicted.cycles)
        power = power_of(folder, library, period, activity)
        sent = count * self.config.flit_width // 8
        total = power.clock + power.toggles
        return Energy(node, total, power.clock / total, predicted.cycles, sent, period)


def record(case: Case | TrafficCase, recording: Path) -> None:
    """Run a case on the simulated hardware, and record every signal (VCD).

    Raises :class:`RuntimeError` if the run is not the predicted one.
    """
    simulator = build_simulator(case.program.config, waves=True)
    job = job_of(case) if isinstance(case, Case) else job_of_traffic(case, read_memories=False)
    (measured,) = simulate(simulator, [job], waves_file=recording)
    judge = compare(case, measured) if isinstance(case, Case) else compare_traffic(case, measured)
    if not judge.alike:
        raise RuntimeError("the hardware is not as predicted")
