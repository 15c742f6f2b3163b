"""The chip: an Eyecast network as its Verilog is exported, and a processor at each node.

::

              ┌────────────────────── chip ───────────────────────┐
    host ────►│ controller ─► routers and network interfaces      │
    (request  │                 ▲ tile port n: words, doorbell,   │
     port)    │                 ▼ hold                            │
    done ◄────│               processor n                         │
              └───────────────────────────────────────────────────┘
"""

from amaranth.back import verilog
from amaranth.hdl import Cat, Module, ResetSignal
from amaranth.lib.wiring import Component, In, Out, connect, flipped

from eyecast.rtl.controlled import STATE_OUTPUTS
from eyecast.rtl.network import network_signature
from eyecast.rtl.parts.host_port import RequestPort
from eyecast.rtl.parts.link import CYCLE_BITS
from eyecast.rtl.tiles import add_by_name, tile_name
from eyecast.sim.verilog import TOP_MODULE, network_verilog

from .plan import Software
from .processor import Processor

CHIP = "chip"


class Chip(Component):
    """Processors, each at its node of a network.

    Parameters
    ----------
    software
        The network, the layout of its memories, and the image of its programs.
    network
        A :class:`.Network`; None: an instance by name, of the Verilog that is exported.

    Members
    -------
    host : In(RequestPort)
        As that of the network, and so are ``busy``, ``done``, ``error``, ``interrupt``, ``cycle``.
    computes : Out(nodes)
        Bit n: processor n is at work.

    """

    def __init__(self, software: Software, network: Component | None = None) -> None:
        self._software = software
        self._network = network
        config = software.config
        super().__init__(
            {
                "host": In(RequestPort(config)),
                **{name: Out(1) for name in STATE_OUTPUTS},
                "cycle": Out(CYCLE_BITS),
                "computes": Out(config.topology.nodes),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Join the network's ports to the chip's own and to the processors."""
        m = Module()
        config, plan = self._software.config, self._software.plan
        if self._network is None:
            network = add_by_name(
                m, TOP_MODULE, network_signature(config), "network", ResetSignal()
            )
        else:
            m.submodules.network = network = self._network
        connect(m, flipped(self).host, network.host)
        for name in (*STATE_OUTPUTS, "cycle"):
            m.d.comb += getattr(self, name).eq(getattr(network, name))
        processors = []
        for node in range(config.topology.nodes):
            processor = Processor(config, plan, node)
            m.submodules[f"processor_{node}"] = processor
            connect(m, processor.port, getattr(network, tile_name(node)))
            processors.append(processor)
        m.d.comb += self.computes.eq(Cat(each.computes for each in processors))
        return m


def chip_verilog(software: Software) -> str:
    """Return the Verilog of the chip, and of the network as ``eyecast verilog`` writes it."""
    text: str = verilog.convert(Chip(software), name=CHIP, emit_src=False)
    return text + network_verilog(software.config, trace=False)
