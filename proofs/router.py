"""Proofs of whole routers and of their inputs, against section 3 of docs/router.md."""

from typing import Any

from amaranth.hdl import C, Cat, Mux, Signal, Value

from ..model.network.config import NetworkConfig
from ..rtl.packets.router import Router
from ..rtl.parts.assertions import one_hot_or_zero
from .harness import Bench
from .networks import network, said
from .parts import Mark
from .proof import Proof


def slot_of(config: NetworkConfig, word: Value) -> tuple[Value, Value, Value]:
    """Return the fields ``port``, ``more`` and ``vc`` of a header flit's lowest slot."""
    header, fields, low = config.header, [], 0
    for bits in (header.port_bits, header.hop_bits, header.vc_bits):
        fields.append(word[low : low + bits] if bits else C(0, 1))
        low += bits
    return fields[0], fields[1], fields[2]


class Spec:
    """The fate of the flits of one buffer (i, a), derived from the arriving flits.

    Attributes
    ----------
    first
        High while the next flit to arrive establishes a route if it has one.
    flit
        The arriving flit's data as they must leave, from its data as they arrive.
    port, vc
        Output port and VC of the arriving flit.
    drops
        High if the arriving flit is used up.
    bad
        High if the arriving flit has a wrong route: it stays, and so do the flits behind it.

    """

    def __init__(
        self, bench: Bench, config: NetworkConfig, link: Any, port: int, vc: int, linked: Value
    ) -> None:
        arrives, flit = link.valid[vc], link.flit
        ports, header = config.topology.ports, config.header
        asked, more, asked_vc = slot_of(config, flit.data)
        name = f"{port}_{vc}"
        inside = Signal(name=f"inside_{name}")
        route_port = Signal(range(ports + 1), name=f"route_port_{name}")
        route_vc = Signal(range(config.vcs), name=f"route_vc_{name}")
        stuck = Signal(name=f"stuck_{name}")
        delivered = asked == ports
        used_up = asked == 0
        sound = Mux(
            delivered,
            C(int(port != 0)),
            (asked != port) & (asked_vc < config.vcs) & (linked >> asked)[0],
        )
        self.first = ~inside
        self.drops = ~inside & flit.head & used_up & ~flit.tail
        self.bad = ~inside & ~self.drops & (~flit.head | used_up | ~sound)
        self.port = Mux(inside, route_port, Mux(delivered, 0, asked))
        self.vc = Mux(inside, route_vc, Mux(delivered, vc, asked_vc))
        begins = arrives & ~inside & ~self.drops & ~self.bad
        with bench.m.If(begins):
            bench.m.d.sync += [
                route_port.eq(self.port),
                route_vc.eq(self.vc),
                inside.eq(~flit.tail),
            ]
        with bench.m.If(arrives & inside & flit.tail):
            bench.m.d.sync += inside.eq(0)
        with bench.m.If(arrives & self.bad):
            bench.m.d.sync += stuck.eq(1)
        self.stuck = stuck
        low, high = header.port_bits, header.port_bits + header.hop_bits
        counted = flit.data
        if header.hop_bits:
            counted = Cat(flit.data[:low], (more - 1)[: header.hop_bits], flit.data[high:])
        rewritten = Mux(more == 0, flit.data >> header.slot_bits, counted)
        self.data = Mux(self.first & ~delivered, rewritten, flit.data)[: config.flit_width]


def keep_credits(bench: Bench, config: NetworkConfig, router: Any, *, parts: bool = False) -> None:
    """Assume that the neighbors send only for free slots, and return credits only of flits."""
    depth = config.depth
    for port, (into, out) in enumerate(zip(router.inputs, router.outputs, strict=True)):
        bench.assumes(f"one_flit_{port}", one_hot_or_zero(into.valid))
        for vc in range(config.vcs):
            sent, back = into.valid[vc], into.credit[vc]
            held = bench.count(sent, back, limit=depth)
            bench.assumes(f"free_slot_{port}_{vc}", ~sent | (held < depth))
            if parts:
                bench.ensures(f"credit_of_a_flit_{port}_{vc}", ~back | (held != 0))
            if port:
                away = bench.count(out.valid[vc], out.credit[vc], limit=depth)
                bench.assumes(f"returned_credit_{port}_{vc}", ~out.credit[vc] | (away != 0))
                bench.ensures(f"flit_for_a_free_slot_{port}_{vc}", ~out.valid[vc] | (away < depth))


