"""Proofs of links: an output, the registers of the link, and the buffer at its far end."""

from ..rtl.packets.credits import CreditCounter
from ..rtl.packets.flit_buffer import FlitBuffer
from ..rtl.packets.input_port import routed_layout
from .harness import Bench
from .networks import network, said
from .parts import Mark
from .proof import Proof


def loop(depth: int, registers: int) -> Proof:
    """Return the proof of a link with registers: its buffer never overflows.

    A sender sends whenever it likes and has a credit; the buffer is emptied at any time.
    """

    def build(bench: Bench) -> None:
        config = network(depth=depth, link_registers=registers)
        sends, item = bench.free(1, "sends"), bench.free(routed_layout(config, 2).size, "item")
        leaves = bench.free(1, "leaves")
        counter = CreditCounter(config)
        buffer = FlitBuffer(routed_layout(config, 2), depth=depth)
        sent, back = sends & counter.available, leaves & buffer.front_valid
        there, returned, flit = sent, back, item
        for _ in range(registers):
            there, returned = bench.before(there), bench.before(returned)
            flit = bench.before(flit)
        bench.drive(counter, "credits", spend=sent, earn=returned)
        bench.drive(buffer, "buffer", write=there, write_item=flit, pop=back)
        bench.ensures("no_overflow", ~buffer.overflow)
        bench.ensures("no_credit_overflow", ~counter.overflow)
        # The chosen flit leaves after those before it, and no other way.
        mark = Mark(bench, item, sent, back, depth)
        bench.ensures("chosen_flit_leaves", ~(mark.is_first & back) | buffer.front_valid)
        flit = buffer.front.flit.as_value()
        bench.ensures("unchanged", ~mark.leaves | (flit == mark.item[: len(flit)]))
        bench.covers("full_link", ~counter.available)
        bench.covers("chosen_flit_leaves_again_full", mark.leaves & ~counter.available)

    return Proof(
        "link",
        f"{said(depth=depth)}, {registers} registers",
        "no overflow; each flit arrives once, in order, unchanged",
        build,
    )
