"""Proofs of the sender, against sections 4, 18 and 20 of docs/router.md."""

from amaranth.hdl import C, Cat, Mux, Signal, Value

from ..model.network.config import NetworkConfig
from ..rtl.packets.sender import Sender, SenderState
from ..rtl.packets.word_count import WordCount
from ..rtl.parts.assertions import one_hot_or_zero
from .harness import Bench
from .networks import network, said
from .proof import Proof


class Row:
    """The row that a sender carries out, derived from the words of the table.

    The state CONTROL lasts one cycle, and reads the row; the flits follow.

    Attributes
    ----------
    sent
        High in a cycle in which a flit leaves.
    headers, left
        Header flits and words that have not left.
    place
        Address of the next word.
    index
        Number of the next word, from 0.
    step, length, stream, lead, window
        Fields of the row; 0 for a field that the network's rows lack.

    """

    def __init__(self, bench: Bench, dut: Sender, config: NetworkConfig) -> None:
        assert config.table.control_words == 1
        m, fields = bench.m, {"stream": C(0), "lead": C(0), "window": C(0)}
        for (name, width), (_, low) in zip(
            config.table.fields, config.table.positions, strict=True
        ):
            fields[name] = dut.table.word[low : low + width]
        self.sent, is_read = dut.link.valid.any(), dut.state == SenderState.CONTROL
        self.step, self.length, self.stream, self.lead, self.window = (
            bench.latest(fields[name], is_read)
            for name in ("step", "length", "stream", "lead", "window")
        )
        self.headers, self.left = Signal(4, name="headers"), Signal(8, name="words_left")
        self.place, self.index = Signal(8, name="place"), Signal(8, name="index")
        after = [self.place + 1]
        for bits in range(1, config.address_bits):
            after.append(Cat((self.place + 1)[:bits], self.place[bits:]))
        with m.If(is_read):
            m.d.sync += [self.headers.eq(fields["header_flits"]), self.left.eq(fields["length"])]
            m.d.sync += [self.place.eq(fields["source_address"]), self.index.eq(0)]
        with m.Elif(self.sent & (self.headers != 0)):
            m.d.sync += self.headers.eq(self.headers - 1)
        with m.Elif(self.sent):
            m.d.sync += [self.left.eq(self.left - 1), self.index.eq(self.index + 1)]
            for window, place in enumerate(after):
                with m.If(self.window == window):
                    m.d.sync += self.place.eq(place)


def sender(vcs: int) -> Proof:
    """Return the proof that a row leaves as its header flits and its words, whole and in order.

    The rows are any words of the table.
    """

    def build(bench: Bench) -> None:
        config = network(3, vcs, message_words=4, table_words=4, flit_width=24)
        dut = bench.drive(Sender(config, ports=range(1, 3)), "sender")
        row = Row(bench, dut, config)
        leaves_whole(bench, dut, config, row)
        bench.ensures("in_its_step", ~dut.begins | (row.step == dut.clock.step))
        bench.ensures("not_held", ~dut.begins | ~dut.hold)
        same = bench.latest(dut.link.valid, row.sent) == dut.link.valid
        bench.ensures("on_one_vc", ~row.sent | dut.begins | same)
        bench.covers("last_word", row.sent & dut.link.flit.tail & (row.place == 3))
        bench.covers("row_without_words", row.sent & dut.link.flit.tail & dut.link.flit.head)

    return Proof(
        "sender",
        said(vcs=vcs),
        "a row leaves whole: header flits, then its words, the tail last, within its credits",
        build,
    )


def leaves_whole(bench: Bench, dut: Sender, config: NetworkConfig, row: Row) -> None:
    """Claim that the flits of a row leave in order, unchanged, and within the credits."""
    sent, flit = row.sent, dut.link.flit
    word = sent & ~flit.head
    bench.ensures("one_vc", one_hot_or_zero(dut.link.valid))
    bench.ensures("flit_of_a_row", ~sent | (row.headers != 0) | (row.left != 0))
    bench.ensures("headers_first", ~sent | (flit.head == (row.headers != 0)))
    bench.ensures("tail_is_last", ~sent | (flit.tail == ((row.headers + row.left)[:8] == 1)))
    bench.ensures("header_of_the_table", ~(sent & flit.head) | (flit.data == dut.table.word))
    read_at = bench.before(dut.message.address)
    bench.ensures("word_of_its_address", ~word | (read_at == row.place[: len(read_at)]))
    bench.ensures("the_word", ~word | (flit.data == dut.message.word))
    bench.ensures("inside_the_memory", ~word | (row.place < config.message_words))
    bench.ensures(
        "no_row_is_left",
        (dut.state != SenderState.CONTROL) | ~bench.before(sent) | bench.before(flit.tail),
    )
    for vc in range(config.vcs):
        away = bench.count(dut.link.valid[vc], dut.link.credit[vc], limit=config.depth)
        bench.assumes(f"returned_credit_{vc}", ~dut.link.credit[vc] | (away != 0))
        bench.ensures(f"flit_for_a_free_slot_{vc}", ~dut.link.valid[vc] | (away < config.depth))


