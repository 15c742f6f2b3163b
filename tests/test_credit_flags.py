"""What miscounted credits set, one VC at a time: the other VCs have theirs right."""

import itertools

from amaranth_simulation import simulate
from hardware_faults import put_fault

from eyecast.model.config import NetworkConfig
from eyecast.model.topology import mesh
from eyecast.rtl.output_port import CreditCounter
from eyecast.rtl.router import Router
from eyecast.rtl.sender import Sender

CONFIG = NetworkConfig(topology=mesh((2, 2)), vcs=2)
LINKS, VCS = range(1, 5), range(CONFIG.vcs)


def test_a_credit_that_was_made_up_sets_a_routers_flag():
    """All counters are full after reset; the interface, port 0, has none."""
    router = Router(CONFIG)

    async def testbench(ctx):
        ctx.set(router.linked, -1)
        for port, vc in itertools.product(LINKS, VCS):
            assert ctx.get(router.credit_overflow) == 0
            ctx.set(router.outputs[port].credit, 1 << vc)
            assert ctx.get(router.credit_overflow) == 1
            await ctx.tick()
            ctx.set(router.outputs[port].credit, 0)

    simulate(router, testbench)


def test_a_credit_that_was_made_up_sets_a_senders_flag():
    sender = Sender(CONFIG, ports=LINKS)

    async def testbench(ctx):
        for vc in VCS:
            assert ctx.get(sender.credit_overflow) == 0
            ctx.set(sender.link.credit, 1 << vc)
            assert ctx.get(sender.credit_overflow) == 1
            await ctx.tick()
            ctx.set(sender.link.credit, 0)

    simulate(sender, testbench)


def test_a_flit_that_leaves_without_a_credit_sets_a_routers_flag(monkeypatch):
    """``depth`` single flits leave with a credit, and one more without; none comes back."""

    def always_available(m, shell, _sound):
        m.d.comb += shell.available.eq(1)

    put_fault(monkeypatch, CreditCounter, always_available)
    router = Router(CONFIG)

    async def testbench(ctx):
        ctx.set(router.linked, -1)
        for port, vc in itertools.product(LINKS, VCS):
            # They go straight on, by the port opposite to the one that they came in by.
            entry = router.inputs[port + 1 if port % 2 else port - 1]
            header = port | vc << CONFIG.port_bits + CONFIG.hop_bits
            for number in range(CONFIG.depth + 1):
                ctx.set(entry.valid, 1)
                ctx.set(entry.flit, {"data": header, "head": 1, "tail": 1})
                await ctx.tick()
                ctx.set(entry.valid, 0)
                assert ctx.get(router.outputs[port].valid) == 1 << vc
                assert ctx.get(router.credit_underflow) == 0
                await ctx.tick()
                assert ctx.get(router.credit_underflow) == (number == CONFIG.depth)
            await ctx.tick()

    simulate(router, testbench)
