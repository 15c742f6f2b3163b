"""Monitors of all flits and packets that leave the outputs of a network.

::

    clk ──► Sampler ──► LinkMonitor (one for each output) ──► flits, packets ──► callbacks
                                                                    │
                                                                    └──► recv()

Monitors only read. They sample at the falling edge of the clock, when nothing else moves, and need
a handle of ``eyecast_network`` and its configuration, wherever that network stands in a design.
Cycle 0 is the first cycle in which the tiles are not in reset, as in docs/router.md, section 0.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import FallingEdge, ValueChange

from ..model.network.config import NetworkConfig
from ..model.network.probes import (
    Probe,
    interface_probes,
    kind_and_data,
    output_probes,
    vc_of,
)
from ..model.run.packets import packets_of
from ..model.run.trace import HEAD_MARK, TAIL_MARK, Flit, Trace

FlitCallback = Callable[[Flit], None]


@dataclass(frozen=True)
class Packet:
    """A whole packet that has left an output port.

    node, port, vc
        The output and its VC; port 0 is delivery to the node.
    begin, end
        Cycles in which its first and its last flit left.
    header
        Data of its header flits as they left; at port 0 the last one has the delivery at bit 0.
    words
        Data of its payload flits.
    """

    node: int
    port: int
    vc: int
    begin: int
    end: int
    header: tuple[int, ...]
    words: tuple[int, ...]


PacketCallback = Callable[[Packet], None]


def packets_in(config: NetworkConfig, trace: Trace) -> Iterator[Packet]:
    """Return the whole packets of a trace, in the order in which a monitor reports them."""
    found = packets_of(config, trace)
    places = zip(found.begin, found.header_end, found.end, strict=True)
    whole = [place for place, is_whole in zip(places, found.whole, strict=True) if is_whole]
    for begin, header_end, end in sorted(whole, key=lambda each: found.flits.cycle[each[2] - 1]):
        flits = list(found.flits[begin:end])
        first, last = flits[0], flits[-1]
        yield Packet(
            *(first.node, first.port, first.vc, first.cycle, last.cycle),
            header=tuple(flit.data for flit in flits[: header_end - begin]),
            words=tuple(flit.data for flit in flits[header_end - begin :]),
        )


class Sampler:
    """A cycle counter that samples every busy output once in each cycle, in order.

    An output without flits costs nothing: a change of its ``valid`` puts it on the list of busy
    outputs, and a cycle without ``valid`` takes it off. An unchanged signal is not read again,
    because reading signals takes most of the time.

    Parameters
    ----------
    network
        Handle of ``eyecast_network``.
    clock
        Handle of its clock; ``network.clk`` by default.

    Attributes
    ----------
    cycle
        The number of this cycle; -1 in reset.

    """

    def __init__(self, network: Any, clock: Any = None) -> None:
        self.cycle = -1
        self._reset = handle_at(network, "tile_0.rst")
        self._in_reset = True
        self._clock = network.clk if clock is None else clock
        self._monitors: list[LinkMonitor] = []
        self._busy: set[int] = set()
        self._cycle_ends: list[Callable[[int], None]] = []
        cocotb.start_soon(self._follow_reset())
        cocotb.start_soon(self._run())

    def add(self, monitor: LinkMonitor) -> None:
        """Sample ``monitor`` from now on, after the monitors added before."""
        self._monitors.append(monitor)
        cocotb.start_soon(self._wake(monitor, len(self._monitors) - 1))

    def at_end_of_cycle(self, callback: Callable[[int], None]) -> None:
        """Call ``callback`` with the cycle's number after all flits of a cycle."""
        self._cycle_ends.append(callback)

    async def _wake(self, monitor: LinkMonitor, number: int) -> None:
        changed = ValueChange(monitor.valid)
        while True:
            monitor.changed = True
            self._busy.add(number)
            await changed

    async def _follow_reset(self) -> None:
        changed = ValueChange(self._reset)
        while True:
            self._in_reset = number_of(self._reset) != 0
            await changed

    async def _run(self) -> None:
        edge = FallingEdge(self._clock)
        while True:
            await edge
            if self._in_reset:
                self.cycle = -1
                continue
            self.cycle += 1
            for number in sorted(self._busy):
                if not self._monitors[number].sample(self.cycle):
                    self._busy.remove(number)
            for callback in self._cycle_ends:
                callback(self.cycle)


