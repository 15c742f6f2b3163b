"""An interface that reads its memories ahead equals, in every cycle, one that does not."""

import random
from dataclasses import replace
from itertools import product

import pytest
from amaranth.hdl import ClockDomain, Module, ResetSignal, Signal
from amaranth.lib.wiring import connect, flipped
from helpers.amaranth_simulation import simulate
from helpers.programs import encoded

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.segment import Segment
from eyecast.model.network.topology import mesh
from eyecast.model.program.row import Row
from eyecast.rtl.packets.interface import NetworkInterface
from eyecast.rtl.packets.router import ROUTER_FLAGS
from eyecast.rtl.parts.host_map import HostSpace
from eyecast.rtl.parts.host_port import ASKED
from eyecast.rtl.parts.technology import Technology

STEPS = 6
REGION = 16
"""Words of the message memory for the packet of a step; the region of step 0 is sent first."""
NO_PORT = 6
"""A port that no router of a mesh has: its ports are 0 to 4."""


def configuration(**changes):
    limits = {"steps": 7, "message_words": 128, "table_words": 256}
    return NetworkConfig(topology=mesh((4, 4)), **{"flit_width": 16, **limits, **changes})


class Draw(random.Random):
    """Random rows, which send no word that arrives in their step, and at most one packet a step."""

    def rows(self, config):
        return [self.row(config, step) for step in range(1, STEPS + 1) for _ in range(self.few())]

    def few(self):
        return self.choice((0, 1, 1, 2, 3))

    def row(self, config, step):
        length = self.choice((0, 1, 2, 3, 9))
        segments = [
            Segment(self.randrange(1, 5), self.randrange(1, 4), self.randrange(config.vcs))
            for _ in range(self.randrange(1, 5))
        ]
        return Row(
            step=step,
            route=tuple(segments),
            source_address=self.randrange(REGION * step - length + 1),
            target_address=0,
            length=length,
        )

    def packet(self, config, step):
        """Return the flits of a packet: data, head, tail."""
        length = self.choice((0, 1, 5, REGION))
        address = REGION * step
        delivery = config.header.deliver_code | step << config.header.port_bits
        delivery |= address << config.header.port_bits + config.step_bits
        words = [self.getrandbits(config.flit_width) for _ in range(length)]
        flits = [(delivery, 1), *((word, 0) for word in words)]
        return [(data, head, place == length) for place, (data, head) in enumerate(flits)]


class Pair:
    """Two interfaces with the same inputs."""

    INPUTS = ("node", "barrier", "half_duplex", "advance")

    def __init__(self, config):
        self.config, self.module, self.reset = config, Module(), Signal()
        self.module.domains.sync = ClockDomain()
        self.plain = NetworkInterface(config)
        self.ahead = NetworkInterface(config, technology=Technology(look_ahead=True))
        m = self.module
        m.submodules.plain = self.plain
        m.submodules.ahead = self.ahead
        m.d.comb += ResetSignal().eq(self.reset)
        m.d.comb += [
            getattr(self.ahead, name).eq(getattr(self.plain, name)) for name in self.INPUTS
        ]
        connect(m, flipped(self.plain.router_causes), self.ahead.router_causes)
        m.d.comb += [
            getattr(self.ahead.host, name).eq(getattr(self.plain.host, name)) for name in ASKED
        ]
        m.d.comb += [
            self.ahead.injections[0].credit.eq(self.plain.injections[0].credit),
            self.ahead.ejections[0].valid.eq(self.plain.ejections[0].valid),
            self.ahead.ejections[0].flit.eq(self.plain.ejections[0].flit),
        ]

    async def start(self, ctx, message, rows, receives):
        """Load all memories in reset, with no packet or credit on the links, and release it."""
        ctx.set(self.plain.advance, 0)
        ctx.set(self.plain.injections[0].credit, 0)
        ctx.set(self.plain.ejections[0].valid, 0)
        table, expected = encoded(self.config, rows, receives)
        loaded = {
            HostSpace.MESSAGE: message,
            HostSpace.EXPECTED: expected,
            HostSpace.TABLE: table,
        }
        ctx.set(self.reset, 1)
        for space, words in loaded.items():
            for _ in self.load(ctx, space, words):
                await ctx.tick()
        await ctx.tick()
        ctx.set(self.reset, 0)

    def load(self, ctx, space, words):
        """Yield the writes of these words, one per cycle, the last word first."""
        host = self.plain.host
        ctx.set(host.write, 1)
        ctx.set(host.space, space)
        for address, word in reversed(list(enumerate(words))):
            ctx.set(host.address, address)
            ctx.set(host.write_data, word)
            yield
        ctx.set(host.write, 0)

    @staticmethod
    def seen(ctx, interface):
        """Return an interface's outputs, without the data of an idle link."""
        link = interface.injections[0]
        valid = ctx.get(link.valid)
        flit = ctx.get(link.flit.as_value()) if valid else None
        state = (ctx.get(getattr(interface, name)) for name in ("over", "finished", "flagged"))
        return valid, flit, *state


