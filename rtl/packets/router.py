"""The wormhole router (docs/router.md, section 3).

::

    link in ─┬► buffer of VC 0 ──request, flit──►┌──────────┐
             │                 ◄──────grant──────│ crossbar │──► output port ─► link out
             └► buffer of VC 1 …                 │          │    (a buffer granted, VCs held,
                                                 └──────────┘     credits)

If its output is free, a flit leaves in the cycle after its arrival.

In an all-port network (docs/router.md, section 14) there is an injection and an ejection port for
each link, in place of port 0::

    injection port l ──────────────────► output l ─► link out
    link in ─► input l ─┬► ejection l     ▲
                        └► other outputs  └ other inputs

The router of a switch (docs/router.md, section 15) has only the ports of links.
"""

from amaranth.hdl import Cat, Module, Value
from amaranth.lib.wiring import Component, In, Out, connect, flipped

from ...model.network.config import NetworkConfig
from ..parts.host_port import Causes, Flag
from ..parts.link import Link, ports_beside, rest_bits, router_ports
from ..parts.technology import PLAIN, Technology
from .input_port import InputPort
from .output_port import OutputPort

ROUTER_FLAGS = (Flag.OVERFLOW, Flag.CREDIT_OVERFLOW, Flag.BAD_ROUTE)
"""Flags that a router may set."""


def router_members(config: NetworkConfig, *, switch: bool = False) -> dict:
    """Return the ports of a :class:`Router`."""
    ports = len(router_ports(config, switch=switch))
    rests = rest_bits(config) * (config.topology.ports - 1)
    return {
        "inputs": In(Link(config)).array(ports),
        "outputs": Out(Link(config)).array(ports),
        "linked": In(config.topology.ports),
        **({"rests": In(rests)} if rests else {}),
        **({} if switch else {"accept": In(1)}),
        "stalls": Out(ports * config.vcs),
        "causes": Out(Causes(*ROUTER_FLAGS)),
    }


class Router(Component):
    """A router with the ports of the configuration's topology. Used by :class:`.Tile`.

    Parameters
    ----------
    config
        The network.
    switch
        The node is a switch.
    technology
        How buffers and crossbars are made.

    Members
    -------
    inputs, outputs : array of Link
        The links by port; port 0 is the network interface. In an all-port network the injection and
        ejection ports of links 1, 2, … replace port 0; a switch has no port 0. A flit leaves at
        least one cycle after its arrival.
    linked : In(ports)
        A bit for each output port, set if the port has a link. Bit 0 is set, except in a switch.
        Constant for a node.
    rests : In
        Only where links differ in their rates; as for :class:`.Tile`.
    accept : In(1)
        Not in a switch: high if the network interface takes a flit in this cycle. Otherwise no flit
        leaves by port 0.
    stalls : Out(router_ports * vcs)
        Per buffer: high if the flit that leaves it in this cycle has waited.
    causes : Out(Causes)
        ``overflow``: high if a flit arrives while its buffer is full.
        ``credit_overflow``: high if a credit comes back while all slots at the far end are free.
        ``bad_route``: high while a flit with a wrong route is at a buffer's front.

    """

    def __init__(
        self, config: NetworkConfig, *, switch: bool = False, technology: Technology = PLAIN
    ) -> None:
        self._config = config
        self._switch = switch
        self._technology = technology
        self._ports = router_ports(config, switch=switch)
        self._lanes = self._ports.count(0)
        super().__init__(router_members(config, switch=switch))

    def elaborate(self, _platform: object) -> Module:
        """Build the ports, and the wires between them."""
        m = Module()
        config, technology = self._config, self._technology
        inputs = [
            InputPort(config, outputs=self._beside(port), technology=technology)
            for port in self._ports
        ]
        outputs = [
            OutputPort(config, port=port, inputs=self._candidates(port), technology=technology)
            for port in self._ports
        ]
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
        if rest_bits(config):
            for port, output in enumerate(outputs[self._lanes :]):
                m.d.comb += output.rest.eq(self.rests.word_select(port, rest_bits(config)))
        for ejection in outputs[: self._lanes]:
            m.d.comb += ejection.accept.eq(self.accept)
        m.d.comb += self.stalls.eq(Cat(i.stalls for i in inputs))
        return m

    def _beside(self, port: int) -> list[int]:
        """Return the output ports to which an input port may lead."""
        return ports_beside(self._config, port, switch=self._switch)

    def _candidates(self, port: int) -> list[int]:
        """Return the input ports that are candidates of an output, the interface's last."""
        return sorted(self._beside(port), key=lambda other: (other == 0, other))

    def _is_injection(self, number: int) -> bool:
        """Tell whether input ``number`` is an injection port, which leads only to one link."""
        return self._config.all_port and number < self._lanes

    def _linked_from(self, number: int) -> Value:
        """Return the bits of ``linked`` to which input ``number`` may send."""
        if self._is_injection(number):
            return self.linked & 1 << (number + 1)
        return self.linked

    def _output_seen(self, number: int, port: int) -> int | None:
        """Return the index of the output that input ``number`` calls ``port``; None for none."""
        lanes = self._lanes
        if self._is_injection(number) and port != number + 1:
            return None
        if port == 0:
            return number - lanes if self._config.all_port else 0
        return lanes + port - 1

    def _elaborate_crossbar(self, m: Module, inputs: list, outputs: list) -> None:
        """Connect every buffer's front flit to the outputs it may ask for, and the grants back.

        Flits for different outputs do not delay each other, even from one input port.
        """
        for number, source in enumerate(inputs):
            others = self._beside(self._ports[number])
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
        """Wire a VC of input ``number`` to an output; return the grant."""
        candidates = self._candidates(self._ports[output])
        candidate = candidates.index(self._ports[number]) * self._config.vcs + vc
        m.d.comb += [
            sink.flits[candidate].eq(source.fronts[vc].flit),
            *(
                sink.requests[out_vc][candidate].eq(asked)
                for out_vc, asked in enumerate(source.requests[vc][place])
            ),
        ]
        return sink.grants[candidate]
