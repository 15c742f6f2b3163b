"""Signals between routers: flits, header fields, links (docs/router.md, sections 1 and 2)."""

from amaranth.hdl import Module
from amaranth.lib import data
from amaranth.lib.wiring import In, Out, PureInterface, Signature

from ..model.network.config import NetworkConfig

CYCLE_BITS = 32
"""Width of a cycle number."""


def router_ports(config: NetworkConfig) -> int:
    """Input ports of a router, and output ports: those of the interface, then one per link."""
    return config.lanes + config.topology.ports - 1


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
    return data.StructLayout(
        {"port": header.port_bits, "step": header.step_bits, "address": header.address_bits}
    )


class Link(Signature):
    """A directed link: forwards at most one flit a cycle, and a credit per VC the other way.

    ``valid`` has one bit per VC, of which at most one is set. ``credit`` has one bit per VC: a flit
    has left that VC's buffer at the far end in this cycle.
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
    """The way out of the network at a node: a link without credits."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__({"valid": Out(config.vcs), "flit": Out(flit_layout(config))})


def connect_ejection(m: Module, source: PureInterface, sink: PureInterface) -> None:
    """Wire what leaves an output port to ``sink``: the flits of a link, without its credits."""
    m.d.comb += [sink.valid.eq(source.valid), sink.flit.eq(source.flit)]
