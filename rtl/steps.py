"""A node's step: when it is over, when the next begins (docs/router.md, section 4, "Steps")."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .host_port import looks_ahead


class ArrivalRecord(Component):
    """Record of the packets that have come out of the network at one place.

    Attributes
    ----------
    expected : In(2**step_bits)
        One bit per step number: something arrives in that step.
    awaited : In(flit_width)
        Packets of timed rows that arrive; they carry step 0.
    arrival, arrival_step : In
        The tail of a packet of that step is here.
    step : In
        The node's step.
    barrier : In(1)
        A packet must be of the node's step.
    arrived : Out(2**step_bits)
        One bit per step number: a packet of that step has come.
    receives : Out(1)
        Something arrives in the node's step.
    step_received, all_received : Out(1)
        What arrives in the node's step is here, or nothing does; all that is expected is here.
    unexpected_receive : Out(1)
        What must never happen; told a cycle late on a platform with ``look_ahead`` set.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._timed_rows = config.timed_rows
        steps = 1 << config.step_bits
        super().__init__(
            {
                "expected": In(steps),
                "awaited": In(config.flit_width),
                "arrival": In(1),
                "arrival_step": In(config.step_bits),
                "step": In(config.step_bits),
                "barrier": In(1),
                "arrived": Out(steps),
                "receives": Out(1),
                "step_received": Out(1),
                "all_received": Out(1),
                "unexpected_receive": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Bit masks over the step numbers, and a count of what has none."""
        m = Module()
        missing, enough = Signal.like(self.expected), Signal(init=1)
        m.d.comb += [
            missing.eq(self.expected & ~self.arrived),
            self.receives.eq(self.expected.bit_select(self.step, 1)),
            self.step_received.eq(~missing.bit_select(self.step, 1)),
            self.all_received.eq(~missing.any() & enough),
        ]
        unexpected = [self._elaborate_arrival(m, missing)]
        if self._timed_rows:
            received, arrives = Signal.like(self.awaited), self.arrival & (self.arrival_step == 0)
            m.d.comb += enough.eq(received >= self.awaited)
            with m.If(arrives):
                m.d.sync += received.eq(received + 1)
            unexpected.append(Cat(arrives, received == self.awaited))
        if looks_ahead(platform):
            # What arrives is seen late in the cycle: what follows from it is left to the next one.
            unexpected = [self._registered(m, parts) for parts in unexpected]
        m.d.comb += self.unexpected_receive.eq(Cat(parts.all() for parts in unexpected).any())
        return m

    def _elaborate_arrival(self, m: Module, missing: Signal) -> Value:
        """Note the step of a packet that has one. Gives whether there is one, and it is wrong."""
        step = self.arrival_step
        arrives, arriving = self.arrival & (step != 0), Signal.like(self.arrived)
        m.d.sync += self.arrived.eq(self.arrived | arriving)
        with m.If(arrives):
            m.d.comb += arriving.bit_select(step, 1).eq(1)
        wrong = ~missing.bit_select(step, 1) | (self.barrier & (step != self.step))
        return Cat(arrives, wrong)

    def _registered(self, m: Module, value: Value) -> Signal:
        """A value, a cycle late."""
        register = Signal(len(value))
        m.d.sync += register.eq(value)
        return register


class StepKeeper(Component):
    """Counts a node's steps, by itself or by the network's barrier.

    Attributes
    ----------
    step_done, all_done : In(1)
        All is sent and received of this step; of the program.
    begins : In(1)
        A row begins.
    receives : In(1)
        Something arrives in this step.
    flagged : In(1)
        The node has seen what must never happen: its steps end no more.
    barrier : In(1)
        Steps are counted by ``advance``; otherwise by the node itself.
    advance : In(1)
        The barrier's pulse.
    half_duplex : In(1)
        A step with a receive must have no send.
    step : Out
        The step, from 1.
    rises, next_step : Out
        At the end of this cycle the step becomes ``next_step``, one more.
    over, finished : Out(1)
        The node has done its part of this step; of the program.
    send_and_receive : Out(1)
        What must never happen.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {
                "step_done": In(1),
                "all_done": In(1),
                "begins": In(1),
                "receives": In(1),
                "flagged": In(1),
                "barrier": In(1),
                "advance": In(1),
                "half_duplex": In(1),
                "step": Out(config.step_bits, init=1),
                "rises": Out(1),
                "next_step": Out(config.step_bits),
                "over": Out(1),
                "finished": Out(1),
                "send_and_receive": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """A counter, and what a flag keeps from happening."""
        m = Module()
        m.d.comb += [
            self.over.eq(~self.flagged & self.step_done),
            self.finished.eq(~self.flagged & self.all_done),
            self.send_and_receive.eq(self.half_duplex & self.begins & self.receives),
        ]
        by_itself = self.over & ~self.finished
        m.d.comb += [
            self.rises.eq(Mux(self.barrier, self.advance, by_itself)),
            self.next_step.eq(self.step + 1),
        ]
        m.d.sync += self.step.eq(self.step + self.rises)
        return m
