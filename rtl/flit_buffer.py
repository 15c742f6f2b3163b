"""The first-in first-out buffer of one VC of an input port."""

from amaranth.hdl import C, Cat, ClockDomain, ClockSignal, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out

from .technology import PLAIN, BufferStyle, Technology

_NEVER = C(0, 1)


class FlitBuffer(Component):
    """``depth`` flits, first in, first out; one written in a cycle is at the front in the next.

    Used by :class:`.InputChannel`.

    Parameters
    ----------
    layout
        Members ``flit`` and ``route``: a flit, and where it is to go.
    depth
        Places, at least 1.
    technology
        What it is made of: :class:`.BufferStyle`.

    Members
    -------
    write : In(1)
        A flit arrives in this cycle.
    write_item : In
        The flit and its route. Valid while ``write`` is 1.
    front_valid : Out(1)
        There is a flit: from the cycle after the first one was written on.
    front : Out
        The oldest flit, while ``front_valid`` is 1. With a block RAM its data are valid in the
        second half of the cycle. While ``front_valid`` is 0 and no route was kept, the route is
        that of a flit that is used up.
    followed : Out(1)
        If the front flit leaves in this cycle, there is another one in the next. In every cycle.
    pop : In(1)
        The front flit leaves in this cycle. Only while ``front_valid`` is 1.
    keep_route : In(1)
        The route at the front stays at the end of this cycle: the flit does, or the one that comes
        next goes by it, and not by the one that it was written with.
    overflow : Out(1)
        A flit arrives in this cycle and the buffer is full, whether or not one leaves. The flit is
        lost.

    """

    def __init__(
        self, layout: data.StructLayout, *, depth: int, technology: Technology = PLAIN
    ) -> None:
        self._depth = depth
        self._style = technology.buffer_style
        super().__init__(
            {
                "write": In(1),
                "write_item": In(layout),
                "front_valid": Out(1),
                "front": Out(layout),
                "followed": Out(1),
                "pop": In(1),
                "keep_route": In(1),
                "overflow": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Keep the front's route and marks in registers, so that the front flit can ask at once.

        The occupancy is coded as a run of ones from bit 0.
        """
        m = Module()
        used, stored = Signal(self._depth, name="used"), Signal(name="stored")
        m.d.comb += [
            self.front_valid.eq(used[0]),
            self.overflow.eq(self.write & used[-1]),
            stored.eq(self.write & ~used[-1]),
            self.followed.eq(stored | used[1:].any()),
        ]
        with m.If(stored ^ self.pop):
            m.d.sync += used.eq(Mux(stored, Cat(1, used), used[1:]))
        if self._style is BufferStyle.REGISTERS:
            front_data = self._move_up(m, used, self.write_item.flit.data, front=0)
            behind = self._move_up(m, used, _labels(self.write_item), front=1)
        else:
            front_data, behind = self._elaborate_ring(m, used, stored)
        m.d.comb += self.front.flit.data.eq(front_data)
        self._elaborate_front(m, used, behind)
        return m

    def _elaborate_front(self, m: Module, used: Signal, behind: Value) -> None:
        """Return the front's next marks and route: from the second slot, or the arriving flit."""
        nothing = self.front.route.shape().const({"port": 0, "vc": 1}).as_value()
        marks = Signal(2, reset_less=True)
        route = Signal(len(nothing), init=nothing.value)
        # Of one place only: where it is taken, what arrives is lost.
        arrives = self.write & ~used[0] if self._depth == 1 else self.write
        labels = _labels(self.write_item)
        coming = Cat(labels[:2], Mux(arrives, labels[2:], nothing))
        if self._depth > 1:
            coming = Mux(used[1], behind, coming)
        with m.If(self.pop | ~used[0]):
            m.d.sync += marks.eq(coming[:2])
        with m.If(~self.keep_route):
            m.d.sync += route.eq(coming[2:])
        m.d.comb += _labels(self.front).eq(Cat(marks, route))

    def _move_up(self, m: Module, used: Signal, arriving: Value, *, front: int) -> Value:
        """Shift slots from ``front`` on: a slot that is or becomes free takes the next one."""
        behind, behind_used = arriving, _NEVER
        for place in reversed(range(front, self._depth)):
            held = Signal(len(arriving), name=f"place_{place}", reset_less=True)
            with m.If(self.pop | ~used[place]):
                m.d.sync += held.eq(Mux(behind_used, behind, arriving))
            behind, behind_used = held, used[place]
        return behind

    def _elaborate_ring(self, m: Module, used: Signal, stored: Signal) -> tuple[Value, Value]:
        """Data in a ring, and labels in one too or moving up. Gives those at the front and behind.

        A block RAM wants a clock to be read. At the falling edge it has the data for the second
        half of the cycle, in which they pass the crossbar, and the labels for the next cycle.
        """
        end, front, second = (
            Signal(range(self._depth), name=name) for name in ("end", "front", "second")
        )
        m.d.comb += second.eq(self._after(front))
        with m.If(stored):
            m.d.sync += end.eq(self._after(end))
        with m.If(self.pop):
            m.d.sync += front.eq(second)
        domain, attributes = "comb", {}
        if self._style is not BufferStyle.MEMORY:
            domain, attributes = "falling", {"ram_style": "block"}
            m.domains.falling = ClockDomain(clk_edge="neg", reset_less=True, local=True)
            m.d.comb += ClockSignal("falling").eq(ClockSignal())

        def keep(name: str, bits: Value, place: Signal) -> Value:
            """Read a memory at an index."""
            kept = Memory(shape=len(bits), depth=self._depth, init=[], attrs=attributes)
            m.submodules[f"buffer_{name}"] = kept
            write_port, read_port = kept.write_port(), kept.read_port(domain=domain)
            m.d.comb += [write_port.en.eq(stored), write_port.data.eq(bits)]
            m.d.comb += [write_port.addr.eq(end), read_port.addr.eq(place)]
            return read_port.data

        labels = _labels(self.write_item)
        if self._style is not BufferStyle.BLOCK_RAM:
            behind = keep("labels", labels, second)
        else:
            behind = self._move_up(m, used, labels, front=1)
        return keep("data", self.write_item.flit.data, front), behind

    def _after(self, place: Signal) -> Value:
        """Return the next index of the ring; for four, in Gray code, so that no adder is needed."""
        if self._depth == 4:
            return Cat(~place[1], place[0])
        return Mux(place == self._depth - 1, 0, place + 1)


def _labels(item: data.View) -> Value:
    """Return a flit's marks and route, without its data."""
    return Cat(item.flit.head, item.flit.tail, item.route)