class LinkMonitor:
    """A monitor of one output port of a router: its flits, and the packets that they make.

    Words of circuits make no packets.

    Parameters
    ----------
    network
        Handle of ``eyecast_network``.
    config
        Configuration of the network.
    probe
        The output: one of :func:`.output_probes`.
    sampler
        A sampler shared with other monitors; a new one by default.

    Attributes
    ----------
    changed
        True if ``valid`` may have changed since the last sample.

    """

    def __init__(
        self, network: Any, config: NetworkConfig, probe: Probe, sampler: Sampler | None = None
    ) -> None:
        self.probe = probe
        self.changed = True
        self._vc: int | None = None
        self.log = logging.getLogger(f"cocotb.eyecast.node_{probe.node}.port_{probe.port}")
        self.valid = handle_at(network, probe.valid)
        self._flit = handle_at(network, probe.flit)
        self._width = config.flit_width
        self._flits: list[FlitCallback] = []
        self._packets: list[PacketCallback] = []
        self._received: Queue[Packet] | None = None
        self._under_way: dict[int, list[Flit]] = {}
        self._has_packets = not config.circuits
        (sampler or Sampler(network)).add(self)

    def on_flit(self, callback: FlitCallback) -> None:
        """Call ``callback`` with each flit, in the cycle in which it leaves."""
        self._flits.append(callback)

    def on_packet(self, callback: PacketCallback) -> None:
        """Call ``callback`` with each packet, in the cycle in which its tail leaves."""
        self._packets.append(callback)

    async def recv(self) -> Packet:
        """Wait for the next packet; packets count from the first call of this method."""
        if self._received is None:
            self._received = Queue()
            self.on_packet(self._received.put_nowait)
        packet: Packet = await self._received.get()
        return packet

    def sample(self, cycle: int) -> bool:
        """Take the flit of this cycle; return whether there was one."""
        if self.changed:
            self._vc = self._read_vc(cycle)
            self.changed = False
        if self._vc is None:
            return False
        bits = number_of(self._flit)
        if bits is None:
            raise ValueError(f"{self.probe.flit} is undefined in cycle {cycle}")
        probe, (kind, data) = self.probe, kind_and_data(bits, self._width)
        flit = Flit(cycle, probe.node, probe.port, self._vc, kind, data)
        self.log.debug("%s", flit)
        for callback in self._flits:
            callback(flit)
        if self._has_packets:
            self._collect(flit)
        return True

    def _read_vc(self, cycle: int) -> int | None:
        """Return the VC of the flit that leaves in this cycle; None if none leaves."""
        valid = number_of(self.valid)
        if valid is None:
            raise ValueError(f"{self.probe.valid} is undefined in cycle {cycle}")
        return vc_of(valid) if valid else None

    def _collect(self, flit: Flit) -> None:
        """Add a flit to its packet; if it is a tail, report the packet."""
        flits = self._under_way.setdefault(flit.vc, [])
        flits.append(flit)
        if not flit.kind & TAIL_MARK:
            return
        del self._under_way[flit.vc]
        packet = Packet(
            node=flit.node,
            port=flit.port,
            vc=flit.vc,
            begin=flits[0].cycle,
            end=flit.cycle,
            header=tuple(each.data for each in flits if each.kind & HEAD_MARK),
            words=tuple(each.data for each in flits if not each.kind & HEAD_MARK),
        )
        for callback in self._packets:
            callback(packet)


