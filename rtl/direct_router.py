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
from .input_port import Arrival, route_layout, routed_layout
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
            m.d.sync += here.route.eq(arrival.item.route)
        with m.Else():
            m.d.sync += here.route.eq(nothing)
        return here

    def _elaborate_output(self, m: Module, port: int, here: list[data.View]) -> Value:
        """All that asks for a port, one over the other. Gives whether there is more than one."""
        flit, valid, taken, collision = C(0), C(0), C(0), C(0)
        for source, item in enumerate(here):
            if source != port:
                # An input port does not count the output beside it.
                asked = item.route.port[port - (port > source)]
                flit |= Mux(asked, item.flit.as_value(), 0)
                valid |= Mux(asked, item.route.vc, 0)
                collision |= taken & asked
                taken |= asked
        link = self.outputs[port]
        m.d.comb += [link.flit.eq(flit), link.valid.eq(valid)]
        return collision
