"""The wormhole router (docs/router.md, section 3).

::

    link in ─┬► buffer of VC 0 ──request, flit──►┌──────────┐
             │                 ◄──────grant──────│ crossbar │──► output port ─► link out
             └► buffer of VC 1 …                 │          │    (a buffer granted, VCs held,
                                                 └──────────┘     credits)

A flit that arrives in one cycle leaves in the next, if nothing is in its way.
"""

from amaranth.hdl import Cat, Module
from amaranth.lib.wiring import Component, In, Out

from ..model.config import NetworkConfig
from .input_port import InputPort, vc_lines
from .link import Link, connect_link
from .output_port import OutputPort


def router_members(config: NetworkConfig) -> dict:
    """The ports of a :class:`Router`."""
    ports = config.topology.ports
    return {
        "inputs": In(Link(config)).array(ports),
        "outputs": Out(Link(config)).array(ports),
        "linked": In(ports),
        "accept": In(1),
        "stalls": Out(ports * config.vcs),
        "overflow": Out(1),
        "credit_underflow": Out(1),
        "credit_overflow": Out(1),
        "bad_route": Out(1),
    }


class Router(Component):
    """A router with the ports of the configuration's topology.

    Attributes
    ----------
    inputs, outputs : array of Link
        By port; port 0 is the network interface.
    linked : In(ports)
        Output ports that lead somewhere; bit 0 is set. Constant for a node.
    accept : In(1)
        The network interface takes the flit that leaves by port 0 in this cycle.
    stalls : Out(ports * vcs)
        Per buffer: the flit that leaves it in this cycle has waited.
    overflow, credit_underflow, credit_overflow, bad_route : Out(1)
        What must never happen, in the cycle in which it does.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(router_members(config))

    def elaborate(self, _platform: object) -> Module:
        """Ports, and the wires between them."""
        m = Module()
        ports = range(self._config.topology.ports)
        inputs = [InputPort(self._config, port=port) for port in ports]
        outputs = [OutputPort(self._config, port=port) for port in ports]
        for port in ports:
            m.submodules[f"input_{port}"] = inputs[port]
            m.submodules[f"output_{port}"] = outputs[port]
            connect_link(m, self.inputs[port], inputs[port].link)
            connect_link(m, outputs[port].link, self.outputs[port])
            m.d.comb += inputs[port].linked.eq(self.linked)
        self._elaborate_crossbar(m, inputs, outputs)
        for name in ("overflow", "bad_route"):
            m.d.comb += getattr(self, name).eq(Cat(getattr(i, name) for i in inputs).any())
        for name in ("credit_underflow", "credit_overflow"):
            m.d.comb += getattr(self, name).eq(Cat(getattr(o, name) for o in outputs).any())
        m.d.comb += outputs[0].accept.eq(self.accept)
        m.d.comb += self.stalls.eq(Cat(i.stalls for i in inputs))
        return m

    def _elaborate_crossbar(self, m: Module, inputs: list, outputs: list) -> None:
        """Every front flit to every output but the one beside it; outputs' state and grants back.

        Flits that go by different outputs do not hinder each other, even from one input port.
        """
        vcs = range(self._config.vcs)
        for number, source in enumerate(inputs):
            others = [port for port in range(len(outputs)) if port != number]
            for place, port in enumerate(others):
                m.d.comb += [
                    source.credited[place].eq(outputs[port].credited),
                    source.held[place].eq(outputs[port].held),
                ]
            for vc in vcs:
                granted = [
                    self._connect_candidate(m, source, vc, place, outputs[port], number, port)
                    for place, port in enumerate(others)
                ]
                m.d.comb += source.take[vc].eq(Cat(granted).any())

    def _connect_candidate(self, m, source, vc: int, place: int, sink, number: int, port: int):
        """Wire a VC of input port ``number`` to output ``port``, and return the grant."""
        # The output counts the input ports without the one beside it.
        candidate = (number - (number > port)) * self._config.vcs + vc
        m.d.comb += [
            sink.requests[candidate].eq(source.requests[vc][place]),
            sink.vcs[candidate].eq(vc_lines(self._config, source.fronts[vc].route)),
            sink.flits[candidate].eq(source.fronts[vc].flit),
        ]
        return sink.grants[candidate]
