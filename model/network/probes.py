"""Signals of a network's Verilog that carry its flits, by their names and fields.

A monitor in a testbench and a reader of waveforms find these signals by the names below. The names
are paths from the module ``eyecast_network``, with a dot between an instance and its content::

    tile_5.outputs__0__valid                          the link that leaves node 5 by port 1
    tile_5.outputs__0__flit
    tile_5.network_interface.ejections__0__valid      the flits that port 0 of node 5 delivers
    tile_5.network_interface.ejections__0__flit

``valid`` has one bit for each VC; at most one bit is 1. A flit leaves the output in each cycle in
which a bit is 1. ``flit`` has ``flit_width`` bits of data, then the head mark, then the tail
mark (docs/router.md, sections 1 and 2).

In a network with circuits ``valid`` has one bit, and a word without marks takes the place of
``flit``. A node has one ``ejection`` and one ``injection``; all-port, ``ejection_1`` and so on::

    tile_5.outputs__0__valid                      tile_5.network_interface.ejection__valid
    tile_5.outputs__0__word                       tile_5.network_interface.ejection__word
"""

from collections.abc import Iterator
from dataclasses import dataclass

from .config import NetworkConfig
from .topology import NO_LINK


@dataclass(frozen=True)
class Probe:
    """Two signals that carry the flits of one output port, or of one injection port.

    node, port
        The router and its output port. Port 0 is delivery to the node, or injection by it.
    lane
        The ejection or injection port, counted from 0. It is 0 except in an all-port network.
    valid, flit
        Paths of the signals from ``eyecast_network``.
    """

    node: int
    port: int
    lane: int
    valid: str
    flit: str


def output_probes(config: NetworkConfig) -> list[Probe]:
    """Return a probe for each output port that sends flits, by node and port.

    These are the outputs whose flits are rows of a trace (docs/router.md, section 7).
    """
    topology = config.topology
    switches = frozenset(topology.switches)
    probes: list[Probe] = []
    for node in range(topology.nodes):
        if node not in switches:
            probes += interface_probes(config, node, "ejections")
        for port in range(1, topology.ports):
            if topology.neighbor[node, port] != NO_LINK:
                path = f"tile_{node}.outputs__{port - 1}"
                probes.append(_probe(config, path, node, port, 0))
    return probes


def interface_probes(config: NetworkConfig, node: int, direction: str) -> Iterator[Probe]:
    """Yield a probe for each lane of a node's "ejections" or "injections"."""
    interface = f"tile_{node}.network_interface"
    for lane in range(config.lanes):
        name = f"{direction}__{lane}"
        if config.circuits:
            name = direction.removesuffix("s") + (f"_{lane + 1}" if config.all_port else "")
        yield _probe(config, f"{interface}.{name}", node, 0, lane)


def _probe(config: NetworkConfig, path: str, node: int, port: int, lane: int) -> Probe:
    carried = "word" if config.circuits else "flit"
    return Probe(node, port, lane, f"{path}__valid", f"{path}__{carried}")


def probed_bits(config: NetworkConfig) -> int:
    """Return the bits of the signal ``flit`` of a probe: data and two marks, or a word."""
    return config.flit_width + (0 if config.circuits else 2)


def kind_and_data(flit: int, flit_width: int) -> tuple[int, int]:
    """Split the bits of ``flit`` into its kind, as a trace numbers kinds, and its data."""
    return flit >> flit_width, flit & ((1 << flit_width) - 1)


def vc_of(valid: int) -> int:
    """Return the VC whose bit of ``valid`` is set.

    Raises ``ValueError`` if no bit or more than one bit is set.
    """
    if valid <= 0 or valid & (valid - 1):
        raise ValueError(f"valid must have one bit set, not {valid:b}")
    return valid.bit_length() - 1
