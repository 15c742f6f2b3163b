"""The request under way: from a host to the controller itself or to a tile, one at a time.

It is written to docs/router.md, section 16, "Ports of the controller".
"""

from amaranth.hdl import C, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.wiring import Component, In, Out

from ..model.network.config import NetworkConfig
from .parts.host_map import HostSpace, StatusWord
from .parts.host_port import HostPort, Refusal, RequestPort, host_address_bits, node_bits

PATIENCE = 64
"""Cycles for which a request waits while the network uses the memory; then it is refused."""


def request_layout(config: NetworkConfig) -> data.StructLayout:
    """Return the layout of a host's request."""
    return data.StructLayout(
        {
            "write": 1,
            "space": 2,
            "node": node_bits(config),
            "address": host_address_bits(config),
            "write_data": config.narrow_width,
        }
    )


class RequestUnderWay(Component):
    """Takes a request, passes it on and answers it. Used by :class:`.Controller`.

    Between requests it reads the flags of a node for the controller.

    Members
    -------
    host : In(RequestPort)
        The requests of the host.
    tiles : Out(HostPort)
        The requests to all tiles; their answers arrive combined into one.
    request : Out(request_layout)
        The request taken last.
    refusal : In(2)
        A :class:`.Refusal`. Used in the cycle after the request was taken.
    accepts : Out(1)
        High in the cycle in which a ``local`` request that is not refused is carried out.
    local : In(1)
        High if the request is for the controller itself. Used in the cycle after ``refusal``.
    word : In(narrow_width)
        The controller's answer to a ``local`` request. Used together with ``local``.
    fetch : In(1)
        High to read the flags of node ``fetch_node``.
    fetch_node : In(node_bits)
        The number of that node. Constant while ``fetch`` is 1.
    fetched : Out(1)
        High in the cycle in which ``tiles.read_data`` is those flags.

    """

    def __init__(self, config: NetworkConfig) -> None:
        self._config = config
        super().__init__(
            {
                "host": In(RequestPort(config)),
                "tiles": Out(HostPort(config)),
                "request": Out(request_layout(config)),
                "refusal": In(2),
                "accepts": Out(1),
                "local": In(1),
                "word": In(config.narrow_width),
                "fetch": In(1),
                "fetch_node": In(node_bits(config)),
                "fetched": Out(1),
            }
        )

    def elaborate(self, _platform: object) -> Module:
        """Take, check, decide, wait for a tile and answer requests; fetch flags."""
        m = Module()
        # A register after the check, whose logic is long, so that it does not limit the clock.
        refusal = Signal.like(self.refusal)
        m.d.comb += [
            self.tiles.node.eq(self.request.node),
            self.tiles.space.eq(self.request.space),
            self.tiles.address.eq(self.request.address),
            self.tiles.write.eq(self.request.write),
            self.tiles.write_data.eq(self.request.write_data),
        ]
        with m.FSM():
            with m.State("TAKE"):
                self._elaborate_take(m)
            with m.State("CHECK"):
                m.d.sync += refusal.eq(self.refusal)
                m.next = "DECIDE"
            with m.State("DECIDE"):
                self._elaborate_decide(m, refusal)
            with m.State("WAIT"):
                self._elaborate_wait(m)
            with m.State("ANSWER"):
                m.d.comb += self.host.answered.eq(1)
                m.next = "TAKE"
            with m.State("FETCH"):
                self._elaborate_fetch(m)
        return m

    def _elaborate_take(self, m: Module) -> None:
        """Take a request, unless flags must be fetched first."""
        m.d.comb += self.host.ready.eq(~self.fetch)
        with m.If(self.fetch):
            m.next = "FETCH"
        with m.Elif(self.host.valid):
            for name in request_layout(self._config).members:
                m.d.sync += self.request[name].eq(getattr(self.host, name))
            m.next = "CHECK"

    def _elaborate_fetch(self, m: Module) -> None:
        """Fetch flags; tiles never delay this answer."""
        m.d.comb += [
            self.tiles.valid.eq(1),
            self.tiles.node.eq(self.fetch_node),
            self.tiles.space.eq(HostSpace.STATUS),
            self.tiles.address.eq(StatusWord.FLAGS),
            self.tiles.write.eq(0),
            self.fetched.eq(self.tiles.answered),
        ]
        with m.If(self.tiles.answered):
            m.next = "TAKE"

    def _elaborate_decide(self, m: Module, refusal: Signal) -> None:
        """Answer at once, or ask the tiles.

        The refusal is one cycle old and still right: without a request, the controller only begins
        a queued program and ends runs, and neither is a new reason to refuse.
        """
        m.d.comb += self.accepts.eq(refusal == Refusal.NONE)
        self._answer(m, Mux(self.accepts, self.word, 0), refusal)
        with m.If(self.accepts & ~self.local):
            m.next = "WAIT"

    def _elaborate_wait(self, m: Module) -> None:
        """Ask the tile until a time limit; the tile may carry the request out nevertheless."""
        # A tile may still answer a withdrawn request until it sees the withdrawal.
        last = PATIENCE + self._config.barrier_registers + 1
        waited = Signal(range(last + 1))
        m.d.comb += self.tiles.valid.eq(waited < PATIENCE)
        m.d.sync += waited.eq(waited + 1)
        with m.If(self.tiles.answered):
            m.d.sync += waited.eq(0)
            damaged = self.tiles.damaged if self._config.parity else C(0)
            shown = ~self.request.write & ~damaged
            refusal = Mux(damaged, Refusal.DAMAGED, Refusal.NONE)
            self._answer(m, Mux(shown, self.tiles.read_data, 0), refusal)
        with m.Elif(waited == last):
            m.d.sync += waited.eq(0)
            self._answer(m, 0, Refusal.NOT_NOW)

    def _answer(self, m: Module, word, refusal) -> None:
        """Give the answer to the host in the next cycle."""
        m.d.sync += [self.host.read_data.eq(word), self.host.refusal.eq(refusal)]
        m.next = "ANSWER"
