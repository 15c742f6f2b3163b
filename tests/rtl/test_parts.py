"""The router's parts alone, in Amaranth's own simulator."""

import itertools
import random
from operator import or_
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module, ResetInserter, ResetSignal, Signal
from amaranth.lib.wiring import connect
from amaranth.sim import Simulator
from helpers.amaranth_simulation import PERIOD, simulate
from helpers.switch_networks import switch_star

from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.model.run.run import CIRCUIT_FLAGS, FLAGS, SENDER_STATES
from eyecast.rtl.circuits.interface import CircuitFlag
from eyecast.rtl.packets.direct_router import DirectRouter
from eyecast.rtl.packets.flit_buffer import FlitBuffer
from eyecast.rtl.packets.input_port import routed_layout
from eyecast.rtl.packets.router import Router
from eyecast.rtl.packets.sender import Sender, SenderState
from eyecast.rtl.parts.arbiter import Arbiter
from eyecast.rtl.parts.host_map import HostSpace
from eyecast.rtl.parts.host_port import Flag, Refusal
from eyecast.rtl.parts.table import Table
from eyecast.rtl.parts.technology import BufferStyle, Technology
from eyecast.rtl.parts.tile_signature import tile_signature
from eyecast.rtl.reduction import balanced
from eyecast.rtl.request_check import RequestCheck
from eyecast.rtl.tiles_together import TilesTogether

TOPOLOGY = mesh((2, 2))


def places(groups, members, vcs, *, delivers, interface):
    """Return the requesters in the order of turns of docs/router.md, and the index of its start.

    In a switch the interface's requesters are in the order too, but never ask.
    """
    numbers = list(range(groups * members))
    if delivers:
        return numbers, 0
    if not interface:
        numbers = list(range((groups + 1) * members))
    links, interface = numbers[:-members], numbers[-members:]
    return [*links, *interface, *(links if vcs > 1 else [])], len(links)


def from_place(order, first):
    """Return the indices of ``order`` in cyclic order from ``first`` on."""
    return [*range(first, len(order)), *range(first)]


@pytest.mark.parametrize(("delivers", "interface"), [(True, False), (False, True), (False, False)])
@pytest.mark.parametrize(
    ("groups", "members", "vcs"),
    [(1, 1, 1), (4, 1, 1), (5, 1, 1), (1, 2, 2), (4, 2, 2), (3, 3, 3)],
)
def test_arbiter_grants_the_first_request_from_the_turn_of_the_next_ready_vc(
    groups, members, vcs, delivers, interface
):
    inputs = groups * members
    arbiter = Arbiter(groups, members, vcs=vcs, delivers=delivers, interface=interface)
    draw = random.Random(inputs)
    order, first = places(groups, members, vcs, delivers=delivers, interface=interface)

    async def testbench(ctx):
        turns, next_vc = [first] * vcs, 0
        for _ in range(120):
            # Sometimes few requesters ask, so that the order wraps.
            few = draw.choice([0, draw.getrandbits(inputs), draw.getrandbits(inputs), -1])
            # A delivered flit asks for its own VC.
            may = [
                sum(1 << i for i in range(vc, inputs, members)) if delivers else -1
                for vc in range(vcs)
            ]
            requests = [draw.getrandbits(inputs) & few & mask for mask in may]
            credited, begins = draw.getrandbits(vcs), draw.getrandbits(vcs)
            for vc in range(vcs):
                ctx.set(arbiter.requests[vc], requests[vc])
            ctx.set(arbiter.credited, credited)
            ctx.set(arbiter.begins, begins)
            ready = [vc for vc in range(vcs) if requests[vc] and credited >> vc & 1]
            if not ready:
                assert ctx.get(arbiter.granted) == ctx.get(arbiter.grant) == 0
                assert ctx.get(arbiter.wins) == 0
                await ctx.tick()
                continue
            vc = min(ready, key=lambda vc: (vc - next_vc) % vcs)
            asked = [requests[vc] >> number & 1 for number in order]
            place = next(place for place in from_place(order, turns[vc]) if asked[place])
            group, member = divmod(order[place], members)
            assert ctx.get(arbiter.granted) == 1 << vc
            assert ctx.get(arbiter.grant) == 1 << order[place]
            assert ctx.get(arbiter.wins) == 1 << group
            assert ctx.get(arbiter.group) == group
            assert ctx.get(arbiter.candidates[group]) == 1 << member
            await ctx.tick()
            next_vc = (vc + 1) % vcs
            if begins >> vc & 1:
                turns[vc] = (place + 1) % len(order)

    simulate(arbiter, testbench)


