"""Bridges alone: handshakes, accesses that are given up, parts of words, reset."""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module, ResetSignal, Shape, Signal
from helpers.amaranth_simulation import simulate
from helpers.refusals import refusal_of
from helpers.router_page import cells, section

from eyecast.model.network.buses import REVISION, HostBus, TileBus, require_buses
from eyecast.model.network.config import NetworkConfig
from eyecast.model.network.topology import mesh
from eyecast.rtl.axi4_lite import Axi4Lite
from eyecast.rtl.axi_stream import StreamReader, StreamWriter
from eyecast.rtl.engine import engine_signature
from eyecast.rtl.wishbone import Wishbone

CONFIG = NetworkConfig(
    topology=mesh((2,)), programs=1, tile_ports=True, message_words=20, table_words=16
)
NO_SUCH_WORD = 1
OKAY, DECERR = 0, 3
SIZE = 4
MESSAGES = 2 << 1 + 5 + 2
"""The byte address of node 0's messages: region, node, word, byte."""
REFUSED = 7 * SIZE


def with_reset(bridge: Any) -> tuple[Module, Signal]:
    """Return a module around a bridge, and the bridge's reset."""
    m, reset = Module(), Signal()
    m.domains += ClockDomain("sync")
    m.d.comb += ResetSignal().eq(reset)
    m.submodules.bridge = bridge
    return m, reset


def of_bus(*directions: str) -> Callable[[Any], Iterable[tuple[Any, list[str], list[str]]]]:
    """Return a function that lists a bridge's buses, with the names of their inputs and outputs."""

    def listed(bridge: Any) -> Iterable[tuple[Any, list[str], list[str]]]:
        for name in directions:
            bus = getattr(bridge, name)
            flows: dict[str, list[str]] = {"In": [], "Out": []}
            for member, each in bus.signature.members.items():
                flows[each.flow.name].append(member)
            yield bus, flows["In"], flows["Out"]

    return listed


OF_HOST = ("host.ready", "host.answered", "host.refusal", "host.read_data")
AT_ONCE = {"ack_o", "err_o"}
"""Outputs that depend on inputs of the same cycle, because an access may be given up."""
BRIDGES = {
    "axi4-lite": (Axi4Lite, of_bus("bus"), OF_HOST),
    "wishbone": (Wishbone, of_bus("bus"), OF_HOST),
    "writer": (StreamWriter, of_bus("stream"), ("ready",)),
    "reader": (StreamReader, of_bus("commands", "stream"), ("ready", "data")),
}


@pytest.mark.parametrize("name", BRIDGES)
def test_no_output_of_a_bus_depends_on_its_inputs_at_once(name: str) -> None:
    make, buses, of_network = BRIDGES[name]
    bridge, draw = make(CONFIG), random.Random(name)
    module, _ = with_reset(bridge)
    seen: Counter[str] = Counter()

    def member(path: str) -> Any:
        port, _, rest = path.partition(".")
        return getattr(getattr(bridge, port), rest) if rest else getattr(bridge, port)

    async def bench(ctx: Any) -> None:
        for _ in range(100):
            await ctx.tick()
            for path in of_network:
                ctx.set(member(path), draw.getrandbits(len(member(path))))
            shown = []
            for _ in range(3):
                outputs = {}
                for bus, inputs, _ in buses(bridge):
                    for each in inputs:
                        signal = getattr(bus, each)
                        # Ones are rare in addresses, and frequent in handshakes.
                        frequent = len(getattr(signal, "as_value", lambda s=signal: s)()) == 1
                        word = draw.choice((0, 1, 1, 1)) if frequent else draw.getrandbits(9)
                        ctx.set(signal, word)
                for bus, _, names in buses(bridge):
                    outputs |= {(id(bus), each): ctx.get(getattr(bus, each)) for each in names}
                    seen.update(each for each in names if outputs[id(bus), each])
                    outputs = {key: word for key, word in outputs.items() if key[1] not in AT_ONCE}
                shown.append(outputs)
            assert shown[0] == shown[1] == shown[2]

    # Drawn answers of the network are not those that a bridge requires.
    simulate(module, bench, asserting=False)
    for _, _, names in buses(bridge):
        # Each output has changed, so the comparison can fail.
        assert set(names) <= set(seen), name


