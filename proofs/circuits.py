"""Proofs of the router of circuits and of the run table, against section 23 of docs/router.md."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import C, Cat, Module, Mux, ResetSignal, Signal, Value

from ..model.network.config import bits_for
from ..rtl.circuits.router import CircuitRouter
from ..rtl.circuits.run_table import RunTable, entry_layout
from ..rtl.parts.memory_ports import stored
from ..rtl.parts.run_entry import entry_bits
from .harness import Bench
from .memories import WORDS, Hits, network_of_programs
from .networks import network, said
from .proof import Proof

RUNS = network_of_programs(parity=True, circuits=True)
"""The network of the proofs of run tables."""
BITS = entry_bits(RUNS) + 1
"""Bits of an entry in memory; the highest one is its parity."""


def circuit_router(ports: int, *, operators: tuple[str, ...] = ()) -> Proof:
    """Return the proof that each output follows its setting, and that joined words are of a cycle.

    Input 0 gives its word in the cycle in which it leaves, the others one cycle before.
    """

    def build(bench: Bench) -> None:
        config = network(ports, circuits=True, operators=operators)
        router = bench.drive(CircuitRouter(config), "router")
        codes = bench.before(router.setting.codes.as_value())
        bits = len(router.setting.codes[0])
        first, *others = router.inputs
        valid = Cat(first.valid, *(bench.before(each.valid) for each in others))
        words = [first.word, *(bench.before(each.word) for each in others)]
        made, total = joined(bench, router, valid, words) if operators else (C(0), C(0))
        for number, output in enumerate(router.outputs) if operators else ():
            sums = made & (bench.before(codes.word_select(number, bits)) == 1 + number)
            bench.ensures(f"sum_of_one_cycle_{number}", ~sums | (output.word == total))
            bench.covers(f"sum_{number}", sums)
        forks = Cat(
            out.valid & (codes.word_select(n, bits) == 2)
            for n, out in enumerate(router.outputs)
            if n != 1
        )
        bench.covers("fork_to_all", forks.all())

    how = f", {', '.join(operators)}" if operators else ""
    return Proof(
        "router of circuits",
        said(ports=ports) + how,
        "each output takes one input; a fork to all; a join of two words of one cycle",
        build,
    )


def joined(bench: Bench, router: Any, valid: Value, words: list[Value]) -> tuple[Value, Value]:
    """Return whether two words were joined in the last cycle, and their sum."""
    setting = router.setting
    operator = bench.before(setting.operator)
    operands = []
    for code in (bench.before(setting.first), bench.before(setting.second)):
        named = Cat((code == 1 + port) & valid[port] for port in range(len(words)))
        word: Value = C(0, len(words[0]))
        for port, each in enumerate(words):
            word |= Mux(code == 1 + port, each, 0)
        operands.append((named.any(), word))
    made = (operator == 1) & operands[0][0] & operands[1][0]
    total = (operands[0][1] + operands[1][1])[: len(words[0])]
    return bench.before(made), bench.before(total)


class HitRunTable(RunTable, Hits):
    """A :class:`.RunTable` whose entries may change."""

    def _word(self) -> tuple[int, int]:
        return bits_for(self._config.table_words - 1), entry_bits(self._config)

    def elaborate(self, platform: object) -> Module:
        """Add a write port to the memory."""
        m = super().elaborate(platform)
        return self._elaborate_hits(m, m.submodules.run_memory)


class ChosenEntry:
    """A run table with any program, and one of its entries, chosen freely.

    Entries are written and change in reset only, and at least one more cycle of reset follows. A
    run is observed from its reset on.

    Parameters
    ----------
    bits
        The places of the bits that are free; the others are 0.

    Attributes
    ----------
    dut
        The run table.
    base, end, number
        The numbers of the program's first entry, after its last one, and of the chosen one.
    held, entry
        The chosen entry as the memory holds it, and without its parity.
    mine, first
        High in each cycle in which it is current, an end entry too; high in the first of them.

    """

    def __init__(self, bench: Bench, bits: Sequence[int]) -> None:
        m, reset = bench.m, ResetSignal()
        self.dut = HitRunTable(RUNS)
        base, end, number = (bench.constant(2, name) for name in ("base", "end", "number"))
        self.base, self.end, self.number = base, end, number
        bench.assumes("a_program", (base < end) & (end <= WORDS))
        bench.assumes("an_entry", (base <= number) & (number < end))
        word, hit = (
            Cat(free[bits.index(place)] if place in bits else C(0) for place in range(BITS))
            for free in (bench.free(len(bits), name) for name in ("word", "hit"))
        )
        writes = bench.free(1, "writes") & reset
        hits = bench.free(1, "hits") & reset & ~writes
        words = {"write__word": word[:-1], "hit__word": hit}
        bench.drive(self.dut, write__enable=writes, hit__enable=hits, base=base, end=end, **words)
        wrote = Signal(name="wrote", init=1, reset_less=True)
        m.d.sync += wrote.eq(writes | hits)
        bench.assumes("reset_after_the_last_write", ~wrote)
        self.held = held = Signal(BITS, name="held", reset_less=True)
        with m.If(writes & (self.dut.write.address == number)):
            m.d.sync += held.eq(stored(word[:-1], parity=True))
        with m.Elif(hits & (self.dut.hit.address == number)):
            m.d.sync += held.eq(hit)
        self.entry = Signal(entry_layout(RUNS), name="entry")
        m.d.comb += self.entry.eq(held[:-1])
        self.mine = self.dut.run.begun & (self.dut.run.number == number)
        self.first = self.mine & ~bench.before(self.mine)


def run_table() -> Proof:
    """Return the proof that the entries of a program are current one by one."""

    def build(bench: Bench) -> None:
        m, chosen = bench.m, ChosenEntry(bench, range(BITS))
        entry, run, number, mine = chosen.entry, chosen.dut.run, chosen.number, chosen.mine
        runs = mine & ~run.ended
        # These begin in the first cycle, and go on as long as the entry is current.
        left = Signal(len(entry.duration), name="left")
        m.d.sync += left.eq(Mux(runs, left - 1, entry.duration))
        # A network without all_port has one lane.
        sends, receives = (Signal(2, name=name) for name in ("sends", "receives"))
        m.d.sync += sends.eq(Mux(runs, sends + 1, entry.send_address[0]))
        m.d.sync += receives.eq(Mux(runs, receives + 1, entry.receive_address[0]))
        last = runs & (left == 1)
        begins = run.begun & ~bench.before(run.begun)
        bench.ensures("begins_with_the_first_entry", ~begins | (run.number == chosen.base))
        bench.ensures("ends_with_an_end_entry", ~mine | (run.ended == (entry.duration == 0)))
        bench.ensures("stays_until_its_last_cycle", ~bench.before(mine & ~last) | mine)
        after = run.begun & (run.number == number + 1)
        bench.ensures("then_comes_the_next", ~bench.before(last) | after)
        over = bench.before(last & (number + 1 == chosen.end))
        bench.ensures("overrun_behind_the_program", ~over | (run.overrun & run.ended))
        bench.ensures("no_overrun_before", ~mine | ~run.overrun)
        bench.ensures("sends_from_its_address", ~runs | (run.send_address[0] == sends))
        was, ran, there = bench.before(mine), bench.before(runs), bench.before(receives)
        bench.ensures("receives_what_it_says", ~ran | (run.receive[0] == entry.receive[0]))
        bench.ensures("receives_at_its_address", ~ran | (run.receive_address[0] == there))
        for name in chosen.dut.setting.shape().members:
            now, fields = Value.cast(chosen.dut.setting[name]), Value.cast(entry[name])
            bench.ensures(f"{name}_of_the_entry", ~was | (now == Mux(ran, fields, 0)))
        bench.covers("two_cycles", last & ~chosen.first)
        bench.covers("overrun", over)

    return Proof(
        "run table",
        f"{WORDS} entries",
        "the entries are current one by one, each for its duration; the end is told",
        build,
    )


def damaged_entries() -> Proof:
    """Return the proof that the damage of an entry is told in the first cycle of the entry.

    Four bits of an entry are free; its parity is that of any number of bits.
    """

    def build(bench: Bench) -> None:
        chosen = ChosenEntry(bench, [0, 1, BITS - 2, BITS - 1])
        run, told = chosen.dut.run, chosen.first & chosen.held.xor()
        bench.ensures("damage_is_told_once", ~chosen.mine | (run.damaged == told))
        bench.covers("damaged_entry", run.damaged & (chosen.number == chosen.base + 1))
        bench.covers("damaged_end", run.damaged & run.ended & chosen.mine)

    return Proof(
        "parity",
        "run table",
        "the damage of an entry is told in the first cycle in which it is current",
        build,
    )
