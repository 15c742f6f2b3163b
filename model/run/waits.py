"""Waits of packets at their sources and on their way, with the reasons, found from a trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.arrays import Numbers
from ..base.texts import counted
from ..network.config import NetworkConfig
from ..network.node_names import node_name
from ..network.topology import NO_LINK, Topology
from ..program.any_program import AnyProgram
from ..program.circuits.program import CircuitProgram
from ..program.program import Program
from ..program.row import NO_START
from .following import before, crossed_registers
from .hops import NO_ROW, Hops, expected_hops, matched
from .link_flits import link_flits
from .packets import packets_of
from .run import Run
from .trace import Trace

_SHOWN = 3
"""Outputs that a line on waiting packets names."""

_FULL = 0.9
"""Use of an output from which on it limits the rate."""


@dataclass(frozen=True, eq=False)
class Waits:
    """Cycles in which heads of packets stand at the front of a link's buffer and cannot leave.

    cycles
        By the output that the head asks for: shape (nodes, ports).
    held
        Those in which another packet holds the output VC. In the others the buffer behind the
        output is full, or other flits use the link.
    at_source
        Cycles that each timed packet waits at its source: shape (packets,).
    use
        Share of the cycles in which each output is in use: shape (nodes, ports).
    """

    topology: Topology
    cycles: Numbers
    held: int
    at_source: Numbers
    use: npt.NDArray[np.float64]

    def lines(self) -> list[str]:
        """Say where packets wait, for which outputs most, and why; nothing if none waits."""
        total, lines = int(self.cycles.sum()), []
        if self.at_source.any():
            here, there = self.at_source.mean(), total / len(self.at_source)
            lines += [
                f"A packet waits {here:,.1f} cycles at its source, behind earlier packets of its"
                f" node or for its first link, and {there:,.1f} cycles on its way."
            ]
        if total:
            lines += self._outputs(total)
        if lines:
            busiest = int(self.use.argmax())
            name, use = output_name(self.topology, busiest), self.use.flat[busiest]
            limits = ", and limits the rate" if use >= _FULL else ""
            lines += [f"The busiest output, {name}, is in use {use:.0%} of the time{limits}."]
        return lines

    def _outputs(self, total: int) -> list[str]:
        """Name the outputs that packets wait for most, and say why they wait."""
        most = np.argsort(-self.cycles, axis=None, kind="stable")[:_SHOWN]
        most = most[self.cycles.flat[most] > 0]
        shares = self.cycles.flat[most] / total
        named = [
            f"{output_name(self.topology, line)} ({share:.0%} of the wait)"
            for line, share in zip(most.tolist(), shares, strict=True)
        ]
        outputs = counted(int((self.cycles > 0).sum()), "output")
        if self.held == total:
            why = "On their way packets wait only while another packet holds the output"
        else:
            held = f"{self.held / total:.0%} of this wait another packet holds the output"
            why = f"During {held}; otherwise the next buffer is full or the link in use"
        return [f"On their way packets wait for {outputs}, most for {', '.join(named)}.", f"{why}."]


def waiting_lines(program: AnyProgram, run: Run) -> list[str]:
    """Say where packets wait in a finished run, and for what; nothing if none waits."""
    if isinstance(program, CircuitProgram):
        return ["No word waits: tables say in advance what each link carries in each cycle."]
    return waits(program, run.trace).lines() if run.finished and run.stalled_flits.any() else []


def output_name(topology: Topology, line: int) -> str:
    """Return the name of an output, of its node and port: "(1,0) -> (2,0)"."""
    node, port = divmod(line, topology.ports)
    here = node_name(topology, node)
    if not port:
        return f"delivery at {here}"
    return f"{here} -> {node_name(topology, int(topology.neighbor[node, port]))}"


def waits(program: Program, trace: Trace) -> Waits:
    """Find the waits of packets in a trace of ``program``."""
    topology = program.config.topology
    hops, packets = expected_hops(program), packets_of(program.config, trace)
    hop_of = matched(hops, packets)
    if program.config.all_port:
        # Deliveries of several packets interleave there, and none waits.
        hop_of[packets.flits.port[packets.begin] == 0] = NO_ROW
    here, after = _passages(hops, hop_of)
    cycle, first = packets.flits.cycle, packets.begin
    registers = crossed_registers(program.config, packets.flits)
    # The next router drops used-up header flits, one a cycle.
    dropped = hops.flits[hop_of[here]] - hops.flits[hop_of[after]]
    arrival = cycle[first[here] + dropped] + registers[first[here]]
    gone = np.full(len(first), -1, dtype=np.int64)
    gone[here] = cycle[packets.end[after] - 1]
    front = np.maximum(arrival, before(packets.channel, gone)[here] + dropped) + 1
    waited = np.maximum(cycle[first[after]] - front, 0)
    tail = before(packets.channel, cycle[packets.end - 1])[after]
    held = np.clip(tail - front + 1, 0, waited)
    line = packets.channel[after] // program.config.vcs
    cycles = np.bincount(line, waited, topology.nodes * topology.ports).astype(np.int64)
    return Waits(
        topology,
        cycles.reshape(topology.nodes, topology.ports),
        int(held.sum()),
        _at_source(program, hops, hop_of, cycle[first]),
        _use(program.config, trace),
    )


def _use(config: NetworkConfig, trace: Trace) -> npt.NDArray[np.float64]:
    """Return the share of the cycles in which each output is in use."""
    ways = np.ones((config.topology.nodes, config.topology.ports))
    if config.all_port:
        # An all-port node accepts a flit from each of its links in a cycle.
        ways[:, 0] = (config.topology.neighbor[:, 1:] != NO_LINK).sum(axis=1)
    cycles = ways * (int(trace.cycle.max(initial=0)) + 1)
    use: npt.NDArray[np.float64] = link_flits(config.topology, trace) * config.link_rates / cycles
    return use


def _passages(hops: Hops, hop_of: Numbers) -> tuple[Numbers, Numbers]:
    """Return the packets that leave a router, and the same ones as they leave the next."""
    known = np.flatnonzero(hop_of != NO_ROW)
    row, hop = hops.row[hop_of[known]], hops.hop[hop_of[known]]
    order = np.lexsort((hop, row))
    here, after = order[:-1], order[1:]
    same = (row[here] == row[after]) & (hop[here] + 1 == hop[after])
    return known[here[same]], known[after[same]]


def _at_source(program: Program, hops: Hops, hop_of: Numbers, left: Numbers) -> Numbers:
    """Return the cycles that each packet with a start waits at its source."""
    begins = np.flatnonzero(hop_of != NO_ROW)
    begins = begins[hops.hop[hop_of[begins]] == 0]
    start = program.start[hops.row[hop_of[begins]]]
    timed = start != NO_START
    # A flit that its sender injects at once leaves the router in the next cycle.
    waited: Numbers = (left[begins] - start)[timed] - 1
    return waited
