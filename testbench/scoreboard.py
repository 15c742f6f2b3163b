"""Scoreboard: checks of a monitored run against its program and the golden model.

Each rule is checked as soon as a monitor can observe that it is broken; the error names the node,
the port, the VC and the cycle:

=========== ======================================================================================
*flit*      a flit is the one that the cycle model predicts, in its cycle, bit for bit
*delivery*  a packet ends where a row of the program sends it, with its words, once
*link*      no two packets of one step cross one link, unless rows of the program do so
*step*      no packet has a step that the program has not
*end*       all that is owed has come, in as many steps and cycles as predicted
=========== ======================================================================================

Words of circuits are no packets: of a run of circuits, *flit* and *end* are checked.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model.base.arrays import as_integers
from ..model.network.config import Timing
from ..model.program.any_program import AnyProgram, without_circuits
from ..model.program.program import Program
from ..model.program.route_ends import ends_of, hops_of
from ..model.run.run import Prediction
from ..model.run.trace import Flit
from .monitor import NetworkMonitor, Packet
from .packet_headers import delivery_of

Output = tuple[int, int]
"""Node and port."""

Delivery = tuple[int, int, int, int]
"""Node, step, target address and length of a packet that is delivered."""


class ScoreboardError(AssertionError):
    """The hardware breaks ``rule``; the message says where and when."""

    def __init__(self, rule: str, what: str) -> None:
        super().__init__(f"{rule}: {what}")
        self.rule = rule


class Scoreboard:
    """The judge of one run of a program.

    Parameters
    ----------
    program
        The program that runs.
    memory
        The message memories before the run: uint64 of shape (nodes, message words), for wide words
        with a further axis of their pieces.
    timing
        Timing of the steps: "barrier" or "self-timed".
    predicted
        The predicted run; the cycle model predicts it by default.

    Attributes
    ----------
    owed, delivered
        Counts of the packets that the program delivers, and of those delivered so far.
    steps
        The largest step of a delivered packet.
    most_on_a_link
        The most packets of one step that have crossed one link so far.

    """

    def __init__(
        self,
        program: AnyProgram,
        memory: npt.NDArray[np.uint64],
        *,
        timing: str = Timing.BARRIER,
        predicted: Prediction | None = None,
    ) -> None:
        if predicted is None:
            # Import late: it loads the compiled cycle models.
            from ..model.cycle.any_run import run_any  # noqa: PLC0415

            predicted = run_any(program, memory, timing=Timing(timing))
        self.program, self.predicted = program, predicted
        self.delivered: Counter[Delivery] = Counter()
        self.steps = 0
        self.most_on_a_link = 0
        self._on_links: Counter[tuple[int, Output]] = Counter()
        self.owed: Counter[Delivery] = Counter()
        self._shared: dict[tuple[int, int, int], int] = {}
        if isinstance(program, Program):
            self.owed, self._shared = owed_deliveries(program), shared_links(program)
        self._flits = _by_cycle(predicted)
        self._next = 0

    def watch(self, monitor: NetworkMonitor) -> None:
        """Check every flit and packet that ``monitor`` sees from now on."""
        monitor.on_flit(self.flit)
        if isinstance(self.program, Program):
            monitor.on_packet(self.packet)
        monitor.on_cycle(self.end_of_cycle)

    def flit(self, flit: Flit) -> None:
        """Check a flit that leaves an output. Raises :class:`ScoreboardError`."""
        awaited = self._flits.get(flit.cycle, {}).get((flit.node, flit.port), [])
        if flit in awaited:
            awaited.remove(flit)
            return
        where = f"cycle {flit.cycle}, node {flit.node}, port {flit.port}, VC {flit.vc}"
        predicted = f"the model sends {awaited[0]}" if awaited else "the model sends nothing"
        raise ScoreboardError("flit", f"{where}: the hardware sends {flit}, {predicted}")

    def packet(self, packet: Packet) -> None:
        """Check a whole packet that has left an output. Raises :class:`ScoreboardError`."""
        program = without_circuits(self.program)
        step, address = delivery_of(program.config.header, packet.header)
        where = f"cycle {packet.end}, node {packet.node}, port {packet.port}, VC {packet.vc}"
        if step > program.steps:
            complaint = f"a packet of step {step}, but the program has {program.steps}"
            raise ScoreboardError("step", f"{where}: {complaint}")
        if packet.port == 0:
            self._deliver((packet.node, step, address, len(packet.words)), where)
        elif step:
            self._cross((packet.node, packet.port), step, where)

    def end_of_cycle(self, cycle: int) -> None:
        """Check that no flit of ``cycle`` is missing. Raises :class:`ScoreboardError`."""
        while self._next <= cycle:
            for flits in self._flits.pop(self._next, {}).values():
                for flit in flits:
                    where = f"cycle {flit.cycle}, node {flit.node}, port {flit.port}, VC {flit.vc}"
                    complaint = f"the model sends {flit}, the hardware not"
                    raise ScoreboardError("flit", f"{where}: {complaint}")
            self._next += 1

    def check_done(self, cycles: int | None = None) -> None:
        """Check the end of the run. Raises :class:`ScoreboardError`.

        ``cycles`` is the value of the network's output ``cycle`` when it is done.
        """
        self.end_of_cycle(int(self.predicted.trace.cycle.max(initial=0)))
        missing = self.owed - self.delivered
        if missing:
            node, step, address, length = min(missing)
            what = f"step {step}, {length} words to address {address}"
            raise ScoreboardError("delivery", f"node {node} never got its packet ({what})")
        if self.steps != self._last_step():
            raise ScoreboardError("end", f"{self.steps} steps, not {self._last_step()}")
        if cycles is not None and cycles != self.predicted.cycles:
            raise ScoreboardError("end", f"{cycles} cycles, not {self.predicted.cycles}")

    def check_memory(self, node: int, words: Sequence[int]) -> None:
        """Check the first words of a node's message memory after the run."""
        predicted = as_integers(self.predicted.memory[node, : len(words)])
        for address, (word, right) in enumerate(zip(words, predicted, strict=True)):
            if word != right:
                complaint = f"node {node}, address {address}: {word:x}, not {right:x}"
                raise ScoreboardError("memory", complaint)

    def _deliver(self, delivery: Delivery, where: str) -> None:
        self.delivered[delivery] += 1
        self.steps = max(self.steps, delivery[1])
        if self.delivered[delivery] > self.owed[delivery]:
            _, step, address, length = delivery
            times = "again" if self.owed[delivery] else "which no row sends"
            what = f"a packet of step {step}, {length} words to address {address}, {times}"
            raise ScoreboardError("delivery", f"{where}: {what}")

    def _cross(self, output: Output, step: int, where: str) -> None:
        self._on_links[step, output] += 1
        packets = self._on_links[step, output]
        self.most_on_a_link = max(self.most_on_a_link, packets)
        if packets > self._shared.get((step, *output), 1):
            raise ScoreboardError("link", f"{where}: packet {packets} of step {step} on this link")

    def _last_step(self) -> int:
        return max((step for _, step, _, _ in self.owed), default=0)


