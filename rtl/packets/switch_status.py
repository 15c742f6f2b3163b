"""The status of a switch, which has no network interface (docs/router.md, section 15).

::

    router ──► flags, counter ──► host port
                 └──► step over, finished, unless a flag is set
"""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib.wiring import Component, In, Out

from ...model.network.config import SIGNATURE_BITS, NetworkConfig
from ..parts.host_map import StatusWord, status_words
from ..parts.host_port import Causes, HostPort, node_bits
from ..parts.link import router_ports
from ..parts.status import carried_out, kept_flags, status_answer, words_of
from .router import ROUTER_FLAGS


class SwitchStatus(Component):
    """Keeps the flags of a switch and answers the host; with ``trace`` it counts stalled flits.

    Used by :class:`.Tile`. Writes of the host do nothing.

    Members
    -------
    node, router_causes, router_signature, host, over, finished, flagged
        As for a :class:`.NetworkInterface` without rows and expected packets.
    router_stalls : In(router_ports * vcs)
        As for :class:`.NetworkInterface`; the router has only the ports of links.

    """

    def __init__(self, config: NetworkConfig, *, trace: bool = False) -> None:
        self._config = config
        self._trace = trace
        ports = len(router_ports(config, switch=True))
        super().__init__(
            {
                "node": In(node_bits(config)),
                "router_causes": In(Causes(*ROUTER_FLAGS)),
                "router_stalls": In(ports * config.vcs),
                "router_signature": In(SIGNATURE_BITS if config.signature else 0),
                "host": In(HostPort(config)),
                "over": Out(1),
                "finished": Out(1),
                "flagged": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Build the flags, and the status words that may differ from 0."""
        m = Module()
        config = self._config
        causes = {flag: getattr(self.router_causes, flag.member) for flag in ROUTER_FLAGS}
        flags = kept_flags(m, causes)
        signature = words_of(config, self.router_signature)
        words = {
            StatusWord.FLAGS: flags,
            # The signature is the last words of the space.
            **dict(enumerate(signature, status_words(config) - len(signature))),
        }
        if self._trace:
            words[StatusWord.STALLED_FLITS] = stalled_flits = Signal(config.narrow_width)
            m.d.sync += stalled_flits.eq(stalled_flits + sum(self.router_stalls))
        if config.programs:
            asked: Value = carried_out(m, self.host, self.node)
        else:
            asked = self.host.node == self.node
        word = status_answer(m, config, self.host, words, asked)
        m.d.comb += [
            self.flagged.eq(flags.as_value().any()),
            self.over.eq(~self.flagged),
            self.finished.eq(~self.flagged),
            self.host.read_data.eq(word),
        ]
        return m
