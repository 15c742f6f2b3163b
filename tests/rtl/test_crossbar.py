"""A technology's crossbar may use any of the three forms in which the arbiter tells its grant.

Routers whose crossbars use different forms get the same flits, and must send the same flits.
"""

import random

import pytest
from amaranth.hdl import Module, Mux
from helpers.amaranth_simulation import simulate

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.rtl.packets.direct_router import DirectRouter
from eyecast.rtl.packets.router import Router
from eyecast.rtl.parts.technology import Technology

MESH = mesh((3, 3))
PORTS = range(MESH.ports)
DELIVER = MESH.ports
CYCLES = 40


def by_wins(mux):
    """Return the one-hot group: the bits of ``wins``."""
    return list(mux.wins)


def by_number(mux):
    """Return the one-hot group, decoded from the group's number."""
    return [mux.group == group for group in range(len(mux.wins))]


def technology(chosen):
    """Return a technology whose crossbar selects the candidate of the group ``chosen``."""

    def crossbar(mux):
        m = Module()
        groups = chosen(mux)
        members = len(mux.values) // len(groups)
        value = 0
        for place in range(len(mux.values)):
            group, member = divmod(place, members)
            granted = groups[group] & mux.candidates[group][member]
            value |= Mux(granted, mux.values[place], 0)
        m.d.comb += mux.value.eq(value)
        return m

    return Technology(crossbar_mux=crossbar, crossbar_rests_at_zero=False)


def drawn_flits(draw, config):
    """Draw different flits for some inputs; without arbitration no two ask for one output."""
    outputs = draw.sample(PORTS, len(PORTS))
    for port, output in zip(PORTS, outputs, strict=True):
        asked = output if config.contention_free else draw.choice(PORTS)
        vc = draw.randrange(config.vcs)
        if asked != port and draw.random() < 0.7:
            code = asked or DELIVER
            data = code | vc << config.header.port_bits + config.header.hop_bits
            data |= draw.getrandbits(8) << config.header.slot_bits
            yield port, {"data": data, "head": 1, "tail": 1}, vc


@pytest.mark.slow
@pytest.mark.parametrize("router", [Router, DirectRouter])
def test_all_ways_tell_the_same(router):
    config = NetworkConfig(topology=MESH, vcs=2, contention_free=router is DirectRouter)
    m, draw = Module(), random.Random(1)
    m.submodules.plain = plain = router(config)
    others = {
        way.__name__: router(config, technology=technology(way)) for way in (by_wins, by_number)
    }
    for way in (by_wins, by_number):
        m.submodules[way.__name__] = other = others[way.__name__]
        m.d.comb += [other.linked.eq(plain.linked), other.accept.eq(plain.accept)]
        for port in PORTS:
            here, there = plain.inputs[port], other.inputs[port]
            m.d.comb += [there.valid.eq(here.valid), there.flit.eq(here.flit)]
            m.d.comb += other.outputs[port].credit.eq(plain.outputs[port].credit)

    async def testbench(ctx):
        ctx.set(plain.linked, -1)
        ctx.set(plain.accept, 1)
        used, sent = [[0] * config.vcs for _ in PORTS], 0
        for _ in range(CYCLES):
            for port in PORTS:
                # An idle link has the values that a crossbar gives it.
                ctx.set(plain.inputs[port].valid, 0)
                ctx.set(plain.inputs[port].flit, {"data": 0, "head": 0, "tail": 0})
            for port, flit, vc in drawn_flits(draw, config):
                if config.contention_free or used[port][vc] < config.depth:
                    used[port][vc] += 1
                    ctx.set(plain.inputs[port].flit, flit)
                    ctx.set(plain.inputs[port].valid, 1 << vc)
            await ctx.tick()
            for port in PORTS:
                output = plain.outputs[port]
                valid = ctx.get(output.valid)
                ctx.set(output.credit, valid)
                sent += valid != 0
                for vc in range(config.vcs):
                    used[port][vc] -= ctx.get(plain.inputs[port].credit) >> vc & 1
                for other in others.values():
                    link = other.outputs[port]
                    assert ctx.get(link.valid) == valid
                    if valid:
                        assert ctx.get(link.flit.as_value()) == ctx.get(output.flit.as_value())
        assert sent > CYCLES
        assert not ctx.get(plain.causes.overflow)
        assert not ctx.get(plain.causes.bad_route)

    # Credits are drawn, so that some are made up.
    simulate(m, testbench, asserting=False)
