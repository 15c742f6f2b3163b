"""Proofs of the parts of a router's ports: credits, buffers, arbiters, outputs, link loops."""

from amaranth.hdl import C, Signal, Value

from ..rtl.packets.credits import CreditCounter
from ..rtl.packets.flit_buffer import FlitBuffer
from ..rtl.packets.input_port import routed_layout
from ..rtl.packets.output_port import OutputPort
from ..rtl.parts.arbiter import Arbiter
from ..rtl.parts.technology import BufferStyle, Technology
from .harness import Bench
from .networks import network, said
from .proof import Proof


def credits(depth: int) -> Proof:
    """Return the proof of a credit counter."""

    def build(bench: Bench) -> None:
        dut = bench.drive(CreditCounter(network(depth=depth)))
        bench.covers("made_up_credit", dut.overflow)
        bench.covers("no_credit", ~dut.available)

    return Proof(
        "credits",
        said(depth=depth),
        "credits are neither made up nor lost",
        build,
        quick=depth == 2,
    )


def buffer(depth: int, style: BufferStyle) -> Proof:
    """Return the proof of a buffer: one chosen flit comes out once, at its turn, unchanged."""

    def build(bench: Bench) -> None:
        config = network(depth=depth)
        technology = Technology(buffer_style=style)
        dut = bench.drive(FlitBuffer(routed_layout(config, 2), depth=depth, technology=technology))
        kept = dut.write & ~dut.overflow
        mark = Mark(bench, dut.write_item.as_value(), kept, dut.pop, depth)
        # A route is of its flit only from the second cycle at the front on, if it was kept before.
        bench.ensures("chosen_flit_leaves", ~mark.is_first | dut.front_valid)
        bench.ensures(
            "unchanged_at_the_front", ~mark.is_first | (dut.front.flit.as_value() == mark.item[:14])
        )
        bench.covers("chosen_flit_leaves_last", mark.leaves & ~dut.followed)
        if depth > 1:
            bench.covers("flit_behind_the_chosen", mark.leaves & dut.followed)

    return Proof(
        "buffer",
        f"{said(depth=depth)}, {style.name.lower()}",
        "in once, out once, in order, unchanged",
        build,
        quick=depth == 2 and style is BufferStyle.MEMORY,
    )


def arbiter(ports: int, vcs: int, *, delivers: bool = False) -> Proof:
    """Return the proof of an arbiter, and that a ready VC lets each other VC pass once."""

    def build(bench: Bench) -> None:
        dut = bench.drive(
            Arbiter(ports - 1, vcs, vcs=vcs, delivers=delivers, interface=not delivers)
        )
        for vc in range(vcs if vcs > 1 else 0):
            ready, granted = dut.requests[vc].any() & dut.credited[vc], dut.granted[vc]
            passed = Signal(range(vcs + 1), name=f"passed_{vc}")
            with bench.m.If(~ready | granted):
                bench.m.d.sync += passed.eq(0)
            with bench.m.Elif(passed < vcs):
                bench.m.d.sync += passed.eq(passed + 1)
            bench.ensures(f"ready_vc_{vc}_is_soon_granted", passed < vcs)
            bench.covers(f"vc_{vc}_is_passed_most_often", passed == vcs - 1)
        bench.covers("grant_of_the_last", dut.grant[-1])

    to = "interface" if delivers else "link"
    return Proof(
        "arbiter",
        f"{said(ports=ports, vcs=vcs)}, to {'the' if delivers else 'a'} {to}",
        "a ready VC's request is granted, and a ready VC waits for one flit of each other VC",
        build,
    )


def output(ports: int, vcs: int, depth: int = 2, *, port: int = 1) -> Proof:
    """Return the proof of an output: packets pass whole, credits are kept, waiting is bounded.

    A candidate and a VC are chosen freely. A head of this candidate waits: it asks in each cycle in
    which no packet holds the VC (section 3, "Bound on waiting").
    """
    inputs = [each for each in (*range(1, ports), 0) if each != port]

    def build(bench: Bench) -> None:
        dut = bench.drive(OutputPort(network(ports, vcs, depth), port=port, inputs=inputs))
        for vc in range(vcs):
            for group, members in enumerate(inputs):
                if vc == 0 and group in (0, len(inputs) - 1):
                    wait(bench, dut, vc, group * vcs, from_interface=members == 0)
        bench.covers("tail_after_head", dut.held[0] & dut.link.valid[0] & dut.link.flit.tail)

    def wait(
        bench: Bench, dut: OutputPort, vc: int, candidate: int, *, from_interface: bool
    ) -> None:
        """Count the packets that pass a head."""
        m, name = bench.m, f"{'interface' if from_interface else 'link'}_{candidate}"
        bound = most_passes(ports, vcs, port, from_interface=from_interface)
        granted = dut.link.valid[vc] & ~dut.held[vc]
        own, begun = dut.grants[candidate], bench.free(1, f"begins_to_wait_{name}")
        waited, passed = Signal(name=f"waited_{name}"), Signal(range(bound + 2), name=f"by_{name}")
        # Its own packet before has ended.
        is_holder = bench.latest(own, dut.link.valid[vc]) & dut.held[vc]
        waits = waited | (begun & ~is_holder)
        m.d.sync += waited.eq(waits & ~(granted & own))
        bench.assumes(f"head_of_{name}_asks", ~waits | dut.held[vc] | dut.requests[vc][candidate])
        bench.assumes(f"head_of_{name}_waits", ~waits | ~dut.held[vc] | ~dut.grants[candidate])
        with m.If(~waits | (granted & own)):
            m.d.sync += passed.eq(0)
        with m.Elif(granted & (passed <= bound)):
            m.d.sync += passed.eq(passed + 1)
        bench.ensures(f"head_of_{name}_is_passed_so_often", passed <= bound)
        bench.covers(f"head_of_{name}_is_passed_most_often", waits & (passed == bound))

    return Proof(
        "output",
        f"{said(ports=ports, vcs=vcs, depth=depth)}, port {port}",
        "held from head to tail; credits neither made up nor lost; waiting bounded",
        build,
    )


def most_passes(ports: int, vcs: int, port: int, *, from_interface: bool) -> int:
    """Return how often a head is passed at most (docs/router.md, section 3)."""
    if vcs == 1 or port == 0:
        return ports - 2
    if from_interface:
        return 2 * (ports - 2) * vcs + vcs - 1
    return (ports - 1) * vcs - 1


class Mark:
    """A flit chosen freely among those that enter a buffer, followed until it leaves.

    Attributes
    ----------
    item
        The value with which it entered.
    is_first
        High while it must be the next to leave.
    leaves
        High in the cycle in which it leaves.
    enters
        High in the cycle in which it enters.

    """

    def __init__(
        self,
        bench: Bench,
        item: Value,
        enters: Value,
        leaves: Value,
        depth: int,
        name: str = "mark",
    ) -> None:
        m = bench.m
        held = bench.count(enters, leaves, limit=depth)
        choose = bench.free(1, f"{name}_choose")
        chosen = bench.latest(C(1, 1), choose & enters)
        self.enters = choose & enters & ~chosen
        self.item = bench.latest(item, self.enters)
        # The number of flits that leave until the chosen one has left.
        waits = Signal(held.shape(), name=f"{name}_waits")
        with m.If(self.enters):
            m.d.sync += waits.eq(held - leaves + 1)
        with m.Elif(leaves & (waits != 0)):
            m.d.sync += waits.eq(waits - 1)
        self.waits = waits
        self.is_first = waits == 1
        self.leaves = self.is_first & leaves