def streaming_sender(vcs: int = 1, *, lanes: bool = False) -> Proof:
    """Return the proof of the rule of section 20: when a word of a stream may leave, and does.

    Words of any step come at any time. Windows are part of it. By section 10, the step rises only
    while no row is under way.
    """

    def build(bench: Bench) -> None:
        config = network(
            3, vcs, streams=True, all_port=lanes, message_words=3, table_words=4, flit_width=32
        )
        dut = Sender(config, ports=range(1, 2) if lanes else range(1, 3))
        clock, state = dut.clock, dut.state
        driven, came = coming_words(bench, dut, config)
        bench.drive(dut, "sender", **driven)
        rose = bench.before(clock.rises, init=1)
        bench.assumes("step_stays_unless_it_rises", rose | (bench.before(clock.step) == clock.step))
        bench.assumes("rises_between_rows", ~clock.rises | dut.over)
        row = Row(bench, dut, config)
        leaves_whole(bench, dut, config, row)
        begins = row.sent & (state == SenderState.READY)
        bench.ensures("in_its_step", ~begins | (row.step == clock.step))
        bench.ensures("a_row_that_streams_sends_on", dut.begins == (begins & (row.stream == 0)))
        size = Mux(row.window == 0, config.message_words, 1 << row.window)
        bench.ensures("fits_its_window", ~row.sent | (row.length <= size))
        bench.ensures("lane_of_the_stream", ~row.sent | (row.stream <= config.lanes))
        came_of_stream = Mux(row.stream == 2, came[-1], came[0])
        waits_for_its_word(bench, dut, config, row, came_of_stream)

    return Proof(
        "sender of streams",
        f"{'2 lanes' if lanes else '1 lane'}, {said(vcs=vcs)}, 3 words",
        "no word leaves before it came; a word that came leaves with the first credit; windows",
        build,
    )


def coming_words(
    bench: Bench, dut: Sender, config: NetworkConfig
) -> tuple[dict[str, Value], list[Value]]:
    """Count words that come at any time, for each lane; return the sender's inputs, and ``come``.

    ``come`` stops behind the number of words of the memory: no row has more words.
    """
    driven: dict[str, Value] = {}
    comes: list[Value] = []
    for lane in range(config.lanes):
        count = WordCount(config)
        clock = {
            f"clock__{name}": getattr(dut.clock, name) for name in ("step", "rises", "next_step")
        }
        bench.drive(count, f"count_{lane}", **clock)
        for name in ("last", "before", "some"):
            driven[f"come__{lane}__{name}"] = getattr(count.come, name)
        come = Signal(range(config.message_words + 2), name=f"come_{lane}")
        written = count.written & (count.step == dut.clock.step)
        with bench.m.If(dut.clock.rises):
            bench.m.d.sync += come.eq(0)
        with bench.m.Elif(written & (come <= config.message_words)):
            bench.m.d.sync += come.eq(come + 1)
        comes.append(come)
    return driven, comes


def waits_for_its_word(
    bench: Bench, dut: Sender, config: NetworkConfig, row: Row, come: Value
) -> None:
    """Claim the rule: word i leaves only if i < ``lead``, or i - ``lead`` < ``come`` then."""
    word = dut.state == SenderState.PAYLOAD
    sent = row.sent & word
    there = (row.stream == 0) | (row.index < row.lead + bench.before(come))
    link = zip(dut.link.valid, dut.link.credit, strict=True)
    free = Cat(bench.count(*vc, limit=config.depth) < config.depth for vc in link)
    has_credit = (free & bench.latest(dut.link.valid, row.sent)).any()
    bench.ensures("no_word_before_it_came", ~sent | there)
    bench.ensures("a_word_that_came_leaves", ~(word & there & has_credit) | sent)
    waited = bench.before(word & there & ~sent)
    bench.ensures("stalled_for_a_credit_alone", ~sent | (dut.stalled == waited))
    streams = sent & (row.stream != 0)
    bench.covers("waits_for_its_word", word & ~there & has_credit)
    bench.covers("stalled_word_of_a_stream", streams & dut.stalled)
    bench.covers("word_after_a_lead", streams & (row.lead == 1) & (row.index == 2))
    bench.covers("word_in_a_window", streams & (row.window == 1))