class Network:
    """A network for a bridge: it answers a request after some cycles, with the address."""

    def __init__(self, bridge: Any, wait: int = 3) -> None:
        self.host, self.wait = bridge.host, wait
        self.asked: list[tuple[int, ...]] = []

    async def answer(self, ctx: Any) -> None:
        host = self.host
        ctx.set(host.ready, 1)
        while True:
            while not ctx.get(host.valid):
                await ctx.tick()
            names = ("write", "space", "node", "address", "write_data")
            self.asked.append(tuple(int(ctx.get(getattr(host, name))) for name in names))
            await ctx.tick()
            ctx.set(host.ready, 0)
            for _ in range(self.wait):
                await ctx.tick()
            ctx.set(host.read_data, 1000 + self.asked[-1][3])
            ctx.set(host.answered, 1)
            await ctx.tick()
            ctx.set(host.answered, 0)
            ctx.set(host.read_data, 0)
            ctx.set(host.ready, 1)


def tried(bridge: Any, bench: Callable[[Any, Signal], Any]) -> Network:
    """Run a bench in front of a bridge and a network; return the network."""
    module, reset = with_reset(bridge)
    network = Network(bridge)

    async def run(ctx: Any) -> None:
        await bench(ctx, reset)

    simulate(module, run, network.answer)
    return network


async def wishbone(ctx: Any, bus: Any, address: int, data: int | None = None, sel: int = 15) -> Any:
    """Carry out one access; return the answer and the word read."""
    ctx.set(bus.cyc_i, 1)
    ctx.set(bus.stb_i, 1)
    ctx.set(bus.adr_i, address)
    ctx.set(bus.we_i, data is not None)
    ctx.set(bus.dat_i, data or 0)
    ctx.set(bus.sel_i, sel)
    for _ in range(20):
        await ctx.tick()
        if ctx.get(bus.ack_o) or ctx.get(bus.err_o):
            answer = "ack" if ctx.get(bus.ack_o) else "err"
            assert not ctx.get(bus.stall_o)
            word = ctx.get(bus.dat_o)
            await ctx.tick()
            ctx.set(bus.stb_i, 0)
            return answer, word
        assert ctx.get(bus.stall_o)
    raise AssertionError("no answer")


@pytest.mark.parametrize("falls", ["cyc_i", "stb_i"])
@pytest.mark.parametrize("cycles", range(1, 6))
def test_an_access_of_wishbone_that_is_given_up_is_not_answered(cycles: int, falls: str) -> None:
    """The answer is due in the fifth cycle; even an access given up in that cycle gets none."""
    bridge = Wishbone(CONFIG)
    bus = bridge.bus

    async def bench(ctx: Any, _reset: Signal) -> None:
        await ctx.tick()
        ctx.set(bus.cyc_i, 1)
        ctx.set(bus.stb_i, 1)
        ctx.set(bus.adr_i, MESSAGES + 5 * SIZE)
        for cycle in range(cycles):
            await ctx.tick()
            assert ctx.get(bus.ack_o) == (cycle == 4)
        ctx.set(getattr(bus, falls), 0)
        for _ in range(8):
            assert not ctx.get(bus.ack_o)
            assert not ctx.get(bus.err_o)
            await ctx.tick()
        # The next access gets its own answer, not that of the access before.
        assert await wishbone(ctx, bus, MESSAGES + 6 * SIZE) == ("ack", 1006)

    assert tried(bridge, bench).asked[-1][1:4] == (0, 0, 6)


