"""Proofs of the router without arbitration, against section 13 of docs/router.md."""

from typing import Any

from amaranth.hdl import C, Cat

from ..rtl.packets.direct_router import DirectRouter
from ..rtl.parts.assertions import one_hot_or_zero
from .harness import Bench
from .networks import network, said
from .proof import Proof
from .router import Spec


def direct_router(ports: int, vcs: int) -> Proof:
    """Return the proof that each flit leaves one cycle after its arrival, as the page says.

    The flits of a packet arrive in successive cycles, on one VC.
    """

    def build(bench: Bench) -> None:
        config = network(ports, vcs, 2, contention_free=True)
        linked = C((1 << ports) - 1)
        router = bench.drive(DirectRouter(config), "router", linked=linked)
        asked: list[list[Any]] = [[] for _ in range(ports)]
        for port, link in enumerate(router.inputs):
            bench.assumes(f"one_flit_{port}", one_hot_or_zero(link.valid))
            if port:
                # The neighbor's crossbar rests at zero.
                bench.assumes(f"no_head_without_a_flit_{port}", link.valid.any() | ~link.flit.head)
            specs = [Spec(bench, config, link, port, vc, linked) for vc in range(vcs)]
            under_way = Cat(~spec.first for spec in specs)
            follows = (under_way & ~link.valid) == 0
            bench.assumes(f"successive_flits_{port}", follows)
            for vc, spec in enumerate(specs):
                sent = bench.before(link.valid[vc] & ~spec.drops & ~spec.bad)
                out = [bench.before(each) for each in (spec.data, spec.port, spec.vc)]
                marks = bench.before(Cat(link.flit.head, link.flit.tail))
                flit = Cat(out[0], marks)
                for number, output in enumerate(router.outputs):
                    if number != port:
                        leaves = sent & (out[1] == number)
                        asked[number].append(leaves)
                        valid = Cat(output.valid[b] & (out[2] == b) for b in range(vcs)).any()
                        there = valid & (output.flit.as_value() == flit)
                        bench.ensures(
                            f"leaves_{port}_{vc}_{number}",
                            ~leaves | router.causes.overflow | there,
                        )
            bad = Cat(link.valid[vc] & spec.bad for vc, spec in enumerate(specs)).any()
            bench.ensures(
                f"wrong_route_is_told_{port}", ~bench.before(bad) | router.causes.bad_route
            )
        many = Cat(~one_hot_or_zero(Cat(each)) for each in asked).any()
        bench.ensures("two_flits_for_one_output_are_told", router.causes.overflow == many)
        for number, output in enumerate(router.outputs):
            bench.ensures(
                f"nothing_made_up_{number}", ~output.valid.any() | Cat(asked[number]).any()
            )
            bench.ensures(
                f"no_head_without_a_flit_from_{number}", output.valid.any() | ~output.flit.head
            )
        bench.covers("flits_meet", router.causes.overflow)
        bench.covers("flit_leaves", router.outputs[0].valid[0] & ~router.outputs[0].flit.head)

    return Proof(
        "router without arbitration",
        said(ports=ports, vcs=vcs),
        "each flit leaves one cycle later, once, as section 3 says; two for one output are told",
        build,
    )
