"""The message of a node in a network with programs, used during a run too (docs/router.md, 16).

::

    controller ──► carried out ──┐
    lanes ◄──► message memory ◄──┴──► tile port      lanes come first, the tile last
    lanes ──► doorbell ──────────────► tile port

Used by :class:`.NetworkInterface`; :class:`.LoadedMessage` takes its place without programs.
"""

from collections.abc import Sequence

from amaranth.hdl import C, ResetSignal, Signal, Value
from amaranth.lib.wiring import connect, flipped

from .combiner import Combiner
from .lane import Lane
from .message import Message
from .shared_access import connect_damage, connect_host, connect_tile
from .shared_memory import SharedMemory
from .steps import StepKeeper
from .tile_port import Doorbell


class SharedMessage(Message):
    """The controller's accesses to a node, its message memory, and its tile port."""

    def prepare_lane(self, lane: Lane, _number: int) -> None:
        """Tell a lane which program runs."""
        connect(self._m, flipped(self._ports).program, lane.program)

    def add_memory(self, lanes: Sequence[Lane], combiner: Combiner | None) -> Value:
        """Add the memory and who shares it; return the word read for the controller."""
        m = self._m
        m.submodules.message = memory = SharedMemory(self._config, technology=self._technology)
        writes = [lane.message_write for lane in lanes] if combiner is None else combiner.writes
        ports = zip(lanes, writes, memory.writes, memory.reads, strict=True)
        for lane, write, write_port, read_port in ports:
            connect(m, write, write_port)
            connect(m, lane.message_read, read_port)
        m.d.comb += memory.fetches.eq(lanes[0].fetches)
        if combiner is not None:
            self._connect_combiner(memory, combiner)
        connect_host(m, self._ports, memory, self.selected)
        if self._config.tile_ports:
            connect_tile(m, self._ports.tile, memory)
        if self._config.parity:
            self._connect_damage(memory, combiner)
        return memory.reads[0].word

    def _connect_combiner(self, memory: SharedMemory, combiner: Combiner) -> None:
        """Connect the words to combine, and tell the combiner what is stored."""
        m = self._m
        for read, port in zip(combiner.reads, memory.reads_to_combine, strict=True):
            connect(m, read, port)
        for port, stored in zip(memory.stored, combiner.stored, strict=True):
            connect(m, port, stored)
        m.d.comb += [
            memory.stores.eq(combiner.stores[0]),
            memory.combines.eq(combiner.combines[0]),
        ]

    def _connect_damage(self, memory: SharedMemory, combiner: Combiner | None) -> None:
        """Tell the controller, or the tile, of a damaged word that it reads."""
        connect_damage(self._m, self._config, self._ports, memory)
        combined = C(0) if combiner is None else combiner.damaged.any()
        self._m.d.comb += self.shows_damaged.eq(self._ports.damaged | combined)

    def add_options(self, steps: StepKeeper, lanes: Sequence[Lane]) -> None:
        """Let the tile hold the node back; tell the tile of packets, step and run."""
        if not self._config.tile_ports:
            return
        m, tile, runs = self._m, self._ports.tile, ~ResetSignal()
        m.submodules.doorbell = doorbell = Doorbell(self._config)
        for lane, arrival in zip(lanes, doorbell.arrivals, strict=True):
            connect(m, lane.arrival, arrival)
        held = Signal(name="held", reset_less=True)
        m.d.sync += held.eq(tile.hold)
        m.d.comb += [
            steps.held.eq(held),
            tile.arrived.eq(doorbell.arrived),
            tile.arrived_step.eq(doorbell.step),
            tile.step.eq(steps.clock.step),
            tile.finished.eq(steps.finished & runs),
            tile.running.eq(runs),
            tile.program.eq(self._ports.program.program),
        ]
