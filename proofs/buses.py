"""Proofs of the bridges of buses, against section 21 of docs/router.md."""

from amaranth.hdl import Cat, Mux, Signal

from ..rtl.axi4_lite import Axi4Lite
from ..rtl.axi_stream import StreamReader, StreamWriter
from ..rtl.parts.host_port import Refusal
from ..rtl.wishbone import Wishbone
from .harness import Bench
from .networks import network
from .proof import Proof

ENGINE = {"flit_width": 32, "programs": 1, "message_words": 4}
"""Parameters of a network behind buses."""


def axi4_lite() -> Proof:
    """Return the proof of the bridge of AXI4-Lite."""

    def build(bench: Bench) -> None:
        dut = bench.drive(Axi4Lite(network(3, **ENGINE)))
        bus = dut.bus
        channels = {
            "aw": (bus.awvalid, bus.awready, Cat(bus.awaddr, bus.awprot)),
            "w": (bus.wvalid, bus.wready, Cat(bus.wdata, bus.wstrb)),
            "ar": (bus.arvalid, bus.arready, Cat(bus.araddr, bus.arprot)),
        }
        for name, (valid, ready, value) in channels.items():
            bench.assumes(f"{name}_stays", bench.stays(valid, ready, value))
        bench.covers("b_waits", bench.before(bus.bvalid & ~bus.bready))
        bench.covers("r_waits", bench.before(bus.rvalid & ~bus.rready))

    return Proof(
        "AXI4-Lite",
        "32 bits",
        "handshakes stay; one answer for each request; one request at a time",
        build,
    )


def wishbone() -> Proof:
    """Return the proof of the bridge of Wishbone."""

    def build(bench: Bench) -> None:
        dut = bench.drive(Wishbone(network(3, **ENGINE)))
        bus, host = dut.bus, dut.host
        asks, over = bus.cyc_i & bus.stb_i, bus.ack_o | bus.err_o
        access = Cat(bus.we_i, bus.adr_i, bus.sel_i, bus.dat_i)
        # An initiator may give an access up, but does not change it.
        same = access == bench.before(access)
        bench.assumes("access_stays", ~(bench.before(asks & ~over) & asks) | same)
        sent = host.valid & host.ready
        told = bench.before(host.answered & (host.refusal == Refusal.NONE))
        bench.covers("read", bus.ack_o & ~bus.we_i & told)
        bench.covers("refused", bus.err_o & bus.we_i)
        bench.covers("given_up", bench.before(sent) & ~bus.cyc_i)

    return Proof(
        "Wishbone",
        "32 bits",
        "one answer of one cycle for each access; one request at a time",
        build,
    )


def stream_writer() -> Proof:
    """Return the proof that each word of a stream is written at its address, or told as refused."""

    def build(bench: Bench) -> None:
        config = network(3, **ENGINE, tile_ports=True)
        dut = bench.drive(StreamWriter(config))
        stream, words = dut.stream, config.message_words
        taken = stream.tvalid & stream.tready
        inside, place = Signal(name="inside"), Signal(17, name="place")
        with bench.m.If(taken):
            after = (place + (place < words))[:17]
            bench.m.d.sync += [inside.eq(~stream.tlast), place.eq(after)]
            with bench.m.If(~inside):
                bench.m.d.sync += place.eq(stream.tdata[:16])
        in_memory = place < words
        data = Cat(stream.tdata, stream.tlast)
        bench.assumes("stream_stays", bench.stays(stream.tvalid, stream.tready, data))
        bench.ensures("write_of_a_word", dut.valid == (stream.tvalid & inside & in_memory))
        bench.ensures(
            "address_of_the_word", ~dut.valid | (dut.address == place[: len(dut.address)])
        )
        bench.ensures("the_word", ~dut.valid | (dut.data == stream.tdata))
        bench.ensures("taken_when_written", ~dut.valid | (stream.tready == dut.ready))
        bench.ensures("no_word_lost", ~(taken & inside & in_memory) | (dut.valid & dut.ready))
        lost = bench.before(taken & inside & ~in_memory)
        bench.ensures("refused_is_told", dut.refused == lost)
        bench.covers("refused", dut.refused)

    return Proof(
        "AXI-Stream",
        "writer, 4 words",
        "each word is written once at its address, or refused",
        build,
    )


def stream_reader() -> Proof:
    """Return the proof that a command is answered by its words, in order, with the last marked."""

    def build(bench: Bench) -> None:
        config = network(3, **ENGINE, tile_ports=True)
        dut = bench.drive(StreamReader(config))
        commands, stream = dut.commands, dut.stream
        # What the port answers is one word for each request, in the cycle after it.
        asked = bench.before(dut.valid & dut.ready)
        begun, sent = commands.tvalid & commands.tready, stream.tvalid & stream.tready
        # Beats owed for the command answered now, and for one taken while its last beat waits.
        now, then = Signal(4, name="now"), Signal(4, name="then")
        words = (commands.tdata[16:] + 1)[:4]
        bench.assumes("short_commands", ~begun | (commands.tdata[16:] < 4))
        rest = Mux(sent, now - 1, now)[:4]
        bench.m.d.sync += now.eq(Mux(rest == 0, Mux(begun, words, then), rest))
        bench.m.d.sync += then.eq(Mux(rest == 0, 0, Mux(begun, words, then)))
        bench.ensures("a_beat_is_owed", ~stream.tvalid | (now != 0))
        bench.ensures("last_beat_is_marked", ~stream.tvalid | (stream.tlast == (now == 1)))
        bench.ensures("one_command_ahead", (then == 0) | (now == 1))
        bench.ensures(
            "fresh_word", ~(asked & stream.tvalid & ~stream.tuser) | (stream.tdata == dut.data)
        )
        bench.covers("last_beat", sent & stream.tlast & (then != 0))

    return Proof(
        "AXI-Stream", "reader, up to 4 words", "beats stay; each is owed; words as read", build
    )
