"""Flags that wrong credits set, for one VC at a time; the other VCs have correct credits."""

import itertools

from helpers.amaranth_simulation import simulate

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.rtl.packets.router import Router
from eyecast.rtl.packets.sender import Sender

CONFIG = NetworkConfig(topology=mesh((2, 2)), vcs=2)
LINKS, VCS = range(1, 5), range(CONFIG.vcs)


def test_a_credit_that_was_made_up_sets_a_routers_flag():
    """After reset all counters are full; port 0, the interface, has no counter."""
    router = Router(CONFIG)

    async def testbench(ctx):
        ctx.set(router.linked, -1)
        for port, vc in itertools.product(LINKS, VCS):
            assert ctx.get(router.causes.credit_overflow) == 0
            ctx.set(router.outputs[port].credit, 1 << vc)
            assert ctx.get(router.causes.credit_overflow) == 1
            await ctx.tick()
            ctx.set(router.outputs[port].credit, 0)

    simulate(router, testbench, asserting=False)


def test_a_credit_that_was_made_up_sets_a_senders_flag():
    sender = Sender(CONFIG, ports=LINKS)

    async def testbench(ctx):
        for vc in VCS:
            assert ctx.get(sender.causes.credit_overflow) == 0
            ctx.set(sender.link.credit, 1 << vc)
            assert ctx.get(sender.causes.credit_overflow) == 1
            await ctx.tick()
            ctx.set(sender.link.credit, 0)

    simulate(sender, testbench)


def test_a_flit_too_many_sets_a_routers_flag():
    """A flit sent without a credit sets the flag at the link's end if its buffer is full."""
    router = Router(CONFIG)

    async def testbench(ctx):
        ctx.set(router.linked, -1)
        # The interface takes no flit, so ``depth`` flits fill a buffer.
        ctx.set(router.accept, 0)
        for port, vc in itertools.product(LINKS, VCS):
            entry = router.inputs[port]
            for number in range(CONFIG.depth + 1):
                ctx.set(entry.valid, 1 << vc)
                ctx.set(entry.flit, {"data": CONFIG.header.deliver_code, "head": 1, "tail": 1})
                assert ctx.get(router.causes.overflow) == (number == CONFIG.depth)
                await ctx.tick()
            ctx.set(entry.valid, 0)

    simulate(router, testbench)
