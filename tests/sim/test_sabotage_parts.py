"""Faults put into parts of the hardware, one at a time, and the differences of a run.

The network is simulated in Python, so that no fault needs a build.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import Component, connect, flipped
from helpers.amaranth_simulation import simulate
from helpers.network_in_python import NetworkBench
from helpers.programs import UP, program, put, simulated, words
from helpers.tree_networks import graph_of

from eyecast.model.network.topology import line
from eyecast.model.run.signature import signatures
from eyecast.rtl.packets.credits import CreditCounter
from eyecast.rtl.packets.flit_buffer import FlitBuffer
from eyecast.rtl.packets.input_port import Arrival
from eyecast.rtl.packets.receiver import Receiver
from eyecast.rtl.packets.sender import Sender
from eyecast.rtl.packets.steps import StepKeeper
from eyecast.rtl.parts.arbiter import Arbiter
from eyecast.rtl.parts.host_map import HostSpace, StatusWord, status_words
from eyecast.sim.loading import prepare

MESSAGE_WORDS = 16
SENT = 8
"""Words that every node has at the start."""


Alter = Callable[[Module, Any, Any], None]


def put_fault(monkeypatch: pytest.MonkeyPatch, component: type[Component], alter: Alter) -> None:
    """Put a shell around every ``component`` that is made from now on.

    The shell contains the sound component, wired to the shell's ports. ``alter(m, shell, sound)``
    may drive a port of either again: the last assignment counts.
    """
    sound_init, sound_elaborate = component.__init__, component.elaborate

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        self.made_from = args, kwargs
        sound_init(self, *args, **kwargs)

    def elaborate(self: Any, platform: object) -> Module:
        args, kwargs = self.made_from
        m = Module()
        m.submodules.sound = sound = component(*args, **kwargs)
        sound.elaborate = lambda platform: sound_elaborate(sound, platform)
        connect(m, flipped(self), sound)
        alter(m, self, sound)
        return m

    monkeypatch.setattr(component, "__init__", init)
    monkeypatch.setattr(component, "elaborate", elaborate)


def contention():
    """Let packets of nodes 0 and 1 share the link from 1 to 2; node 2 sends one packet back."""
    rows = {
        0: [put(1, (UP, 2), length=3, target=8), put(3, (UP, 1), length=2, target=8, source=4)],
        1: [put(2, (UP, 1), length=3, target=12, source=2)],
    }
    return program(
        rows, {2: [1, 2], 1: [3]}, line(3), message_words=MESSAGE_WORDS, steps=3, signature=True
    )


def rivals():
    """The centre and two leaves of a star send two packets each to leaf 3, as soon as they can."""
    star = graph_of(4, [(0, 1), (0, 2), (0, 3)])
    rows = {
        node: [put(step, *way, (3, 1), length=4, target=8) for step in (1 + node, 4 + node)]
        for node, way in ((0, ()), (1, [(1, 1)]), (2, [(1, 1)]))
    }
    limits = {"message_words": MESSAGE_WORDS, "steps": 6, "signature": True}
    return program(rows, {3: [1, 2, 3, 4, 5, 6]}, star, **limits)


def differs(clock, made):
    """Return the names of the host's readings that differ from the prediction after the run."""
    config, nodes = made.config, range(made.config.topology.nodes)
    predicted = simulated(made)
    assert predicted.finished
    assert predicted.stalled_flits.any()
    loads = [(node, 0, row) for node, row in enumerate(words(made)[:, :SENT])]
    job = prepare(made, loads, timing="self-timed", read_words=0, cycle_limit=0)
    bench, found = NetworkBench(clock, config, look_ahead=False), set()

    async def testbench(ctx):
        await bench.load(ctx, job)
        if await bench.cycles_to_done(ctx, predicted.cycles + 30) != predicted.cycles:
            found.add("cycles")
        last, expected = status_words(config) - 1, signatures(predicted.trace, config)
        for node in nodes:
            if await bench.read(ctx, node, HostSpace.STATUS, StatusWord.FLAGS):
                found.add("flags")
            if await bench.read(ctx, node, HostSpace.STATUS, last) != expected[node]:
                found.add("signatures")
        ctx.set(bench.reset, 1)
        for node, address in np.argwhere(predicted.memory != words(made)).tolist():
            word = await bench.read(ctx, node, HostSpace.MESSAGE, address)
            if word != predicted.memory[node, address]:
                found.add("memories")

    # Without assertions, which would find some of the faults first.
    simulate(bench.module, testbench, asserting=False)
    return found


