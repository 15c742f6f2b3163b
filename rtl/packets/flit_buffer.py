"""The first-in first-out buffer of one VC of an input port."""

from amaranth.hdl import C, Cat, ClockDomain, ClockSignal, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component, In, Out

from ..parts.assertions import Assertions, asserted
from ..parts.technology import PLAIN, BufferStyle, Technology

_NEVER = C(0, 1)


@asserted
class FlitBuffer(Component):
    """First-in first-out buffer of ``depth`` flits; a flit stays for at least one cycle.

    Used by :class:`.InputChannel`.

    Parameters
    ----------
    layout
        Members ``flit`` and ``route``: a flit, and its route.
    depth
        Number of slots, at least 1.
    technology
        Its :class:`.BufferStyle` tells how the buffer is made.

    Members
    -------
    write : In(1)
        High in the cycle in which a flit arrives.
    write_item : In
        The flit and its route. Valid while ``write`` is 1.
    front_valid : Out(1)
        High while the buffer holds a flit, from the cycle after its arrival on.
    front : Out
        The oldest flit, while ``front_valid`` is 1. With a block RAM its data are valid in the
        second half of the cycle. While ``front_valid`` is 0, ``front.route`` is the kept route, or
        the route of a flit to drop.
    followed : Out(1)
        High if a flit will be at the front in the next cycle, should the front flit leave in this
        one. Valid in every cycle.
    pop : In(1)
        High in the cycle in which the front flit leaves. Only while ``front_valid`` is 1.
    keep_route : In(1)
        High to keep the route at the front through the end of this cycle: because the flit stays,
        or because the next flit belongs to the same packet.
    overflow : Out(1)
        High if a flit arrives while the buffer is full, even if another leaves. The flit is lost.

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

    def assertions(self, check: Assertions) -> None:
        """State when there is a flit at the front, and when a flit is lost."""
        kept = self.write & ~self.overflow
        held = check.count(kept, self.pop, limit=self._depth)
        check.requires("pop_of_a_flit", self.front_valid | ~self.pop)
        check.ensures("no_more_flits_than_slots", held <= self._depth)
        check.ensures("front_valid_while_a_flit_is_there", self.front_valid == (held != 0))
        check.ensures("overflow_while_full", self.overflow == (self.write & (held == self._depth)))
        check.ensures("followed_by_a_flit", self.followed == (kept | (held > 1)))

    def elaborate(self, _platform: object) -> Module:
        """Keep the front flit's route and marks in registers, valid from the start of the cycle.

        ``used`` has a one for each used slot, from bit 0 on.
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
        """Load the front's next marks and route from the second slot, or from the arriving flit."""
        nothing = self.front.route.shape().const({"port": 0, "vc": 1}).as_value()
        marks = Signal(2, reset_less=True)
        route = Signal(len(nothing), init=nothing.value)
        # With a single slot in use, an arriving flit is lost.
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
        """Add slots from ``front`` on, which move up as slots become free; return the first one."""
        behind, behind_used = arriving, _NEVER
        for place in reversed(range(front, self._depth)):
            held = Signal(len(arriving), name=f"place_{place}", reset_less=True)
            with m.If(self.pop | ~used[place]):
                m.d.sync += held.eq(Mux(behind_used, behind, arriving))
            behind, behind_used = held, used[place]
        return behind

    def _elaborate_ring(self, m: Module, used: Signal, stored: Signal) -> tuple[Value, Value]:
        """Keep the data in a ring, and the labels in a ring or in shifting slots.

        Return the front's data, and the labels of the second slot. A block RAM is read at a clock
        edge. Read at the falling edge, it gives the data in time for the crossbar in the second
        half of the cycle, and the labels in time for the next cycle.
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
            """Add a memory for ``bits``; return its content at ``place``."""
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
        """Return the next index of the ring; four slots use Gray code, which needs no adder."""
        if self._depth == 4:
            return Cat(~place[1], place[0])
        return Mux(place == self._depth - 1, 0, place + 1)


def _labels(item: data.View) -> Value:
    """Return a flit's marks and route, without its data."""
    return Cat(item.flit.head, item.flit.tail, item.route)
