"""A host that loads and reads a network while it holds the network in reset.

It is written to docs/router.md, section 6. Used by :class:`.Network` without programs.
"""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import In, Out, Signature

from ..model.network.config import NetworkConfig
from .barrier_tree import registered
from .core import Combine, Core
from .parts.host_port import ASKED, HostPort
from .parts.link import CYCLE_BITS


def host_signature(config: NetworkConfig) -> Signature:
    """Return the ports of a network without programs.

    barrier : In(1)
        High: a step starts when the last one has ended everywhere. Low: self-timed. It changes only
        in reset.
    half_duplex : In(1)
        High: a step in which a node sends and receives is an error. It changes only in reset.
    host : In(HostPort)
        Loads and reads; see :class:`.HostPort`.
    done : Out(1)
        High from the cycle in which all nodes have finished until reset. Barrier registers delay
        ``done``, ``error`` and ``cycle``.
    error : Out(1)
        High from the cycle after a node has set a flag until reset.
    cycle : Out(32)
        Cycles since reset; stands still while ``done`` is high.
    """
    return Signature(
        {
            "barrier": In(1),
            "half_duplex": In(1),
            "host": In(HostPort(config)),
            "done": Out(1),
            "error": Out(1),
            "cycle": Out(CYCLE_BITS),
        }
    )


def connect_host(m: Module, network: Any, core: Core, either: Combine) -> None:
    """Connect the ports of ``network`` to its core; ``either`` combines the tiles' answers.

    Every input passes a register.
    """

    def late(value: Signal) -> Signal:
        return registered(m, value, f"{value.name}_register")

    m.d.comb += [network.done.eq(core.finished), network.error.eq(core.flagged)]
    core.tell_steps(late(network.barrier), late(network.half_duplex))
    # An enable, not "+ ~done": the adder does not wait for ``done``.
    with m.If(~network.done):
        m.d.middle += network.cycle.eq(network.cycle + 1)
    for name in ASKED:
        core.tell(f"host.{name}", late(getattr(network.host, name)))
    # Only the tile that the host addresses answers with other than 0.
    m.d.comb += network.host.read_data.eq(core.ask("answer", either, "host.read_data"))
