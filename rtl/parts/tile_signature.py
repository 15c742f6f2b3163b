"""The ports of a tile, of packets or of circuits."""

from amaranth.lib.wiring import In, Out, Signature

from ...model.network.config import NetworkConfig
from .host_port import HostPort, node_bits
from .link import CYCLE_BITS, Link, WordLink, rest_bits
from .table import ProgramPlace
from .tile_port import TilePort

STEP_INPUTS = ("barrier", "half_duplex", "advance")
"""Inputs of a tile that tell how and when its steps end; all tiles get the same values."""


def tile_signature(config: NetworkConfig, *, trace: bool, switch: bool = False) -> Signature:
    """Return the ports of a :class:`.Tile`, or of a ``switch``, which has no steps."""
    ports = config.topology.ports
    link = WordLink(config) if config.circuits else Link(config)
    has_program = config.programs > 0 and (config.circuits or not switch)
    members = {
        "node": In(node_bits(config)),
        "linked": In(ports),
        **({"rests": In(rest_bits(config) * (ports - 1))} if rest_bits(config) else {}),
        "inputs": In(link).array(ports - 1),
        "outputs": Out(link).array(ports - 1),
        **({} if switch else {name: In(1) for name in STEP_INPUTS}),
        **({"program": In(ProgramPlace(config))} if has_program else {}),
        "host": In(HostPort(config)),
        **({"tile": In(TilePort(config))} if config.tile_ports and not switch else {}),
        "over": Out(1),
        "finished": Out(1),
        "flagged": Out(1),
        **({"damaged": Out(1)} if config.parity and not switch else {}),
        **({"held": Out(1)} if config.waits_for_tiles and not switch else {}),
    }
    if trace or config.signature:
        members["cycle"] = In(CYCLE_BITS)
    return Signature(members)