def counted(m, shell):
    """Return a count of the flits that a buffer has got."""
    number = Signal(4)
    with m.If(shell.write):
        m.d.sync += number.eq(number + 1)
    return number


def clears_a_flit(m, shell, sound):
    with m.If(counted(m, shell) == 2):
        m.d.comb += sound.write_item.flit.data.eq(0)


def loses_a_flit(m, shell, sound):
    m.d.comb += sound.write.eq(shell.write & (counted(m, shell) != 2))


def has_every_flit_late(m, shell, sound):
    late, item = Signal(), Signal.like(shell.write_item)
    m.d.sync += [late.eq(shell.write), item.eq(shell.write_item)]
    m.d.comb += [sound.write.eq(late), sound.write_item.eq(item)]


def ends_a_hold_early(m, shell, sound):
    """Mark the second flit of a packet as its tail."""
    with m.If(counted(m, shell) == 1):
        m.d.comb += sound.write_item.flit.tail.eq(1)


def never_ends_a_hold(m, shell, sound):
    m.d.comb += sound.write_item.flit.tail.eq(0)


def keeps_no_route(m, _shell, sound):
    m.d.comb += sound.keep_route.eq(0)


def leads_elsewhere(m, shell, sound):
    """Reverse the bits of the requested ports."""
    m.d.comb += shell.item.route.port.eq(sound.item.route.port[::-1])


def leaves_a_header_as_it_is(m, shell, _sound):
    m.d.comb += shell.item.flit.data.eq(shell.link.flit.data)


def writes_beside(m, shell, sound):
    m.d.comb += shell.message.address.eq(sound.message.address + 1)


def hears_of_no_packet(m, shell, _sound):
    m.d.comb += shell.arrival.valid.eq(0)


def sends_another_word(m, shell, sound):
    """Send the message word that is asked for a cycle later."""
    m.d.comb += shell.message.address.eq(sound.message.address ^ 1)


def goes_on_too_soon(m, shell, sound):
    """End a step even if its packets have not arrived."""
    progress = shell.progress
    m.d.comb += sound.progress.step_done.eq(Mux(progress.begins, progress.step_done, 1))


def never_passes_the_turn_on(m, _shell, sound):
    m.d.comb += sound.begins.eq(0)


def sends_without_credit(m, shell, _sound):
    m.d.comb += shell.available.eq(1)


def fault(component, what, *seen, made=contention):
    """Return a slow test case."""
    marks = pytest.mark.slow
    return pytest.param(component, what, made, set(seen), id=what.__name__, marks=marks)


FAULTS = [
    pytest.param(FlitBuffer, clears_a_flit, contention, {"signatures", "memories"}),
    fault(FlitBuffer, loses_a_flit, "cycles"),
    fault(FlitBuffer, has_every_flit_late, "cycles", "signatures"),
    fault(FlitBuffer, ends_a_hold_early, "cycles", "flags"),
    fault(FlitBuffer, never_ends_a_hold, "cycles"),
    fault(FlitBuffer, keeps_no_route, "cycles"),
    fault(Arrival, leads_elsewhere, "cycles"),
    fault(Arrival, leaves_a_header_as_it_is, "cycles", "flags"),
    fault(Receiver, writes_beside, "memories"),
    fault(Receiver, hears_of_no_packet, "cycles"),
    fault(Sender, sends_another_word, "signatures", "memories"),
    fault(StepKeeper, goes_on_too_soon, "cycles"),
    fault(Arbiter, never_passes_the_turn_on, "signatures", made=rivals),
    fault(CreditCounter, sends_without_credit, "flags"),
]


@pytest.mark.parametrize("made", [contention, pytest.param(rivals, marks=pytest.mark.slow)])
def test_without_a_fault_nothing_differs(clock, made):
    assert differs(clock, made()) == set()


@pytest.mark.parametrize(("component", "what", "made", "seen"), FAULTS)
def test_a_part_that(component, what, made, seen, clock, monkeypatch):
    put_fault(monkeypatch, component, what)
    assert differs(clock, made()) >= seen
