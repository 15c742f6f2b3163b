"""The port by which a tile uses its node's message memory (docs/router.md, section 17)."""

from amaranth.hdl import C, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib.wiring import Component, In, Out, Signature

from ..model.network.config import NetworkConfig
from .receiver import PacketArrival
from .table import PROGRAM_BITS


class TilePort(Signature):
    """Words of a node's message memory, and what the node tells; the directions are the tile's.

    Members
    -------
    write_valid, write_address, write_data : Out
        There is a word to write, where to, and the word.
    write_ready : In(1)
        It is taken in this cycle, if there is one. As ``read_ready``, it depends on no other member
        in the same cycle.
    read_valid, read_address : Out
        There is a word to read, and where from.
    read_ready : In(1)
        The request is taken in this cycle, if there is one.
    read_answered, read_data : In
        The request taken in the last cycle is answered; the word, valid then.
    read_damaged : In(1)
        Only with parity: a word is shown in this cycle that is not the one that was written.
    hold : Out(1)
        In the next cycle the node begins no row, and its step is not over.
    arrived, arrived_step : In
        A packet that a step waits for has ended; its step.
    step : In(step_bits)
        The node's, in every cycle.
    finished : In(1)
        The node's part of the program is done.
    running : In(1)
        The core is not in reset.
    program : In(4)
        The program that is or was running.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {
                "write_valid": Out(1),
                "write_ready": In(1),
                "write_address": Out(config.address_bits),
                "write_data": Out(config.flit_width),
                "read_valid": Out(1),
                "read_ready": In(1),
                "read_address": Out(config.address_bits),
                "read_answered": In(1),
                "read_data": In(config.flit_width),
                **({"read_damaged": In(1)} if config.parity else {}),
                "hold": Out(1),
                "arrived": In(1),
                "arrived_step": In(config.step_bits),
                "step": In(config.step_bits),
                "finished": In(1),
                "running": In(1),
                "program": In(PROGRAM_BITS),
            }
        )


class Doorbell(Component):
    """Tells the tile of the packets that have ended, one in a cycle.

    Used by :class:`.NetworkInterface`.

    Members
    -------
    arrivals : array of PacketArrival, In
        What ends at each lane in this cycle.
    arrived, step : Out
        As for :class:`TilePort`. Where several wait, the one of the lowest lane, and there of the
        lowest step.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(
            {
                "arrivals": In(PacketArrival(config)).array(config.lanes),
                "arrived": Out(1),
                "step": Out(config.step_bits),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """A register, and where there are several lanes a bit for each step of each."""
        m = Module()
        # It rings in the cycle behind reset at the earliest.
        arrived, step = Signal(name="arrived"), Signal(self._config.step_bits, name="step")
        if self._config.lanes == 1:
            (arrival,) = self.arrivals
            m.d.sync += [arrived.eq(arrival.valid & (arrival.step != 0)), step.eq(arrival.step)]
        else:
            first = self._elaborate_waiting(m)
            m.d.sync += [arrived.eq(first.any()), step.eq(self._step_of(first))]
        m.d.comb += [self.arrived.eq(arrived & ~ResetSignal()), self.step.eq(step)]
        return m

    def _elaborate_waiting(self, m: Module) -> Signal:
        """The first of all that wait, one-hot by lane and step; it waits no longer."""
        steps = 1 << self._config.step_bits
        waiting = Signal(len(self.arrivals) * steps)
        rings, first = Signal.like(waiting), Signal.like(waiting)
        for lane, arrival in enumerate(self.arrivals):
            # No step has the number 0.
            now = Cat(C(0, 1), *(arrival.step == step for step in range(1, steps)))
            m.d.comb += rings[lane * steps : (lane + 1) * steps].eq(
                waiting[lane * steps : (lane + 1) * steps] | Mux(arrival.valid, now, 0)
            )
        m.d.comb += first.eq(rings & -rings)
        m.d.sync += waiting.eq(rings & ~first)
        return first

    def _step_of(self, first: Signal) -> Value:
        """The step's number, of a bit that is one-hot by lane and step."""
        bits = self._config.step_bits
        return Cat(
            Cat(first[place] for place in range(len(first)) if place >> bit & 1).any()
            for bit in range(bits)
        )
