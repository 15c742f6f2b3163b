"""Proofs of a node's memories and of parity, against sections 4 and 16 to 18 of docs/router.md.

With parity, any bits of a word may change at any time: a *hit*.
"""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import C, Module, Mux, ResetSignal, Signal
from amaranth.lib.wiring import Component, In, connect, flipped

from ..model.network.config import NetworkConfig
from ..model.network.table_format import HEADER_COUNT_BITS
from ..rtl.packets.sender import Sender, SenderState
from ..rtl.parts.combiner import Combiner
from ..rtl.parts.host_map import HostSpace
from ..rtl.parts.host_port import Flag
from ..rtl.parts.memory_ports import WordWrite, stored
from ..rtl.parts.message import SharedMessage
from ..rtl.parts.shared_memory import SharedMemory
from ..rtl.parts.status import kept_flags
from ..rtl.parts.table import Table
from .harness import Bench
from .networks import network
from .proof import Proof
from .senders import Row

WORDS = 3
"""Words of each memory here; address 3 lies beyond."""


def network_of_programs(*, parity: bool, **more: Any) -> NetworkConfig:
    """Return a network with programs, which parity needs, and small memories."""
    words = {"message_words": WORDS, "table_words": WORDS, "flit_width": 32}
    return network(3, programs=1, parity=parity, **words, **more)


class Hits(Component):
    """A component of which ``hit`` writes words with their parity bits, right or wrong."""

    _config: NetworkConfig

    def __init__(self, members: Mapping[str, Any]) -> None:
        bits, width = self._word()
        hit = WordWrite(bits, width + self._config.parity)
        super().__init__({**members, "hit": In(hit)})

    def _word(self) -> tuple[int, int]:
        """Return the widths of an address and of a word."""
        return self._config.address_bits, self._config.flit_width

    def _elaborate_hits(self, m: Module, memory: Any) -> Module:
        port = memory.write_port()
        m.d.comb += [port.en.eq(self.hit.enable), port.addr.eq(self.hit.address)]
        m.d.comb += port.data.eq(self.hit.word)
        return m


class HitMemory(SharedMemory, Hits):
    """A :class:`.SharedMemory` whose words may change."""

    def elaborate(self, platform: object) -> Module:
        """Add a write port to the memory."""
        m = super().elaborate(platform)
        return self._elaborate_hits(m, m.submodules.message_memory)


class HitTable(Table, Hits):
    """A :class:`.Table` whose words may change."""

    def elaborate(self, platform: object) -> Module:
        """Add a write port to the memory."""
        m = super().elaborate(platform)
        return self._elaborate_hits(m, m.submodules.table_memory)


class HitMessage(SharedMessage, Hits):
    """A :class:`.SharedMessage` whose words may change."""

    kind = HitMemory

    def elaborate(self, platform: object) -> Module:
        """Lead the changes to the memory."""
        m = super().elaborate(platform)
        connect(m, flipped(self.hit), m.submodules.memory.hit)
        return m


def shown_words() -> Proof:
    """Return the proof that the controller and the tile are told of damaged words, and the flag."""

    def build(bench: Bench) -> None:
        m, config = bench.m, network_of_programs(parity=True, tile_ports=True)
        dut = bench.drive(HitMessage(config), status=C(0))
        bench.never_resets()
        host, tile = dut.host, dut.tile
        number = bench.constant(config.address_bits, "number")
        bench.assumes("inside", number < WORDS)
        # Only hits change the word that is looked at.
        write = dut.writes[0]
        network_writes = write.enable & (write.address == number)
        asked = host.valid & (host.node == dut.node)
        to_message = (host.space == HostSpace.MESSAGE) & (host.address == number)
        bench.assumes("only_hits", ~network_writes & ~(asked & to_message & host.write))
        bench.assumes("network_inside", write.address < WORDS)
        bench.assumes("host_inside", host.address < WORDS)
        bench.assumes("no_tile_writes", ~tile.write_valid | (tile.write_address != number))
        held = Signal(33, name="held")
        with m.If(dut.hit.enable & (dut.hit.address == number)):
            m.d.sync += held.eq(dut.hit.word)
        was = bench.before(held)
        reads = asked & to_message & ~host.write
        is_mine = bench.before(reads) & host.answered
        asks = tile.read_valid & tile.read_ready & (tile.read_address == number)
        asked_by_tile = bench.before(asks)
        for name, mine, word, damaged in (
            ("host", is_mine, host.read_data, host.damaged),
            ("tile", asked_by_tile, tile.read_data, tile.read_damaged),
        ):
            bench.ensures(f"{name}_is_shown_the_word", ~mine | (word == was[:32]))
            bench.ensures(f"{name}_is_told", ~mine | (damaged == was.xor()))
        bench.ensures("host_is_told_of_reads", ~host.damaged | bench.before(asked & ~host.write))
        bench.ensures("host_is_told_once", ~host.damaged | host.answered)
        bench.ensures("tile_is_told_in_answers", ~tile.read_damaged | tile.read_answered)
        told = host.damaged | tile.read_damaged
        bench.ensures("both_are_shown", dut.damaged == told)
        flagged = bench.count(told, C(0), limit=0)
        flag = kept_flags(m, {Flag.PARITY: dut.damaged}).parity
        bench.ensures("flag_stays", flag == (flagged != 0))
        bench.covers("host_reads_a_damaged_word", is_mine & host.damaged)
        bench.covers("tile_reads_a_damaged_word", asked_by_tile & tile.read_damaged)

    return Proof(
        "parity",
        "controller and tile",
        "who is shown a damaged word is told in the cycle of the answer; the flag stays",
        build,
    )