def test_parts_of_words_on_wishbone() -> None:
    bridge = Wishbone(CONFIG)
    bus, place = bridge.bus, MESSAGES + 3 * SIZE

    async def bench(ctx: Any, _reset: Signal) -> None:
        for sel in range(1, 15):
            assert await wishbone(ctx, bus, place, 7, sel) == ("err", 0)
            assert await wishbone(ctx, bus, REFUSED) == ("ack", place | NO_SUCH_WORD)
        assert await wishbone(ctx, bus, place + SIZE, 7, 0) == ("ack", 0)
        assert await wishbone(ctx, bus, REFUSED) == ("ack", place | NO_SUCH_WORD)
        assert (await wishbone(ctx, bus, place, 7))[0] == "ack"
        assert await wishbone(ctx, bus, place + 2, sel=1) == ("ack", 1003)
        # The revision is the bridge's own word: node 1, word 0 of the controller's region.
        assert await wishbone(ctx, bus, SIZE << 5) == ("ack", REVISION)

    assert tried(bridge, bench).asked == [(1, 0, 0, 3, 7), (0, 0, 0, 3, 0)]


def test_parts_of_words_on_axi4_lite() -> None:
    bridge = Axi4Lite(CONFIG)
    bus = bridge.bus

    async def write(ctx: Any, strobes: int) -> int:
        for name, value in (("awvalid", 1), ("wvalid", 1), ("wstrb", strobes), ("bready", 1)):
            ctx.set(getattr(bus, name), value)
        for _ in range(20):
            # Sample at the clock's edge, because the network sets its answer later in the cycle.
            *_, awready, wready = await ctx.tick().sample(bus.awready, bus.wready)
            assert awready == wready
            if awready:
                break
        ctx.set(bus.awvalid, 0)
        ctx.set(bus.wvalid, 0)
        assert ctx.get(bus.bvalid)
        return int(ctx.get(bus.bresp))

    async def bench(ctx: Any, _reset: Signal) -> None:
        ctx.set(bus.awaddr, MESSAGES)
        for strobes in range(16):
            expected = OKAY if strobes in (0, 15) else DECERR
            assert await write(ctx, strobes) == expected
            await ctx.tick()

    assert tried(bridge, bench).asked == [(1, 0, 0, 0, 0)]


def test_reads_and_writes_of_axi4_lite_take_turns() -> None:
    """If nobody takes the answer to a read, the answer stays, and only writes go on."""
    bridge = Axi4Lite(CONFIG)
    bus, held = bridge.bus, {}

    async def bench(ctx: Any, _reset: Signal) -> None:
        for name in ("awvalid", "wvalid", "bready", "arvalid", "rready"):
            ctx.set(getattr(bus, name), 1)
        ctx.set(bus.wstrb, 15)
        ctx.set(bus.awaddr, MESSAGES)
        ctx.set(bus.araddr, MESSAGES + 9 * SIZE)
        for _ in range(70):
            await ctx.tick()
        ctx.set(bus.rready, 0)
        for cycle in range(70):
            await ctx.tick()
            if ctx.get(bus.rvalid):
                ctx.set(bus.araddr, MESSAGES + cycle % 16 * SIZE)
                held.setdefault("word", ctx.get(bus.rdata))
            assert bool(held) == ctx.get(bus.rvalid)
            assert not held or ctx.get(bus.rdata) == held["word"] == 1009

    asked = [write for write, *_ in tried(bridge, bench).asked]
    turns = len(asked) // 2
    assert turns > 6
    assert asked[:turns] == [place % 2 ^ asked[0] for place in range(turns)]
    assert asked[-4:] == [1] * 4