def safe_router(ports: int, vcs: int, depth: int = 2, *, parts: bool = False) -> Proof:
    """Return the proof that no buffer and no credit counter of a router overflows.

    With ``parts``, also that all parts inside get what they require.
    """

    def build(bench: Bench) -> None:
        config = network(ports, vcs, depth)
        router = bench.drive(Router(config), "router", linked=C((1 << ports) - 1))
        keep_credits(bench, config, router, parts=parts)
        bench.ensures("no_overflow", ~router.causes.overflow)
        bench.ensures("no_credit_overflow", ~router.causes.credit_overflow)
        bench.covers("flit_leaves", router.outputs[1].valid[0])

    claim = "no overflow, of flits or of credits"
    return Proof(
        "router",
        said(ports=ports, vcs=vcs, depth=depth),
        f"{claim}; each part gets what it requires" if parts else claim,
        build,
        parts=parts,
    )


def whole_router(ports: int, vcs: int, depth: int = 2, *, port: int = 1) -> Proof:
    """Return the proof that a flit leaves a router once, at its turn, and as the page says.

    A flit that arrives at input ``port`` on VC 0 is chosen freely. In the cycle in which its credit
    goes back, it leaves by the output and on the VC of its packet, with its data rewritten.
    """

    def build(bench: Bench) -> None:
        config = network(ports, vcs, depth)
        linked = C((1 << ports) - 1)
        router = bench.drive(Router(config), "router", linked=linked)
        keep_credits(bench, config, router)
        link, vc = router.inputs[port], 0
        spec = Spec(bench, config, link, port, vc, linked)
        marks = Cat(link.flit.head, link.flit.tail)
        expected = Cat(spec.data, marks, spec.drops, spec.bad, spec.vc, spec.port)
        mark = Mark(bench, expected, link.valid[vc] & ~spec.stuck, link.credit[vc], depth)
        width = config.flit_width
        flit, drops, bad = mark.item[: width + 2], mark.item[width + 2], mark.item[width + 3]
        out_vc = mark.item[width + 4 : width + 4 + len(spec.vc)]
        out_port = mark.item[width + 4 + len(spec.vc) :]
        leaves = [
            (out_port == number)
            & (out.flit.as_value() == flit)
            & Cat((out_vc == b) & out.valid[b] for b in range(vcs)).any()
            for number, out in enumerate(router.outputs)
            if number != port
        ]
        bench.ensures("leaves_as_it_must", ~mark.leaves | drops | bad | Cat(leaves).any())
        bench.ensures("wrong_route_stays", ~mark.leaves | ~bad)
        bench.ensures("drops_at_once", ~(mark.is_first & drops) | mark.leaves)
        bench.covers("header_leaves", mark.leaves & ~drops & flit[width])
        bench.covers("tail_leaves", mark.leaves & ~flit[width] & flit[width + 1])
        bench.covers("dropped", mark.leaves & drops)

    return Proof(
        "router",
        f"{said(ports=ports, vcs=vcs, depth=depth)}, input {port}",
        "no flit lost, altered, or reordered in a VC; routes and rewriting of section 3",
        build,
        parts=False,
    )


def no_copies(ports: int, vcs: int, depth: int = 2, *, port: int = 1) -> Proof:
    """Return the proof that a router neither doubles nor makes up flits.

    One payload flit alone has the highest data bit set: that bit leaves the router once. No router
    reads this bit of a payload flit, so it stands for any mark of a flit.
    """

    def build(bench: Bench) -> None:
        config = network(ports, vcs, depth)
        router = bench.drive(Router(config), "router", linked=C((1 << ports) - 1))
        keep_credits(bench, config, router)
        link = router.inputs[port]
        mark = Mark(bench, C(0, 1), link.valid[0], link.credit[0], depth)
        for number, each in enumerate(router.inputs):
            alone = mark.enters & each.valid[0] if number == port else C(0, 1)
            bench.assumes(f"no_other_mark_{number}", ~has_mark(each) | alone)
        for number, out in enumerate(router.outputs):
            bench.ensures(f"once_{number}", ~has_mark(out) | mark.leaves)
        bench.covers("it_leaves", has_mark(router.outputs[-1 if port == 0 else 0]))

    def has_mark(link: Any) -> Value:
        return link.valid.any() & ~link.flit.head & link.flit.data[-1]

    return Proof(
        "router",
        f"{said(ports=ports, vcs=vcs, depth=depth)}, input {port}",
        "no flit doubled or made up",
        build,
        parts=False,
    )
