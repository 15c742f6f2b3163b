"""The chip: an Eyecast network as its Verilog is exported, and a core at each node.

::

              ┌────────────────────── chip ──────────────────────────┐
              │ controller ─► routers and network interfaces         │
              │     ▲           ▲ tile port n: words, finished       │
              │     │           ▼                                    │
              │     └───────── core tile n  (host requests: node 0)  │
    stopped ◄─┤                                                      │
              └──────────────────────────────────────────────────────┘
"""

from pathlib import Path

from amaranth.hdl import Cat, Module, Mux, ResetSignal, Signal
from amaranth.lib.wiring import Component, Out, connect

from ..model.network.config import NetworkConfig
from ..rtl.network import network_signature
from ..rtl.tiles import add_by_name, tile_name
from ..sim.compilation import TOP_MODULE
from ..sim.verilog import component_verilog, network_verilog
from .core_tile import CoreSignature, CoreTile

CHIP, TILE = "chip", "core_tile"
PATIENCE = 1 << 12
"""Cycles without a run in which every core waits or has ended, after which the chip is stuck."""


class Chip(Component):
    """Cores, each at its node of a network.

    Members
    -------
    stopped : Out(1)
        Every core has ended, one has made a mistake, or all wait for ever.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__({"stopped": Out(1)})

    def elaborate(self, _platform: object) -> Module:
        """Join the network's ports to the cores."""
        m = Module()
        config, reset = self._config, ResetSignal()
        network = add_by_name(m, TOP_MODULE, network_signature(config), "network", reset)
        signature = CoreSignature(config)
        begun, cycle = Signal(), Signal(32)
        cores = []
        for node in range(config.topology.nodes):
            core = add_by_name(m, TILE, signature, f"core_{node}", reset)
            connect(m, core.port, getattr(network, tile_name(node)))
            m.d.comb += [core.rank.eq(node), core.begun.eq(begun), core.cycle.eq(cycle)]
            cores.append(core)
        connect(m, cores[0].host, network.host)
        with m.If(cores[0].begins):
            m.d.sync += begun.eq(1)
        m.d.sync += cycle.eq(cycle + begun)
        all_ask = Cat(each.asks for each in cores).all()
        m.d.comb += [each.all_ask.eq(all_ask) for each in cores]
        ended, wrong = Cat(each.ended for each in cores), Cat(each.wrong for each in cores)
        idle, waited = ended | Cat(each.waits for each in cores), Signal(range(PATIENCE + 1))
        rests = idle.all() & ~cores[0].port.running
        m.d.sync += waited.eq(Mux(rests, waited + 1, 0))
        m.d.sync += self.stopped.eq(ended.all() | wrong.any() | (waited == PATIENCE))
        return m


def chip_verilog(config: NetworkConfig) -> str:
    """Return the Verilog of the chip, its tile, its memory and the network; the core is apart."""
    memory = Path(__file__).with_name("sources") / "core_memory.v"
    parts = (
        component_verilog(Chip(config), CHIP),
        component_verilog(CoreTile(config), TILE),
        memory.read_text(),
    )
    return "\n".join((*parts, network_verilog(config, trace=False)))
