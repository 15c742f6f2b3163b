"""Coverage of the contract: which of its sentences have happened in runs.

A *point* is a sentence of docs/router.md that a monitor can observe at a network's outputs, or a
driver at its bus. A bench watches a monitor and adds its counts to a file, which collects any
number of runs::

    coverage = Coverage(program.config)
    coverage.watch(monitor)
    ...                                      # the run
    coverage.merge_into("coverage.json")
    print(coverage_table("coverage.json"))
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..model.base.arrays import Numbers
from ..model.network.config import NetworkConfig, Timing
from ..model.network.exclusions import REFUSAL_CYCLES
from ..model.program.any_program import AnyProgram
from ..model.program.program import Program
from ..model.run.run import CIRCUIT_FLAGS, FLAGS, EndState, HardwareRun, Prediction, Run
from ..model.run.trace import HEAD_MARK, TAIL_MARK, Flit
from .monitor import NetworkMonitor, Packet, packets_in
from .packet_headers import delivery_of

POINTS = {
    "packet of one flit": "1",
    "packet of several flits": "1",
    "packet with several header flits": "1",
    "packet without payload": "1",
    "packet that changes its VC on the way": "1",
    "header flit used up": "3",
    "gap in a packet": "3",
    "VCs of an output take turns": "3",
    "packet behind another without a gap": "3",
    "flag bad_route": "3",
    "delivery that a step waits for": "4",
    "delivery that no step waits for": "4",
    "deliveries of two steps in one cycle": "4",
    "flag unexpected_receive": "4",
    "flag send_and_receive": "4",
    "flag bad_row": "4",
    "flag bad_write": "4",
    "reset in mid-run": "6",
    "VC turn at a dateline": "8",
    "flit over a link with registers": "9",
    "advance through barrier registers": "10",
    "flit after a refused cycle": "11",
    "node that has received its awaited packets": "11",
    "signature of a node that sends": "12",
    "two deliveries to a node in one cycle": "14",
    "flit that leaves a switch": "15",
    "completion ends a run": "16",
    "flag ends a run": "16",
    "limit ends a run": "16",
    "stop ends a run": "16",
    "stop clears the queue": "16",
    "queued run begins": "16",
    "start refused behind a queued program": "16",
    "sender held by a late tile": "17",
    "flag parity": "18",
    "delivery that is combined": "19",
    "word that is combined": "19",
    "word sent on while its packet arrives": "20",
    "delivery into a window": "20",
    "window that wraps round": "20",
    "read through a bus": "21",
    "write through a bus": "21",
    "access that a bus refuses": "21",
    "word of a circuit over a link": "23",
    "equal words leave a node at once": "23",
    "flag lost_word": "23",
    "flag missing_word": "23",
    "flit as soon as a slow link is free": "24",
}
"""Each point with its section of docs/router.md.

