"""The router of a network without arbitration (docs/router.md, section 3, "Without arbitration").

::

    link in ──► arrival: route ──► register ──► crossbar ──► link out

Only programs that are free of contention may run on it. Its size beside that of :class:`.Router`
shows what the proof that no two flits meet is worth.
"""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import Component

from ..model.config import NetworkConfig
from .arbiter import number_of
from .crossbar import CrossbarMux
from .input_port import Arrival, route_layout, routed_layout, vc_lines
from .link import flit_layout
from .router import router_members


class DirectRouter(Component):
    """A router with a register per input port; its ports are those of :class:`.Router`."""

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(router_members(config))

    def elaborate(self, _platform: object) -> Module:
        """Every flit that is here leaves in this cycle."""
        m = Module()
        ports = range(self._config.topology.ports)
        here = [self._elaborate_input(m, port) for port in ports]
        collisions = [self._elaborate_output(m, port, here) for port in ports]
        lost = [item.route.as_value() == 0 for item in here]
        m.d.comb += [self.overflow.eq(Cat(collisions).any()), self.bad_route.eq(Cat(lost).any())]
        return m

    def _elaborate_input(self, m: Module, port: int) -> data.View:
        """What arrived in the last cycle; nothing looks like a flit that is used up."""
        m.submodules[f"arrival_{port}"] = arrival = Arrival(self._config, port=port)
        link = self.inputs[port]
        nothing = route_layout(self._config).const({"port": 0, "vc": 1})
        here = Signal(
            routed_layout(self._config), name=f"here_{port}", init={"route": {"port": 0, "vc": 1}}
        )
        m.d.comb += [
            arrival.link.valid.eq(link.valid),
            arrival.link.flit.eq(link.flit),
            arrival.linked.eq(self.linked),
        ]
        m.d.sync += here.flit.eq(arrival.item.flit)
        with m.If(link.valid.any()):
            m.d.sync += here.route.eq(self._route(m, link, arrival))
        with m.Else():
            m.d.sync += here.route.eq(nothing)
        return here

    def _route(self, m: Module, link, arrival: Arrival) -> Value:
        """The route of what arrives: its own, or that of its packet's first flit."""
        first = arrival.item.route.as_value()
        route, kept = Signal.like(first), Signal.like(first)
        m.d.comb += route.eq(Mux(arrival.following, kept, first))
        for vc in range(self._config.vcs):
            kept_for_vc = Signal.like(first)
            with m.If(link.valid[vc]):
                m.d.comb += kept.eq(kept_for_vc)
                m.d.sync += kept_for_vc.eq(route)
        return route

    def _elaborate_output(self, m: Module, port: int, here: list[data.View]) -> Value:
        """What asks for a port leaves by it. Gives whether there is more than one."""
        asking = [(source, item) for source, item in enumerate(here) if source != port]
        # An input port does not count the output beside it.
        asked = Cat(item.route.port[port - (port > source)] for source, item in asking)
        m.submodules[f"crossbar_{port}"] = crossbar = CrossbarMux(
            flit_layout(self._config).size, len(asking), 1
        )
        valid, taken, collision = C(0), C(0), C(0)
        for place, (_, item) in enumerate(asking):
            m.d.comb += crossbar.values[place].eq(item.flit)
            valid |= Mux(asked[place], vc_lines(self._config, item.route), 0)
            collision |= taken & asked[place]
            taken |= asked[place]
        link = self.outputs[port]
        m.d.comb += [
            crossbar.grant.eq(asked),
            crossbar.wins.eq(asked),
            crossbar.group.eq(number_of(asked)),
            crossbar.candidates.eq(-1),
            link.flit.eq(crossbar.value),
            link.valid.eq(valid),
        ]
        return collision