def memory(*, parity: bool = False) -> Proof:
    """Return the proof of the shared memory: last written, then read; the network comes first."""

    def build(bench: Bench) -> None:
        m, config = bench.m, network_of_programs(parity=parity, tile_ports=True)
        dut = bench.drive((HitMemory if parity else SharedMemory)(config))
        bench.never_resets()
        number = bench.constant(config.address_bits, "number")
        bench.assumes("inside", number < WORDS)
        bench.assumes("host_writes_when_free", ~dut.host_writes | dut.write_free)
        bench.assumes("host_reads_when_free", ~dut.host_reads | dut.read_free)
        bench.assumes("host_inside", dut.host_address < WORDS)
        network_write, tile = dut.writes[0], dut.tile_write
        bench.assumes("network_inside", network_write.address < WORDS)
        by_network = network_write.enable & (network_write.address == number)
        by_host = dut.host_writes & (dut.host_address == number)
        by_tile = tile.enable & dut.tile_write_ready & (tile.address == number)
        # The word as the memory holds it, with its parity bit.
        held = Signal(32 + config.parity, name="held")
        for writes, word in ((by_network, network_write), (by_host, None), (by_tile, tile)):
            with m.If(writes):
                written = dut.host_word if word is None else word.word
                m.d.sync += held.eq(stored(written, parity=config.parity))
        if parity:
            hits = dut.hit.enable & (dut.hit.address == number)
            bench.assumes("no_hit_while_written", ~hits | ~(by_network | by_host | by_tile))
            with m.If(hits):
                m.d.sync += held.eq(dut.hit.word)
        was = bench.before(held)
        read = bench.before(dut.fetches & (dut.reads[0].address == number))
        host = bench.before(dut.host_reads & (dut.host_address == number))
        asked = dut.tile_reads & dut.tile_read_ready
        mine = bench.before(asked & (dut.tile_read.address == number))
        beyond = bench.before(asked & (dut.tile_read.address >= WORDS))
        for reader, reads, answer in (
            ("network", read, dut.reads[0]),
            ("host", host, dut.reads[0]),
            ("tile", mine, dut.tile_read),
        ):
            bench.ensures(f"{reader}_reads_the_last_word", ~reads | (answer.word == was[:32]))
            if parity:
                bench.ensures(f"{reader}_is_told", ~reads | (answer.damaged == was.xor()))
                bench.covers(f"{reader}_reads_a_damaged_word", reads & answer.damaged)
        bench.ensures("nothing_beyond", ~beyond | (dut.tile_read.word == 0))
        if parity:
            bench.ensures("nothing_damaged_beyond", ~beyond | ~dut.tile_read.damaged)
        bench.ensures("answer_of_a_request", dut.tile_answered == bench.before(asked))
        busy = network_write.enable | dut.host_writes
        bench.ensures("tile_writes_unless_another_does", dut.tile_write_ready == ~busy)
        reads = dut.fetches | dut.host_reads
        bench.ensures("tile_reads_unless_another_does", dut.tile_read_ready == ~reads)
        written = bench.before(bench.before(by_tile))
        bench.covers("tile_reads_its_word", mine & (was[:32] == 5) & written)

    told = "; a reader is told of a word of which an odd number of bits has changed"
    return Proof(
        "tile port and shared memory",
        f"{WORDS} words{', parity' if parity else ''}",
        "each read is of the last write; network, host, tile in this order; nobody else waits"
        + (told if parity else ""),
        build,
    )


