"""The router of a network without arbitration (docs/router.md, section 13).

::

    link in ──► arrival: route ──► register ──► crossbar ──► link out

Only programs that are free of contention may run on it. The difference in size from
:class:`.Router` shows how much hardware the proof that no two flits meet saves.
"""

from dataclasses import dataclass

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component

from ...model.network.config import NetworkConfig
from ..parts.arbiter import number_of
from ..parts.crossbar import CrossbarMux
from ..parts.link import flit_layout, ports_beside, router_ports
from ..parts.technology import PLAIN, Technology
from .input_port import Arrival, vc_lines
from .router import router_members


@dataclass(frozen=True)
class Here:
    """Content of an input port's register.

    flit
        The flit, as it leaves.
    route
        The output port of the flit, one-hot, and its VC; no port if no flit leaves.
    lost
        High while a flit with a wrong route arrives.
    first
        High if the flit is the first of its packet that leaves. Used in a network with streams.
    """

    flit: data.View
    route: data.View
    lost: Value
    first: Signal


class DirectRouter(Component):
    """A router with a register per input port. Used by :class:`.Tile`.

    Its parameters and members are those of :class:`.Router`. A flit leaves in the cycle after its
    arrival, whatever ``accept`` is; there are no credits and no stalls. ``overflow`` is 1 in a
    cycle in which two flits ask for one output. ``bad_route`` is 1 in the cycle after a flit with a
    wrong route has arrived. In a network with streams a packet has gaps: there ``overflow`` is also
    1 in a cycle in which a packet begins on an output VC before the previous packet's tail.
    """

    def __init__(
        self, config: NetworkConfig, *, switch: bool = False, technology: Technology = PLAIN
    ) -> None:
        self._config = config
        self._switch = switch
        self._technology = technology
        super().__init__(router_members(config, switch=switch))

    def elaborate(self, _platform: object) -> Module:
        """Send every flit in the input registers in this cycle."""
        m = Module()
        ports = router_ports(self._config, switch=self._switch)
        links_in = zip(ports, self.inputs, strict=True)
        inputs = {port: self._elaborate_input(m, port, link) for port, link in links_in}
        links_out = zip(ports, self.outputs, strict=True)
        collisions = [self._elaborate_output(m, port, link, inputs) for port, link in links_out]
        bad_route = Signal()
        m.d.sync += bad_route.eq(Cat(here.lost for here in inputs.values()).any())
        m.d.comb += [
            self.causes.overflow.eq(Cat(collisions).any()),
            self.causes.bad_route.eq(bad_route),
        ]
        return m

    def _beside(self, port: int) -> list[int]:
        """Return the numbers of all ports except one."""
        return ports_beside(self._config, port, switch=self._switch)

    def _elaborate_input(self, m: Module, port: int, link) -> Here:
        """Add a port's register for the arriving flit, which leaves one cycle later.

        Without streams, a packet's flits arrive in successive cycles. Its route stays in the
        register until its tail has left.
        """
        m.submodules[f"arrival_{port}"] = arrival = Arrival(
            self._config, outputs=self._beside(port)
        )
        item = arrival.item
        valid = link.valid.any()
        # Without a flit the head mark must be 0, because only a head flit gets a route.
        rests_at_zero = port != 0 and self._technology.crossbar_rests_at_zero
        valid_head = C(1) if rests_at_zero else valid
        m.d.comb += [
            arrival.link.valid.eq(link.valid),
            arrival.link.flit.eq(link.flit),
            arrival.link.flit.head.eq(link.flit.head & valid_head),
            arrival.linked.eq(self.linked),
        ]
        here = Here(
            # A flit without a route goes nowhere, so reset need not clear the flit.
            Signal.like(item.flit, name=f"flit_{port}", reset_less=True),
            Signal.like(item.route, name=f"route_{port}"),
            valid & ~arrival.following & arrival.stray,
            Signal(name=f"first_{port}"),
        )
        m.d.sync += here.flit.eq(item.flit)
        if self._config.streams:
            self._elaborate_gaps(m, link.valid, arrival, here)
        else:
            with m.If(~arrival.following):
                m.d.sync += here.route.eq(item.route)
        return here

    def _elaborate_gaps(self, m: Module, valid: Value, arrival: Arrival, here: Here) -> None:
        """Keep the packet's route for each VC through the gaps between its flits."""
        route, first = arrival.item.route, ~arrival.following
        followed = Signal.like(route)
        for vc in range(self._config.vcs):
            kept = Signal.like(route, name="kept_route")
            with m.If(valid[vc]):
                m.d.comb += followed.eq(kept)
                with m.If(first):
                    m.d.sync += kept.eq(route)
        none = Signal.like(route)
        m.d.sync += [
            here.first.eq(first & valid.any()),
            here.route.eq(Mux(valid.any(), Mux(first, route, followed), none)),
        ]

    def _elaborate_output(self, m: Module, port: int, link, inputs: dict[int, Here]) -> Value:
        """Send the flit that asks for a port; return whether more than one asks."""
        # The bits of a route leave out the output of the input's own number.
        asking = [
            (here, here.route.port[self._beside(source).index(port)])
            for source, here in inputs.items()
            if source != port
        ]
        asked = Cat(asks for _, asks in asking)
        m.submodules[f"crossbar_{port}"] = crossbar = CrossbarMux(
            flit_layout(self._config).size, len(asking), 1, technology=self._technology
        )
        valid = C(0)
        for place, (here, asks) in enumerate(asking):
            m.d.comb += crossbar.values[place].eq(here.flit)
            valid |= Mux(asks, vc_lines(self._config, here.route), 0)
        m.d.comb += [
            crossbar.grant.eq(asked),
            crossbar.wins.eq(asked),
            crossbar.group.eq(number_of(asked)),
            crossbar.candidates.eq(-1),
            link.flit.eq(crossbar.value),
            link.valid.eq(valid),
        ]
        meet = Cat(asked[:place].any() & asks for place, asks in enumerate(asked)).any()
        if not self._config.streams:
            return meet
        begins = Cat(asks & here.first for here, asks in asking).any()
        return meet | self._breaks_in(m, link, begins)

    def _breaks_in(self, m: Module, link, begins: Value) -> Value:
        """Tell whether a packet begins to leave on a VC while another one is under way there."""
        held = Signal(self._config.vcs)
        for vc in range(self._config.vcs):
            with m.If(link.valid[vc]):
                m.d.sync += held[vc].eq(~link.flit.tail)
        return begins & (held & link.valid).any()
