"""Proofs of the input port, against section 3 of docs/router.md."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Mux, Signal, Value

from ..rtl.packets.input_port import InputPort
from ..rtl.parts.assertions import one_hot_or_zero
from .harness import Bench
from .networks import network, said
from .parts import Mark
from .proof import Proof
from .router import Spec


def input_port(ports: int, vcs: int, depth: int = 2, *, port: int = 1) -> Proof:
    """Return the proof that a flit asks for its output alone, and leaves rewritten.

    A flit is chosen freely among those that arrive on the last VC, and followed until it leaves.
    """
    outputs = [each for each in range(ports) if each != port]

    def build(bench: Bench) -> None:
        config = network(ports, vcs, depth)
        linked, held = bench.constant(ports, "linked"), Signal(len(outputs) * vcs, name="held")
        dut = bench.drive(InputPort(config, outputs=outputs), linked=linked, held=held)
        bench.assumes("interface_is_linked", linked[0])
        bench.assumes("one_flit", one_hot_or_zero(dut.link.valid))
        bench.ensures("no_overflow", ~dut.overflow)
        own = hold(bench, dut, held)
        for vc, request in enumerate(dut.requests):
            arrives, credit = dut.link.valid[vc], dut.link.credit[vc]
            inside = bench.count(arrives, credit, limit=depth)
            asks = request.as_value().any()
            bench.assumes(f"free_slot_{vc}", ~arrives | (inside < depth))
            bench.assumes(f"takes_a_flit_that_asks_{vc}", ~dut.take[vc] | asks)
            bench.ensures(f"no_request_without_a_flit_{vc}", ~asks | (inside != 0))
            bench.ensures(f"credit_of_a_flit_{vc}", ~credit | (inside != 0))
        last = vcs - 1
        spec = Spec(bench, config, dut.link, port, last, linked)
        follow(bench, dut, spec, last, own[last] | ~held)

    def follow(bench: Bench, dut: InputPort, spec: Spec, vc: int, may_ask: Value) -> None:
        """Claim what a chosen flit asks for, and how it leaves; it asks only for what it may."""
        flit, credit, take = dut.link.flit, dut.link.credit[vc], dut.take[vc]
        asked = Cat(
            (spec.port == number) & (spec.vc == b) for number in outputs for b in range(vcs)
        )
        leaving = Cat(spec.data, flit.head, flit.tail)
        item = Cat(leaving, spec.drops, spec.bad, asked)
        mark = Mark(bench, item, dut.link.valid[vc] & ~spec.stuck, credit, depth)
        size, first = len(leaving), mark.is_first
        drops, bad, asked = mark.item[size], mark.item[size + 1], mark.item[size + 2 :]
        goes, tail = first & ~drops & ~bad, mark.item[size - 1]
        front, request = dut.fronts[vc].flit.as_value(), dut.requests[vc].as_value()
        asks = Mux(goes, asked & may_ask, 0)
        bench.ensures("asks_for_its_output", ~first | (request == asks))
        bench.ensures("rewritten", ~goes | (front == mark.item[:size]))
        bench.ensures("leaves_when_taken", ~goes | (credit == take))
        bench.ensures("dropped_at_once", ~(first & drops) | credit)
        bench.ensures("wrong_route_stays", ~(first & bad) | ~credit)
        bench.ensures("wrong_route_is_told", ~(first & bad) | dut.bad_route)
        stalled = bench.before(first)
        bench.ensures("stalled_if_it_waited", ~(goes & take) | (dut.stalls[vc] == stalled))
        bench.covers("header_leaves", mark.leaves & goes & mark.item[size - 2])
        bench.covers("tail_leaves", mark.leaves & goes & tail & ~mark.item[size - 2])
        bench.covers("dropped", mark.leaves & drops)
        bench.covers("wrong_route", first & bad)
        bench.covers("waits_for_the_tail_of_another", goes & ~asks.any())

    return Proof(
        "input port",
        f"{said(ports=ports, vcs=vcs, depth=depth)}, input {port}",
        "a flit asks for its output alone, and leaves once, at its turn, rewritten; used-up flits "
        "are dropped, wrong routes stay",
        build,
    )


def hold(bench: Bench, dut: InputPort, held: Signal) -> Sequence[Signal]:
    """Let packets hold output VCs, also those of other inputs; return what each VC's packet holds.

    An output VC is taken by one flit at most, and held from the cycle after a head to the tail.
    """
    own = []
    for vc, (front, request) in enumerate(zip(dut.fronts, dut.requests, strict=True)):
        holds = Signal(len(held), name=f"holds_{vc}")
        with bench.m.If(dut.take[vc]):
            bench.m.d.sync += holds.eq(Mux(front.flit.tail, 0, request.as_value()))
        own.append(holds)
    others = bench.free(len(held), "held_by_others")
    bench.m.d.comb += held.eq(others | Cat(Cat(bits).any() for bits in zip(*own, strict=True)))
    takes = [
        Mux(take, request.as_value(), 0)
        for take, request in zip(dut.take, dut.requests, strict=True)
    ]
    for number, bits in enumerate(zip(*takes, strict=True)):
        bench.assumes(f"one_take_{number}", one_hot_or_zero(Cat(bits)))
    return own