@pytest.mark.parametrize("depth", [1, 2, 3, 16])
@pytest.mark.parametrize("style", BufferStyle)
def test_buffer_keeps_order_and_flags_a_flit_too_many(style, depth):
    config = NetworkConfig(topology=TOPOLOGY)
    technology = Technology(buffer_style=style)
    buffer = FlitBuffer(
        routed_layout(config, TOPOLOGY.ports - 1), depth=depth, technology=technology
    )
    draw = random.Random(depth)

    async def testbench(ctx):
        held, lost, route, keep = [], 0, None, False
        await ctx.tick()
        for number in range(150):
            write = draw.random() < 0.6
            pop = bool(held) and draw.random() < 0.5
            # The packet does not change between two flits.
            keep = draw.random() < 0.5 if pop else keep
            flit = {"data": number, "head": number & 1, "tail": number >> 1 & 1}
            written = {"port": number & 15, "vc": number >> 4 & 1}
            ctx.set(buffer.write, write)
            ctx.set(buffer.write_item, {"flit": flit, "route": written})
            ctx.set(buffer.pop, pop)
            ctx.set(buffer.keep_route, keep or (bool(held) and not pop))
            assert ctx.get(buffer.front_valid) == bool(held)
            full = len(held) == depth
            assert ctx.get(buffer.overflow) == (write and full)
            # A block RAM shows the flit in the second half of the cycle.
            await ctx.delay(PERIOD * 0.7)
            if held:
                assert ctx.get(buffer.front.flit.data) == held[0]
                assert ctx.get(buffer.front.route.as_value()) == route
            came = pop or not held
            await ctx.tick()
            held = held[1:] if pop else held
            if write and full:
                lost += 1
            elif write:
                held.append(number)
            if held and came and not keep:
                route = held[0] & 31
        assert lost > 0

    simulate(buffer, testbench)


def test_an_all_port_router_sends_a_flit_where_it_may_go():
    """Inputs 0 to 3 are injection ports, inputs 4 to 7 links 1 to 4; outputs likewise."""
    router, reset = Router(NetworkConfig(topology=TOPOLOGY, all_port=True)), Signal()
    links, deliver = (1, 2, 3, 4), 5

    async def testbench(ctx):
        ctx.set(router.linked, -1)
        ctx.set(router.accept, 1)
        for number, asked in itertools.product(range(8), range(8)):
            link = number % 4 + 1
            allowed = {link} if number < 4 else {*links, deliver} - {link}
            goes = link - 1 if asked == deliver else 4 + asked - 1
            ctx.set(router.inputs[number].valid, 1)
            ctx.set(router.inputs[number].flit, {"data": asked, "head": 1, "tail": 0})
            await ctx.tick()
            ctx.set(router.inputs[number].valid, 0)
            sent = [place for place, output in enumerate(router.outputs) if ctx.get(output.valid)]
            assert sent == ([goes] if asked in allowed else [])
            # A flit with port code 0 is used up and dropped.
            assert ctx.get(router.inputs[number].credit) == (asked in {*allowed, 0})
            assert ctx.get(router.causes.bad_route) == (asked not in {*allowed, 0})
            ctx.set(reset, 1)
            await ctx.tick()
            ctx.set(reset, 0)

    simulate(ResetInserter(reset)(router), testbench)


@pytest.mark.parametrize("ahead", [False, True])
def test_one_cycle_of_reset_begins_the_table_anew_whatever_the_sender_does(ahead):
    m, reset = Module(), Signal()
    m.domains.sync = ClockDomain()
    config = NetworkConfig(topology=TOPOLOGY, table_words=8)
    m.submodules.table = table = Table(config, technology=Technology(look_ahead=ahead))
    m.submodules.sender = sender = Sender(config, ports=range(1, 5))
    m.d.comb += ResetSignal().eq(reset)
    connect(m, table.read, sender.table)

    async def write(ctx, words):
        """Write as a host does: word 0 last, and then one more cycle of reset."""
        ctx.set(reset, 1)
        ctx.set(table.write.enable, 1)
        for address, word in reversed(list(enumerate(words))):
            ctx.set(table.write.address, address)
            ctx.set(table.write.word, word)
            await ctx.tick()
        ctx.set(table.write.enable, 0)
        await ctx.tick()
        ctx.set(reset, 0)

    async def testbench(ctx):
        ctx.set(sender.clock.step, 1)
        for port in (1, 2):
            # A row of step 1 with one header flit to the port and no payload; then the end row.
            words = [1 | 1 << 4, port, 0, 0]
            await write(ctx, words)
            left = []
            for cycles in range(6):
                for place in range(cycles):
                    assert ctx.get(table.read.word) == words[min(place, 3)]
                    await ctx.tick()
                left.append(ctx.get(sender.state))
                ctx.set(reset, 1)
                await ctx.tick()
                ctx.set(reset, 0)
                assert ctx.get(sender.state) == SenderState.CONTROL.value
                assert ctx.get(table.read.word) == words[0]
            control, ready, ended = (SenderState[n].value for n in ("CONTROL", "READY", "ENDED"))
            assert left == [control, ready, control, ended, ended, ended]

    simulate(m, testbench)


