"""Proofs that the Verilog of networks equals the circuits that Amaranth elaborates."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module
from amaranth.lib.wiring import Component, In, Out
from helpers.equivalence import Circuit, first_difference
from helpers.prover import needs_pyosys
from helpers.switch_networks import switch_star

from eyecast.model.network.buses import HostBus, TileBus
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import line, ring
from eyecast.rtl.engine import Engine
from eyecast.rtl.network import Network
from eyecast.rtl.packets.router import Router
from eyecast.rtl.packets.sender import Sender
from eyecast.rtl.packets.tile import Tile
from eyecast.sim.verilog import ENGINE_MODULE, TOP_MODULE, fast_verilog, network_verilog
from eyecast.verilog.hierarchy import Division
from eyecast.verilog.text import module_texts

pytestmark = needs_pyosys

SMALL = {
    "topology": line(2),
    "flit_width": 8,
    "message_words": 2,
    "table_words": 2,
    "steps": 3,
}
ADDING = {**SMALL, "flit_width": 12, "operators": ("add",)}
CONTROLLED = {**SMALL, "flit_width": 32, "programs": 1}

NETWORKS: dict[str, dict[str, Any]] = {
    "line": SMALL,
    "torus, 2 VCs": {**SMALL, "topology": ring(3), "vcs": 2},
    "3 VCs, depth 1": {**SMALL, "vcs": 3, "depth": 1},
    "depth 3, link registers": {**SMALL, "depth": 3, "link_registers": 2},
    "64 bits, 5 words": {**SMALL, "flit_width": 64, "message_words": 5},
    "timed rows": {**SMALL, "flit_width": 16, "timed_rows": True},
    "combine": {**ADDING, "operators": ("add", "min-signed"), "vcs": 2},
    "streams that combine": {**ADDING, "streams": True},
    "all-port, combine": {**ADDING, "all_port": True},
    "without arbitration": {
        **SMALL,
        **{"contention_free": True, "link_registers": 1, "depth": 4, "vcs": 2},
    },
    "switch": {**SMALL, "topology": switch_star(2)},
    "circuits with joins": {
        **{**ADDING, "circuits": True, "message_words": 5},
        **{"operators": ("add", "min-signed", "or"), "barrier_registers": 2},
        **{"link_registers": 1, "signature": True},
    },
    "circuits, all ports": {**ADDING, "circuits": True, "all_port": True},
    "circuits with a controller": {**CONTROLLED, "circuits": True, "tile_ports": True},
    "circuits with a switch": {**SMALL, "circuits": True, "topology": switch_star(2)},
    "parity": {**CONTROLLED, "parity": True, "tile_ports": True},
}

BUSES: dict[str, tuple[dict[str, Any], HostBus, TileBus | None]] = {
    "AXI4-Lite, AXI-Stream": (
        {**CONTROLLED, "tile_ports": True},
        HostBus.AXI4_LITE,
        TileBus.AXI_STREAM,
    ),
    "Wishbone": (CONTROLLED, HostBus.WISHBONE, None),
}

TOGETHER = ("line", "torus, 2 VCs", "switch")
"""Networks whose tiles are also written as one module."""


def small(**parameters: Any) -> NetworkConfig:
    """Return the configuration of a line of two nodes."""
    return NetworkConfig(**{**SMALL, **parameters})


class Pausing(Component):
    """A counter that two inputs stop, by an assignment of its own value."""

    def __init__(self) -> None:
        super().__init__({"pause": In(1), "clear": In(1), "hold": In(1), "count": Out(3)})

    def elaborate(self, _platform: object) -> Module:
        """Count; a pause wins over the step, and ``hold`` over a clear."""
        m = Module()
        m.d.sync += self.count.eq(self.count + 1)
        with m.If(self.pause):
            m.d.sync += self.count.eq(self.count)
        with m.If(self.clear):
            m.d.sync += self.count.eq(0)
            with m.If(self.hold):
                m.d.sync += self.count.eq(self.count)
        return m


COMPONENTS: dict[str, Callable[[], Component]] = {
    "a register that keeps its value": Pausing,
    "a router": lambda: Router(small()),
    "a sender that streams": lambda: Sender(small(streams=True), ports=range(1, 3)),
    "a tile without arbitration that combines": lambda: Tile(
        small(contention_free=True, flit_width=12, operators=("add",)), trace=False
    ),
}


def circuit(component: Component) -> Circuit:
    """Return a component as Amaranth elaborates it."""
    return Circuit(rtlil.convert(component, emit_src=False), "top", "read_rtlil")


@pytest.mark.parametrize("name", COMPONENTS)
def test_the_verilog_of_a_component_is_its_circuit(name: str, tmp_path: Path) -> None:
    division = Division()
    division.add(COMPONENTS[name](), "written")
    written = Circuit("\n".join(module_texts(division).values()), "written")
    assert first_difference(circuit(COMPONENTS[name]()), written, tmp_path) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_the_verilog_of_a_network_is_its_circuit(name: str, tmp_path: Path) -> None:
    config = NetworkConfig(**NETWORKS[name])
    written = Circuit(network_verilog(config), TOP_MODULE)
    assert first_difference(circuit(Network(config)), written, tmp_path) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", BUSES)
def test_the_verilog_of_an_engine_is_its_circuit(name: str, tmp_path: Path) -> None:
    parameters, host, tile = BUSES[name]
    config = NetworkConfig(**parameters)
    written = Circuit(network_verilog(config, host=host, tile=tile), ENGINE_MODULE)
    assert first_difference(circuit(Engine(config, host, tile)), written, tmp_path) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", TOGETHER)
def test_tiles_in_one_module_are_the_same_circuit(name: str, tmp_path: Path) -> None:
    config = NetworkConfig(**NETWORKS[name])
    written = Circuit(fast_verilog(config), TOP_MODULE)
    assert first_difference(circuit(Network(config)), written, tmp_path) is None
