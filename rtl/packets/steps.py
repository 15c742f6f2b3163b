"""A node's step: when it is over, when the next begins (docs/router.md, section 4, "Steps").

::

    lanes' progress ──► step keeper ──► step ──► senders, arrival records
                             ▲
        advance (barrier) ───┘
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import Component, In, Out, Signature

from ...model.network.config import NetworkConfig
from ..parts.host_port import Causes, Flag
from ..parts.technology import PLAIN, Technology
from ..parts.tile_port import PacketArrival


class StepClock(Signature):
    """A node's step, and its end; the directions are those of a :class:`StepKeeper`.

    Members
    -------
    step : Out(step_bits)
        The current step, counted from 1; 1 after reset.
    rises : Out(1)
        High in the last cycle of a step: the next cycle's step is ``next_step``. Ignored in reset.
    next_step : Out(step_bits)
        ``step`` + 1, in every cycle.

    """

    def __init__(self, config: NetworkConfig) -> None:
        bits = config.step_bits
        super().__init__({"step": Out(bits, init=1), "rises": Out(1), "next_step": Out(bits)})


class Progress(Signature):
    """Progress of a node, or of one of its lanes, through its step; the directions are a lane's.

    Members
    -------
    step_done, all_done : Out(1)
        High while all packets of the current step, or of the program, have been sent and received.
    begins : Out(1)
        High in the cycle in which a row's first header flit is injected.
    receives : Out(1)
        High while a packet is expected in the current step, even if it has arrived.

    """

    def __init__(self) -> None:
        names = ("step_done", "all_done", "begins", "receives")
        super().__init__({name: Out(1) for name in names})


class ArrivalRecord(Component):
    """Record of the packets that have arrived at a lane. Used by :class:`.Lane`.

    Members
    -------
    expected : In(2**step_bits)
        One bit per step number: set if a packet of that step will arrive. Changes in reset only.
    awaited : In(narrow_width)
        The number of packets of timed rows, which carry step 0, that will arrive. Changes in reset
        only.
    arrival : In(PacketArrival)
        The end of a packet, in the cycle at whose end its last word is written.
    step : In(step_bits)
        The node's step, in every cycle.
    barrier : In(1)
        High if an arriving packet must be of the node's step. Used in the cycle of an ``arrival``.
    arrived : Out(2**step_bits)
        One bit per step number: set if a packet of that step arrived before this cycle.
    receives : Out(1)
        High while a packet is expected in the node's step.
    step_received, all_received : Out(1)
        High if the packet expected in the node's step, or every expected packet, arrived before
        this cycle. ``step_received`` is also high if the step expects none.
    causes : Out(Causes)
        ``unexpected_receive``: high in the cycle of the ``arrival``, or one cycle later in a
        technology with ``look_ahead``.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._timed_rows = config.timed_rows
        self._look_ahead = technology.look_ahead
        steps = 1 << config.step_bits
        super().__init__(
            {
                "expected": In(steps),
                "awaited": In(config.narrow_width),
                "arrival": In(PacketArrival(config)),
                "step": In(config.step_bits),
                "barrier": In(1),
                "arrived": Out(steps),
                "receives": Out(1),
                "step_received": Out(1),
                "all_received": Out(1),
                "causes": Out(Causes(Flag.UNEXPECTED_RECEIVE)),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Keep bit masks over the step numbers, and a count of packets without a step."""
        m = Module()
        missing, enough = Signal.like(self.expected, name="missing"), Signal(init=1, name="enough")
        m.d.comb += [
            missing.eq(self.expected & ~self.arrived),
            self.receives.eq(self.expected.bit_select(self.step, 1)),
            self.step_received.eq(~missing.bit_select(self.step, 1)),
            self.all_received.eq(~missing.any() & enough),
        ]
        unexpected = [self._elaborate_arrival(m, missing)]
        if self._timed_rows:
            received, arrives = (
                Signal.like(self.awaited),
                self.arrival.valid & (self.arrival.step == 0),
            )
            m.d.comb += enough.eq(received >= self.awaited)
            with m.If(arrives):
                m.d.sync += received.eq(received + 1)
            unexpected.append(Cat(arrives, received == self.awaited))
        if self._look_ahead:
            # An arrival is known late in its cycle, so the flag's cause is computed in the next.
            unexpected = [self._registered(m, parts) for parts in unexpected]
        m.d.comb += self.causes.unexpected_receive.eq(
            Cat(parts.all() for parts in unexpected).any()
        )
        return m

    def _elaborate_arrival(self, m: Module, missing: Signal) -> Value:
        """Note an arriving packet's step; return whether it has a step, and whether it is wrong."""
        step = self.arrival.step
        arrives, arriving = self.arrival.valid & (step != 0), Signal.like(self.arrived)
        m.d.sync += self.arrived.eq(self.arrived | arriving)
        with m.If(arrives):
            m.d.comb += arriving.bit_select(step, 1).eq(1)
        wrong = ~missing.bit_select(step, 1) | (self.barrier & (step != self.step))
        return Cat(arrives, wrong)

    def _registered(self, m: Module, value: Value) -> Signal:
        """Return a value, a cycle late."""
        register = Signal(len(value))
        m.d.sync += register.eq(value)
        return register


class StepKeeper(Component):
    """Counter of a node's steps, advanced by the node itself or by the network's barrier.

    Used by :class:`.NetworkInterface`.

    Members
    -------
    progress : In(Progress)
        The node's progress, in every cycle.
    flagged : In(1)
        High while a flag of the node is set. ``over`` and ``finished`` are low then.
    barrier : In(1)
        High: ``advance`` ends steps. Low: the node itself does. Changes in reset only.
    advance : In(1)
        The barrier's pulse: with ``barrier``, high in the last cycle of a step.
    half_duplex : In(1)
        High if a step with a receive must have no send. Changes in reset only.
    held : In(1)
        Only in a network with tile ports: ``over`` is low while this is high.
    clock : Out(StepClock)
        The step, in every cycle.
    over, finished : Out(1)
        High while the node has done its part of the current step, and of the program.
    causes : Out(Causes)
        ``send_and_receive``: with ``half_duplex``, high if a row begins in a step with a receive.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._tile_ports = config.tile_ports
        super().__init__(
            {
                "progress": In(Progress()),
                "flagged": In(1),
                "barrier": In(1),
                "advance": In(1),
                "half_duplex": In(1),
                **({"held": In(1)} if config.tile_ports else {}),
                "clock": Out(StepClock(config)),
                "over": Out(1),
                "finished": Out(1),
                "causes": Out(Causes(Flag.SEND_AND_RECEIVE)),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Count the steps, unless a flag stops the count."""
        m = Module()
        progress = self.progress
        halted = self.flagged | self.held if self._tile_ports else self.flagged
        m.d.comb += [
            self.over.eq(~halted & progress.step_done),
            self.finished.eq(~self.flagged & progress.all_done),
            self.causes.send_and_receive.eq(self.half_duplex & progress.begins & progress.receives),
        ]
        by_itself = self.over & ~self.finished
        m.d.comb += [
            self.clock.rises.eq(Mux(self.barrier, self.advance, by_itself)),
            self.clock.next_step.eq(self.clock.step + 1),
        ]
        m.d.sync += self.clock.step.eq(self.clock.step + self.clock.rises)
        return m