class World:
    """The network around both interfaces: it delivers packets and returns credits at random."""

    def __init__(self, ctx, pair, draw, packets):
        self.ctx, self.interface, self.draw = ctx, pair.plain, draw
        self.packets, self.waiting_credits = packets, []
        self.step, self.advance = 1, 0

    def act(self):
        """Drive the inputs of a cycle; without the barrier, a packet may come before its step."""
        ctx, link, ejection = self.ctx, self.interface.injections[0], self.interface.ejections[0]
        barrier = ctx.get(self.interface.barrier)
        ctx.set(self.interface.advance, self.advance & barrier)
        returned = self.waiting_credits and self.draw.random() < 0.5
        ctx.set(link.credit, self.waiting_credits.pop(0) if returned else 0)
        comes = bool(self.packets) and self.draw.random() < 0.6
        comes = comes and (not barrier or self.packets[0][0] == self.step)
        ctx.set(ejection.valid, int(comes))
        if comes:
            _, data, head, tail = self.packets.pop(0)
            ctx.set(ejection.flit, {"data": data, "head": head, "tail": tail})

    def note(self, valid, over, finished):
        """Take the outputs of the cycle; the step advances as soon as it may."""
        if valid:
            self.waiting_credits.append(valid)
        barrier = self.ctx.get(self.interface.barrier)
        self.step += self.advance if barrier else int(over and not finished)
        self.advance = int(over and not finished and not self.advance)


@pytest.mark.parametrize(
    "changes",
    # A row has two control words, or one.
    [{"vcs": 2}, {"contention_free": True}, {"vcs": 2, "flit_width": 32}],
    ids=["VCs", "contention-free", "wide"],
)
def test_what_is_sent_is_the_same(changes):
    pair = Pair(configuration(**changes))

    async def testbench(ctx):
        for barrier, seed in product((1, 0), range(6)):
            await require_the_same(ctx, pair, barrier, seed)

    simulate(pair.module, testbench)


async def require_the_same(ctx, pair, barrier, seed):
    """Run a drawn program to its end; require the same of both interfaces in every cycle."""
    config, draw = pair.config, Draw(seed)
    rows = draw.rows(config)
    receives = [step for step in range(1, STEPS + 1) if draw.random() < 0.7]
    packets = [(step, *flit) for step in receives for flit in draw.packet(config, step)]
    message = [draw.getrandbits(config.flit_width) for _ in range(config.message_words)]
    ctx.set(pair.plain.barrier, barrier)
    await pair.start(ctx, message, rows, receives)
    world, injected, finished = World(ctx, pair, draw, packets), 0, 0
    for _ in range(2000):
        world.act()
        seen = valid, _, over, finished, flagged = pair.seen(ctx, pair.plain)
        assert seen == pair.seen(ctx, pair.ahead), (barrier, seed)
        assert not flagged, (barrier, seed)
        injected += valid != 0
        world.note(valid, over, finished)
        await ctx.tick()
        if finished:
            break
    assert finished, (barrier, seed)
    assert injected >= sum(1 + row.length for row in rows), (barrier, seed)


WRONG = (*ROUTER_FLAGS, "row", "port", "late row", "packet", "write", "half-duplex")
"""A flag of the router's, or what the interface does wrong."""
AFTER = 60
"""Cycles that are compared after a flag."""


def test_a_flag_stops_both_in_the_same_cycle():
    pair = Pair(configuration())

    async def testbench(ctx):
        for wrong, barrier in product(WRONG, (1, 0)):
            await require_a_flag_of_both(ctx, pair, wrong, barrier)

    simulate(pair.module, testbench)


async def require_a_flag_of_both(ctx, pair, wrong, barrier):
    """Run a program with a fault; require the same of both interfaces, and a flag."""
    config, draw = pair.config, Draw(9)
    rows, steps = draw.rows(config), range(1, STEPS + 1)
    packets = [(step, *flit) for step in steps for flit in draw.packet(config, step)]
    if wrong == "row":
        rows[2] = replace(rows[2], source_address=config.message_words - 1, length=2)
    if wrong == "port":
        rows[2] = replace(rows[2], route=(Segment(NO_PORT, 1, 0), *rows[2].route))
    if wrong == "late row":
        rows.append(replace(rows[0], step=1))
    if wrong == "write":
        packets[0] = (1, packets[0][1] | (1 << config.flit_width) - (1 << 10), *packets[0][2:])
        packets[1:1] = [(1, 7, 0, 0)] * config.message_words
    receives = steps[:-3] if wrong == "packet" else steps
    ctx.set(pair.plain.barrier, barrier)
    ctx.set(pair.plain.half_duplex, int(wrong == "half-duplex"))
    await pair.start(ctx, [0] * config.message_words, rows, receives)
    world, after, cycle = World(ctx, pair, draw, packets), 0, 0
    while after < AFTER:
        world.act()
        if wrong in ROUTER_FLAGS:
            ctx.set(getattr(pair.plain.router_causes, wrong.member), cycle == 40)
        seen = valid, _, over, finished, flagged = pair.seen(ctx, pair.plain)
        assert seen == pair.seen(ctx, pair.ahead), (wrong, barrier)
        after += flagged
        world.note(valid, over, finished)
        await ctx.tick()
        cycle += 1
        assert cycle < 600, (wrong, barrier)
    assert after < cycle, (wrong, barrier)