def test_flags_and_states_have_the_names_that_runs_tell() -> None:
    assert {flag.value: flag.name.lower() for flag in Flag} == FLAGS
    named = {bit: name for bit, name in CIRCUIT_FLAGS.items() if name != "unexpected_receive"}
    assert {flag.value: flag.name.lower() for flag in CircuitFlag} == named
    assert tuple(state.name.lower() for state in SenderState) == SENDER_STATES
    assert [state.value for state in SenderState] == list(range(len(SENDER_STATES)))


@pytest.mark.parametrize("circuits", [False, True])
@pytest.mark.parametrize("programs", [0, 2])
@pytest.mark.parametrize("switch", [False, True])
def test_a_tile_has_a_program_in_a_network_with_a_controller(circuits, programs, switch):
    config = NetworkConfig(topology=TOPOLOGY, circuits=circuits, programs=programs)
    members = tile_signature(config, trace=False, switch=switch).members
    # A switch has a table only with circuits.
    assert ("program" in members) == (programs > 0 and (circuits or not switch))


@pytest.mark.parametrize(
    ("node", "address", "refusal"),
    [
        (1, 0, 0),
        (4, 199, 0),
        (4, 200, Refusal.NO_SUCH_WORD),
        # Node 0 is a switch, and there is no node 5.
        (0, 0, Refusal.NO_SUCH_WORD),
        (5, 0, Refusal.NO_SUCH_WORD),
    ],
)
def test_a_request_for_a_word_that_no_memory_has_is_refused(node, address, refusal):
    config = NetworkConfig(topology=switch_star(4), programs=1, message_words=200)
    m = Module()
    m.submodules.check = check = RequestCheck(config)
    m.d.sync += Signal().eq(check.refusal.any())

    async def testbench(ctx):
        ctx.set(check.request.space, HostSpace.MESSAGE)
        ctx.set(check.request.node, node)
        ctx.set(check.request.address, address)
        assert ctx.get(check.refusal) == refusal

    simulate(m, testbench)


@pytest.mark.parametrize(("tail", "vc", "overflow"), [(0, 0, 1), (0, 1, 0), (1, 0, 0)])
def test_without_arbitration_no_packet_begins_in_a_gap_of_another_one_on_its_vc(tail, vc, overflow):
    config = NetworkConfig(topology=TOPOLOGY, vcs=2, contention_free=True, streams=True)
    router, deliver = DirectRouter(config), TOPOLOGY.ports

    async def testbench(ctx):
        async def arrive(port, valid, **flit):
            ctx.set(router.inputs[port].valid, valid)
            ctx.set(router.inputs[port].flit, {"data": deliver, "head": 1, **flit})
            await ctx.tick()
            ctx.set(router.inputs[port].valid, 0)

        ctx.set(router.linked, -1)
        ctx.set(router.accept, 1)
        await arrive(1, 1, tail=tail)
        assert ctx.get(router.outputs[0].valid) == 1
        await ctx.tick()
        await ctx.tick()
        await arrive(3, 1 << vc, tail=1)
        assert ctx.get(router.outputs[0].valid) == 1 << vc
        assert ctx.get(router.causes.overflow) == overflow

    simulate(router, testbench)


# ---- Flags that wrong credits set, for one VC at a time; other VCs have correct credits ----------


CONFIG = NetworkConfig(topology=TOPOLOGY, vcs=2)
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


# ---- Combining and sharing of many signals -----------------------------------------------------


def run_at_once(m, testbench):
    """Run a testbench of a design without registers."""
    simulator = Simulator(m)
    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.parametrize("nodes", [1, 2, 3, 7, 1024])
def test_every_value_counts_and_a_thousand_are_no_deep_expression(nodes: int) -> None:
    values, result = Signal(nodes), Signal()
    m = Module()
    m.d.comb += result.eq(balanced(or_, list(values)))

    async def testbench(ctx):
        assert not ctx.get(result)
        for place in range(nodes):
            ctx.set(values, 1 << place)
            assert ctx.get(result)

    run_at_once(m, testbench)


@pytest.mark.parametrize(("nodes", "sharing"), [(5, 2), (4, 2), (3, 1), (3, 4)])
def test_a_bit_of_each_group_reaches_its_tiles(nodes: int, sharing: int) -> None:
    groups = -(-nodes // sharing)
    resets = [Signal(name=f"reset_{node}") for node in range(nodes)]
    together = TilesTogether(NetworkConfig(topology=mesh((nodes,))), resets, sharing, trace=False)
    bits, wide = Signal(groups), Signal(nodes)
    m = Module()
    m.d.comb += wide.eq(together._of_all(list(bits)))

    async def testbench(ctx: Any) -> None:
        for value in range(1 << groups):
            ctx.set(bits, value)
            of_node = [value >> node // sharing & 1 for node in range(nodes)]
            assert ctx.get(wide) == sum(bit << node for node, bit in enumerate(of_node))

    run_at_once(m, testbench)
