"""The network as Verilog, for the simulator here and for other people's flows."""

import re
from typing import Any

from amaranth.back import verilog
from amaranth.lib.wiring import Out

from ..model.config import NetworkConfig
from ..rtl.network import TILE_MODULE, Network, network_signature
from ..rtl.tile import Tile

TOP_MODULE = "eyecast_network"


def network_verilog(config: NetworkConfig, *, trace: bool) -> str:
    """Verilog of ``eyecast_network``, of the ``eyecast_tile`` that it has per node, and its parts.

    The text is the same on every machine. With ``trace`` the tiles print each flit that leaves an
    output port.
    """
    network = Network(config, trace=trace, tile_by_name=True)
    return _convert(network, TOP_MODULE) + _convert(Tile(config, trace=trace), TILE_MODULE)


def hierarchical(text: str) -> str:
    """Mark the tile for Verilator, so that it is compiled once however many there are."""
    marked, count = re.subn(
        rf"(?m)^(module {TILE_MODULE}\([^;]*;)", r"\1 /*verilator hier_block*/", text
    )
    if count != 1:
        raise RuntimeError(f"module {TILE_MODULE} found {count} times in the Verilog")
    return marked


def describe_ports(config: NetworkConfig) -> list[dict[str, Any]]:
    """Name, direction and width of every port of the top module, clock and reset first."""
    network = network_signature(config).create()
    ports: list[dict[str, Any]] = [
        {"name": "clk", "direction": "input", "width": 1},
        {"name": "rst", "direction": "input", "width": 1},
    ]
    for path, member, value in network.signature.flatten(network):
        direction = "output" if member.flow == Out else "input"
        name = "__".join(str(part) for part in path)
        ports.append({"name": name, "direction": direction, "width": len(value)})
    return ports


def _convert(component: Any, name: str) -> str:
    """Verilog of one component, without what differs from machine to machine."""
    text: str = verilog.convert(component, name=name, emit_src=False, strip_internal_attrs=True)
    return text