def test_nothing_is_asked_before_the_controller_has_left_its_reset() -> None:
    bridge = Wishbone(CONFIG)
    bus = bridge.bus

    async def bench(ctx: Any, reset: Signal) -> None:
        ctx.set(reset, 1)
        for name in ("cyc_i", "stb_i", "adr_i"):
            ctx.set(getattr(bus, name), MESSAGES if name == "adr_i" else 1)
        for _ in range(3):
            await ctx.tick()
            assert not ctx.get(bridge.host.valid)
        ctx.set(reset, 0)
        # The controller's reset passes a register, so it lasts one cycle longer.
        assert not ctx.get(bridge.host.valid)
        await ctx.tick()
        assert ctx.get(bridge.host.valid)

    tried(bridge, bench)


@pytest.mark.parametrize(
    ("changes", "buses", "said"),
    [
        (
            {"programs": 0, "tile_ports": False},
            (HostBus.WISHBONE, None),
            "programs must be at least 1 for wishbone, not 0",
        ),
        (
            {"tile_ports": False},
            (None, TileBus.AXI_STREAM),
            "tile ports must be given for axi-stream, not left out",
        ),
    ],
)
def test_a_bus_in_front_of_nothing_is_refused(
    changes: dict[str, Any], buses: tuple[Any, Any], said: str
) -> None:
    assert refusal_of(require_buses, replace(CONFIG, **changes), *buses) == said


SECOND = replace(CONFIG, flit_width=40, message_words=300, parity=True)
WIDE = replace(CONFIG, flit_width=192, parity=True)
OF_PAGE = pytest.mark.parametrize(
    "config", [CONFIG, SECOND, WIDE], ids=["32 bits", "40 bits, parity", "192 bits, parity"]
)


