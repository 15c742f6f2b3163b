"""Proofs of the combiner, against sections 19 and 20 of docs/router.md."""

from functools import partial
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Component

from ..model.network.operators import Operator
from ..rtl.packets.receiver import Receiver
from ..rtl.parts.assertions import one_hot_or_zero
from ..rtl.parts.combiner import Combiner
from ..rtl.parts.operators import OperatorPorts
from ..rtl.parts.shared_memory import SharedMemory
from .harness import Bench
from .interface import delivery_of
from .networks import network, said
from .proof import Proof


def combiner(vcs: int = 1, *, lanes: bool = False) -> Proof:
    """Return the proof that no update of a word is lost.

    A word of the memory is chosen freely. Its contents are always those of the updates that have
    arrived, one after the other.
    """

    def build(bench: Bench) -> None:
        m = bench.m
        config = network(
            3,
            vcs,
            programs=1,
            flit_width=32,
            operators=("or",),
            message_words=2,
            all_port=lanes,
        )
        unit, memory = Combiner(config), SharedMemory(config)
        bench.never_resets()
        number = bench.constant(config.address_bits, "number")
        value = Signal(config.flit_width, name="value")
        host_writes, host_word = bench.free(1, "host_writes"), bench.free(32, "host_word")
        host_address = bench.free(config.address_bits, "host_address")
        bench.assumes("host_writes_when_free", ~host_writes | memory.write_free)
        by_host = host_writes & (host_address == number)
        if lanes:
            bench.assumes("no_host", ~host_writes)
        now: Value = Mux(by_host, host_word, value)
        inputs: dict[str, Any] = {}
        for lane in range(config.lanes):
            place, word = (
                bench.free(config.address_bits, f"place_{lane}"),
                bench.free(32, f"word_{lane}"),
            )
            enable, combines = bench.free(1, f"enable_{lane}"), bench.free(1, f"combines_{lane}")
            mine = enable & (place == number)
            now = Mux(mine, Mux(combines, now | word, word), now)
            inputs |= {f"words__{lane}__leaves": enable, f"words__{lane}__enable": enable}
            inputs |= {f"words__{lane}__address": place, f"words__{lane}__source": place}
            inputs |= {f"words__{lane}__word": word, f"words__{lane}__operator": combines}
            for name in ("enable", "address", "word"):
                inputs[f"stored__{lane}__{name}"] = getattr(memory.stored[lane], name)
            inputs[f"reads__{lane}__word"] = memory.reads_to_combine[lane].word
        m.d.sync += value.eq(now)
        bench.drive(unit, "combiner", **inputs)
        writes = {
            f"writes__{lane}__{name}": getattr(unit.writes[lane], name)
            for lane in range(config.lanes)
            for name in ("enable", "address", "word")
        }
        reads = {
            f"reads_to_combine__{lane}__address": unit.reads[lane].address
            for lane in range(config.lanes)
        }
        bench.drive(
            memory,
            "memory",
            **writes,
            **reads,
            stores=unit.stores[0],
            combines=unit.combines[0],
            host_writes=host_writes,
            host_word=host_word,
            host_address=host_address,
        )
        arrived = Cat(
            inputs[f"words__{lane}__enable"] & (inputs[f"words__{lane}__address"] == number)
            for lane in range(config.lanes)
        )
        changed = [
            unit.writes[lane].enable & (unit.writes[lane].address == number)
            for lane in range(config.lanes)
        ]
        for lane, mine in enumerate(changed):
            bench.ensures(f"sum_of_all_updates_{lane}", ~mine | (unit.writes[lane].word == value))
        bench.ensures("each_update_is_written", bench.before(arrived.any()) == Cat(changed).any())
        bench.ensures("one_write", one_hot_or_zero(Cat(changed)))
        # Block RAM may keep a mix of the words of two ports.
        ports = [port.enable & (port.address == number) for port in memory.stored]
        bench.ensures("one_port_writes", one_hot_or_zero(Cat(ports)))
        bench.covers("update_after_update", changed[0] & bench.before(changed[0]))

    how = "3 lanes" if lanes else said(vcs=vcs)
    return Proof("combiner", f"or, D = 0, {how}", "no update of a word is lost", build)


class LateOr(Component):
    """A custom operator for proofs: bitwise or, some cycles late."""

    def __init__(self, width: int, latency: int) -> None:
        self._latency = latency
        super().__init__(OperatorPorts(width))

    def elaborate(self, _platform: object) -> Module:
        """Build the registers behind the gates."""
        m, result = Module(), self.there | self.coming
        for stage in range(self._latency):
            late = Signal.like(self.result, name=f"late_{stage}")
            m.d.sync += late.eq(result)
            result = late
        m.d.comb += self.result.eq(result)
        return m