def table() -> Proof:
    """Return the proof that a table shows a program's words one by one, and the damaged ones.

    The host writes in reset only, and at least one more cycle of reset follows. A run is observed
    from its reset on.
    """

    def build(bench: Bench) -> None:
        m, config = bench.m, network_of_programs(parity=True)
        dut, reset = HitTable(config), ResetSignal()
        base, end = bench.constant(2, "base"), bench.constant(2, "end")
        writes = bench.free(1, "writes") & reset
        hits = bench.free(1, "hits") & ~reset
        own = {"write__enable": writes, "hit__enable": hits}
        bench.drive(dut, **own, program__base=base, program__end=end)
        wrote = Signal(name="wrote", init=1, reset_less=True)
        bench.assumes("reset_after_the_last_write", ~wrote)
        number, read = bench.constant(2, "number"), dut.read
        held, shown = (
            Signal(config.flit_width + 1, name=name, reset_less=True) for name in ("held", "shown")
        )
        with m.If(writes & (dut.write.address == number)):
            m.d.sync += held.eq(stored(dut.write.word, parity=True))
        with m.Elif(hits & (dut.hit.address == number)):
            m.d.sync += held.eq(dut.hit.word)
        place = Signal(6, name="place", reset_less=True)
        following = Mux(reset, base, place + read.advance)
        m.d.sync += [wrote.eq(writes), place.eq(following)]
        with m.If((reset | read.advance) & (following == number)):
            m.d.sync += shown.eq(held)
        # A row that begins inside may have its header flits beyond.
        most = end + (1 << HEADER_COUNT_BITS) - 1
        bench.assumes("ends_behind_the_program", ~read.advance | (place < most))
        mine = (place == number) & (number < WORDS)
        bench.ensures("word_by_word", ~mine | (read.word == shown[:-1]))
        bench.ensures("damage_is_told", ~mine | (read.damaged == shown.xor()))
        bench.ensures("end_of_the_program", read.beyond == (place >= end))
        bench.covers("damaged_word", mine & read.damaged & (place == base + 1))
        bench.covers("beyond_all_words", place > WORDS)

    return Proof(
        "table",
        f"{WORDS} words, parity",
        "the words are shown one by one from the program's first; damage and the end are told",
        build,
    )


def used_words() -> Proof:
    """Return the proof of a sender's flag ``parity``: exactly the words that it uses matter."""

    def build(bench: Bench) -> None:
        config = network_of_programs(parity=True)
        dut = Sender(config, ports=range(1, 3))
        bench.drive(dut, "sender")
        row, state, flit = Row(bench, dut, config), dut.state, dut.link.flit
        beyond, in_table, in_message = dut.table.beyond, dut.table.damaged, dut.message.damaged
        loads = (state == SenderState.EXPECT) | (state == SenderState.CONTROL)
        examines = (state == SenderState.READY) & ~dut.hold
        header, word = row.sent & flit.head, row.sent & ~flit.head
        uses = (loads & ~beyond) | examines | header
        bench.ensures(
            "damaged_word_is_told", dut.causes.parity == ((uses & in_table) | (word & in_message))
        )
        bench.ensures("never_loads_beyond", ~(loads & beyond) | dut.causes.bad_row)
        unflagged = ~bench.before(dut.causes.parity)
        bench.covers("header_after_the_first", header & in_table & (state == SenderState.HEADER))
        bench.covers("word_that_waits_for_a_credit", word & in_message & dut.stalled & unflagged)

    return Proof(
        "parity",
        "sender",
        "a word's damage is told in the cycle in which the word is loaded, examined or injected",
        build,
    )


def combined_words() -> Proof:
    """Return the proof of a combiner's ``damaged``: a stored word that is combined is checked.

    A word that is written in the cycle of the read is not that of the memory.
    """

    def build(bench: Bench) -> None:
        config = network_of_programs(parity=True, operators=("or",))
        dut = bench.drive(Combiner(config), "combiner")
        word, write = dut.words[0], dut.stored[0]
        written = write.enable & (write.address == word.source)
        looks = bench.before(dut.combines[0] & ~written)
        bench.ensures("damaged_word_is_told", dut.damaged == (looks & dut.reads[0].damaged))
        asks = word.enable & (word.operator != 0)
        bench.ensures("combines_what_asks", dut.combines[0] == asks)
        bench.covers("told", dut.damaged[0])

    return Proof(
        "parity", "combiner, D = 0", "the damage of a stored word that is combined is told", build
    )