The two flags of overflow are no points: they are proved never to be set (docs/proofs.md).
"""


_ENDS = {
    EndState.DONE: "completion ends a run",
    EndState.FAILED: "flag ends a run",
    EndState.TIMED_OUT: "limit ends a run",
}


def _first_entries(program: AnyProgram) -> Numbers:
    """Return the first row, or the first entry of circuits, of each node: shape (nodes + 1,)."""
    return program.first_row if isinstance(program, Program) else program.first_entry


class Coverage:
    """Counts of the points in the runs of one network.

    Parameters
    ----------
    config
        Configuration of the network.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self.counts: Counter[str] = Counter()
        self._config, self._header = config, config.header
        self._registers = config.registers_of_links.tolist()
        self._rates = config.link_rates.tolist()
        self._last: dict[tuple[int, int], Flit] = {}
        self._leaving: tuple[int, set[tuple[int, int]]] = (0, set())
        self._delivered: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)

    def watch(self, monitor: NetworkMonitor) -> None:
        """Count the flits and packets of ``monitor`` from now on."""
        monitor.on_flit(self.flit)
        monitor.on_packet(self.packet)

    def flit(self, flit: Flit) -> None:
        """Count the points of a flit and of the flit in the cycle before at the same output."""
        output = flit.node, flit.port
        last, self._last[output] = self._last.get(output), flit
        self._count("flit that leaves a switch", flit.node in self._config.topology.switches)
        if flit.port:
            self._link(flit, last)
        if self._config.circuits:
            self._circuit(flit)
        # The ejection ports of a node with a port for every link have one number.
        elif (flit.port or not self._config.all_port) and last and last.cycle == flit.cycle - 1:
            self._count("VCs of an output take turns", last.vc != flit.vc)
            ended = bool(last.kind & TAIL_MARK and flit.kind & HEAD_MARK)
            self._count("packet behind another without a gap", ended and last.vc == flit.vc)

    def packet(self, packet: Packet) -> None:
        """Count the points of a whole packet that has left an output."""
        flits = len(packet.header) + len(packet.words)
        used_up = len(packet.header) > 1 and int(self._header.port(packet.header[0])) == 0
        self._count("packet of one flit", flits == 1)
        self._count("packet of several flits", flits > 1)
        self._count("packet with several header flits", len(packet.header) > 1)
        self._count("header flit used up", used_up)
        self._count("gap in a packet", packet.end - packet.begin >= flits)
        if packet.port == 0:
            self._deliver(packet)
        else:
            self._go_on(packet, packet.header[used_up])

    def flags(self, flags: Iterable[int]) -> None:
        """Count the points of the nodes' error flags, given as status words."""
        names = CIRCUIT_FLAGS if self._config.circuits else FLAGS
        for word in flags:
            for bit, name in names.items():
                if f"flag {name}" in POINTS:
                    self._count(f"flag {name}", bool(word >> bit & 1))

    def accesses(self, answered: Mapping[str, int]) -> None:
        """Count the points of the accesses that a bus has answered: a driver's ``accesses``."""
        self.counts.update(answered)

    def _link(self, flit: Flit, last: Flit | None) -> None:
        """Count the points of a flit on a link; ``last`` is the one before it there."""
        registers = self._registers[flit.node][flit.port]
        self._count("flit over a link with registers", bool(registers))
        rate = self._rates[flit.node][flit.port]
        soon = rate > 1 and last is not None and flit.cycle - last.cycle == rate
        self._count("flit as soon as a slow link is free", soon)

    def _circuit(self, flit: Flit) -> None:
        """Count the points of a word on a circuit."""
        self._count("word of a circuit over a link", bool(flit.port))
        if self._leaving[0] != flit.cycle:
            self._leaving = flit.cycle, set()
        word = flit.node, flit.data
        self._count("equal words leave a node at once", word in self._leaving[1])
        self._leaving[1].add(word)

    def _go_on(self, packet: Packet, flit: int) -> None:
        """Count the points of a packet on a link; ``flit`` has its next slot or delivery."""
        port, vc = int(self._header.port(flit)), int(self._header.vc(flit))
        changes = port != self._header.deliver_code and vc != packet.vc
        self._count("packet that changes its VC on the way", changes)
        self._count("VC turn at a dateline", changes and port == packet.port)

    def _deliver(self, packet: Packet) -> None:
        """Count the points of a delivery."""
        step, _ = delivery_of(self._header, packet.header)
        delivery, now = packet.header[-1], self._delivered[packet.end]
        self._count("packet without payload", not packet.words)
        self._count("delivery that a step waits for", step != 0)
        self._count("delivery that no step waits for", step == 0)
        combines = bool(self._header.operator(delivery))
        self._count("delivery that is combined", combines)
        self.counts["word that is combined"] += combines * len(packet.words)
        window = 1 << int(self._header.window(delivery))
        offset = int(self._header.address(delivery)) % window
        self._count("delivery into a window", window > 1)
        wraps = window > 1 and offset + len(packet.words) > window
        self._count("window that wraps round", wraps)
        other_step = any(other not in (0, step) for _, other in now) and step != 0
        self._count("deliveries of two steps in one cycle", other_step)
        same_node = any(node == packet.node for node, _ in now)
        self._count("two deliveries to a node in one cycle", same_node)
        now.append((packet.node, step))

    def _count(self, point: str, happened: bool) -> None:
        self.counts[point] += happened

    def run(self, run: Run) -> None:
        """Count the points of a whole run that is over.

        Words of circuits make no packets. Nor are packets counted with a port for every link,
        because the trace does not tell the ejection ports of a node apart.
        """
        for flit in run.trace:
            self.flit(flit)
        if not (self._config.all_port or self._config.circuits):
            for packet in packets_in(self._config, run.trace):
                self.packet(packet)
        self.flags(run.flags.tolist())
        if isinstance(run, HardwareRun):
            self.counts.update(run.events)
            self.counts["signature of a node that sends"] += int((run.signature != 0).sum())
        if self._config.programs and isinstance(run, HardwareRun | Prediction) and run.ending:
            self.counts[_ENDS[run.ending.state]] += 1

    def program(
        self,
        program: AnyProgram,
        run: Run,
        *,
        timing: Timing,
        hold: Numbers | None = None,
        refusal: npt.NDArray[np.uint16] | None = None,
    ) -> None:
        """Count the points that a trace shows only beside its program, tiles and refusals.

        Parameters
        ----------
        program
            The program of the run.
        run
            The whole run.
        timing
            The timing of its steps.
        hold
            Cycles for which each node's tile holds it: shape (nodes,); None: no tile does.
        refusal
            Each node's pattern of refusal: shape (nodes,); None: no node refuses a flit.

        """
        if hold is not None:
            sends = np.diff(_first_entries(program)) > 0
            self.counts["sender held by a late tile"] += int((sends & (hold > 0)).sum())
        if refusal is not None:
            here = run.trace.port == 0
            before = (run.trace.cycle[here] - 1) % REFUSAL_CYCLES
            refused = refusal[run.trace.node[here]] >> before & 1
            self.counts["flit after a refused cycle"] += int(refused.sum())
        if isinstance(program, Program) and run.finished:
            self._finished(program, run, timing)

    def _finished(self, program: Program, run: Run, timing: Timing) -> None:
        """Count the points of a program that has finished."""
        if timing is Timing.BARRIER and self._config.barrier_registers:
            # The step of each node rises once for each advance, from 1.
            advances = int(run.step.max(initial=1)) - 1
            self.counts["advance through barrier registers"] += advances
        awaiting = int((program.awaited > 0).sum())
        self.counts["node that has received its awaited packets"] += awaiting
        streamed = np.where(program.stream > 0, program.length - program.lead, 0)
        self.counts["word sent on while its packet arrives"] += int(streamed.sum())

    def merge_into(self, path: str | Path) -> None:
        """Add the counts to those of a file (JSON); make the file if it is missing."""
        path = Path(path)
        total = Counter(json.loads(path.read_text())) if path.exists() else Counter[str]()
        total.update(self.counts)
        path.write_text(json.dumps({point: total[point] for point in POINTS}, indent=1) + "\n")


def points_of(config: NetworkConfig, run: Run) -> Counter[str]:
    """Return the counts of a run's points."""
    coverage = Coverage(config)
    coverage.run(run)
    return coverage.counts


def coverage_table(*paths: str | Path) -> str:
    """Return a table of the counts in merged files: section of docs/router.md, count, point.

    A point that has not happened has a dash instead of a count.
    """
    return table_of([json.loads(Path(path).read_text()) for path in paths])


def table_of(runs: Iterable[Mapping[str, int]]) -> str:
    """Return the table of :func:`coverage_table` for the counts of runs."""
    total = Counter[str]()
    for counts in runs:
        total.update(counts)
    happened = sum(total[point] > 0 for point in POINTS)
    lines = [f"coverage of the contract: {happened} of {len(POINTS)} points"]
    lines += [f"{POINTS[point]:>4} {total[point] or '-':>8}  {point}" for point in POINTS]
    return "\n".join(lines)
