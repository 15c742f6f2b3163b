"""Signals between routers: flits, header fields, links (docs/router.md, sections 1 and 2).

Used by the router and its parts, the interface and its lanes, and the tile.
"""

from collections.abc import Sequence

from amaranth.hdl import Format, Module, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out, PureInterface, Signature

from ...model.network.config import NetworkConfig, bits_for
from .host_map import EJECTION_PORT
from .status import words_of

CYCLE_BITS = 32
"""Width of a cycle number."""


def router_ports(config: NetworkConfig, *, switch: bool = False) -> list[int]:
    """Return the port numbers of a router's inputs, and of its outputs, in order.

    The interface's ports have number 0 and come first; the router of a switch has none.
    """
    return [0] * (0 if switch else config.lanes) + list(range(1, config.topology.ports))


def tile_registers(config: NetworkConfig) -> int:
    """Return the registers of each link that are in the tiles: none where links differ."""
    return config.link_registers if config.topology.link_registers_of is None else 0


def registers_between(config: NetworkConfig, node: int, port: int) -> int:
    """Return the registers of the link that leaves a node by a port which are not in the tiles."""
    registers = config.topology.link_registers_of
    if registers is None:
        return 0
    own = int(registers[node, port])
    return config.link_registers if own < 0 else own


def rest_bits(config: NetworkConfig) -> int:
    """Return the width of the cycles for which an output rests; 0 if all rates are 1."""
    rates = config.topology.link_rate_of
    return 0 if rates is None else bits_for(max(0, int(rates.max()) - 1))


def printed_ports(config: NetworkConfig, *, switch: bool = False) -> list[int]:
    """Return the numbers by which the lines of a trace name a router's outputs, in order."""
    ports = router_ports(config, switch=switch)
    if not config.all_port:
        return ports
    return [port or EJECTION_PORT + 1 + place for place, port in enumerate(ports)]


def printed_line(config: NetworkConfig, numbers: Sequence[Value | int], word: Value) -> Format:
    """Return a line of a trace: cycle, node, port, VC and kind, then each piece of the word."""
    columns = [*numbers, *words_of(config, word)]
    return Format(" ".join(["{:d}"] * len(columns)) + "\n", *columns)


def ports_beside(config: NetworkConfig, port: int, *, switch: bool = False) -> list[int]:
    """Return the output ports that a flit entering by ``port`` may ask for, ascending."""
    return [other for other in range(int(switch), config.topology.ports) if other != port]


def flit_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of a flit: ``flit_width`` bits of data, a head mark and a tail mark."""
    return data.StructLayout({"data": config.flit_width, "head": 1, "tail": 1})


def slot_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of a header flit's lowest slot, which is one route segment."""
    header = config.header
    return data.StructLayout(
        {"port": header.port_bits, "more": header.hop_bits, "vc": header.vc_bits}
    )


def delivery_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of the delivery, in the header flit that leaves the network."""
    header = config.header
    fields = {"port": header.port_bits, "step": header.step_bits, "address": header.address_bits}
    further = {"operator": header.operator_bits, "window": header.window_bits}
    return data.StructLayout(fields | {name: bits for name, bits in further.items() if bits})


class Link(Signature):
    """A directed link: at most one flit per cycle forwards, and one credit per VC backwards.

    The directions are those of the end that sends flits.

    Members
    -------
    valid : Out(vcs)
        One bit per VC: high in a cycle in which a flit is sent on it. At most one bit is set.
    flit : Out
        The flit. Valid while a bit of ``valid`` is set.
    credit : In(vcs)
        One bit per VC: high in a cycle in which a flit leaves that VC's buffer at the far end,
        granted or dropped. Any number of bits may be set.

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
    """The path out of the network at a node: a link without credits, because it takes every flit.

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
    """Wire the flits of the link ``source``, without its credits, to ``sink``."""
    m.d.comb += [sink.valid.eq(source.valid), sink.flit.eq(source.flit)]


class WordLink(Signature):
    """A directed link of a network with circuits: at most one word a cycle, without credits.

    The directions are those of the end that sends.

    Members
    -------
    valid : Out(1)
        High in a cycle in which a word is sent.
    word : Out(flit_width)
        The word. Valid while ``valid`` is high.

    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__({"valid": Out(1), "word": Out(config.flit_width)})