def widths_of_the_page(config: NetworkConfig, rows: list[list[str]]) -> dict[str, tuple[str, int]]:
    """Return direction and width of each port in the rows of a table of the page, by name."""
    data = 32 if config.flit_width == 32 else 64
    # The message memory is the largest space; a word of three pieces takes four addresses.
    host = {CONFIG: 5, SECOND: 9, WIDE: 7}[config]
    numbers = {
        **{"D": data, "D/8": data // 8, "A": 2 + 1 + host + (data // 8).bit_length() - 1},
        **{"W": config.flit_width, "address_bits": config.address_bits},
        "step_bits": config.step_bits,
    }

    def number(said: str) -> int:
        first = said.split(",", maxsplit=1)[0]
        return numbers[first] if first in numbers else int(first)

    return {name: (way, number(width)) for name, way, width in rows if name}


def ports(signature: Any, prefix: str) -> dict[str, tuple[str, int]]:
    """Return direction and width of a signature's ports, by name."""
    return {
        name: (member.flow.name.lower(), Shape.cast(member.shape).width)
        for name, member in signature.members.items()
        if name.startswith(prefix)
    }


@OF_PAGE
@pytest.mark.parametrize(
    ("heading", "bus", "prefix"),
    [("### AXI4-Lite", HostBus.AXI4_LITE, "s_axi_"), ("### Wishbone", HostBus.WISHBONE, "wb_")],
)
def test_ports_of_a_bus_are_those_of_the_page(
    config: NetworkConfig, heading: str, bus: HostBus, prefix: str
) -> None:
    rows = [part for row in cells(section(heading)) for part in (row[:3], row[4:7])]
    said = [row for row in rows if row and row[0].startswith(prefix)]
    assert len(said) > 9
    assert ports(engine_signature(config, bus, None), prefix) == widths_of_the_page(config, said)


@OF_PAGE
def test_ports_of_a_tile_are_those_of_the_page(config: NetworkConfig) -> None:
    headings = ["## 17. Variant: tile ports"] + ["## 18. Variant: parity"] * config.parity
    said = [row[:3] for heading in headings for row in cells(section(heading))[1:]]
    tile = engine_signature(config, None, None).members["tile_0"].signature
    assert ports(tile, "") == widths_of_the_page(config, said)


def often(draw: random.Random) -> bool:
    return draw.random() < 0.6


@pytest.mark.parametrize("config", [CONFIG, WIDE], ids=["32 bits", "192 bits"])
def test_a_stream_of_messages_becomes_writes(config: NetworkConfig) -> None:
    """Every word is written once and in order; words beyond the memory are reported."""
    writer, draw, words = StreamWriter(config), random.Random(1), config.message_words
    width = config.flit_width
    beats: list[tuple[int, bool]] = []
    expected, refused = [], 0
    for _ in range(30):
        address, length = draw.choice([0, 7, words - 2, words, 40, 2**15]), draw.randrange(5)
        data = [draw.getrandbits(width) for _ in range(length)]
        beats += [(address | draw.getrandbits(width - 16) << 16, not length)]
        beats += [(word, place == length - 1) for place, word in enumerate(data)]
        places = [*enumerate(data, address)]
        expected += [pair for pair in places if pair[0] < words]
        refused += sum(place >= words for place, _ in places)
    seen, told = [], 0

    async def bench(ctx: Any) -> None:
        nonlocal told
        offered = False
        while beats:
            offered = offered or often(draw)
            ready = often(draw)
            ctx.set(writer.stream.tvalid, offered)
            ctx.set(writer.stream.tdata, beats[0][0] if offered else draw.getrandbits(width))
            ctx.set(writer.stream.tlast, beats[0][1] if offered else 1)
            ctx.set(writer.ready, ready)
            if ready and ctx.get(writer.valid):
                seen.append((ctx.get(writer.address), ctx.get(writer.data)))
            if offered and ctx.get(writer.stream.tready):
                beats.pop(0)
                offered = False
            await ctx.tick()
            told += ctx.get(writer.refused)

    simulate(writer, bench)
    assert seen == expected
    assert told == refused > 5


@pytest.mark.parametrize(
    "config", [CONFIG, replace(CONFIG, parity=True), WIDE], ids=["", "parity", "192 bits"]
)
def test_commands_of_a_stream_become_words(config: NetworkConfig) -> None:
    """Words arrive in order, each once; unusable words are marked."""
    reader, draw, words = StreamReader(config), random.Random(3), config.message_words
    memory = [draw.getrandbits(config.flit_width) for _ in range(words)]
    damaged = set(range(0, words, 2)) if config.parity else set()
    commands, expected = [], []
    for _ in range(25):
        address, length = draw.choice([0, 7, words - 2, words, 40]), draw.randrange(1, 6)
        commands.append(address | length - 1 << 16)
        for place in range(address, address + length):
            word = memory[place] if place < words else 0
            mark = place >= words or place in damaged
            expected.append((word, mark, place == address + length - 1))
    seen: list[tuple[int, bool, bool]] = []

    async def bench(ctx: Any) -> None:
        stream = reader.stream
        asked, offered, kept = None, False, None
        while len(seen) < len(expected):
            offered = bool(commands) and (offered or often(draw))
            ready, taken = often(draw), often(draw)
            ctx.set(reader.commands.tvalid, offered)
            ctx.set(reader.commands.tdata, commands[0] if offered else draw.getrandbits(32))
            ctx.set(reader.ready, ready)
            ctx.set(stream.tready, taken)
            # The memory shows a word only in the cycle after its request.
            noise = draw.getrandbits(config.flit_width)
            ctx.set(reader.data, noise if asked is None else memory[asked])
            if config.parity:
                ctx.set(reader.damaged, asked in damaged)
            if ctx.get(stream.tvalid):
                beat = tuple(ctx.get(getattr(stream, name)) for name in ("tdata", "tuser", "tlast"))
                assert kept in (None, beat)
                kept = None if taken else beat
                if taken:
                    seen.append(beat)
            else:
                assert kept is None
            asked = ctx.get(reader.address) if ready and ctx.get(reader.valid) else None
            if offered and ctx.get(reader.commands.tready):
                commands.pop(0)
                offered = False
            await ctx.tick()

    simulate(reader, bench)
    assert seen == expected