def owed_deliveries(program: Program) -> Counter[Delivery]:
    """Count the packets that the rows of ``program`` deliver."""
    rows = np.arange(len(program.step))
    columns = ends_of(program, rows).node, program.header_step
    fields = *columns, program.target_address, program.length
    return Counter(zip(*(column.tolist() for column in fields), strict=True))


def shared_links(program: Program) -> dict[tuple[int, int, int], int]:
    """Count the packets on each (step, node, port) that several packets of the step cross.

    Packets of step 0, which no step waits for, do not count.
    """
    counts: Counter[tuple[int, int, int]] = Counter()
    step = program.header_step
    for hop in hops_of(program, np.flatnonzero(step)):
        rows = np.flatnonzero(step)[hop.place]
        counts.update(zip(step[rows].tolist(), hop.node.tolist(), hop.port.tolist(), strict=True))
    return {place: packets for place, packets in counts.items() if packets > 1}


def _by_cycle(predicted: Prediction) -> dict[int, dict[Output, list[Flit]]]:
    """Return the predicted flits of each cycle, by output."""
    flits: defaultdict[int, dict[Output, list[Flit]]] = defaultdict(dict)
    for flit in predicted.trace:
        flits[flit.cycle].setdefault((flit.node, flit.port), []).append(flit)
    return dict(flits)