def slow_combiner(latency: int) -> Proof:
    """Return the proof that no update is lost behind an operator of this latency, with 2 VCs.

    A word of the memory is chosen freely, and its lowest bit observed: "or" combines each bit
    alone. A word arrives only while the combiner accepts one, and it is the next word of its VC.
    The slow operator or a prompt one combines it.
    """

    def build(bench: Bench) -> None:
        m = bench.m
        operators = tuple(
            Operator(name, latency=cycles, component=partial(LateOr, latency=cycles))
            for name, cycles in (("late", latency), ("prompt", 0))
        )
        config = network(3, 2, operators=operators, message_words=2)
        width, unit = config.flit_width, Combiner(config)
        bench.never_resets()
        memory = Memory(shape=width, depth=2, init=[])
        write, read = memory.write_port(), memory.read_port()
        vc, leaves = bench.free(1, "vc"), bench.free(1, "leaves")
        word, value = bench.free(width, "word"), Signal(name="value")
        nexts = unit.next_words
        bench.assumes("accepted", ~leaves | unit.accept)
        combines = Mux(vc, nexts[1].combines, nexts[0].combines)
        place = Mux(vc, nexts[1].source, nexts[0].source)
        stored = unit.writes[0]
        bench.drive(
            unit,
            "combiner",
            words__0__leaves=leaves,
            words__0__enable=leaves,
            words__0__address=place,
            words__0__source=place,
            words__0__word=word,
            words__0__operator=Mux(combines, 1 + bench.free(1, "prompt"), 0),
            reads__0__word=read.data,
            **{
                f"stored__0__{name}": getattr(stored, name)
                for name in ("enable", "address", "word")
            },
        )
        m.submodules.memory = memory
        m.d.comb += [
            *(write.en.eq(stored.enable), write.addr.eq(stored.address)),
            *(write.data.eq(stored.word), read.addr.eq(unit.reads[0].address)),
        ]
        number = bench.constant(config.address_bits, "number")
        mine = leaves & (place == number)
        with m.If(mine):
            m.d.sync += value.eq(Mux(combines, value | word[0], word[0]))
        due, expected, left, at = bench.before(mine), value, leaves, place
        needed: list[Value] = []
        for _ in range(latency):
            due, expected = bench.before(due), bench.before(expected)
            left, at = bench.before(left), bench.before(at)
            needed += [left & each.combines & (each.source == at) for each in nexts]
        writes = stored.enable & (stored.address == number)
        bench.ensures("each_update_is_written", due == writes)
        bench.ensures("sum_of_all_updates", ~writes | (stored.word[0] == expected))
        bench.ensures("waits_for_a_word_of_the_last_cycles", unit.accept == ~Cat(needed).any())
        bench.covers("update_after_update", writes & bench.before(writes))
        bench.covers("waits", ~unit.accept)

    return Proof("combiner", f"or, D = {latency}, 2 VCs", "no update of a word is lost", build)


def counted_words(latency: int) -> Proof:
    """Return the proof that a combined word of a stream is counted when it is stored.

    A VC is chosen freely. Flits come on both, as the slow operator accepts them or not.
    """

    def build(bench: Bench) -> None:
        made = partial(LateOr, latency=latency)
        operator = Operator("late", latency=latency, component=made)
        config = network(
            3, 2, steps=3, streams=True, operators=(operator,), message_words=3, flit_width=24
        )
        bench.never_resets()
        dut, unit = bench.drive(Receiver(config)), Combiner(config)
        sent, stored = dut.ejection, unit.writes[0]
        inputs: dict[str, Any] = {}
        for name in ("leaves", "enable", "address", "word", "operator", "source"):
            inputs[f"words__0__{name}"] = getattr(dut.message, name)
        if latency:
            for number, word in enumerate(dut.next_words):
                for name in ("combines", "source"):
                    inputs[f"next_words__{number}__{name}"] = getattr(word, name)
        for name in ("enable", "address", "word"):
            inputs[f"stored__0__{name}"] = getattr(stored, name)
        bench.drive(unit, "combiner", **inputs)
        bench.assumes("one_flit", one_hot_or_zero(sent.valid))
        chosen = bench.constant(2, "vc")
        bench.assumes("one_vc", one_hot_or_zero(chosen))
        arrives = (sent.valid & chosen).any()
        step, _ = delivery_of(config, sent.flit.data)
        late: list[Value] = [
            arrives & dut.message.enable,
            bench.latest(step, arrives & sent.flit.head),
            dut.message.address,
        ]
        for _ in range(latency + 1):
            late = [bench.before(each) for each in late]
        came, of_packet, place = late
        bench.ensures("counted_when_it_is_stored", dut.written == stored.enable)
        bench.ensures("stored_in_its_cycle", ~came | (stored.enable & (stored.address == place)))
        bench.ensures("in_the_packets_step", ~came | (dut.arrival.step == of_packet))
        bench.covers("word_after_word", stored.enable & bench.before(stored.enable))

    return Proof(
        "word count",
        f"combined, D = {latency}, 2 VCs",
        "a word is counted, in its packet's step, in the cycle in which it is stored",
        build,
    )