class InterfaceMonitor:
    """A monitor of one network interface: its injections and deliveries, step and flags.

    Parameters
    ----------
    network, config, sampler
        As for :class:`LinkMonitor`.
    node
        The node; it must not be a switch.

    Attributes
    ----------
    injections, ejections
        A :class:`LinkMonitor` for each lane.

    """

    def __init__(
        self, network: Any, config: NetworkConfig, node: int, sampler: Sampler | None = None
    ) -> None:
        sampler = sampler or Sampler(network)
        self.node = node
        self.injections, self.ejections = (
            [
                LinkMonitor(network, config, probe, sampler)
                for probe in interface_probes(config, node, direction)
            ]
            for direction in ("injections", "ejections")
        )
        tile = f"tile_{node}"
        step = "run_table.run__number" if config.circuits else "network_interface.steps.clock__step"
        self._step = handle_at(network, f"{tile}.{step}")
        self._finished = handle_at(network, f"{tile}.finished")
        self._flagged = handle_at(network, f"{tile}.flagged")

    @property
    def step(self) -> int | None:
        """The node's step in this cycle, or its run on circuits; None while it is undefined."""
        return number_of(self._step)

    @property
    def finished(self) -> bool:
        """True while the node's part of the program is done."""
        return number_of(self._finished) == 1

    @property
    def flagged(self) -> bool:
        """True from the cycle after the node has set an error flag."""
        return number_of(self._flagged) == 1


class NetworkMonitor:
    """A monitor of every output of a network: all flits of a trace, and their packets.

    Parameters
    ----------
    network
        Handle of ``eyecast_network``: the design under test, or an instance deep in a chip.
    config
        Configuration of the network.
    clock
        Handle of the clock; ``network.clk`` by default.

    Attributes
    ----------
    links
        The monitors, one for each of :func:`.output_probes`.

    """

    def __init__(self, network: Any, config: NetworkConfig, clock: Any = None) -> None:
        self.config = config
        self.sampler = Sampler(network, clock)
        self.links = [
            LinkMonitor(network, config, probe, self.sampler) for probe in output_probes(config)
        ]

    @property
    def cycle(self) -> int:
        """The number of this cycle; -1 in reset."""
        return self.sampler.cycle

    def on_flit(self, callback: FlitCallback) -> None:
        """Call ``callback`` with each flit that leaves any output."""
        for link in self.links:
            link.on_flit(callback)

    def on_packet(self, callback: PacketCallback) -> None:
        """Call ``callback`` with each whole packet that leaves any output."""
        for link in self.links:
            link.on_packet(callback)

    def on_cycle(self, callback: Callable[[int], None]) -> None:
        """Call ``callback`` with each cycle's number after all flits of that cycle."""
        self.sampler.at_end_of_cycle(callback)

    def record(self) -> Recording:
        """Record every flit from now on."""
        recording = Recording(self.config.pieces)
        self.on_flit(recording.flits.append)
        return recording


class Recording:
    """The flits that a monitor has seen, in a network whose words have so many ``pieces``."""

    def __init__(self, pieces: int) -> None:
        self.flits: list[Flit] = []
        self._pieces = pieces

    def trace(self) -> Trace:
        """Return the flits as a trace, sorted."""
        return Trace.from_flits(self.flits, self._pieces)


def handle_at(network: Any, path: str) -> Any:
    """Return the handle of the signal at ``path`` below ``network``.

    Raises ``AttributeError`` that names the path if the simulator shows no such signal.
    """
    names: Iterable[str] = path.split(".")
    try:
        return reduce(getattr, names, network)
    except AttributeError as error:
        raise AttributeError(
            f"{network._path} has no signal {path}: the simulator must show the signals of "
            "eyecast_tile (with Verilator: --public-flat-rw, or a control file)"
        ) from error


def number_of(handle: Any) -> int | None:
    """Return the value of a signal as a number; None if any of its bits is undefined."""
    try:
        return int(handle.value)
    except ValueError:
        return None
