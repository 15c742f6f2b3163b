"""Signals between routers: flits, header fields, links (docs/router.md, sections 1 and 2).

Used by all that flits pass: the router and its parts, the interface and its lanes, the tile.
"""

from amaranth.hdl import Module
from amaranth.lib import data
from amaranth.lib.wiring import In, Out, PureInterface, Signature

from ..model.network.config import NetworkConfig

CYCLE_BITS = 32
"""Width of a cycle number."""


def router_ports(config: NetworkConfig, *, switch: bool = False) -> list[int]:
    """Return the port numbers of a router's inputs, and of its outputs, in order.

    The interface's ports have number 0 and come first; the router of a switch has none.
    """
    return [0] * (0 if switch else config.lanes) + list(range(1, config.topology.ports))


def ports_beside(config: NetworkConfig, port: int, *, switch: bool = False) -> list[int]:
    """Return the output ports that a flit entering by ``port`` may ask for, ascending."""
    return [other for other in range(int(switch), config.topology.ports) if other != port]


def flit_layout(config: NetworkConfig) -> data.StructLayout:
    """A flit: ``flit_width`` bits of data, and the marks of a packet's first and last flits."""
    return data.StructLayout({"data": config.flit_width, "head": 1, "tail": 1})


def slot_layout(config: NetworkConfig) -> data.StructLayout:
    """The lowest slot of a header flit: one route segment."""
    header = config.header
    return data.StructLayout(
        {"port": header.port_bits, "more": header.hop_bits, "vc": header.vc_bits}
    )


def delivery_layout(config: NetworkConfig) -> data.StructLayout:
    """The delivery in the header flit that leaves by port 0, or by an ejection port."""
    header = config.header
    fields = {"port": header.port_bits, "step": header.step_bits, "address": header.address_bits}
    further = {"operator": header.operator_bits, "window": header.window_bits}
    return data.StructLayout(fields | {name: bits for name, bits in further.items() if bits})


class Link(Signature):
    """A directed link: forwards at most one flit a cycle, and a credit per VC the other way.

    The directions are those of the end that sends.

    Members
    -------
    valid : Out(vcs)
        One bit per VC: a flit is sent on it in this cycle. At most one bit is set.
    flit : Out
        The flit. Valid while a bit of ``valid`` is set.
    credit : In(vcs)
        One bit per VC: a flit leaves that VC's buffer at the far end in this cycle, be it sent on
        or dropped. Any number of bits may be set.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__(
            {
                "valid": Out(config.vcs),
                "flit": Out(flit_layout(config)),
                "credit": In(config.vcs),
            }
        )


class Ejection(Signature):
    """The way out of the network at a node: a link without credits, which takes every flit.

    Members
    -------
    valid : Out(vcs)
        As for :class:`Link`.
    flit : Out
        As for :class:`Link`.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__({"valid": Out(config.vcs), "flit": Out(flit_layout(config))})


def connect_ejection(m: Module, source: PureInterface, sink: PureInterface) -> None:
    """Wire what leaves an output port to ``sink``: the flits of a link, without its credits."""
    m.d.comb += [sink.valid.eq(source.valid), sink.flit.eq(source.flit)]
