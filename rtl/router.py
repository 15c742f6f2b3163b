"""The wormhole router (docs/router.md, section 3).

::

    link in ─┬► buffer of VC 0 ──request, flit──►┌──────────┐
             │                 ◄──────grant──────│ crossbar │──► output port ─► link out
             └► buffer of VC 1 …                 │          │    (a buffer granted, VCs held,
                                                 └──────────┘     credits)

A flit that arrives in one cycle leaves in the next, if nothing is in its way.

In an all-port network (docs/router.md, section 14) there is an injection and an ejection port for
each link, in place of port 0::

    injection port l ──────────────────► output l ─► link out
    link in ─► input l ─┬► ejection l     ▲
                        └► other outputs  └ other inputs
"""

from amaranth.hdl import Cat, Module, Value
from amaranth.lib.wiring import Component, In, Out, connect, flipped

from ..model.network.config import NetworkConfig
from .host_port import Causes, Flag
from .input_port import InputPort
from .link import Link, router_ports
from .output_port import OutputPort
from .technology import PLAIN, Technology

ROUTER_FLAGS = (Flag.OVERFLOW, Flag.CREDIT_OVERFLOW, Flag.BAD_ROUTE)
"""Flags that a router may set."""


def router_members(config: NetworkConfig) -> dict:
    """The ports of a :class:`Router`."""
    ports = router_ports(config)
    return {
        "inputs": In(Link(config)).array(ports),
        "outputs": Out(Link(config)).array(ports),
        "linked": In(config.topology.ports),
        "accept": In(1),
        "stalls": Out(ports * config.vcs),
        "causes": Out(Causes(*ROUTER_FLAGS)),
    }


class Router(Component):
    """A router with the ports of the configuration's topology.

    Attributes
    ----------
    inputs, outputs : array of Link
        By port; port 0 is the network interface. In an all-port network the injection and ejection
        ports of links 1, 2, … are in its place, before those of the links.
    linked : In(ports)
        Output ports that lead somewhere; bit 0 is set. Constant for a node.
    accept : In(1)
        The network interface takes the flit that leaves by port 0 in this cycle.
    stalls : Out(router_ports * vcs)
        Per buffer: the flit that leaves it in this cycle has waited.
    overflow, credit_overflow, bad_route : Out(1)
        What must never happen, in the cycle in which it does.

    """

    def __init__(self, config: NetworkConfig, *, technology: Technology = PLAIN) -> None:
        self._config = config
        self._technology = technology
        # The port number of each input and output, by its place.
        self._ports = [0] * config.lanes + list(range(1, config.topology.ports))
        super().__init__(router_members(config))

    def elaborate(self, _platform: object) -> Module:
        """Ports, and the wires between them."""
        m = Module()
        inputs, outputs = (
            [kind(self._config, port=port, technology=self._technology) for port in self._ports]
            for kind in (InputPort, OutputPort)
        )
        for number in range(len(self._ports)):
            m.submodules[f"input_{number}"] = inputs[number]
            m.submodules[f"output_{number}"] = outputs[number]
            connect(m, flipped(self.inputs[number]), inputs[number].link)
            connect(m, outputs[number].link, flipped(self.outputs[number]))
            m.d.comb += inputs[number].linked.eq(self._linked_from(number))
        self._elaborate_crossbar(m, inputs, outputs)
        m.d.comb += [
            self.causes.overflow.eq(Cat(port.overflow for port in inputs).any()),
            self.causes.bad_route.eq(Cat(port.bad_route for port in inputs).any()),
            self.causes.credit_overflow.eq(Cat(port.credit_overflow for port in outputs).any()),
        ]
        for ejection in outputs[: self._config.lanes]:
            m.d.comb += ejection.accept.eq(self.accept)
        m.d.comb += self.stalls.eq(Cat(i.stalls for i in inputs))
        return m

    def _is_injection(self, number: int) -> bool:
        """Input ``number`` is the injection port of link ``number`` + 1 alone."""
        return self._config.all_port and number < self._config.lanes

    def _linked_from(self, number: int) -> Value:
        """The output ports to which input ``number`` may send."""
        if self._is_injection(number):
            return self.linked & 1 << (number + 1)
        return self.linked

    def _output_seen(self, number: int, port: int) -> int | None:
        """The output that is ``port`` to what comes in by input ``number``; None for no output."""
        lanes = self._config.lanes
        if self._is_injection(number) and port != number + 1:
            return None
        if port == 0:
            return number - lanes if self._config.all_port else 0
        return lanes + port - 1

    def _elaborate_crossbar(self, m: Module, inputs: list, outputs: list) -> None:
        """Every front flit to every output but the one beside it; outputs' state and grants back.

        Flits that go by different outputs do not hinder each other, even from one input port.
        """
        for number, source in enumerate(inputs):
            ports = range(self._config.topology.ports)
            others = [port for port in ports if port != self._ports[number]]
            seen = [(place, self._output_seen(number, port)) for place, port in enumerate(others)]
            sinks = [(place, output) for place, output in seen if output is not None]
            for place, output in sinks:
                m.d.comb += source.held[place].eq(outputs[output].held)
            for vc in range(self._config.vcs):
                granted = [
                    self._connect_candidate(m, source, vc, place, outputs[output], number, output)
                    for place, output in sinks
                ]
                m.d.comb += source.take[vc].eq(Cat(granted).any())

    def _connect_candidate(self, m, source, vc: int, place: int, sink, number: int, output: int):
        """Wire a VC of input ``number`` to an output, and return the grant."""
        # The output counts the input ports without the one beside it, the interface's last.
        ports = self._config.topology.ports
        others = [port for port in (*range(1, ports), 0) if port != self._ports[output]]
        candidate = others.index(self._ports[number]) * self._config.vcs + vc
        m.d.comb += [
            sink.flits[candidate].eq(source.fronts[vc].flit),
            *(
                sink.requests[out_vc][candidate].eq(asked)
                for out_vc, asked in enumerate(source.requests[vc][place])
            ),
        ]
        return sink.grants[candidate]
