"""The wormhole router (docs/router.md, section 3).

::

    link in ─► input port ──request, flit──►┌──────────┐
               (buffer per VC,              │ crossbar │──► output port ─► link out
                one VC chosen)◄───grant─────│          │    (one input granted, VCs held, credits)
                                            └──────────┘

A flit that arrives in one cycle leaves in the next, if nothing is in its way.
"""

from amaranth.hdl import Cat, Module
from amaranth.lib.wiring import Component, In, Out

from ..model.config import NetworkConfig
from .input_port import InputPort
from .link import Link
from .output_port import OutputPort


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
    stalls : Out(ports)
        Per input port: the flit that leaves it in this cycle has waited.
    overflow, credit_underflow, credit_overflow, bad_route : Out(1)
        What must never happen, in the cycle in which it does.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        ports = config.topology.ports
        super().__init__(
            {
                "inputs": In(Link(config)).array(ports),
                "outputs": Out(Link(config)).array(ports),
                "linked": In(ports),
                "accept": In(1),
                "stalls": Out(ports),
                "overflow": Out(1),
                "credit_underflow": Out(1),
                "credit_overflow": Out(1),
                "bad_route": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Ports, and the wires between them."""
        m = Module()
        ports = range(self._config.topology.ports)
        inputs = [InputPort(self._config, port=port) for port in ports]
        outputs = [OutputPort(self._config, port=port) for port in ports]
        for port in ports:
            m.submodules[f"input_{port}"] = inputs[port]
            m.submodules[f"output_{port}"] = outputs[port]
            self._connect_link(m, self.inputs[port], inputs[port].link)
            self._connect_link(m, outputs[port].link, self.outputs[port])
        self._elaborate_crossbar(m, inputs, outputs)
        for name in ("overflow", "bad_route"):
            m.d.comb += getattr(self, name).eq(Cat(getattr(i, name) for i in inputs).any())
        for name in ("credit_underflow", "credit_overflow"):
            m.d.comb += getattr(self, name).eq(Cat(getattr(o, name) for o in outputs).any())
        m.d.comb += outputs[0].accept.eq(self.accept)
        m.d.comb += self.stalls.eq(Cat(i.stalled for i in inputs))
        return m

    def _connect_link(self, m: Module, source, sink) -> None:
        """Flits from ``source`` to ``sink``, credits back."""
        m.d.comb += [
            sink.valid.eq(source.valid),
            sink.flit.eq(source.flit),
            source.credit.eq(sink.credit),
        ]

    def _elaborate_crossbar(self, m: Module, inputs: list, outputs: list) -> None:
        """Every input's chosen flit to every output, every output's state and grant back."""
        for i, source in enumerate(inputs):
            m.d.comb += source.linked.eq(self.linked)
            for p, sink in enumerate(outputs):
                m.d.comb += [
                    source.unheld[p].eq(sink.unheld),
                    source.credited[p].eq(sink.credited),
                    sink.requests[i].eq(source.request[p]),
                    sink.vcs[i].eq(source.vc),
                    sink.flits[i].eq(source.flit),
                ]
            m.d.comb += source.granted.eq(Cat(sink.grants[i] for sink in outputs).any())
