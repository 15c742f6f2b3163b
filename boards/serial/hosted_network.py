"""A network and its serial host behind five pins: the design on a board, and its simulation."""

from collections.abc import Callable
from dataclasses import dataclass

from amaranth.hdl import Cat, ClockDomain, DomainRenamer, Module, Signal, Value
from amaranth.lib.wiring import Component, In, Out, connect

from ...model.network.config import NetworkConfig
from ...rtl.network import Network
from ...rtl.parts.host_port import ASKED
from .device import UartHost
from .frame import require_boardable


@dataclass(frozen=True)
class Surroundings:
    """A user's design around a network with a controller, for a board.

    name
        A text that is unique to each design; the cache uses it as part of the key.
    wrap
        Makes the component that contains the network, with at least its ports ``host``, ``busy``,
        ``done``, ``error`` and ``cycle``.
    """

    name: str
    wrap: Callable[[Network], Component]


class HostedNetwork(Component):
    """A network with a serial line.

    Parameters
    ----------
    config
        The network, of at most 256 nodes.
    divisor, timeout
        As for :class:`.UartHost`.
    tile_by_name
        As for :class:`.Network`.
    around
        A design around the network; None: the network alone.

    Attributes
    ----------
    clk, rst : In(1)
        The clock, and the reset of everything. The host resets only the network.
    rx, tx : In(1), Out(1)
        The line.
    led : Out(2)
        Bit 0: done. Bit 1: error. While the network or a controller's core is in reset, they show
        how the last run ended.

    """

    def __init__(
        self,
        config: NetworkConfig,
        *,
        divisor: int,
        timeout: int,
        tile_by_name: bool = False,
        around: Surroundings | None = None,
    ) -> None:
        require_boardable(config)
        self._config = config
        self._divisor = divisor
        self._timeout = timeout
        self._tile_by_name = tile_by_name
        self._around = around
        super().__init__(
            {
                "clk": In(1),
                "rst": In(1),
                "rx": In(1, init=1),
                "tx": Out(1, init=1),
                "led": Out(2),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build host and network in two domains, with one clock and different resets."""
        m = Module()
        host = UartHost(self._config, divisor=self._divisor, timeout=self._timeout)
        network = Network(self._config, tile_by_name=self._tile_by_name)
        if self._around is not None:
            network = self._around.wrap(network)
        self._elaborate_domains(m, host)
        m.submodules.host = DomainRenamer("host")(host)
        m.submodules.network = DomainRenamer("network")(network)
        m.d.comb += [host.rx.eq(self.rx), self.tx.eq(host.tx)]
        self._elaborate_answers(m, host, network)
        shown: Value = ~host.network_reset
        if self._config.programs:
            shown = Cat(network.busy, network.done, network.error).any()
        with m.If(shown):
            m.d.host += self.led.eq(Cat(host.done, host.error))
        return m

    def _elaborate_answers(self, m: Module, host: UartHost, network: Network) -> None:
        """Register the answers of all nodes; the host uses them only bytes later."""
        answers = [(host.done, network.done), (host.error, network.error)]
        if self._config.programs:
            connect(m, host.host, network.host)
        else:
            for name in ("barrier", "half_duplex"):
                m.d.comb += getattr(network, name).eq(getattr(host, name))
            for name in ASKED:
                m.d.comb += getattr(network.host, name).eq(getattr(host.host, name))
            answers.append((host.host.read_data, network.host.read_data))
        for seen, answer in answers:
            register = Signal.like(seen)
            m.d.host += register.eq(answer)
            m.d.comb += seen.eq(register)
        m.d.comb += host.cycle.eq(network.cycle)

    def _elaborate_domains(self, m: Module, host: UartHost) -> None:
        """Make domains "host" and "network", with the same clock signal."""
        m.domains.host = whole = ClockDomain()
        m.domains.network = part = ClockDomain()
        whole.clk = part.clk = self.clk
        whole.rst = self.rst
        # A register gives the reset a cycle to reach thousands of registers.
        reset = Signal(init=1)
        m.d.host += reset.eq(host.network_reset)
        m.d.comb += part.rst.eq(reset)
