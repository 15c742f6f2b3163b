"""Proofs of what a node is told: the doorbell, the count of a step's words, and the barrier.

They are proved against sections 10, 17 and 20 of docs/router.md.
"""

from types import SimpleNamespace

from amaranth.hdl import C, Cat, Const, Mux, Signal, Value

from ..rtl.barrier_tree import BroadcastTree
from ..rtl.core import Core, add_core_domains
from ..rtl.packets.word_count import WordCount
from ..rtl.parts.tile_port import Doorbell
from .harness import Bench
from .networks import network, said
from .proof import Proof


def doorbell(*, lanes: bool = False) -> Proof:
    """Return the proof that a doorbell tells of each packet once, and never waits in silence.

    A step is chosen freely. By section 4, a lane gets one packet of a step at most.
    """

    def build(bench: Bench) -> None:
        m, config = bench.m, network(3, steps=3, all_port=lanes)
        dut = bench.drive(Doorbell(config))
        chosen = bench.constant(config.step_bits, "chosen")
        ends, of_chosen = [], []
        for lane, arrival in enumerate(dut.arrivals):
            end = arrival.valid & (arrival.step != 0)
            for step in range(1, 1 << config.step_bits):
                came = bench.latest(C(1, 1), arrival.valid & (arrival.step == step))
                twice = arrival.valid & (arrival.step == step) & came
                bench.assumes(f"once_{lane}_{step}", ~twice)
            ends.append(end)
            of_chosen.append(end & (arrival.step == chosen))
        tells = dut.arrived & (dut.step == chosen)
        waiting, mine = Signal(4, name="waiting"), Signal(4, name="of_chosen")
        m.d.sync += [
            waiting.eq(waiting + sum(ends) - dut.arrived),
            mine.eq(mine + sum(of_chosen) - tells),
        ]
        bench.ensures("tells_while_one_waits", dut.arrived == (waiting != 0))
        bench.ensures("no_made_up_packet", ~tells | (mine != 0))
        # A packet of the lowest lane: any telling of its step is of this packet.
        first = Signal(name="first_lane")
        m.d.sync += first.eq((first & ~tells) | of_chosen[0])
        bench.ensures("lowest_first", ~first | (dut.arrived & (dut.step <= chosen)))
        bench.covers("told", tells & (chosen == 3))
        if lanes:
            bench.covers("second_waits", mine == 2)

    how = "2 lanes" if lanes else "1 lane"
    return Proof(
        "doorbell",
        f"{how}, 3 steps",
        "each packet is told once; none waits in silence; the lowest step of the first lane first",
        build,
    )


def word_count() -> Proof:
    """Return the proof that the words of the node's step are counted, and no others."""

    def build(bench: Bench) -> None:
        m, config = bench.m, network(3, steps=3, streams=True, message_words=3)
        dut = bench.drive(WordCount(config))
        clock, come, limit = dut.clock, dut.come, 15
        begins = bench.before(clock.rises, init=1)
        bench.assumes(
            "step_changes_when_it_rises", begins | (bench.before(clock.step) == clock.step)
        )
        counted = dut.written & (dut.step == clock.step) & ~clock.rises
        count, before = Signal(range(limit + 1), name="count"), Signal(range(limit + 1), name="was")
        with m.If(clock.rises):
            m.d.sync += [count.eq(0), before.eq(0)]
        with m.Else():
            m.d.sync += [count.eq(Mux(count < limit, count + counted, count)), before.eq(count)]
        full = before > config.message_words
        told = (come.before + 2)[: len(come.before)]
        bench.ensures("the_last_word", (count == limit) | (come.last == (count != before)))
        bench.ensures("words_before", full | (told == before))
        bench.ensures("never_falls_again", ~full | (told > config.message_words))
        bench.ensures("some", come.some == (before != 0))
        bench.covers("all_words", before == config.message_words)
        bench.covers("word_of_another_step", dut.written & (dut.step != clock.step))

    return Proof(
        "word count",
        "3 words, 3 steps",
        "the words written in the node's step are counted once, and no others",
        build,
        quick=True,
    )


def barrier(registers: int) -> Proof:
    """Return the proof of the barrier of 9 nodes: section 10, "Barrier"."""

    def build(bench: Bench) -> None:
        config = network(5, barrier_registers=registers)
        bench.never_resets()
        tree, reset = BroadcastTree(config), bench.free(1, "reset")
        resets = add_core_domains(bench.m, config, tree, reset)
        names = ("advance", "barrier", "half_duplex")
        tiles = [
            SimpleNamespace(
                over=bench.free(1, f"over_{node}"),
                finished=bench.free(1, f"finished_{node}"),
                flagged=Const(0, 1),
                **{name: Signal(name=f"{name}_{node}") for name in names},
            )
            for node in range(config.topology.nodes)
        ]
        Core(bench.m, config, tree, tiles).tell_steps(Const(1, 1), Const(0, 1))
        in_reset, advance = resets[0], tiles[0].advance
        ends: Value = Cat(each.over for each in tiles).all()
        ends &= ~Cat(each.finished for each in tiles).all()
        began, still = bench.before(~in_reset), ~advance & ~in_reset
        quiet = still
        for _ in range(registers):
            ends, still = bench.before(ends), bench.before(still)
            quiet &= still
        bench.ensures(
            "advances_when_all_steps_are_over",
            in_reset | ~began | (advance == bench.before(ends & quiet)),
        )
        bench.ensures("not_after_a_reset", in_reset | began | ~advance)
        bench.ensures("all_at_once", Cat(each.advance == advance for each in tiles).all())
        bench.covers("advances", advance & ~in_reset)

    return Proof(
        "barrier",
        f"9 nodes, {said(registers=registers)}",
        "advance follows K + 1 cycles after all steps are over, at all nodes at once",
        build,
    )
